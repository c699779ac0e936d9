//===- SliceRewriting.cpp - Slices of results from slices of operands ---------===//

#include "SliceRewriting.h"

#include "GenericRewriting.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fusion {

Box getBox(tensor::ExtractSliceOp slice) { return {slice.getMixedOffsets(), slice.getMixedSizes()}; }

namespace {

/// Whether the boxes certainly have no element in common.
bool areDisjoint(const Box &lhs, const Box &rhs) {
  for (unsigned axis = 0; axis < lhs.offsets.size(); ++axis) {
    std::optional<int64_t> a = getConstantIntValue(lhs.offsets[axis]), n = getConstantIntValue(lhs.sizes[axis]);
    std::optional<int64_t> b = getConstantIntValue(rhs.offsets[axis]), m = getConstantIntValue(rhs.sizes[axis]);
    if (a && n && b && m && (*a + *n <= *b || *b + *m <= *a))
      return true;
  }
  return false;
}

/// Whether the box is all of `tensor`.
bool isWhole(Value tensor, const Box &box) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!isWholeAxis(tensor, axis, box.offsets[axis], box.sizes[axis]))
      return false;
  return true;
}

} // namespace

Value createSlice(OpBuilder &builder, Location loc, Value tensor, const Box &box) {
  if (isWhole(tensor, box))
    return tensor;
  Type elementType = getElementTypeOrSelf(tensor.getType());
  if (tensor.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, loc, box.sizes, elementType);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>(); fill && fill.hasPureTensorSemantics()) {
    Value empty = tensor::EmptyOp::create(builder, loc, box.sizes, elementType);
    return linalg::FillOp::create(builder, loc, fill.getInputs()[0], empty).getResult(0);
  }
  // A static slice stands right behind what it is taken from, so that it does not come between operations that fuse.
  OpBuilder::InsertionGuard guard(builder);
  auto isStatic = [](OpFoldResult value) { return isa<Attribute>(value); };
  if (llvm::all_of(box.offsets, isStatic) && llvm::all_of(box.sizes, isStatic))
    builder.setInsertionPointAfterValue(tensor);
  SmallVector<OpFoldResult> strides(box.sizes.size(), builder.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(builder, loc, tensor, box.offsets, box.sizes, strides);
  SplatElementsAttr splat;
  auto type = cast<RankedTensorType>(slice.getType());
  if (matchPattern(tensor, m_Constant(&splat)) && type.hasStaticShape()) {
    slice.getDefiningOp()->erase();
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(type));
  }
  return slice;
}

void shiftIndex(linalg::GenericOp op, unsigned loop, OpFoldResult offset) {
  if (isConstantIntValue(offset, 0))
    return;
  OpBuilder builder(op.getContext());
  SmallVector<linalg::IndexOp> indices(op.getBody()->getOps<linalg::IndexOp>());
  for (linalg::IndexOp index : indices) {
    if (index.getDim() != loop)
      continue;
    builder.setInsertionPointAfter(index);
    Value by = getValueOrCreateConstantIndexOp(builder, op.getLoc(), offset);
    Value position = arith::AddIOp::create(builder, op.getLoc(), index, by);
    index.getResult().replaceAllUsesExcept(position, position.getDefiningOp());
  }
}

namespace {

/// Gives `value`, a slice of the source's rank, the type of `slice`, which may have lost axes of extent 1.
Value dropAxes(OpBuilder &builder, tensor::ExtractSliceOp slice, Value value) {
  if (value.getType() == slice.getType())
    return value;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (unsigned axis = 0; axis < dropped.size(); ++axis) {
    if (dropped.test(axis)) {
      (groups.empty() ? leading : groups.back()).push_back(axis);
      continue;
    }
    groups.push_back(groups.empty() ? leading : ReassociationIndices());
    groups.back().push_back(axis);
  }
  if (dropped.any())
    value = tensor::CollapseShapeOp::create(builder, slice.getLoc(), value, groups);
  if (value.getType() != slice.getType())
    value = tensor::CastOp::create(builder, slice.getLoc(), slice.getType(), value);
  return value;
}

bool hasSliceableOperands(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !llvm::is_contained(tensor.getShape(), 0);
  });
}

bool arePairwiseDisjoint(ArrayRef<tensor::ExtractSliceOp> slices) {
  for (unsigned i = 0; i < slices.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (!areDisjoint(getBox(slices[i]), getBox(slices[j])))
        return false;
  return true;
}

Value pushTranspose(OpBuilder &builder, linalg::TransposeOp op, const Box &box) {
  if (!op.hasPureTensorSemantics())
    return {};
  Box source = box;
  for (auto [axis, sourceAxis] : llvm::enumerate(op.getPermutation())) {
    source.offsets[sourceAxis] = box.offsets[axis];
    source.sizes[sourceAxis] = box.sizes[axis];
  }
  Value input = createSlice(builder, op.getLoc(), op.getInput(), source);
  Value init = tensor::EmptyOp::create(builder, op.getLoc(), box.sizes, getElementTypeOrSelf(input.getType()));
  return linalg::TransposeOp::create(builder, op.getLoc(), input, init, op.getPermutation())->getResult(0);
}

/// Axes that stem from one axis: only the outermost one that is not of extent 1 may be cut.
Value pushExpand(OpBuilder &builder, tensor::ExpandShapeOp op, const Box &box) {
  RankedTensorType type = op.getResultType();
  Box source;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t inner = 1;
    OpFoldResult offset = builder.getIndexAttr(0), size = builder.getIndexAttr(1);
    bool cut = false;
    for (int64_t axis : llvm::reverse(group)) {
      if (type.getDimSize(axis) == 1)
        continue;
      if (cut)
        return {}; // an inner axis is cut or of unknown extent
      std::optional<int64_t> first = getConstantIntValue(box.offsets[axis]),
                             count = getConstantIntValue(box.sizes[axis]);
      bool whole = !type.isDynamicDim(axis) && first == 0 && count == type.getDimSize(axis);
      if (whole) {
        inner *= *count;
        size = builder.getIndexAttr(inner);
        continue;
      }
      cut = true;
      if (inner != 1 && (!first || !count))
        return {};
      offset = inner == 1 ? box.offsets[axis] : OpFoldResult(builder.getIndexAttr(*first * inner));
      size = inner == 1 ? box.sizes[axis] : OpFoldResult(builder.getIndexAttr(*count * inner));
    }
    source.offsets.push_back(offset);
    source.sizes.push_back(size);
  }
  Value input = createSlice(builder, op.getLoc(), op.getSrc(), source);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : box.sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto resultType = RankedTensorType::get(shape, type.getElementType());
  if (resultType.getRank() == 0)
    return {};
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), resultType, input, op.getReassociationIndices(),
                                       box.sizes);
}

/// An axis made of several: it may be cut in whole rows of the outermost one that is not of extent 1.
Value pushCollapse(OpBuilder &builder, tensor::CollapseShapeOp op, const Box &box) {
  RankedTensorType type = op.getSrcType();
  Box source;
  source.offsets.resize(type.getRank(), builder.getIndexAttr(0));
  source.sizes.resize(type.getRank(), builder.getIndexAttr(1));
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    SmallVector<int64_t> axes;
    for (int64_t sourceAxis : group)
      if (type.getDimSize(sourceAxis) != 1)
        axes.push_back(sourceAxis);
    if (axes.empty())
      continue;
    int64_t inner = 1;
    for (int64_t sourceAxis : ArrayRef(axes).drop_front()) {
      if (type.isDynamicDim(sourceAxis))
        return {};
      inner *= type.getDimSize(sourceAxis);
      source.sizes[sourceAxis] = builder.getIndexAttr(type.getDimSize(sourceAxis));
    }
    std::optional<int64_t> first = getConstantIntValue(box.offsets[axis]), count = getConstantIntValue(box.sizes[axis]);
    if (inner != 1 && (inner == 0 || !first || !count || *first % inner != 0 || *count % inner != 0))
      return {};
    source.offsets[axes.front()] = inner == 1 ? box.offsets[axis] : OpFoldResult(builder.getIndexAttr(*first / inner));
    source.sizes[axes.front()] = inner == 1 ? box.sizes[axis] : OpFoldResult(builder.getIndexAttr(*count / inner));
  }
  Value input = createSlice(builder, op.getLoc(), op.getSrc(), source);
  return tensor::CollapseShapeOp::create(builder, op.getLoc(), input, op.getReassociationIndices());
}

Value pushGeneric(OpBuilder &builder, linalg::GenericOp op, const Box &box) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1)
    return {};
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&inner) || inner.getNumRegions() != 0)
      return {};
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return {};

  // Which loops run over less, and from where.
  OpOperand *init = op.getDpsInitOperand(0);
  DenseMap<unsigned, std::pair<OpFoldResult, OpFoldResult>> ranges;
  for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(init).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (isWholeAxis(init->get(), axis, box.offsets[axis], box.sizes[axis]))
      continue;
    if (!dim || !ranges.try_emplace(dim.getPosition(), box.offsets[axis], box.sizes[axis]).second)
      return {};
  }

  Location loc = op.getLoc();
  SmallVector<Value> inputs;
  Value newInit;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type) {
      inputs.push_back(operand.get());
      continue;
    }
    Box part;
    bool isCut = false;
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto range = dim ? ranges.find(dim.getPosition()) : ranges.end();
      bool cut = range != ranges.end();
      isCut |= cut;
      part.offsets.push_back(cut ? range->second.first : OpFoldResult(builder.getIndexAttr(0)));
      part.sizes.push_back(cut ? range->second.second : getExtent(builder, loc, operand.get(), axis));
    }
    Value value = isCut ? createSlice(builder, loc, operand.get(), part) : operand.get();
    if (op.isDpsInit(&operand))
      newInit = value;
    else
      inputs.push_back(value);
  }
  auto result = linalg::GenericOp::create(builder, loc, newInit.getType(), inputs, newInit, op.getIndexingMaps(),
                                          op.getIteratorTypes(), op.getDocAttr(), op.getLibraryCallAttr());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    result->setDiscardableAttr(attribute.getName(), attribute.getValue());
  IRMapping mapping;
  op.getRegion().cloneInto(&result.getRegion(), mapping);

  // Positions count from the start of the whole.
  for (auto [loop, range] : ranges)
    shiftIndex(result, loop, range.first);
  builder.setInsertionPointAfter(result);
  return result.getResult(0);
}

/// The slice of `op`'s result computed from slices of its operands, at the source's rank. Null if that cannot be
/// done.
Value push(OpBuilder &builder, Operation *op, tensor::ExtractSliceOp slice) {
  Box box = getBox(slice);
  if (isa<linalg::FillOp, tensor::EmptyOp>(op))
    return createSlice(builder, slice.getLoc(), op->getResult(0), box);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return pushGeneric(builder, generic, box);
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return pushTranspose(builder, transpose, box);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return pushExpand(builder, expand, box);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return pushCollapse(builder, collapse, box);
  return {};
}

/// Of slices that are alike one remains, the first.
void mergeEqualSlices(SmallVector<tensor::ExtractSliceOp> &slices) {
  llvm::sort(slices, [](tensor::ExtractSliceOp lhs, tensor::ExtractSliceOp rhs) { return lhs->isBeforeInBlock(rhs); });
  SmallVector<tensor::ExtractSliceOp> kept;
  for (tensor::ExtractSliceOp slice : slices) {
    auto equal = llvm::find_if(kept, [&](tensor::ExtractSliceOp other) {
      return other.getType() == slice.getType() && other.getMixedOffsets() == slice.getMixedOffsets() &&
             other.getMixedSizes() == slice.getMixedSizes();
    });
    if (equal == kept.end()) {
      kept.push_back(slice);
      continue;
    }
    slice.getResult().replaceAllUsesWith(equal->getResult());
    slice.erase();
  }
  slices = std::move(kept);
}

} // namespace

unsigned pushSlicesAbove(Operation *op) {
  SmallVector<tensor::ExtractSliceOp> slices;
  bool onlySlices = true;
  for (OpOperand &use : op->getUses()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
    if (slice && use.getOperandNumber() == 0 && slice.hasUnitStride() && slice->getBlock() == op->getBlock())
      slices.push_back(slice);
    else
      onlySlices = false;
  }
  if (slices.empty())
    return 0;
  mergeEqualSlices(slices);
  // Shape changes and fills cost nothing; anything else must not be computed twice.
  if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::TransposeOp, linalg::FillOp, tensor::EmptyOp>(op) &&
      (!onlySlices || !arePairwiseDisjoint(slices)))
    return 0;
  // An axis of extent 0 has no valid offset to slice it at.
  if (!hasSliceableOperands(op))
    return 0;
  unsigned count = 0;
  for (tensor::ExtractSliceOp slice : slices) {
    OpBuilder builder(slice);
    Value pushed = push(builder, op, slice);
    if (!pushed)
      continue;
    slice.getResult().replaceAllUsesWith(dropAxes(builder, slice, pushed));
    slice.erase();
    ++count;
  }
  if (isOpTriviallyDead(op))
    op->erase();
  return count;
}

} // namespace fusion
