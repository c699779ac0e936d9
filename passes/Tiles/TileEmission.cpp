//===- TileEmission.cpp - Roots to operations on tiles --------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

static SpaceType getSpace(Value value) { return cast<SpaceType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Order of emission
//===----------------------------------------------------------------------===//

bool KernelLowering::dependsOnUnfinished(Value value) const {
  auto isUnfinished = [&](Value from) {
    return unfinished.contains(from) || (from.getDefiningOp<TemporalOp>() && !tiles.contains(from));
  };
  return isUnfinished(value) || plan.dependsOn(value, isUnfinished);
}

LogicalResult KernelLowering::ensureLeaves(Expression expression, ArrayRef<Value> inlined) {
  SmallVector<Value> leaves;
  plan.visitLeaves(expression, inlined, [&](Value leaf) { leaves.push_back(leaf); });
  for (Value leaf : leaves)
    if (!isa<BlockArgument>(leaf) && !isa_and_nonnull<SourceOp, TemporalOp>(leaf.getDefiningOp()) &&
        failed(ensure(leaf)))
      return failure();
  return success();
}

LogicalResult KernelLowering::ensure(Value root, ArrayRef<Value> inlined) {
  if (const Accumulation *accumulation = plan.getAccumulation(root))
    root = accumulation->partial;
  if (isDone(root))
    return success();
  if (!unfinished.insert(root))
    return emitError(root.getLoc()) << "no order found to compute " << root.getType() << " on tiles";
  auto reduction = root.getDefiningOp<AllToOneOp>();
  LogicalResult result = reduction ? emitReduction(reduction) : emitMap(root, inlined);
  unfinished.remove(root);
  return result;
}

LogicalResult KernelLowering::prepareOverwrite(unsigned state, Value next) {
  Value old = currentLoop.getBody().getArgument(state);
  bool mustSave = false;
  for (Value reader : plan.getConsumers(old)) {
    const Accumulation *accumulation = plan.getAccumulation(reader);
    if (accumulation && accumulation->update != reader)
      accumulation = nullptr;
    if (reader == next || (accumulation ? kept.contains(reader) : isDone(reader)))
      continue;
    // Of an accumulation it is the correction that reads states.
    Expression expression = accumulation ? Expression{reader, accumulation->kept} : plan.getExpression(reader);
    // A reader of both the old and the new value repeats the computation of the new one, if that takes no reduction.
    auto isReady = [&](ArrayRef<Value> inlined) {
      bool ready = !unfinished.contains(reader);
      plan.visitLeaves(expression, inlined, [&](Value leaf) {
        ready &= leaf != next && !plan.dependsOn(leaf, next) && !dependsOnUnfinished(leaf);
      });
      return ready;
    };
    bool canRepeat = next.getDefiningOp<MapOp>() && !plan.getAccumulation(next) &&
                     plan.dropUnits(plan.getIterationDims(reader), 1).size() ==
                         plan.dropUnits(getSpace(next).getDims(), 1).size();
    SmallVector<Value> inlined;
    if (!isReady({})) {
      if (!canRepeat || !isReady(next)) {
        mustSave = true;
        continue;
      }
      inlined.push_back(next);
    }
    if (failed(accumulation ? emitKept(*accumulation, inlined) : ensure(reader, inlined)))
      return failure();
  }
  if (!mustSave)
    return success();
  SpaceType space = getSpace(old);
  Tile saved = build.makeScratch(1, next.getLoc(), space.getDims(), space.getElementType());
  tiles[old] = build.copy(1, next.getLoc(), tiles[old], saved);
  return success();
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

std::optional<Tile> KernelLowering::findReusable(Value root, ArrayRef<Value> inlined) {
  unsigned level = plan.getLevel(root);
  SmallVector<StringAttr> dims = plan.dropUnits(getSpace(root).getDims(), level);
  std::optional<Tile> found;
  plan.visitLeaves(plan.getExpression(root), inlined, [&](Value leaf) {
    auto it = tiles.find(leaf);
    if (found || it == tiles.end() || plan.isPinned(leaf))
      return;
    const Tile &tile = it->second;
    bool fits = tile.isScratch && tile.level == level && tile.axes.size() == dims.size() &&
                getSpace(leaf).getElementType() == getSpace(root).getElementType();
    bool isLast = llvm::all_of(plan.getConsumers(leaf), [&](Value reader) {
      const Accumulation *accumulation = plan.getAccumulation(reader);
      bool isUpdate = accumulation && accumulation->update == reader;
      return reader == root || (isUpdate ? kept.contains(reader) : isDone(reader));
    });
    if (fits && isLast)
      found = tile;
  });
  return found;
}

Value KernelLowering::findLender(Value root) {
  if (plan.isPinned(root))
    return {};
  unsigned level = plan.getLevel(root);
  for (Value reader : plan.getConsumers(root)) {
    auto claim = claims.find(reader);
    if (claim == claims.end() || !reader.getDefiningOp<MapOp>() || loans.contains(reader) ||
        plan.getLevel(reader) != level || claim->second.level != level ||
        getSpace(reader).getElementType() != getSpace(root).getElementType() ||
        plan.dropUnits(getSpace(root).getDims(), level).size() != claim->second.axes.size())
      continue;
    // Everyone else has read `root` by the time `reader` overwrites it.
    if (llvm::all_of(plan.getConsumers(root),
                     [&](Value other) { return other == reader || plan.dependsOn(reader, other); }))
      return reader;
  }
  return {};
}

FailureOr<Tile> KernelLowering::makeDestination(Value root) {
  if (std::optional<unsigned> state = plan.getState(root)) {
    if (failed(prepareOverwrite(*state, root)))
      return failure();
    return stateTiles[*state];
  }
  auto claim = claims.find(root);
  if (claim != claims.end()) {
    auto loan = loans.find(root);
    return loan != loans.end() ? tiles[loan->second] : claim->second;
  }
  if (Value lender = findLender(root)) {
    loans[lender] = root;
    return claims[lender];
  }
  return build.makeScratch(plan.getLevel(root), root.getLoc(), getSpace(root).getDims(),
                           getSpace(root).getElementType());
}

FailureOr<Tile> KernelLowering::makeReductionDestination(AllToOneOp root) {
  if (const Accumulation *accumulation = plan.getAccumulation(root)) {
    if (failed(emitKept(*accumulation, {})))
      return failure();
    return kept[accumulation->update];
  }
  FailureOr<Tile> destination = makeDestination(root);
  if (failed(destination))
    return failure();
  unsigned level = plan.getLevel(root);
  Value identity = arith::ConstantOp::create(build.at(level), root.getLoc(),
                                             getIdentity(root.getReducer(), root.getType().getElementType()));
  return fill(level, root.getLoc(), identity, *destination);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

void KernelLowering::finishReduction(AllToOneOp root, Tile tile) {
  done.insert(root);
  Value value = root;
  if (const Accumulation *accumulation = plan.getAccumulation(root)) {
    value = accumulation->update;
    done.insert(value);
  }
  tiles[value] = tile;
}

LogicalResult KernelLowering::emitReduction(AllToOneOp root) {
  Expression expression = plan.getExpression(root);
  if (failed(ensureLeaves(expression, {})))
    return failure();
  FailureOr<Tile> destination = makeReductionDestination(root);
  if (failed(destination))
    return failure();
  unsigned level = plan.getLevel(root);
  finishReduction(root, emitGeneric(level, root.getLoc(), plan.getIterationDims(root),
                                    Output{expression, *destination, root}, {})
                            .front());
  return success();
}

LogicalResult KernelLowering::emitKept(const Accumulation &accumulation, ArrayRef<Value> inlined) {
  Value update = accumulation.update;
  if (kept.contains(update))
    return success();
  if (!unfinished.insert(update))
    return emitError(update.getLoc()) << "no order found to update this state on tiles";
  Expression expression{update, accumulation.kept};
  LogicalResult result = ensureLeaves(expression, inlined);
  if (succeeded(result))
    result = prepareOverwrite(accumulation.state, update);
  if (succeeded(result)) {
    Tile state = stateTiles[accumulation.state];
    // Nothing to do where the old state needs no correction.
    if (getMapOperand(accumulation.kept) != currentLoop.getBody().getArgument(accumulation.state))
      state = emitGeneric(1, update.getLoc(), getSpace(update).getDims(), Output{expression, state, {}}, inlined)
                  .front();
    kept[update] = state;
  }
  unfinished.remove(update);
  return result;
}

LogicalResult KernelLowering::mergeReductions(Value root, SmallVectorImpl<Output> &outputs,
                                              SmallVectorImpl<AllToOneOp> &merged) {
  unsigned level = plan.getLevel(root);
  size_t numDims = plan.dropUnits(getSpace(root).getDims(), level).size();
  for (Value reader : plan.getConsumers(root)) {
    auto reduction = reader.getDefiningOp<AllToOneOp>();
    if (!reduction || isDone(reduction) || unfinished.contains(reduction) || plan.getLevel(reduction) != level ||
        plan.dropUnits(plan.getIterationDims(reduction), level).size() != numDims || plan.getState(reduction))
      continue;
    // All else that the reduction needs must be there before `root` is.
    bool isReady = true;
    auto check = [&](Value leaf) { isReady &= !dependsOnUnfinished(leaf); };
    Expression expression = plan.getExpression(reduction);
    SmallVector<Value> others;
    plan.visitLeaves(expression, {}, [&](Value leaf) {
      if (leaf != root) {
        others.push_back(leaf);
        check(leaf);
      }
    });
    const Accumulation *accumulation = plan.getAccumulation(reduction);
    if (accumulation)
      plan.visitLeaves({accumulation->update, accumulation->kept}, {}, check);
    if (!isReady)
      continue;
    for (Value leaf : others)
      if (plan.isRoot(leaf) && failed(ensure(leaf)))
        return failure();
    FailureOr<Tile> destination = makeReductionDestination(reduction);
    if (failed(destination))
      return failure();
    outputs.push_back({expression, *destination, reduction});
    merged.push_back(reduction);
  }
  return success();
}

LogicalResult KernelLowering::emitMap(Value root, ArrayRef<Value> inlined) {
  unsigned level = plan.getLevel(root);
  Expression expression = plan.getExpression(root);
  if (failed(ensureLeaves(expression, inlined)))
    return failure();
  FailureOr<Tile> destination = failure();
  std::optional<Tile> reusable;
  if (!plan.getState(root) && !claims.contains(root))
    reusable = findReusable(root, inlined);
  destination = reusable ? FailureOr<Tile>(*reusable) : makeDestination(root);
  if (failed(destination))
    return failure();

  // A space that is read as it is needs a copy that survives clean-up.
  if (root.getDefiningOp<SourceOp>() && getTile(root, level).tensor) {
    tiles[root] = build.copy(level, root.getLoc(), getTile(root, level), *destination);
    done.insert(root);
    return success();
  }

  SmallVector<Output> outputs{{expression, *destination, {}}};
  SmallVector<AllToOneOp> merged;
  if (failed(mergeReductions(root, outputs, merged)))
    return failure();
  SmallVector<Value> lookThrough(inlined);
  lookThrough.push_back(root);
  SmallVector<Tile> results = emitGeneric(level, root.getLoc(), getSpace(root).getDims(), outputs, lookThrough);
  tiles[root] = results.front();
  done.insert(root);
  for (auto [reduction, tile] : llvm::zip_equal(merged, ArrayRef(results).drop_front()))
    finishReduction(reduction, tile);
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Tile KernelLowering::getTile(Value leaf, unsigned level) {
  auto it = tiles.find(leaf);
  if (it != tiles.end())
    return it->second;
  auto source = leaf.getDefiningOp<SourceOp>();
  if (!source || !isa<RankedTensorType>(source.getInput().getType()))
    return Tile{};
  return build.getSource(source, plan.getLevel(leaf));
}

namespace fusion::tiles {

/// Emits the scalars of an expression for one point of the iteration space.
struct BodyBuilder {
  KernelLowering &kernel;
  OpBuilder &builder;
  unsigned level;
  /// Dimensions of the iteration, in its order.
  ArrayRef<StringAttr> dims;
  /// Known values of spaces and of scalars in the bodies of maps.
  llvm::DenseMap<Value, Value> values;

  BodyBuilder(KernelLowering &kernel, OpBuilder &builder, unsigned level, ArrayRef<StringAttr> dims)
      : kernel(kernel), builder(builder), level(level), dims(dims) {}

  Value getSpace(Value space) {
    auto it = values.find(space);
    if (it != values.end())
      return it->second;
    Value value = makeSpace(space);
    values[space] = value;
    return value;
  }

  Value makeSpace(Value space) {
    Operation *op = space.getDefiningOp();
    if (auto map = dyn_cast_or_null<MapOp>(op))
      return getScalar(cast<YieldOp>(map.getBody().front().getTerminator()).getValue());
    if (auto broadcast = dyn_cast_or_null<OneToAllOp>(op))
      return getSpace(broadcast.getSource());
    if (auto reduction = dyn_cast_or_null<AllToOneOp>(op))
      return getSpace(reduction.getSource());
    if (auto seen = dyn_cast_or_null<SeenOp>(op))
      return kernel.getSeen(seen.getLoc());
    if (auto source = dyn_cast_or_null<SourceOp>(op))
      return kernel.graph.getInputs()[cast<BlockArgument>(source.getInput()).getArgNumber()];
    auto index = dyn_cast_or_null<IndexOp>(op);
    if (!index) {
      kernel.isBroken = true;
      emitError(space.getLoc()) << "is read on tiles before it is computed";
      Type type = getElementTypeOrSelf(cast<SpaceType>(space.getType()).getElementType());
      return arith::ConstantOp::create(builder, space.getLoc(), builder.getZeroAttr(type));
    }
    const DimRange &range = kernel.build.getRange(index.getDimAttr(), level);
    const auto *position = llvm::find(dims, index.getDimAttr());
    Location loc = index.getLoc();
    if (position == dims.end())
      return getValueOrCreateConstantIndexOp(builder, loc, range.offset);
    Value local = linalg::IndexOp::create(builder, loc, position - dims.begin());
    if (isZeroInteger(range.offset))
      return local;
    Value offset = getValueOrCreateConstantIndexOp(builder, loc, range.offset);
    return arith::AddIOp::create(builder, loc, local, offset);
  }

  Value getScalar(Value scalar) {
    auto it = values.find(scalar);
    if (it != values.end())
      return it->second;
    if (Value operand = getMapOperand(scalar))
      return values[scalar] = getSpace(operand);
    Operation *op = scalar.getDefiningOp();
    IRMapping mapping;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && !mapping.contains(operand))
          mapping.map(operand, getScalar(operand));
    });
    Operation *clone = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
      values[from] = to;
    return values[scalar];
  }

  Value get(const Expression &expression) {
    return expression.scalar ? getScalar(expression.scalar) : getSpace(expression.space);
  }
};

} // namespace fusion::tiles

Tile KernelLowering::fill(unsigned level, Location loc, Value scalar, const Tile &tile) {
  Tile result = tile;
  result.level = level;
  result.tensor = linalg::FillOp::create(build.at(level), loc, scalar, tile.tensor).getResult(0);
  return result;
}

/// Whether `expression` has the same value at every point: it reads no tile (the caller's check) and no coordinate.
static bool readsCoordinates(Value space, llvm::SmallPtrSetImpl<Value> &seen) {
  if (!seen.insert(space).second)
    return false;
  Operation *op = space.getDefiningOp();
  if (!op || isa<SourceOp>(op))
    return false;
  return isa<IndexOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return readsCoordinates(operand, seen); });
}

SmallVector<Tile> KernelLowering::emitGeneric(unsigned level, Location loc, ArrayRef<StringAttr> iterationDims,
                                              ArrayRef<Output> outputs, ArrayRef<Value> inlined) {
  OpBuilder &builder = build.at(level);
  // Parallel dimensions in the order of the destination, then those that are reduced.
  SmallVector<StringAttr> dims(outputs.front().destination.axes);
  for (StringAttr dim : plan.dropUnits(iterationDims, level))
    if (!llvm::is_contained(dims, dim))
      dims.push_back(dim);

  SmallVector<std::pair<Value, Tile>> leaves;
  for (const Output &output : outputs)
    plan.visitLeaves(output.expression, inlined, [&](Value leaf) {
      Tile tile = getTile(leaf, level);
      bool isKnown = llvm::any_of(leaves, [&](auto &other) { return other.first == leaf; });
      if (tile.tensor && !isKnown)
        leaves.push_back({leaf, tile});
    });

  const Output &first = outputs.front();
  llvm::SmallPtrSet<Value, 16> visited;
  if (outputs.size() == 1 && !first.reduction && leaves.empty() &&
      !readsCoordinates(first.expression.space, visited)) {
    BodyBuilder body(*this, builder, level, dims);
    return {fill(level, loc, body.get(first.expression), first.destination)};
  }
  if (outputs.size() == 1 && first.reduction)
    packOperands(leaves, first, level);

  auto getMap = [&](ArrayRef<StringAttr> axes) {
    SmallVector<AffineExpr> exprs;
    for (StringAttr axis : axes)
      exprs.push_back(builder.getAffineDimExpr(llvm::find(dims, axis) - dims.begin()));
    return AffineMap::get(dims.size(), 0, exprs, builder.getContext());
  };
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  // Position of each leaf among the inputs, or (counted from -1 down) among the outputs: a tile that is overwritten
  // element by element is read through the destination.
  SmallVector<int> positions;
  for (auto &[leaf, tile] : leaves) {
    int position = inputs.size();
    // The old state is in the tile that is overwritten, also where others now read a saved copy.
    auto state = dyn_cast<BlockArgument>(leaf);
    Value old = state ? stateTiles[state.getArgNumber()].tensor : tile.tensor;
    for (auto [index, output] : llvm::enumerate(outputs))
      if (!output.reduction && (output.destination.tensor == tile.tensor || output.destination.tensor == old) &&
          output.destination.axes == tile.axes)
        position = -1 - static_cast<int>(index);
    AffineMap map = getMap(tile.axes);
    for (auto [index, input] : llvm::enumerate(inputs))
      if (input == tile.tensor && maps[index] == map)
        position = index;
    positions.push_back(position);
    if (position != static_cast<int>(inputs.size()))
      continue;
    inputs.push_back(tile.tensor);
    maps.push_back(map);
  }
  // Coordinates alone give no shape: what is reduced over them needs an operand that is not read.
  SmallVector<StringAttr> shapeless = llvm::to_vector(llvm::make_filter_range(dims, [&](StringAttr dim) {
    return llvm::none_of(outputs, [&](const Output &output) { return llvm::is_contained(output.destination.axes, dim); }) &&
           llvm::none_of(leaves, [&](auto &leaf) { return llvm::is_contained(leaf.second.axes, dim); });
  }));
  if (!shapeless.empty()) {
    inputs.push_back(build.makeScratch(level, loc, shapeless, builder.getI8Type()).tensor);
    maps.push_back(getMap(shapeless));
  }
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  SmallVector<Type> types;
  for (const Output &output : outputs) {
    inits.push_back(output.destination.tensor);
    types.push_back(output.destination.tensor.getType());
    maps.push_back(getMap(output.destination.axes));
    if (AllToOneOp reduction = output.reduction)
      for (auto [index, dim] : llvm::enumerate(dims))
        if (llvm::is_contained(reduction.getAlong(), dim))
          iterators[index] = utils::IteratorType::reduction;
  }
  // A running count is made before the operation, not in its body.
  if (currentLoop && level == 1)
    currentLoop.getBody().walk([&](SeenOp op) { (void)getSeen(op.getLoc()); });

  auto generic = linalg::GenericOp::create(
      builder, loc, types, inputs, inits, maps, iterators, [&](OpBuilder &inner, Location, ValueRange arguments) {
        BodyBuilder body(*this, inner, level, dims);
        for (auto [entry, position] : llvm::zip_equal(leaves, positions))
          body.values[entry.first] =
              position >= 0 ? arguments[position] : arguments[inputs.size() + (-1 - position)];
        SmallVector<Value> results;
        for (auto [index, output] : llvm::enumerate(outputs)) {
          Value value = body.get(output.expression);
          if (AllToOneOp reduction = output.reduction)
            value = createCombine(inner, reduction.getLoc(), reduction.getReducer(),
                                  arguments[inputs.size() + index], value);
          results.push_back(value);
        }
        linalg::YieldOp::create(inner, loc, results);
      });
  SmallVector<Tile> results;
  for (auto [output, result] : llvm::zip_equal(outputs, generic.getResults())) {
    Tile tile = output.destination;
    tile.tensor = result;
    tile.level = level;
    results.push_back(tile);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Tile KernelLowering::getPacked(const Tile &tile, ArrayRef<StringAttr> axes, Location loc) {
  Tile &result = packed[tile.tensor];
  if (!result.tensor || ArrayRef(result.axes) != axes)
    result = build.copy(tile.level, loc, tile,
                        build.makeScratch(tile.level, loc, axes,
                                          cast<RankedTensorType>(tile.tensor.getType()).getElementType()));
  return result;
}

void KernelLowering::packOperands(MutableArrayRef<std::pair<Value, Tile>> leaves, const Output &output,
                                  unsigned level) {
  // From this many rows on the copy is paid back: when it makes strided access contiguous, or only denser.
  constexpr int64_t kMinRowsToTranspose = 4, kMinRowsToCopy = 8;
  // Rows farther apart than this do not share pages or cache sets well.
  constexpr int64_t kLongRowBytes = 1024;

  AllToOneOp reduction = output.reduction;
  ArrayRef<StringAttr> axes = output.destination.axes;
  if (reduction.getReducer() != Reducer::Sum || axes.empty() || leaves.size() != 2)
    return;
  auto isReduced = [&](StringAttr dim) { return llvm::is_contained(reduction.getAlong(), dim); };
  StringAttr columns = axes.back();
  for (unsigned side : {0u, 1u}) {
    Tile &right = leaves[side].second;
    const Tile &left = leaves[1 - side].second;
    if (!llvm::is_contained(right.axes, columns) || llvm::is_contained(left.axes, columns) ||
        llvm::none_of(right.axes, isReduced) || llvm::none_of(left.axes, isReduced))
      continue;
    // How often each element of the right-hand tile is used.
    int64_t rows = 1;
    for (StringAttr dim : left.axes)
      if (!isReduced(dim) && !llvm::is_contained(right.axes, dim)) {
        int64_t bound = build.getStaticBound(dim, level);
        rows = ShapedType::isDynamic(bound) ? std::max(rows, kMinRowsToCopy) : rows * bound;
      }
    SmallVector<StringAttr> order;
    for (bool wantReduced : {false, true})
      for (StringAttr dim : right.axes)
        if (dim != columns && isReduced(dim) == wantReduced)
          order.push_back(dim);
    order.push_back(columns);

    if (right.axes.back() != columns) {
      if (rows >= kMinRowsToTranspose)
        right = getPacked(right, order, reduction.getLoc());
      return;
    }
    auto source = leaves[side].first.getDefiningOp<SourceOp>();
    if (!pack || rows < kMinRowsToCopy || !source)
      return;
    auto type = cast<RankedTensorType>(source.getInput().getType());
    int64_t rowLength = type.getShape().back(), tileLength = build.getStaticBound(columns, level);
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    bool isLong = ShapedType::isDynamic(rowLength) || rowLength * bytes > kLongRowBytes;
    if (isLong && rowLength != tileLength)
      right = getPacked(right, order, reduction.getLoc());
    return;
  }
}
