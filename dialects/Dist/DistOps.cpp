//===- DistOps.cpp - Stores and communication -----------------------------===//

#include "fusion/Dist/Dist.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace fusion::dist;

#define GET_OP_CLASSES
#include "fusion/Dist/DistOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static LogicalResult verifySameContent(Operation *op, Type store, Type tensor) {
  if (cast<StoreType>(store).getTensorType() != tensor)
    return op->emitOpError("joins ") << store << " and " << tensor << ", which differ in shape or element type";
  return success();
}

LogicalResult FromTensorOp::verify() { return verifySameContent(*this, getStore().getType(), getTensor().getType()); }

LogicalResult ToTensorOp::verify() { return verifySameContent(*this, getStore().getType(), getTensor().getType()); }

LogicalResult ViewOp::verify() {
  auto source = cast<StoreType>(getSource().getType()), view = cast<StoreType>(getView().getType());
  if (source.getElementType() != view.getElementType() || source.getRank() != view.getRank())
    return emitOpError("makes ") << view << " of " << source << ", which differ in rank or element type";
  if (int64_t(getOffsets().size()) != source.getRank())
    return emitOpError("needs one offset for each of the ") << source.getRank() << " dimensions";
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    if (offset < 0 || offset > source.getShape()[dim] || view.getShape()[dim] > source.getShape()[dim] - offset)
      return emitOpError("leaves its source along dimension ") << dim;
  return success();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getView().getType())
    return getSource();
  // A view of a view is a view of the root.
  if (auto inner = getSource().getDefiningOp<ViewOp>()) {
    SmallVector<int64_t> offsets;
    for (auto [a, b] : llvm::zip(inner.getOffsets(), getOffsets()))
      offsets.push_back(a + b);
    getSourceMutable().assign(inner.getSource());
    setOffsets(offsets);
    return getView();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlacement(Operation *op, Value store, PlacementAttr placement) {
  return placement.getPartition().verifyFor(cast<StoreType>(store.getType()).getShape(), placement.getDomain(),
                                            [&] { return op->emitOpError(); });
}

/// What an image among the targets may refer to, as among the arguments of a launch.
static LogicalResult verifyImage(Operation *op, ImageAttr image, unsigned limit, ValueRange given) {
  for (unsigned source : image.getArguments()) {
    if (source >= limit)
      return op->emitOpError("has an image of store ") << source << ", but " << limit << " are given before it";
    auto type = cast<StoreType>(given[source].getType());
    if (!type.getElementType().isIntOrIndex() || type.getRank() != 1)
      return op->emitOpError("has an image of store ") << source << ", which is no one-dimensional store of integers";
  }
  return success();
}

template <typename Op>
static LogicalResult verifyExchange(Op op) {
  if (op.getSources().empty())
    return op.emitOpError("needs at least one placement to take elements from");
  if (op.getTargets().empty())
    return op.emitOpError("needs at least one placement to bring elements to");
  ArrayAttr givenPartitions = op.getGivenPartitions();
  if (givenPartitions.size() != op.getGiven().size())
    return op.emitOpError("needs one partition for each store that is given");
  for (Attribute source : op.getSources()) {
    auto placement = cast<PlacementAttr>(source);
    if (isa<ImageAttr>(placement.getPartition()))
      return op.emitOpError("takes elements from written partitions, and an image is never written");
    if (failed(verifyPlacement(op, op.getStore(), placement)))
      return failure();
  }
  for (Attribute target : op.getTargets()) {
    auto placement = cast<PlacementAttr>(target);
    if (failed(verifyPlacement(op, op.getStore(), placement)))
      return failure();
    auto image = dyn_cast<ImageAttr>(placement.getPartition());
    if (!image)
      continue;
    if (failed(verifyImage(op, image, op.getGiven().size(), op.getGiven())))
      return failure();
    for (auto [index, store, partition] : llvm::enumerate(op.getGiven(), givenPartitions)) {
      if (failed(verifyPlacement(
              op, store,
              PlacementAttr::get(op.getContext(), cast<PartitionInterface>(partition), placement.getDomain()))))
        return failure();
      if (auto inner = dyn_cast<ImageAttr>(partition))
        if (failed(verifyImage(op, inner, index, op.getGiven())))
          return failure();
    }
  }
  return success();
}

LogicalResult ExchangeOp::verify() { return verifyExchange(*this); }

LogicalResult ExchangeStartOp::verify() { return verifyExchange(*this); }

LogicalResult AllReduceOp::verify() {
  if (!getReduction().reduces())
    return emitOpError("needs a reduction operator");
  Type elementType = cast<StoreType>(getStore().getType()).getElementType();
  if (!fusion::spacemap::isLegal(getReduction().getReducer(), elementType))
    return emitOpError("cannot reduce elements of type ")
           << elementType << " with '" << fusion::spacemap::stringifyReducer(getReduction().getReducer()) << "'";
  return verifyPlacement(*this, getStore(), getPlacement());
}

ParseResult AllReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand store;
  SMLoc loc;
  StringRef name;
  PlacementAttr placement;
  Type type;
  if (parser.parseOperand(store) || parser.getCurrentLocation(&loc) || parser.parseKeyword(&name))
    return failure();
  std::optional<fusion::spacemap::Reducer> reducer = fusion::spacemap::symbolizeReducer(name);
  if (!reducer)
    return parser.emitError(loc) << "'" << name << "' is no reduction operator";
  if (parser.parseCustomAttributeWithFallback(placement) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  result.addAttribute(getReductionAttrName(result.name),
                      PrivilegeAttr::get(parser.getContext(), PrivilegeKind::Reduce, *reducer));
  result.addAttribute(getPlacementAttrName(result.name), placement);
  return parser.resolveOperand(store, type, result.operands);
}

void AllReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getStore() << ' ' << fusion::spacemap::stringifyReducer(getReduction().getReducer()) << ' ';
  printer.printStrippedAttrOrType(getPlacement());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getReductionAttrName(), getPlacementAttrName()});
  printer << " : " << getStore().getType();
}
