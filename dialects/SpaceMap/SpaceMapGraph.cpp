//===- SpaceMapGraph.cpp - spacemap.graph, temporal and their terminators -===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "DimNames.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fusion::spacemap;

//===----------------------------------------------------------------------===//
// GraphOp: accessors
//===----------------------------------------------------------------------===//

int64_t GraphOp::getDimIndex(StringAttr dim) {
  for (auto [index, name] : llvm::enumerate(getDimNames()))
    if (name == dim)
      return index;
  return -1;
}

StringAttr GraphOp::getDimName(unsigned index) { return cast<StringAttr>(getDimNames()[index]); }

int64_t GraphOp::getStaticExtent(StringAttr dim) { return getStaticExtents()[getDimIndex(dim)]; }

OpFoldResult GraphOp::getExtent(StringAttr dim) {
  int64_t index = getDimIndex(dim);
  ArrayRef<int64_t> extents = getStaticExtents();
  if (!ShapedType::isDynamic(extents[index]))
    return Builder(getContext()).getIndexAttr(extents[index]);
  return getDynamicExtents()[llvm::count(extents.take_front(index), ShapedType::kDynamic)];
}

int64_t GraphOp::getBlockSize(StringAttr dim) {
  std::optional<ArrayRef<int64_t>> blocks = getBlockSizes();
  return blocks ? (*blocks)[getDimIndex(dim)] : 0;
}

void GraphOp::sortDims(SmallVectorImpl<StringAttr> &dims) {
  llvm::sort(dims, [&](StringAttr a, StringAttr b) { return getDimIndex(a) < getDimIndex(b); });
}

//===----------------------------------------------------------------------===//
// GraphOp: assembly
//===----------------------------------------------------------------------===//

// spacemap.graph dims [m = 8, n = %d] ins(%a = %x : tensor<8x?xf32>) blocks [m = 4] { ... } -> tensor<8xf32>

static ParseResult parseBindings(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                 SmallVectorImpl<Type> &types) {
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(parseBinding) || parser.parseColonTypeList(types) || parser.parseRParen())
    return failure();
  if (types.size() != arguments.size())
    return parser.emitError(parser.getCurrentLocation(), "expected one type per binding");
  return success();
}

static void printBindings(OpAsmPrinter &printer, Block &body, OperandRange operands) {
  printer << "(";
  llvm::interleaveComma(llvm::zip_equal(body.getArguments(), operands), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
  if (!operands.empty())
    printer << " : " << operands.getTypes();
  printer << ")";
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> names;
  SmallVector<int64_t> extents;
  SmallVector<OpAsmParser::UnresolvedOperand> dynamicExtents;
  auto parseExtent = [&]() -> ParseResult {
    StringAttr name;
    if (parseDimName(parser, name) || parser.parseEqual())
      return failure();
    names.push_back(name);
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      extents.push_back(ShapedType::kDynamic);
      dynamicExtents.push_back(operand);
      return *isOperand;
    }
    return parser.parseInteger(extents.emplace_back());
  };
  if (parser.parseKeyword("dims") || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseExtent))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> inputTypes;
  SMLoc inputLoc = parser.getCurrentLocation();
  if (parser.parseKeyword("ins") || parseBindings(parser, arguments, inputs, inputTypes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, inputTypes))
    argument.type = type;

  if (succeeded(parser.parseOptionalKeyword("blocks"))) {
    SmallVector<int64_t> blocks(names.size(), 0);
    auto parseBlock = [&]() -> ParseResult {
      SMLoc loc = parser.getCurrentLocation();
      StringAttr name;
      int64_t size;
      if (parseDimName(parser, name) || parser.parseEqual() || parser.parseInteger(size))
        return failure();
      auto it = llvm::find(names, name);
      if (it == names.end())
        return parser.emitError(loc, "'") << name.getValue() << "' is not a dimension of this graph";
      int64_t &block = blocks[it - names.begin()];
      if (block != 0)
        return parser.emitError(loc, "dimension '") << name.getValue() << "' has a block size already";
      block = size;
      return success();
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseBlock))
      return failure();
    result.addAttribute(getBlockSizesAttrName(result.name), builder.getDenseI64ArrayAttr(blocks));
  }

  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.resolveOperands(inputs, inputTypes, inputLoc, result.operands) ||
      parser.resolveOperands(dynamicExtents, builder.getIndexType(), result.operands))
    return failure();
  ensureTerminator(*body, builder, result.location);
  result.addAttribute(getDimNamesAttrName(result.name), builder.getArrayAttr(names));
  result.addAttribute(getStaticExtentsAttrName(result.name), builder.getDenseI64ArrayAttr(extents));
  auto segments = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(dynamicExtents.size())};
  llvm::copy(segments, result.getOrAddProperties<GraphOp::Properties>().operandSegmentSizes.begin());
  return success();
}

void GraphOp::print(OpAsmPrinter &printer) {
  printer << " dims [";
  auto dynamic = getDynamicExtents().begin();
  llvm::interleaveComma(llvm::zip_equal(getDimNames(), getStaticExtents()), printer, [&](auto pair) {
    printer.printKeywordOrString(cast<StringAttr>(std::get<0>(pair)).strref());
    printer << " = ";
    if (ShapedType::isDynamic(std::get<1>(pair)))
      printer << *dynamic++;
    else
      printer << std::get<1>(pair);
  });
  printer << "] ins";
  printBindings(printer, getBody().front(), getInputs());
  if (getBlockSizes()) {
    printer << " blocks [";
    bool first = true;
    for (auto [name, size] : llvm::zip_equal(getDimNames(), *getBlockSizes())) {
      if (size == 0)
        continue;
      if (!first)
        printer << ", ";
      first = false;
      printer.printKeywordOrString(cast<StringAttr>(name).strref());
      printer << " = " << size;
    }
    printer << "]";
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getDimNamesAttrName(), getStaticExtentsAttrName(),
                                                                 getBlockSizesAttrName(), getOperandSegmentSizeAttr()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalArrowTypeList(getResultTypes());
}

//===----------------------------------------------------------------------===//
// GraphOp: verification
//===----------------------------------------------------------------------===//

LogicalResult GraphOp::verify() {
  ArrayRef<int64_t> extents = getStaticExtents();
  if (getDimNames().size() != extents.size())
    return emitOpError() << "has " << getDimNames().size() << " dimension names but " << extents.size() << " extents";
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (Attribute name : getDimNames()) {
    if (cast<StringAttr>(name).getValue().empty())
      return emitOpError() << "has a dimension without a name";
    if (!seen.insert(name).second)
      return emitOpError() << "names dimension " << name << " twice";
  }
  for (auto [name, extent] : llvm::zip_equal(getDimNames(), extents))
    if (extent < 0 && !ShapedType::isDynamic(extent))
      return emitOpError() << "dimension " << name << " has negative extent " << extent;
  size_t numDynamic = llvm::count(extents, ShapedType::kDynamic);
  if (numDynamic != getDynamicExtents().size())
    return emitOpError() << "has " << numDynamic << " dynamic extents but " << getDynamicExtents().size()
                         << " operands for them";
  if (std::optional<ArrayRef<int64_t>> blocks = getBlockSizes()) {
    if (blocks->size() != extents.size())
      return emitOpError() << "needs one block size per dimension";
    for (auto [name, size] : llvm::zip_equal(getDimNames(), *blocks))
      if (size < 0)
        return emitOpError() << "block size of dimension " << name << " is negative";
  }
  return success();
}

/// Checks that axis `i` of `type` has the extent of the `i`-th dimension of `axes`.
static LogicalResult verifyAxes(Operation *op, GraphOp graph, ArrayRef<StringAttr> axes, RankedTensorType type,
                                StringRef what) {
  if (type.getRank() != static_cast<int64_t>(axes.size()))
    return op->emitOpError() << what << " has rank " << type.getRank() << " but " << axes.size() << " axes are listed";
  for (auto [axis, size] : llvm::zip_equal(axes, type.getShape())) {
    if (graph.getDimIndex(axis) < 0)
      return op->emitOpError() << "'" << axis.getValue() << "' is not a dimension of the graph";
    if (size != graph.getStaticExtent(axis))
      return op->emitOpError() << what << " does not have the extent of dimension '" << axis.getValue() << "'";
  }
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "block arguments must have the types of the inputs";

  // Space types name this graph's dimensions, in its order.
  auto verifySpace = [&](Operation *op, Type type) -> LogicalResult {
    auto space = dyn_cast<SpaceType>(type);
    if (!space)
      return success();
    int64_t last = -1;
    for (StringAttr dim : space.getDims()) {
      int64_t index = getDimIndex(dim);
      if (index < 0)
        return op->emitOpError() << "has dimension '" << dim.getValue() << "', which the graph does not have";
      if (index <= last)
        return op->emitOpError() << "has dimensions out of the graph's order in " << type;
      last = index;
    }
    return success();
  };
  WalkResult walk = getBody().walk([&](Operation *op) {
    bool isInGraph = isa<GraphOp, TemporalOp>(op->getParentOp());
    if (isa<GraphOp>(op) || (isInGraph && op->getDialect() != getOperation()->getDialect())) {
      op->emitOpError() << "is not an operation of a space-mapping graph";
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes())
      if (failed(verifySpace(op, type)))
        return WalkResult::interrupt();
    // Only the graph's block arguments are tensors in here: a source reads an input.
    if (auto source = dyn_cast<SourceOp>(op)) {
      if (auto type = dyn_cast<RankedTensorType>(source.getInput().getType()))
        if (failed(verifyAxes(op, *this, getNames(source.getAxes()), type, "the input")))
          return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  auto output = cast<OutputOp>(body.getTerminator());
  if (output.getValues().size() != getNumResults())
    return output.emitOpError() << "has " << output.getValues().size() << " values for " << getNumResults()
                                << " results";
  for (auto [value, axes, type] : llvm::zip_equal(output.getValues(), output.getAxes(), getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    if (cast<SpaceType>(value.getType()).getElementType() != tensor.getElementType())
      return output.emitOpError() << "element type of " << value.getType() << " differs from that of the result "
                                  << type;
    if (failed(verifyAxes(output, *this, getNames(cast<ArrayAttr>(axes)), tensor, "the result")))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// OutputOp
//===----------------------------------------------------------------------===//

ParseResult OutputOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Attribute> axes;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult first = parser.parseOptionalOperand(operand);
  if (first.has_value()) {
    if (failed(*first))
      return failure();
    do {
      if (!operands.empty() && parser.parseOperand(operand))
        return failure();
      operands.push_back(operand);
      ArrayAttr names;
      if (parseDimNames(parser, names))
        return failure();
      axes.push_back(names);
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseColonTypeList(types))
      return failure();
  }
  result.addAttribute(getAxesAttrName(result.name), parser.getBuilder().getArrayAttr(axes));
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 parser.resolveOperands(operands, types, loc, result.operands));
}

void OutputOp::print(OpAsmPrinter &printer) {
  if (!getValues().empty()) {
    printer << " ";
    llvm::interleaveComma(llvm::zip_equal(getValues(), getAxes()), printer, [&](auto pair) {
      printer << std::get<0>(pair) << " ";
      printDimNames(printer, *this, cast<ArrayAttr>(std::get<1>(pair)));
    });
    printer << " : " << getValues().getTypes();
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {getAxesAttrName()});
}

LogicalResult OutputOp::verify() {
  if (getAxes().size() != getValues().size())
    return emitOpError() << "needs one list of axes per value";
  for (auto [value, axes] : llvm::zip_equal(getValues(), getAxes())) {
    auto names = dyn_cast<ArrayAttr>(axes);
    if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return emitOpError() << "axes must be lists of dimension names";
    auto space = cast<SpaceType>(value.getType());
    SmallVector<StringAttr> list = getNames(names);
    if (list.size() != space.getDims().size() ||
        !llvm::all_of(list, [&](StringAttr dim) { return space.hasDim(dim); }) ||
        llvm::SmallPtrSet<Attribute, 8>(list.begin(), list.end()).size() != list.size())
      return emitOpError() << "axes " << axes << " are not the dimensions of " << space;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// TemporalOp
//===----------------------------------------------------------------------===//

ParseResult TemporalOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr dim;
  int64_t step;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  if (parser.parseKeyword("along") || parseDimName(parser, dim) || parser.parseKeyword("by") ||
      parser.parseInteger(step))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parseBindings(parser, arguments, inits, types))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addAttribute(getDimAttrName(result.name), dim);
  result.addAttribute(getStepAttrName(result.name), builder.getI64IntegerAttr(step));
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments) ||
      parser.parseOptionalArrowTypeList(result.types) || parser.resolveOperands(inits, types, loc, result.operands))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void TemporalOp::print(OpAsmPrinter &printer) {
  printer << " along ";
  printDimName(printer, *this, getDimAttr());
  printer << " by " << getStep() << " ";
  printBindings(printer, getBody().front(), getInits());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getDimAttrName(), getStepAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalArrowTypeList(getResultTypes());
}

LogicalResult TemporalOp::verify() {
  auto graph = dyn_cast_or_null<GraphOp>((*this)->getParentOp());
  if (graph && graph.getDimIndex(getDimAttr()) < 0)
    return emitOpError() << "'" << getDim() << "' is not a dimension of the graph";
  if (getStep() < 1)
    return emitOpError() << "needs a positive step, not " << getStep();
  if (graph && graph.getBlockSize(getDimAttr()) != 0)
    return emitOpError() << "slices dimension '" << getDim() << "', which is spatially sliced already";
  for (Type type : getInits().getTypes())
    if (cast<SpaceType>(type).hasDim(getDimAttr()))
      return emitOpError() << "a state may not have the sliced dimension '" << getDim() << "'";
  return success();
}

LogicalResult TemporalOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInits().getTypes())
    return emitOpError() << "block arguments must have the types of the initial states";
  auto next = cast<NextOp>(body.getTerminator());
  if (next.getStates().getTypes() != getInits().getTypes())
    return next.emitOpError() << "states must have the types of the initial states";
  for (Type type : next.getCollected().getTypes())
    if (!cast<SpaceType>(type).hasDim(getDimAttr()))
      return next.emitOpError() << "what is collected must have the sliced dimension '" << getDim() << "'";
  if (next.getOperandTypes() != getResultTypes())
    return emitOpError() << "results must have the types of the states, then of what is collected";

  WalkResult walk = getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto space = dyn_cast<SpaceType>(operand.getType());
      if (space && space.hasDim(getDimAttr()) && !getBody().isAncestor(operand.getParentRegion())) {
        op->emitOpError() << "uses a space with the sliced dimension '" << getDim()
                          << "' that was made outside of the slices";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
