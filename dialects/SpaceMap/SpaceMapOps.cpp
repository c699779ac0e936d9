//===- SpaceMapOps.cpp - Sources, mappings and their folders --------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "DimNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
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

namespace {

/// one_to_all(one_to_all(x)) is one mapping along both lists.
struct MergeOneToAll : OpRewritePattern<OneToAllOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OneToAllOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<OneToAllOp>();
    if (!inner)
      return failure();
    // The new dimensions are listed in the order in which the result has them.
    SmallVector<Attribute> along;
    SpaceType source = inner.getSource().getType();
    for (StringAttr dim : op.getType().getDims())
      if (!source.hasDim(dim))
        along.push_back(dim);
    rewriter.replaceOpWithNewOp<OneToAllOp>(op, op.getType(), inner.getSource(), rewriter.getArrayAttr(along));
    return success();
  }
};

} // namespace

void OneToAllOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeOneToAll>(context);
}

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
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || !yield.getValue() || yield.getValue().getType() != getType().getElementType())
    return emitOpError() << "must yield one value of type " << getType().getElementType();
  for (Operation &op : body.without_terminator()) {
    if (!isMemoryEffectFree(&op))
      return op.emitOpError() << "has side effects, which the body of 'spacemap.map' may not have";
    if (!llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }))
      return op.emitOpError() << "makes something other than a scalar in the body of 'spacemap.map'";
    for (Value operand : op.getOperands())
      if (!getBody().isAncestor(operand.getParentRegion()))
        return op.emitOpError() << "uses a value from outside of the body of 'spacemap.map'";
  }
  return success();
}

namespace {

/// Drops operands that the body does not use, and all but the first of equal operands.
struct DropMapOperands : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    llvm::BitVector drop(op.getNumOperands());
    llvm::SmallDenseMap<Value, unsigned> first;
    Block &body = op.getBody().front();
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      BlockArgument argument = body.getArgument(index);
      auto [it, isNew] = first.try_emplace(operand, index);
      if (!isNew && !argument.use_empty())
        rewriter.replaceAllUsesWith(argument, body.getArgument(it->second));
      if (!isNew || argument.use_empty())
        drop.set(index);
      // An unused first occurrence must not stand for later ones.
      if (isNew && argument.use_empty())
        first.erase(it);
    }
    if (drop.none())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArguments(drop);
      op->eraseOperands(drop);
    });
    return success();
  }
};

/// A map whose body is a constant, seen through one_to_all or directly, moves into the body of its consumers.
struct InlineConstantMap : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      Value value = operand;
      if (auto broadcast = value.getDefiningOp<OneToAllOp>())
        value = broadcast.getSource();
      auto producer = value.getDefiningOp<MapOp>();
      if (!producer || producer.getNumOperands() != 0 || body.getArgument(index).use_empty())
        continue;
      rewriter.setInsertionPointToStart(&body);
      IRMapping mapping;
      for (Operation &inner : producer.getBody().front().without_terminator())
        rewriter.clone(inner, mapping);
      auto yield = cast<YieldOp>(producer.getBody().front().getTerminator());
      rewriter.replaceAllUsesWith(body.getArgument(index), mapping.lookupOrDefault(yield.getValue()));
      return success();
    }
    return failure();
  }
};

} // namespace

void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropMapOperands, InlineConstantMap>(context);
}

namespace {

/// Drops inputs that no source reads and inputs that occur twice.
struct DropGraphInputs : OpRewritePattern<GraphOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GraphOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    llvm::BitVector drop(op.getInputs().size());
    llvm::SmallDenseMap<Value, unsigned> first;
    for (auto [index, input] : llvm::enumerate(op.getInputs())) {
      auto [it, isNew] = first.try_emplace(input, index);
      if (!isNew)
        rewriter.replaceAllUsesWith(body.getArgument(index), body.getArgument(it->second));
    }
    for (unsigned index = 0, end = op.getInputs().size(); index != end; ++index)
      if (body.getArgument(index).use_empty())
        drop.set(index);
    if (drop.none())
      return failure();
    SmallVector<Value> kept;
    for (auto [index, input] : llvm::enumerate(op.getInputs()))
      if (!drop.test(index))
        kept.push_back(input);
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArguments(drop);
      op.getInputsMutable().assign(kept);
    });
    return success();
  }
};

} // namespace

void GraphOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropGraphInputs>(context);
}
