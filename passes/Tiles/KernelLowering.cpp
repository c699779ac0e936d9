//===- KernelLowering.cpp - The grid and the temporal loops ---------------===//

#include "KernelLowering.h"

#include "fusion/Schedule/Spatial.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

SmallVector<StringAttr> KernelLowering::getGridDims() {
  SmallVector<StringAttr> dims;
  for (auto name : graph.getDimNames().getAsRange<StringAttr>()) {
    int64_t block = graph.getBlockSize(name), extent = graph.getStaticExtent(name);
    // An empty dimension stays in the grid, which then has no block at all.
    if (block > 0 && (ShapedType::isDynamic(extent) || extent > block || extent == 0))
      dims.push_back(name);
  }
  return dims;
}

LogicalResult KernelLowering::checkSlicing() {
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  SmallVector<StringAttr> splits = getSplitDims(graph);
  for (StringAttr dim : getGridDims()) {
    // Partial results of the blocks are combined; of one such dimension, at present.
    if (dim == getSplitDim() && llvm::is_contained(splits, dim))
      continue;
    for (Value value : output.getValues())
      if (!cast<SpaceType>(value.getType()).hasDim(dim))
        return graph.emitOpError() << "is spatially sliced along '" << dim.getValue() << "', which its result "
                                   << value.getType() << " lacks: several blocks would write the same elements";
    WalkResult walk = graph.getBody().walk([&](AllToOneOp op) {
      if (!llvm::is_contained(op.getAlong(), dim))
        return WalkResult::advance();
      op.emitOpError() << "reduces along '" << dim.getValue() << "', which the graph slices spatially";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

/// Blocks are mapped to consecutive dimensions of a linear grid. The mapping also keeps a grid of one block a loop.
static std::optional<ArrayAttr> getMapping(MLIRContext *context, unsigned numDims) {
  unsigned first = static_cast<unsigned>(gpu::MappingId::LinearDim0);
  if (first + numDims > static_cast<unsigned>(gpu::MappingId::LinearDim9) + 1)
    return std::nullopt;
  SmallVector<Attribute> mapping;
  for (unsigned i = 0; i < numDims; ++i)
    mapping.push_back(gpu::GPUBlockMappingAttr::get(context, static_cast<gpu::MappingId>(first + i)));
  return ArrayAttr::get(context, mapping);
}

LogicalResult KernelLowering::run() {
  if (failed(checkSlicing()))
    return failure();
  if (graph.getNumResults() == 0) {
    graph.erase();
    return success();
  }
  Location loc = graph.getLoc();
  OpBuilder builder(graph);
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  SmallVector<Value> destinations;
  for (auto [value, axes, type] : llvm::zip_equal(output.getValues(), output.getAxes(), graph.getResultTypes())) {
    SmallVector<OpFoldResult> sizes;
    if (getPartial(value))
      sizes.push_back(getNumPartials(builder));
    for (StringAttr axis : getNames(cast<ArrayAttr>(axes)))
      sizes.push_back(graph.getExtent(axis));
    destinations.push_back(tensor::EmptyOp::create(builder, loc, sizes, cast<RankedTensorType>(type).getElementType()));
  }

  SmallVector<StringAttr> gridDims = getGridDims();
  SmallVector<OpFoldResult> lower, upper, steps;
  for (StringAttr dim : gridDims) {
    lower.push_back(builder.getIndexAttr(0));
    upper.push_back(graph.getExtent(dim));
    steps.push_back(builder.getIndexAttr(graph.getBlockSize(dim)));
  }
  if (gridDims.empty()) {
    lower.push_back(builder.getIndexAttr(0));
    upper.push_back(builder.getIndexAttr(1));
    steps.push_back(builder.getIndexAttr(1));
  }
  auto forall = scf::ForallOp::create(builder, loc, lower, upper, steps, destinations,
                                      getMapping(builder.getContext(), lower.size()));
  forall->setAttr("fusion.kernel", builder.getStringAttr(name));
  grid = forall;

  Block *block = forall.getBody();
  build.setScratchPoint(block);
  build.at(0).setInsertionPoint(block->getTerminator());
  for (auto [dim, iv] : llvm::zip(gridDims, forall.getInductionVars()))
    build.setRange(dim, 0, build.makeRange(0, loc, dim, graph.getBlockSize(dim), iv));
  if (failed(emitBlock(block, forall.getRegionIterArgs())) || isBroken) {
    forall.erase();
    for (auto &entry : hoisted)
      entry.second.getDefiningOp()->erase();
    return failure();
  }
  markPrefetches();
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(output.getValues(), forall.getResults())) {
    AllToOneOp reduction = getPartial(value);
    results.push_back(reduction ? combinePartial(reduction, result) : result);
  }
  graph->replaceAllUsesWith(results);
  graph.erase();
  ++counts.kernels;
  return success();
}

bool KernelLowering::mayClaim(Value value, const Tile &slice, Value destination) {
  auto loop = value.getDefiningOp<TemporalOp>();
  if (!loop || cast<OpResult>(value).getResultNumber() >= loop.getInits().size() || slice.axes.size() < 2)
    return true;
  return !build.isCutFromLongRows(cast<RankedTensorType>(destination.getType()), slice.axes.back(), 0);
}

LogicalResult KernelLowering::emitBlock(Block *block, ValueRange destinations) {
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  // The first result that a space is given for is where it is computed; others are copies.
  SmallVector<Tile> slices;
  SmallVector<bool> isClaim;
  for (auto [value, axes, destination] : llvm::zip_equal(output.getValues(), output.getAxes(), destinations)) {
    SmallVector<StringAttr> names = getNames(cast<ArrayAttr>(axes));
    slices.push_back(getPartial(value) ? slicePartial(value, names, destination)
                                       : build.slice(0, graph.getLoc(), destination, names, 0));
    isClaim.push_back(mayClaim(value, slices.back(), destination) && claims.try_emplace(value, slices.back()).second);
    if (isClaim.back() && isStreamed(isClaim.size() - 1))
      streamed.insert(value);
  }
  if (failed(emitRootsOf(graph.getBody().front())))
    return failure();

  for (auto [index, value] : llvm::enumerate(output.getValues())) {
    Tile tile = getTile(value, 0);
    if (!isClaim[index])
      tile = build.copy(0, output.getLoc(), tile, slices[index]);
    SmallVector<StringAttr> axes = getNames(cast<ArrayAttr>(output.getAxes()[index]));
    if (build.isEmpty(axes, 0))
      continue;
    TileBuilder::SliceOperands slice = getResultSlice(value, axes);
    OpBuilder builder = OpBuilder::atBlockEnd(cast<scf::InParallelOp>(block->getTerminator()).getBody());
    tensor::ParallelInsertSliceOp::create(builder, output.getLoc(), tile.tensor, destinations[index], slice.offsets,
                                          slice.sizes, slice.strides);
  }
  return success();
}

LogicalResult KernelLowering::emitRootsOf(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<TemporalOp>(op)) {
      if (failed(emitTemporal(loop)))
        return failure();
      continue;
    }
    for (Value result : op.getResults())
      if (plan.isRoot(result) && failed(ensure(result)))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Temporal loops
//===----------------------------------------------------------------------===//

FailureOr<Tile> KernelLowering::makeInitial(Value init, Value result) {
  auto claim = claims.find(result);
  if (plan.isRoot(init) && failed(ensure(init)))
    return failure();
  if (plan.hasTile(init)) {
    Tile tile = getTile(init, 0);
    // A tile that nothing else reads becomes the state.
    if (claim == claims.end() && tile.tensor && tile.isScratch && init.hasOneUse())
      return tile;
  }
  auto space = cast<SpaceType>(init.getType());
  Tile destination = claim != claims.end()
                         ? claim->second
                         : build.makeScratch(0, init.getLoc(), space.getDims(), space.getElementType());
  if (plan.hasTile(init) && getTile(init, 0).tensor)
    return build.copy(0, init.getLoc(), getTile(init, 0), destination);
  Expression expression{init, {}, /*open=*/false};
  if (failed(ensureLeaves(expression, {})))
    return failure();
  return emitGeneric(0, init.getLoc(), space.getDims(), Output{expression, destination, {}}, {}).front();
}

/// The part of `whole`, a tile over `axes`, that the slice at `iv` covers.
static TileBuilder::SliceOperands getCollectedSlice(TileBuilder &build, ArrayRef<StringAttr> axes, StringAttr dim) {
  TileBuilder::SliceOperands slice = build.getSliceOperands(axes, 1);
  for (auto [axis, offset] : llvm::zip_equal(axes, slice.offsets))
    if (axis != dim)
      offset = build.at(1).getIndexAttr(0);
  return slice;
}

LogicalResult KernelLowering::emitTemporal(TemporalOp loop) {
  Location loc = loop.getLoc();
  StringAttr dim = loop.getDimAttr();
  Block &body = loop.getBody().front();
  auto next = cast<NextOp>(body.getTerminator());
  unsigned numStates = loop.getInits().size();

  SmallVector<Tile> inits;
  for (auto [init, result] : llvm::zip_equal(loop.getInits(), loop.getFinalStates())) {
    FailureOr<Tile> tile = makeInitial(init, result);
    if (failed(tile))
      return failure();
    inits.push_back(*tile);
  }
  for (Value result : loop.getCollected()) {
    auto space = cast<SpaceType>(result.getType());
    auto claim = claims.find(result);
    inits.push_back(claim != claims.end() ? claim->second
                                          : build.makeScratch(0, loc, space.getDims(), space.getElementType()));
  }

  OpBuilder &outer = build.at(0), &inner = build.at(1);
  OpFoldResult extent = graph.getExtent(dim);
  std::optional<int64_t> staticExtent = getConstantIntValue(extent);
  int64_t step = loop.getStep();
  if (staticExtent && *staticExtent > 0)
    step = std::min(step, *staticExtent);
  SmallVector<Value> initTensors = llvm::map_to_vector(inits, [](const Tile &tile) { return tile.tensor; });
  Value lower = arith::ConstantIndexOp::create(outer, loc, 0);
  Value upper = getSliceEnd(loop, getValueOrCreateConstantIndexOp(outer, loc, extent));
  Value stepValue = arith::ConstantIndexOp::create(outer, loc, step);
  auto forOp = scf::ForOp::create(outer, loc, lower, upper, stepValue, initTensors);
  // Without iteration arguments the loop comes with its terminator.
  if (!forOp.getBody()->empty())
    forOp.getBody()->back().erase();
  outer.setInsertionPoint(forOp);
  inner.setInsertionPointToEnd(forOp.getBody());
  build.setRange(dim, 1, build.makeRange(1, loc, dim, step, forOp.getInductionVar()));
  currentLoop = loop;
  seen = Value();
  stateTiles.clear();

  for (unsigned state = 0; state < numStates; ++state) {
    Tile tile{forOp.getRegionIterArg(state), inits[state].axes, /*isScratch=*/false, 1};
    stateTiles.push_back(tile);
    tiles[body.getArgument(state)] = tile;
  }
  // An old state that is the next value of another one is saved before either changes.
  for (auto [index, value] : llvm::enumerate(next.getStates())) {
    auto state = dyn_cast<BlockArgument>(value);
    if (!state || state.getOwner() != &body || state.getArgNumber() == index)
      continue;
    auto space = cast<SpaceType>(value.getType());
    Tile saved = build.makeScratch(1, loc, space.getDims(), space.getElementType());
    tiles[value] = build.copy(1, loc, stateTiles[state.getArgNumber()], saved);
  }
  SmallVector<Tile> collectedSlices;
  SmallVector<bool> isClaim;
  for (auto [index, value] : llvm::enumerate(next.getCollected())) {
    const Tile &whole = inits[numStates + index];
    Value argument = forOp.getRegionIterArg(numStates + index);
    TileBuilder::SliceOperands operands = getCollectedSlice(build, whole.axes, dim);
    Value part =
        build.isEmpty(whole.axes, 1)
            ? build.makeEmpty(1, loc, whole.axes, cast<SpaceType>(value.getType()).getElementType())
            : tensor::ExtractSliceOp::create(inner, loc, argument, operands.offsets, operands.sizes, operands.strides)
                  .getResult();
    collectedSlices.push_back(Tile{part, whole.axes, /*isScratch=*/false, 1});
    isClaim.push_back(claims.try_emplace(value, collectedSlices.back()).second);
    if (isClaim.back() && streamed.contains(loop.getCollected()[index]))
      streamed.insert(value);
  }

  if (failed(emitRootsOf(body)))
    return failure();

  SmallVector<Value> yielded;
  for (auto [index, value] : llvm::enumerate(next.getStates())) {
    if (value == body.getArgument(index))
      yielded.push_back(stateTiles[index].tensor);
    else if (plan.getState(value) == index)
      yielded.push_back(tiles[value].tensor);
    else
      yielded.push_back(build.copy(1, loc, getTile(value, 1), stateTiles[index]).tensor);
  }
  for (auto [index, value] : llvm::enumerate(next.getCollected())) {
    Tile tile = getTile(value, 1);
    if (!isClaim[index])
      tile = build.copy(1, loc, tile, collectedSlices[index]);
    if (build.isEmpty(tile.axes, 1)) {
      yielded.push_back(forOp.getRegionIterArg(numStates + index));
      continue;
    }
    TileBuilder::SliceOperands operands = getCollectedSlice(build, tile.axes, dim);
    yielded.push_back(tensor::InsertSliceOp::create(inner, loc, tile.tensor, forOp.getRegionIterArg(numStates + index),
                                                    operands.offsets, operands.sizes, operands.strides));
  }
  scf::YieldOp::create(inner, loc, yielded);

  outer.setInsertionPointAfter(forOp);
  for (auto [index, result] : llvm::enumerate(loop.getResults()))
    tiles[result] = Tile{forOp.getResult(index), inits[index].axes, inits[index].isScratch, 0};
  llvm::erase_if(scratch, [](auto &entry) { return entry.second.level == 1; });
  build.leaveLoop();
  currentLoop = {};
  return success();
}

Value KernelLowering::getSeen(Location loc) {
  if (seen)
    return seen;
  // offset + size, at the start of the slice so that it dominates all uses.
  StringAttr dim = currentLoop.getDimAttr();
  const DimRange &range = build.getRange(dim, 1);
  OpBuilder builder = build.at(1);
  if (auto size = dyn_cast<Value>(range.size); size && size.getDefiningOp())
    builder.setInsertionPointAfterValue(size);
  else
    builder.setInsertionPointToStart(builder.getInsertionBlock());
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  OpFoldResult sum =
      affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(2, 0, d0 + d1), {range.offset, range.size});
  return seen = getValueOrCreateConstantIndexOp(builder, loc, sum);
}
