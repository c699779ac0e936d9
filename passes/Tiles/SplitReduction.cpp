//===- SplitReduction.cpp - Reductions along the grid ---------------------===//
//
// A reduction along a dimension that is cut into blocks: every block leaves a partial result, and an operation behind
// the grid combines them in their order, so that the result does not depend on who computed what.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

StringAttr KernelLowering::getSplitDim() {
  for (StringAttr dim : getGridDims()) {
    WalkResult walk = graph.getBody().walk([&](AllToOneOp op) {
      return llvm::is_contained(op.getAlong(), dim) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return dim;
  }
  return {};
}

AllToOneOp KernelLowering::getPartial(Value output) {
  auto reduction = output.getDefiningOp<AllToOneOp>();
  StringAttr dim = getSplitDim();
  return reduction && dim && llvm::is_contained(reduction.getAlong(), dim) ? reduction : AllToOneOp();
}

OpFoldResult KernelLowering::getNumPartials(OpBuilder &builder) {
  StringAttr dim = getSplitDim();
  AffineExpr extent = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, graph.getLoc(), AffineMap::get(0, 1, extent.ceilDiv(graph.getBlockSize(dim))), {graph.getExtent(dim)});
}

TileBuilder::SliceOperands KernelLowering::getResultSlice(Value value, ArrayRef<StringAttr> axes) {
  TileBuilder::SliceOperands slice = build.getSliceOperands(axes, 0);
  if (!getPartial(value))
    return slice;
  StringAttr dim = getSplitDim();
  OpBuilder &builder = build.at(0);
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult block = affine::makeComposedFoldedAffineApply(
      builder, graph.getLoc(), AffineMap::get(1, 0, builder.getAffineDimExpr(0).floorDiv(graph.getBlockSize(dim))),
      {build.getRange(dim, 0).offset});
  slice.offsets.insert(slice.offsets.begin(), block);
  slice.sizes.insert(slice.sizes.begin(), one);
  slice.strides.push_back(one);
  return slice;
}

Tile KernelLowering::slicePartial(Value value, ArrayRef<StringAttr> axes, Value destination) {
  SmallVector<StringAttr> kept = plan.dropUnits(axes, 0);
  TileBuilder::SliceOperands operands = getResultSlice(value, axes);
  SmallVector<int64_t> shape;
  for (StringAttr axis : kept)
    shape.push_back(getConstantIntValue(build.getRange(axis, 0).size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(destination.getType()).getElementType());
  Value tensor = tensor::ExtractSliceOp::create(build.at(0), value.getLoc(), type, destination, operands.offsets,
                                                operands.sizes, operands.strides);
  return Tile{tensor, kept, /*isScratch=*/false, 0};
}

Value KernelLowering::combinePartial(AllToOneOp reduction, Value partial) {
  OpBuilder builder(graph);
  Location loc = reduction.getLoc();
  auto type = cast<RankedTensorType>(partial.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, partial);
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef(sizes).drop_front(), type.getElementType());
  Value identity = arith::ConstantOp::create(builder, loc, getIdentity(reduction.getReducer(), type.getElementType()));
  Value start = linalg::FillOp::create(builder, loc, identity, empty).getResult(0);
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> rest;
  for (int64_t dim = 1; dim < rank; ++dim)
    rest.push_back(builder.getAffineDimExpr(dim));
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(rank),
                              AffineMap::get(rank, 0, rest, builder.getContext())};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  auto combine = linalg::GenericOp::create(
      builder, loc, start.getType(), partial, start, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        linalg::YieldOp::create(inner, loc,
                                createCombine(inner, loc, reduction.getReducer(), arguments[1], arguments[0]));
      });
  combine->setAttr("fusion.combine", builder.getUnitAttr());
  return combine.getResult(0);
}
