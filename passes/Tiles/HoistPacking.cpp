//===- HoistPacking.cpp - Operands that many blocks would pack ------------===//
//
// A contraction's right-hand operand that does not depend on all dimensions of the grid would be rearranged again by
// every block that reads it. Then it is rearranged once, in front of the grid, to panels: all that one block reads of
// it is contiguous.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

/// Elements whose rearrangement costs as much as starting one more parallel loop.
static constexpr int64_t kWorthALoop = 1 << 17;
/// How much of the reduced dimension one iteration of that loop rearranges.
static constexpr int64_t kDepth = 256;

namespace {

/// The panels of an operand: `[outer..., panel, reduced..., column]`.
struct Panels {
  SmallVector<StringAttr> outer, reduced;
  StringAttr columns;
  int64_t width = 0, count = 0;
};

} // namespace

/// Fills `packed` with the panels of `input`, whose axes are `axes`, in a parallel loop over panels.
static Value fillPanels(OpBuilder &builder, Location loc, GraphOp graph, Value input, ArrayRef<StringAttr> axes,
                        const Panels &panels, Value packed) {
  // One iteration: an element of each outer dimension, one panel, and a piece of the first reduced dimension.
  SmallVector<OpFoldResult> lower, upper, step;
  auto addLoop = [&](int64_t end, int64_t by) {
    lower.push_back(builder.getIndexAttr(0));
    upper.push_back(builder.getIndexAttr(end));
    step.push_back(builder.getIndexAttr(by));
  };
  for (StringAttr dim : panels.outer)
    addLoop(graph.getStaticExtent(dim), 1);
  addLoop(panels.count, 1);
  int64_t depth = graph.getStaticExtent(panels.reduced.front());
  addLoop(depth, std::min(depth, kDepth));
  SmallVector<Attribute> mapping;
  for (unsigned i = 0; i < lower.size(); ++i)
    mapping.push_back(gpu::GPUBlockMappingAttr::get(
        builder.getContext(), static_cast<gpu::MappingId>(static_cast<unsigned>(gpu::MappingId::LinearDim0) + i)));
  auto forall =
      scf::ForallOp::create(builder, loc, lower, upper, step, packed, ArrayAttr::get(builder.getContext(), mapping));
  forall->setAttr("fusion.packing", builder.getUnitAttr());

  OpBuilder inner(forall.getBody(), forall.getBody()->begin());
  SmallVector<Value> ivs(forall.getInductionVars());
  Value panel = ivs[panels.outer.size()], start = ivs.back();
  AffineExpr d0 = inner.getAffineDimExpr(0);
  auto getRest = [&](Value offset, int64_t extent, int64_t piece) -> OpFoldResult {
    if (extent % piece == 0)
      return inner.getIndexAttr(piece);
    AffineMap map = AffineMap::get(1, 0, {inner.getAffineConstantExpr(extent) - d0, inner.getAffineConstantExpr(piece)},
                                   inner.getContext());
    return affine::makeComposedFoldedAffineMin(inner, loc, map, {OpFoldResult(offset)});
  };
  Value column = affine::AffineApplyOp::create(inner, loc, AffineMap::get(1, 0, d0 * panels.width), ValueRange{panel});
  OpFoldResult width = getRest(column, graph.getStaticExtent(panels.columns), panels.width);
  OpFoldResult height = getRest(start, depth, std::min(depth, kDepth));

  OpFoldResult zero = inner.getIndexAttr(0), one = inner.getIndexAttr(1);
  llvm::DenseMap<StringAttr, std::pair<OpFoldResult, OpFoldResult>> ranges;
  for (auto [dim, iv] : llvm::zip(panels.outer, ivs))
    ranges[dim] = {OpFoldResult(iv), one};
  for (StringAttr dim : panels.reduced)
    ranges[dim] = {zero, inner.getIndexAttr(graph.getStaticExtent(dim))};
  ranges[panels.reduced.front()] = {OpFoldResult(start), height};
  ranges[panels.columns] = {OpFoldResult(column), width};

  SmallVector<StringAttr> kept, order(panels.reduced);
  order.push_back(panels.columns);
  SmallVector<OpFoldResult> offsets, sizes, keptSizes;
  for (StringAttr axis : axes) {
    offsets.push_back(ranges[axis].first);
    sizes.push_back(ranges[axis].second);
    if (llvm::is_contained(panels.outer, axis))
      continue;
    kept.push_back(axis);
    keptSizes.push_back(sizes.back());
  }
  auto getType = [&](ArrayRef<OpFoldResult> extents) {
    SmallVector<int64_t> shape;
    for (OpFoldResult extent : extents)
      shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, cast<RankedTensorType>(input.getType()).getElementType());
  };
  SmallVector<OpFoldResult> strides(axes.size(), one);
  Value from = tensor::ExtractSliceOp::create(inner, loc, getType(keptSizes), input, offsets, sizes, strides);

  SmallVector<OpFoldResult> intoOffsets, intoSizes, tileSizes;
  for (StringAttr dim : panels.outer) {
    intoOffsets.push_back(ranges[dim].first);
    intoSizes.push_back(one);
  }
  intoOffsets.push_back(panel);
  intoSizes.push_back(one);
  for (StringAttr dim : order) {
    intoOffsets.push_back(dim == panels.columns ? zero : ranges[dim].first);
    intoSizes.push_back(ranges[dim].second);
    tileSizes.push_back(ranges[dim].second);
  }
  SmallVector<OpFoldResult> intoStrides(intoOffsets.size(), one);
  Value into = tensor::ExtractSliceOp::create(inner, loc, getType(tileSizes), forall.getRegionIterArgs().front(),
                                              intoOffsets, intoSizes, intoStrides);
  Value filled;
  if (kept == order) {
    filled = linalg::CopyOp::create(inner, loc, from, into).getResult(0);
  } else {
    SmallVector<int64_t> permutation;
    for (StringAttr dim : order)
      permutation.push_back(llvm::find(kept, dim) - kept.begin());
    filled = linalg::TransposeOp::create(inner, loc, from, into, permutation)->getResult(0);
  }
  OpBuilder atEnd = OpBuilder::atBlockEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(atEnd, loc, filled, forall.getRegionIterArgs().front(), intoOffsets, intoSizes,
                                        intoStrides);
  return forall.getResult(0);
}

std::optional<Tile> KernelLowering::getHoisted(Value leaf, const Tile &tile, StringAttr columns, AllToOneOp reduction) {
  auto source = leaf.getDefiningOp<SourceOp>();
  if (!source || !pack)
    return std::nullopt;
  SmallVector<StringAttr> axes = getNames(source.getAxes());
  Panels panels;
  panels.columns = columns;
  int64_t elements = 1;
  for (StringAttr dim : axes) {
    int64_t extent = graph.getStaticExtent(dim);
    if (ShapedType::isDynamic(extent) || extent == 0)
      return std::nullopt;
    elements *= extent;
    if (dim != columns)
      (llvm::is_contained(reduction.getAlong(), dim) ? panels.reduced : panels.outer).push_back(dim);
  }
  // Two more loops than outer dimensions; the mapping has names for ten.
  if (panels.reduced.empty() || panels.outer.size() > 8)
    return std::nullopt;
  // How often an element would be rearranged. Where an extent is not known there are many blocks.
  int64_t reuse = 1;
  for (StringAttr dim : getGridDims()) {
    int64_t extent = graph.getStaticExtent(dim);
    if (!llvm::is_contained(axes, dim))
      reuse *= ShapedType::isDynamic(extent) ? 8 : llvm::divideCeil(extent, graph.getBlockSize(dim));
  }
  if (elements * (reuse - 1) < kWorthALoop)
    return std::nullopt;

  unsigned level = tile.level;
  int64_t extent = graph.getStaticExtent(columns);
  panels.width = build.getRange(columns, level).isWhole ? extent : build.getStaticBound(columns, level);
  if (ShapedType::isDynamic(panels.width))
    return std::nullopt;
  panels.count = llvm::divideCeil(extent, panels.width);

  Location loc = reduction.getLoc();
  OpBuilder before(grid);
  auto argument = cast<BlockArgument>(source.getInput());
  Value input = graph.getInputs()[argument.getArgNumber()];
  Value &whole = hoisted[{
      input, ArrayAttr::get(graph.getContext(), {source.getAxes(), columns, before.getIndexAttr(panels.width)})}];
  if (!whole) {
    SmallVector<int64_t> shape;
    for (StringAttr dim : panels.outer)
      shape.push_back(graph.getStaticExtent(dim));
    shape.push_back(panels.count);
    for (StringAttr dim : panels.reduced)
      shape.push_back(graph.getStaticExtent(dim));
    shape.push_back(panels.width);
    Value empty = tensor::EmptyOp::create(before, loc, shape, cast<RankedTensorType>(input.getType()).getElementType());
    whole = fillPanels(before, loc, graph, input, axes, panels, empty);
  }

  OpBuilder &builder = build.at(level);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  Tile result{Value(), {}, /*isScratch=*/false, level};
  auto addAxis = [&](StringAttr dim, bool isColumns) {
    const DimRange &range = build.getRange(dim, level);
    offsets.push_back(isColumns ? zero : range.offset);
    sizes.push_back(range.size);
    if (plan.isUnit(dim, level))
      return;
    shape.push_back(getConstantIntValue(range.size).value_or(ShapedType::kDynamic));
    result.axes.push_back(dim);
  };
  for (StringAttr dim : panels.outer)
    addAxis(dim, /*isColumns=*/false);
  offsets.push_back(affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(1, 0, builder.getAffineDimExpr(0).floorDiv(panels.width)),
      {build.getRange(columns, level).offset}));
  sizes.push_back(one);
  for (StringAttr dim : panels.reduced)
    addAxis(dim, /*isColumns=*/false);
  addAxis(columns, /*isColumns=*/true);
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(whole.getType()).getElementType());
  SmallVector<OpFoldResult> strides(offsets.size(), one);
  result.tensor = tensor::ExtractSliceOp::create(builder, loc, type, whole, offsets, sizes, strides);
  return result;
}
