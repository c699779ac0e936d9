//===- ViewCoordinates.cpp - Positions through reshapes, transposes, slices ---===//

#include "ViewCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {

ViewChain::ViewChain(Value tensor) : origin(tensor) {
  while (Operation *def = origin.getDefiningOp()) {
    if (auto transpose = dyn_cast<linalg::TransposeOp>(def)) {
      if (!transpose.hasPureTensorSemantics())
        return;
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      if (!slice.hasUnitStride())
        return;
    } else if (auto cast = dyn_cast<tensor::CastOp>(def)) {
      if (!isa<RankedTensorType>(cast.getSource().getType()))
        return;
    } else if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def)) {
      return;
    }
    views.push_back(def);
    origin = def->getOperand(0);
  }
}

namespace {

Value add(OpBuilder &builder, Location loc, Value lhs, OpFoldResult rhs) {
  if (isConstantIntValue(rhs, 0))
    return lhs;
  return builder.createOrFold<arith::AddIOp>(loc, lhs, getValueOrCreateConstantIndexOp(builder, loc, rhs));
}

/// Position in the one axis that the axes of `group`, of extents `shape`, were made from.
Value linearize(OpBuilder &builder, Location loc, ArrayRef<int64_t> group, ArrayRef<OpFoldResult> shape,
                ArrayRef<Value> position) {
  Value result;
  for (int64_t axis : group) {
    if (isConstantIntValue(shape[axis], 1))
      continue;
    if (result) {
      Value extent = getValueOrCreateConstantIndexOp(builder, loc, shape[axis]);
      result = builder.createOrFold<arith::MulIOp>(loc, result, extent);
      result = builder.createOrFold<arith::AddIOp>(loc, result, position[axis]);
    } else {
      result = position[axis];
    }
  }
  return result ? result : arith::ConstantIndexOp::create(builder, loc, 0).getResult();
}

/// Positions in the axes of `group`, of type `type`, that were collapsed to one axis.
LogicalResult delinearize(OpBuilder &builder, Location loc, ArrayRef<int64_t> group, RankedTensorType type,
                          Value position, MutableArrayRef<Value> result) {
  Value rest = position;
  SmallVector<int64_t> axes;
  for (int64_t axis : group) {
    if (type.getDimSize(axis) == 1)
      result[axis] = arith::ConstantIndexOp::create(builder, loc, 0);
    else
      axes.push_back(axis);
  }
  for (int64_t axis : llvm::reverse(axes)) {
    if (axis == axes.front()) {
      result[axis] = rest;
      break;
    }
    if (type.isDynamicDim(axis))
      return failure();
    Value extent = arith::ConstantIndexOp::create(builder, loc, type.getDimSize(axis));
    result[axis] = arith::RemUIOp::create(builder, loc, rest, extent);
    rest = arith::DivUIOp::create(builder, loc, rest, extent);
  }
  return success();
}

FailureOr<SmallVector<Value>> getSourcePosition(OpBuilder &builder, Location loc, Operation *view,
                                                ArrayRef<Value> position) {
  SmallVector<Value> result;
  if (isa<tensor::CastOp>(view))
    return SmallVector<Value>(position);
  if (auto transpose = dyn_cast<linalg::TransposeOp>(view)) {
    result.resize(position.size());
    for (auto [axis, sourceAxis] : llvm::enumerate(transpose.getPermutation()))
      result[sourceAxis] = position[axis];
    return result;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view)) {
    SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      result.push_back(linearize(builder, loc, group, shape, position));
    return result;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view)) {
    RankedTensorType type = collapse.getSrcType();
    result.resize(type.getRank());
    // All axes of a rank-0 result are of extent 1.
    if (position.empty()) {
      for (Value &coordinate : result)
        coordinate = arith::ConstantIndexOp::create(builder, loc, 0);
      return result;
    }
    for (auto [axis, group] : llvm::enumerate(collapse.getReassociationIndices()))
      if (failed(delinearize(builder, loc, group, type, position[axis], result)))
        return failure();
    return result;
  }
  auto slice = dyn_cast<tensor::ExtractSliceOp>(view);
  if (!slice)
    return failure();
  llvm::SmallBitVector droppedAxes = slice.getDroppedDims();
  unsigned next = 0;
  for (auto [axis, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    Value coordinate =
        droppedAxes.test(axis) ? arith::ConstantIndexOp::create(builder, loc, 0).getResult() : position[next++];
    result.push_back(add(builder, loc, coordinate, offset));
  }
  return result;
}

} // namespace

FailureOr<SmallVector<Value>> ViewChain::getOriginPosition(OpBuilder &builder, Location loc,
                                                           ArrayRef<Value> position) const {
  SmallVector<Value> current(position);
  for (Operation *view : views) {
    FailureOr<SmallVector<Value>> next = getSourcePosition(builder, loc, view, current);
    if (failed(next))
      return failure();
    current = std::move(*next);
  }
  return current;
}

} // namespace fusion
