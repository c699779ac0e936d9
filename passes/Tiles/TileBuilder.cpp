//===- TileBuilder.cpp - Ranges, slices and scratch of one kernel ---------===//

#include "TileBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

static int64_t getElementBytes(Type type) {
  return type.isIndex() ? sizeof(int64_t) : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

TileBuilder::TileBuilder(GraphOp graph, const TilePlan &plan, TileCounts &counts)
    : graph(graph), plan(plan), counts(counts), builders{OpBuilder(graph), OpBuilder(graph)} {
  OpFoldResult zero = builders[0].getIndexAttr(0);
  for (auto name : graph.getDimNames().getAsRange<StringAttr>())
    ranges[0][name] = DimRange{zero, graph.getExtent(name), graph.getExtent(name), /*isWhole=*/true};
}

const DimRange &TileBuilder::getRange(StringAttr dim, unsigned level) {
  if (level == 1) {
    auto it = ranges[1].find(dim);
    if (it != ranges[1].end())
      return it->second;
  }
  return ranges[0].find(dim)->second;
}

void TileBuilder::leaveLoop() {
  ranges[1].clear();
  sources[1].clear();
}

int64_t TileBuilder::getStaticBound(StringAttr dim, unsigned level) {
  return getConstantIntValue(getRange(dim, level).bound).value_or(ShapedType::kDynamic);
}

DimRange TileBuilder::makeRange(unsigned level, Location loc, StringAttr dim, int64_t piece, Value offset) {
  OpBuilder &builder = at(level);
  OpFoldResult extent = graph.getExtent(dim);
  std::optional<int64_t> staticExtent = getConstantIntValue(extent);
  OpFoldResult size = builder.getIndexAttr(piece);
  if (piece != 1 && (!staticExtent || *staticExtent % piece != 0)) {
    // min(piece, extent - offset)
    AffineExpr d0 = builder.getAffineDimExpr(0), s0 = builder.getAffineSymbolExpr(0);
    AffineMap map = AffineMap::get(1, 1, {s0 - d0, builder.getAffineConstantExpr(piece)}, builder.getContext());
    size = affine::makeComposedFoldedAffineMin(builder, loc, map, {OpFoldResult(offset), extent});
  }
  return DimRange{offset, size, builder.getIndexAttr(piece), /*isWhole=*/false};
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

bool TileBuilder::isCutFromLongRows(RankedTensorType whole, StringAttr columns, unsigned level) {
  constexpr int64_t kLongRowBytes = 1024;
  int64_t length = whole.getShape().back();
  if (!ShapedType::isDynamic(length) &&
      (length == getStaticBound(columns, level) || length * getElementBytes(whole.getElementType()) <= kLongRowBytes))
    return false;
  return !getRange(columns, level).isWhole;
}

TileBuilder::SliceOperands TileBuilder::getSliceOperands(ArrayRef<StringAttr> axes, unsigned level) {
  SliceOperands operands;
  for (StringAttr axis : axes) {
    const DimRange &range = getRange(axis, level);
    operands.offsets.push_back(range.offset);
    operands.sizes.push_back(range.size);
  }
  operands.strides.assign(axes.size(), builders[0].getIndexAttr(1));
  return operands;
}

bool TileBuilder::isEmpty(ArrayRef<StringAttr> axes, unsigned level) {
  return llvm::any_of(axes, [&](StringAttr axis) { return isZeroInteger(getRange(axis, level).size); });
}

Value TileBuilder::makeEmpty(unsigned level, Location loc, ArrayRef<StringAttr> axes, Type elementType) {
  return tensor::EmptyOp::create(at(level), loc, getSliceOperands(axes, level).sizes, elementType);
}

Tile TileBuilder::slice(unsigned level, Location loc, Value whole, ArrayRef<StringAttr> axes, unsigned rangeLevel) {
  SmallVector<StringAttr> kept = plan.dropUnits(axes, rangeLevel);
  bool isWhole = kept.size() == axes.size() &&
                 llvm::all_of(axes, [&](StringAttr axis) { return getRange(axis, rangeLevel).isWhole; });
  if (isWhole)
    return Tile{whole, kept, /*isScratch=*/false, level};
  if (isEmpty(axes, rangeLevel))
    return Tile{makeEmpty(level, loc, kept, cast<RankedTensorType>(whole.getType()).getElementType()), kept,
                /*isScratch=*/false, level};
  SliceOperands operands = getSliceOperands(axes, rangeLevel);
  SmallVector<int64_t> shape;
  for (StringAttr axis : kept)
    shape.push_back(getConstantIntValue(getRange(axis, rangeLevel).size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(whole.getType()).getElementType());
  Value tensor =
      tensor::ExtractSliceOp::create(at(level), loc, type, whole, operands.offsets, operands.sizes, operands.strides);
  return Tile{tensor, kept, /*isScratch=*/false, level};
}

Tile TileBuilder::getSource(SourceOp source, unsigned level) {
  auto argument = cast<BlockArgument>(source.getInput());
  Value input = graph.getInputs()[argument.getArgNumber()];
  auto [it, isNew] = sources[level].try_emplace({input, source.getAxes()});
  if (isNew)
    it->second = slice(level, source.getLoc(), input, getNames(source.getAxes()), level);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

Tile TileBuilder::makeScratch(unsigned level, Location loc, ArrayRef<StringAttr> axes, Type elementType) {
  SmallVector<StringAttr> kept = plan.dropUnits(axes, level);
  if (isEmpty(kept, level))
    return Tile{makeEmpty(level, loc, kept, elementType), kept, /*isScratch=*/true, level};
  SmallVector<OpFoldResult> bounds, sizes;
  bool isRagged = false;
  int64_t bytes = getElementBytes(elementType);
  for (StringAttr axis : kept) {
    const DimRange &range = getRange(axis, level);
    bounds.push_back(range.bound);
    sizes.push_back(range.size);
    isRagged |= range.bound != range.size;
    std::optional<int64_t> bound = getConstantIntValue(range.bound);
    bytes = bound ? bytes * *bound : 0;
  }
  counts.tiles += 1;
  counts.scratchBytes += bytes;

  // Allocated once per block, also for a tile of a slice, so that no loop allocates.
  OpBuilder builder = builders[0];
  if (lastScratch)
    builder.setInsertionPointAfter(lastScratch);
  else
    builder.setInsertionPointToStart(scratchBlock);
  auto empty = tensor::EmptyOp::create(builder, loc, bounds, elementType);
  lastScratch = empty;
  Value tensor = empty;
  if (isRagged) {
    SmallVector<OpFoldResult> offsets(kept.size(), builder.getIndexAttr(0)),
        strides(kept.size(), builder.getIndexAttr(1));
    tensor = tensor::ExtractSliceOp::create(at(level), loc, empty, offsets, sizes, strides);
  }
  return Tile{tensor, kept, /*isScratch=*/true, level};
}

Tile TileBuilder::copy(unsigned level, Location loc, const Tile &from, const Tile &into) {
  Tile result = into;
  result.level = level;
  if (from.axes == into.axes) {
    result.tensor = linalg::CopyOp::create(at(level), loc, from.tensor, into.tensor).getResult(0);
    return result;
  }
  SmallVector<int64_t> permutation;
  for (StringAttr axis : into.axes)
    permutation.push_back(llvm::find(from.axes, axis) - from.axes.begin());
  result.tensor = linalg::TransposeOp::create(at(level), loc, from.tensor, into.tensor, permutation)->getResult(0);
  return result;
}
