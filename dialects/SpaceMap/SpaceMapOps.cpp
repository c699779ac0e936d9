//===- SpaceMapOps.cpp - Sources, mappings and their folders --------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "DimNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fusion::spacemap;

#define GET_OP_CLASSES
#include "fusion/SpaceMap/SpaceMapOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult SourceOp::verify() {
  Type inputType = getInput().getType();
  SpaceType space = getType();
  if (getElementTypeOrSelf(inputType) != space.getElementType())
    return emitOpError() << "input and space differ in element type";
  SmallVector<StringAttr> axes = getNames(getAxes());
  if (!isa<RankedTensorType>(inputType) && !axes.empty())
    return emitOpError() << "a scalar input has no axes";
  llvm::SmallPtrSet<Attribute, 8> distinct(axes.begin(), axes.end());
  if (axes.size() != space.getDims().size() || distinct.size() != axes.size() ||
      !llvm::all_of(axes, [&](StringAttr dim) { return space.hasDim(dim); }))
    return emitOpError() << "axes " << getAxes() << " are not the dimensions of " << space;
  return success();
}

LogicalResult IndexOp::verify() {
  if (getType() != SpaceType::get(getContext(), {getDimAttr()}, IndexType::get(getContext())))
    return emitOpError() << "gives a space of index type over dimension '" << getDim() << "' alone";
  return success();
}

LogicalResult SeenOp::verify() {
  if (getType() != SpaceType::get(getContext(), {}, IndexType::get(getContext())))
    return emitOpError() << "gives a scalar space of index type";
  for (auto loop = (*this)->getParentOfType<TemporalOp>(); loop; loop = loop->getParentOfType<TemporalOp>())
    if (loop.getDimAttr() == getDimAttr())
      return success();
  return emitOpError() << "must be inside 'spacemap.temporal' along '" << getDim() << "'";
}

//===----------------------------------------------------------------------===//
// One-to-All and All-to-One
//===----------------------------------------------------------------------===//

/// Checks that `larger` has the dimensions of `smaller` and those of `along`, which are distinct.
static LogicalResult verifyAlong(Operation *op, SpaceType smaller, SpaceType larger, ArrayAttr along) {
  if (smaller.getElementType() != larger.getElementType())
    return op->emitOpError() << "changes the element type";
  SmallVector<StringAttr> names = getNames(along);
  llvm::SmallPtrSet<Attribute, 8> expected(smaller.getDims().begin(), smaller.getDims().end());
  for (StringAttr name : names)
    if (!expected.insert(name).second)
      return op->emitOpError() << "dimension '" << name.getValue() << "' cannot be mapped along";
  if (expected.size() != larger.getDims().size() ||
      !llvm::all_of(larger.getDims(), [&](StringAttr dim) { return expected.contains(dim); }))
    return op->emitOpError() << "dimensions of " << larger << " are not those of " << smaller << " with " << along;
  return success();
}

LogicalResult OneToAllOp::verify() { return verifyAlong(*this, getSource().getType(), getType(), getAlong()); }

OpFoldResult OneToAllOp::fold(FoldAdaptor) { return getAlong().empty() ? getSource() : Value(); }

LogicalResult AllToOneOp::verify() {
  if (!isLegal(getReducer(), getType().getElementType()))
    return emitOpError() << "reducer '" << stringifyReducer(getReducer()) << "' is not defined on "
                         << getType().getElementType();
  return verifyAlong(*this, getType(), getSource().getType(), getAlong());
}

OpFoldResult AllToOneOp::fold(FoldAdaptor) { return getAlong().empty() ? getSource() : Value(); }

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) &&
      (parser.parseCommaSeparatedList(parseBinding) || parser.parseColonTypeList(types) || parser.parseRParen()))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(loc, "expected one type per operand");
  for (auto [argument, type] : llvm::zip_equal(arguments, types)) {
    auto space = dyn_cast<SpaceType>(type);
    if (!space)
      return parser.emitError(loc, "operands must be spaces, not ") << type;
    argument.type = space.getElementType();
  }
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments) ||
      parser.parseArrowTypeList(result.types) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getOperands()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
  if (!getOperands().empty())
    printer << " : " << getOperands().getTypes();
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer << " -> " << getType();
}

LogicalResult MapOp::verify() {
  for (Type type : getOperands().getTypes())
    if (cast<SpaceType>(type).getDims() != getType().getDims())
      return emitOpError() << "operands must have the dimensions of the result, but " << type << " differs from "
                           << getType();
  return success();
}

LogicalResult MapOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getNumOperands())
    return emitOpError() << "needs one block argument per operand";
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), getOperands()))
    if (argument.getType() != cast<SpaceType>(operand.getType()).getElementType())
      return emitOpError() << "block arguments must have the element types of the operands";
  auto yield = cast<YieldOp>(body.getTerminator());
  if (!yield.getValue() || yield.getValue().getType() != getType().getElementType())
    return emitOpError() << "must yield one value of type " << getType().getElementType();
  for (Operation &op : body.without_terminator()) {
    if (!isMemoryEffectFree(&op))
      return op.emitOpError() << "has side effects, which the body of 'spacemap.map' may not have";
    if (!llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }))
      return op.emitOpError() << "makes something other than a scalar in the body of 'spacemap.map'";
  }
  WalkResult walk = getBody().walk([&](Operation *op) {
    if (llvm::all_of(op->getOperands(), [&](Value value) { return getBody().isAncestor(value.getParentRegion()); }))
      return WalkResult::advance();
    op->emitOpError() << "uses a value from outside of the body of 'spacemap.map'";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
