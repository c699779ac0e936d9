//===- TileEmission.cpp - Roots to operations on tiles --------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

LogicalResult KernelLowering::reportCycle(Value value) {
  isStuck = true;
  if (isCautious)
    emitError(value.getLoc()) << "no order found to compute " << value.getType() << " on tiles";
  return failure();
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
    return reportCycle(root);
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
      bool ready = !isCautious && !unfinished.contains(reader);
      if (auto reduction = reader.getDefiningOp<AllToOneOp>())
        ready &= canReduceNow(reduction, {});
      plan.visitLeaves(expression, inlined, [&](Value leaf) {
        ready &= leaf != next && !plan.dependsOn(leaf, next) && !dependsOnUnfinished(leaf);
      });
      return ready;
    };
    bool canRepeat =
        next.getDefiningOp<MapOp>() && !plan.getAccumulation(next) && !reader.getDefiningOp<AllToOneOp>() &&
        plan.dropUnits(plan.getIterationDims(reader), 1).size() == plan.dropUnits(getSpace(next).getDims(), 1).size();
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

bool KernelLowering::hasRead(Value reader) const {
  const Accumulation *accumulation = plan.getAccumulation(reader);
  // Of an accumulation it is the correction that reads tiles; the reduction is a reader of its own.
  bool isUpdate = accumulation && accumulation->update == reader;
  return isUpdate ? kept.contains(reader) : isDone(reader);
}

Tile KernelLowering::allocate(unsigned level, Location loc, ArrayRef<StringAttr> axes, Type elementType) {
  SmallVector<StringAttr> dims = plan.dropUnits(axes, level);
  auto isDead = [&](Value leaf) {
    // Sources of one input share a tile.
    if (auto source = leaf.getDefiningOp<SourceOp>())
      return llvm::all_of(source.getInput().getUsers(), [&](Operation *user) {
        return llvm::all_of(plan.getConsumers(user->getResult(0)), [&](Value reader) { return hasRead(reader); });
      });
    return !plan.isPinned(leaf) && llvm::all_of(plan.getConsumers(leaf), [&](Value reader) { return hasRead(reader); });
  };
  auto fits = [&](const Tile &tile) {
    auto type = cast<RankedTensorType>(tile.tensor.getType());
    if (tile.level != level || type.getElementType() != elementType || tile.axes.size() != dims.size())
      return false;
    if (ArrayRef(tile.axes) == ArrayRef(dims))
      return true;
    return type.hasStaticShape() && llvm::all_of(llvm::zip_equal(type.getShape(), dims), [&](auto pair) {
             return getConstantIntValue(build.getRange(std::get<1>(pair), level).size) == std::get<0>(pair);
           });
  };
  // What is put in front of a loop must not overwrite what has been read in the loop.
  bool isHoisted = currentLoop && level == 0;
  for (auto *it = scratch.begin(); !isHoisted && it != scratch.end(); ++it) {
    if (!fits(it->second) || !isDead(it->first))
      continue;
    Tile tile = it->second;
    tile.axes = dims;
    scratch.erase(it);
    return tile;
  }
  return build.makeScratch(level, loc, axes, elementType);
}

std::optional<Tile> KernelLowering::findReusable(Value root, ArrayRef<Value> inlined) {
  unsigned level = plan.getLevel(root);
  SmallVector<StringAttr> dims = plan.dropUnits(getSpace(root).getDims(), level);
  Value found;
  plan.visitLeaves(plan.getExpression(root), inlined, [&](Value leaf) {
    auto it = tiles.find(leaf);
    if (found || it == tiles.end() || plan.isPinned(leaf))
      return;
    const Tile &tile = it->second;
    bool fits = tile.isScratch && tile.level == level && tile.axes.size() == dims.size() &&
                getSpace(leaf).getElementType() == getSpace(root).getElementType();
    if (fits && llvm::all_of(plan.getConsumers(leaf), [&](Value reader) { return reader == root || hasRead(reader); }))
      found = leaf;
  });
  if (!found)
    return std::nullopt;
  llvm::erase_if(scratch, [&](auto &entry) { return entry.first == found; });
  return tiles[found];
}

Value KernelLowering::findLender(Value root) {
  if (plan.isPinned(root))
    return {};
  unsigned level = plan.getLevel(root);
  for (Value reader : plan.getConsumers(root)) {
    auto claim = claims.find(reader);
    // What goes past the caches is written once.
    if (claim == claims.end() || streamed.contains(reader) || !reader.getDefiningOp<MapOp>() ||
        loans.contains(reader) || plan.getLevel(reader) != level || claim->second.level != level ||
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
  return allocate(plan.getLevel(root), root.getLoc(), getSpace(root).getDims(), getSpace(root).getElementType());
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
  unfinished.remove(root);
  Value value = root;
  if (const Accumulation *accumulation = plan.getAccumulation(root)) {
    value = accumulation->update;
    done.insert(value);
  }
  tiles[value] = tile;
  if (tile.isScratch)
    scratch.push_back({value, tile});
}

LogicalResult KernelLowering::emitReduction(AllToOneOp root) {
  Expression expression = plan.getExpression(root);
  if (failed(ensureLeaves(expression, {})))
    return failure();
  FailureOr<Tile> destination = makeReductionDestination(root);
  if (failed(destination))
    return failure();
  SmallVector<Output> outputs{{expression, *destination, root}};
  if (failed(mergeSiblings(root, outputs)))
    return failure();
  SmallVector<Tile> results = emitGeneric(plan.getLevel(root), root.getLoc(), plan.getIterationDims(root), outputs, {});
  for (auto [output, tile] : llvm::zip_equal(outputs, results))
    finishReduction(output.reduction, tile);
  return success();
}

bool KernelLowering::canReduceNow(AllToOneOp reduction, Value except) const {
  bool isReady = !isDone(reduction) && !unfinished.contains(reduction);
  auto check = [&](Value leaf) { isReady &= leaf == except || !dependsOnUnfinished(leaf); };
  plan.visitLeaves(plan.getExpression(reduction), {}, check);
  if (const Accumulation *accumulation = plan.getAccumulation(reduction)) {
    isReady &= !unfinished.contains(accumulation->update);
    plan.visitLeaves({accumulation->update, accumulation->kept}, {}, check);
  }
  return isReady;
}

LogicalResult KernelLowering::mergeSiblings(AllToOneOp root, SmallVectorImpl<Output> &outputs) {
  unsigned level = plan.getLevel(root);
  SmallVector<StringAttr> dims = plan.dropUnits(plan.getIterationDims(root), level);
  // A contraction has no operand over all of its dimensions, and is best left alone.
  llvm::SmallPtrSet<Value, 4> shared;
  auto forEachWhole = [&](AllToOneOp reduction, function_ref<void(Value)> visit) {
    plan.visitLeaves(plan.getExpression(reduction), {}, [&](Value leaf) {
      Tile tile = getTile(leaf, level);
      if (tile.tensor && tile.axes.size() == dims.size())
        visit(tile.tensor);
    });
  };
  forEachWhole(root, [&](Value tensor) { shared.insert(tensor); });
  if (shared.empty() || isCautious)
    return success();
  for (auto sibling : root->getBlock()->getOps<AllToOneOp>()) {
    if (sibling == root || plan.getLevel(sibling) != level ||
        (plan.getState(sibling) && !plan.getAccumulation(sibling)))
      continue;
    SmallVector<StringAttr> siblingDims = plan.dropUnits(plan.getIterationDims(sibling), level);
    if (siblingDims != dims || !canReduceNow(sibling, {}))
      continue;
    bool isShared = false;
    forEachWhole(sibling, [&](Value tensor) { isShared |= shared.contains(tensor); });
    if (!isShared)
      continue;
    // What is emitted for it first must not take it up as well.
    unfinished.insert(sibling);
    Expression expression = plan.getExpression(sibling);
    if (failed(ensureLeaves(expression, {})))
      return failure();
    FailureOr<Tile> destination = makeReductionDestination(sibling);
    if (failed(destination))
      return failure();
    outputs.push_back({expression, *destination, sibling});
  }
  return success();
}

LogicalResult KernelLowering::emitKept(const Accumulation &accumulation, ArrayRef<Value> inlined) {
  Value update = accumulation.update;
  if (kept.contains(update))
    return success();
  if (!unfinished.insert(update))
    return reportCycle(update);
  Expression expression{update, accumulation.kept};
  LogicalResult result = ensureLeaves(expression, inlined);
  if (succeeded(result))
    result = prepareOverwrite(accumulation.state, update);
  if (succeeded(result)) {
    Tile state = stateTiles[accumulation.state];
    // Nothing to do where the old state needs no correction.
    if (getMapOperand(accumulation.kept) != currentLoop.getBody().getArgument(accumulation.state))
      state =
          emitGeneric(1, update.getLoc(), getSpace(update).getDims(), Output{expression, state, {}}, inlined).front();
    kept[update] = state;
  }
  unfinished.remove(update);
  return result;
}

LogicalResult KernelLowering::mergeReductions(Value root, SmallVectorImpl<Output> &outputs) {
  if (isCautious)
    return success();
  unsigned level = plan.getLevel(root);
  size_t numDims = plan.dropUnits(getSpace(root).getDims(), level).size();
  for (Value reader : plan.getConsumers(root)) {
    auto reduction = reader.getDefiningOp<AllToOneOp>();
    if (!reduction || plan.getLevel(reduction) != level ||
        plan.dropUnits(plan.getIterationDims(reduction), level).size() != numDims ||
        (plan.getState(reduction) && !plan.getAccumulation(reduction)) || !canReduceNow(reduction, root))
      continue;
    // All else that the reduction needs must be there before `root` is.
    unfinished.insert(reduction);
    Expression expression = plan.getExpression(reduction);
    SmallVector<Value> others;
    plan.visitLeaves(expression, {}, [&](Value leaf) {
      if (leaf != root && plan.isRoot(leaf))
        others.push_back(leaf);
    });
    for (Value leaf : others)
      if (failed(ensure(leaf)))
        return failure();
    FailureOr<Tile> destination = makeReductionDestination(reduction);
    if (failed(destination))
      return failure();
    outputs.push_back({expression, *destination, reduction});
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
  if (failed(mergeReductions(root, outputs)))
    return failure();
  SmallVector<Value> lookThrough(inlined);
  lookThrough.push_back(root);
  SmallVector<Tile> results = emitGeneric(level, root.getLoc(), getSpace(root).getDims(), outputs, lookThrough);
  tiles[root] = results.front();
  done.insert(root);
  Operation *made = results.front().tensor.getDefiningOp();
  if (streamed.contains(root) && made)
    made->setAttr("fusion.stream", build.at(level).getUnitAttr());
  if (results.front().isScratch)
    scratch.push_back({root, results.front()});
  for (auto [output, tile] : llvm::drop_begin(llvm::zip_equal(outputs, results)))
    finishReduction(output.reduction, tile);
  return success();
}
