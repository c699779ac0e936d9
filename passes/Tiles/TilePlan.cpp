//===- TilePlan.cpp - Which spaces of a graph become tiles ----------------===//

#include "TilePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

/// Recomputing up to this many cheap operations per element is no dearer than a store and a load.
static constexpr unsigned kCheapCost = 2;

static SpaceType getSpace(Value value) { return cast<SpaceType>(value.getType()); }

Value tiles::getMapOperand(Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  auto map = argument ? dyn_cast<MapOp>(argument.getOwner()->getParentOp()) : MapOp();
  return map ? map.getOperands()[argument.getArgNumber()] : Value();
}

/// Rough cost per element, in units of an addition.
static unsigned getOpCost(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<CastOpInterface>(op))
    return 0;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, math::SqrtOp, math::RsqrtOp>(op))
    return 8;
  if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp,
          math::RoundEvenOp>(op))
    return 1;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()) || op.getNumRegions() != 0)
    return 20;
  return 1;
}

TilePlan::TilePlan(GraphOp graph) : graph(graph) {
  for (Operation &op : graph.getBody().front()) {
    if (auto loop = dyn_cast<TemporalOp>(op))
      for (Operation &inner : loop.getBody().front())
        order.push_back(&inner);
    order.push_back(&op);
  }
  findUnits();
  findVariants();
  // The cost of a map depends on which of its operands have tiles, which is known after the first round.
  findRoots();
  findRoots();
  for (Operation *op : order)
    if (auto loop = dyn_cast<TemporalOp>(op))
      findAccumulations(loop);
}

//===----------------------------------------------------------------------===//
// Dimensions and levels
//===----------------------------------------------------------------------===//

void TilePlan::findUnits() {
  for (auto [index, extent] : llvm::enumerate(graph.getStaticExtents())) {
    StringAttr dim = graph.getDimName(index);
    if (extent == 1 || graph.getBlockSize(dim) == 1) {
      units[0].insert(dim);
      units[1].insert(dim);
    }
  }
}

SmallVector<StringAttr> TilePlan::dropUnits(ArrayRef<StringAttr> dims, unsigned level) const {
  return llvm::to_vector(llvm::make_filter_range(dims, [&](StringAttr dim) { return !isUnit(dim, level); }));
}

SmallVector<StringAttr> TilePlan::getIterationDims(Value root) const {
  auto reduction = root.getDefiningOp<AllToOneOp>();
  return llvm::to_vector(getSpace(reduction ? reduction.getSource() : root).getDims());
}

void TilePlan::findVariants() {
  for (Operation *op : order) {
    auto loop = dyn_cast<TemporalOp>(op->getParentOp());
    for (Value result : op->getResults()) {
      if (llvm::all_of(op->getOperands(), [&](Value operand) { return coordinates.contains(operand); }) &&
          isa<IndexOp, SeenOp, OneToAllOp, MapOp>(op))
        coordinates.insert(result);
      if (!loop)
        continue;
      StringAttr dim = loop.getDimAttr();
      auto varies = [&](Value operand) {
        return variant.contains(operand) || (isa<BlockArgument>(operand) && operand.getParentBlock() == op->getBlock());
      };
      if (isa<SeenOp>(op) || getSpace(result).hasDim(dim) || llvm::any_of(op->getOperands(), varies))
        variant.insert(result);
    }
    if (auto inner = dyn_cast<TemporalOp>(op))
      for (BlockArgument state : inner.getBody().getArguments())
        variant.insert(state);
  }
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

bool TilePlan::hasTile(Value value) const {
  return isa<BlockArgument>(value) || isa_and_nonnull<SourceOp, TemporalOp>(value.getDefiningOp()) || isRoot(value);
}

unsigned TilePlan::getCost(Value value) const {
  unsigned cost = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second || (next != value && hasTile(next)))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || isa<AllToOneOp, TemporalOp>(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
    auto map = dyn_cast<MapOp>(op);
    if (!map)
      continue;
    for (Operation &inner : map.getBody().front().without_terminator()) {
      // Integer arithmetic on coordinates is folded into addressing or is invariant along a row.
      bool isFree = coordinates.contains(next) &&
                    llvm::all_of(inner.getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
      cost += isFree ? 0 : getOpCost(inner);
    }
  }
  return cost;
}

bool TilePlan::mustBeRoot(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || isa<TemporalOp>(op))
    return false;
  return isa<AllToOneOp>(op) || llvm::any_of(value.getUsers(), llvm::IsaPred<OutputOp, NextOp>);
}

bool TilePlan::pays(Value value) const {
  if (!value.getDefiningOp<MapOp>())
    return false;
  unsigned cost = getCost(value);
  if (cost == 0)
    return false;
  const llvm::SmallSetVector<Value, 4> &readers = getConsumers(value);
  unsigned level = getLevel(value);
  for (Value reader : readers) {
    // Repeated in every slice.
    if (getLevel(reader) > level)
      return true;
    // Repeated along the dimensions that only the reader has.
    if (dropUnits(getIterationDims(reader), level).size() != dropUnits(getSpace(value).getDims(), level).size())
      return true;
  }
  if (readers.size() < 2 || cost <= kCheapCost)
    return false;
  // An iteration space (larger than anything it reads) that is only reduced is not worth its memory.
  bool isOnlyReduced =
      llvm::all_of(readers, [](Value reader) { return reader.getDefiningOp<AllToOneOp>() != nullptr; });
  bool isLargest = true;
  visitLeaves({value, {}, /*open=*/true}, {},
              [&](Value leaf) { isLargest &= getSpace(leaf).getDims().size() < getSpace(value).getDims().size(); });
  return !(isOnlyReduced && isLargest);
}

void TilePlan::recordConsumers(Value value) {
  llvm::SmallSetVector<Value, 4> readers;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<OutputOp, NextOp>(user)) {
      pinned.insert(value);
    } else if (auto loop = dyn_cast<TemporalOp>(user)) {
      readers.insert(loop.getResult(use.getOperandNumber()));
      pinned.insert(value);
    } else if (Value result = user->getResult(0); isRoot(result)) {
      readers.insert(result);
    } else {
      const llvm::SmallSetVector<Value, 4> &indirect = getConsumers(result);
      readers.insert(indirect.begin(), indirect.end());
    }
  }
  consumers[value] = std::move(readers);
}

const llvm::SmallSetVector<Value, 4> &TilePlan::getConsumers(Value value) const {
  static const llvm::SmallSetVector<Value, 4> none;
  auto it = consumers.find(value);
  return it == consumers.end() ? none : it->second;
}

void TilePlan::findRoots() {
  llvm::DenseSet<Value> chosen;
  consumers.clear();
  // Users come before their operands here, so that what they are is known.
  for (Operation *op : llvm::reverse(order)) {
    if (auto loop = dyn_cast<TemporalOp>(op))
      for (Value result : loop.getResults())
        recordConsumers(result);
    if (op->getNumResults() != 1 || isa<TemporalOp>(op))
      continue;
    Value value = op->getResult(0);
    recordConsumers(value);
    // Decided anew; what this round has not reached is as in the round before.
    roots.erase(value);
    if (mustBeRoot(value) || pays(value))
      roots.insert(value);
  }
  for (Operation *op : order)
    if (auto loop = dyn_cast<TemporalOp>(op))
      for (BlockArgument state : loop.getBody().getArguments())
        recordConsumers(state);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Whether `op` combines two scalars as `reducer` does.
static bool isCombine(Operation *op, Reducer reducer) {
  switch (reducer) {
  case Reducer::Sum:
    return isa<arith::AddFOp, arith::AddIOp>(op);
  case Reducer::Prod:
    return isa<arith::MulFOp, arith::MulIOp>(op);
  case Reducer::Max:
    return isa<arith::MaximumFOp, arith::MaxSIOp>(op);
  case Reducer::Min:
    return isa<arith::MinimumFOp, arith::MinSIOp>(op);
  case Reducer::MaxNum:
    return isa<arith::MaxNumFOp>(op);
  case Reducer::MinNum:
    return isa<arith::MinNumFOp>(op);
  case Reducer::MaxUnsigned:
    return isa<arith::MaxUIOp>(op);
  case Reducer::MinUnsigned:
    return isa<arith::MinUIOp>(op);
  case Reducer::And:
    return isa<arith::AndIOp>(op);
  case Reducer::Or:
    return isa<arith::OrIOp>(op);
  case Reducer::Xor:
    return isa<arith::XOrIOp>(op);
  }
  return false;
}

/// Matches `update = combine(kept, partial)` in either order of operands.
static std::optional<Accumulation> matchAccumulation(MapOp update) {
  Value yielded = cast<YieldOp>(update.getBody().front().getTerminator()).getValue();
  Operation *combine = yielded.getDefiningOp();
  if (!combine || combine->getNumOperands() != 2 || combine->getNumResults() != 1)
    return std::nullopt;
  for (unsigned side : {1u, 0u}) {
    Value argument = combine->getOperand(side), kept = combine->getOperand(1 - side);
    Value operand = getMapOperand(argument);
    auto partial = operand ? operand.getDefiningOp<AllToOneOp>() : AllToOneOp();
    if (!partial || !argument.hasOneUse() || kept == argument || !operand.hasOneUse() ||
        partial->getBlock() != update->getBlock() || !isCombine(combine, partial.getReducer()))
      continue;
    return Accumulation{partial, update, kept, 0};
  }
  return std::nullopt;
}

void TilePlan::findAccumulations(TemporalOp loop) {
  Block &body = loop.getBody().front();
  auto terminator = cast<NextOp>(body.getTerminator());
  for (auto [index, value] : llvm::enumerate(terminator.getStates()))
    if (value.getParentBlock() == &body && !isa<BlockArgument>(value) && getLevel(value) == 1)
      states.try_emplace(value, index);

  for (auto [index, value] : llvm::enumerate(terminator.getStates())) {
    std::optional<unsigned> state = getState(value);
    auto update = value.getDefiningOp<MapOp>();
    if (!state || *state != index || !update || getLevel(value) != 1)
      continue;
    std::optional<Accumulation> match = matchAccumulation(update);
    if (!match || getLevel(match->partial) != 1)
      continue;
    // Whoever reads the old state does so before it is corrected; one that needs the new state as well cannot. Then the
    // update is better done element by element, where that reader can repeat it.
    Value next = value;
    bool isFree = llvm::none_of(getConsumers(body.getArgument(index)), [&](Value reader) {
      return reader != next && (reader == match->partial || dependsOn(reader, next));
    });
    if (isFree) {
      match->state = index;
      accumulations.push_back(std::make_unique<Accumulation>(*match));
    }
  }
}

const Accumulation *TilePlan::getAccumulation(Value value) const {
  for (const std::unique_ptr<Accumulation> &accumulation : accumulations)
    if (accumulation->update == value || accumulation->partial == value)
      return accumulation.get();
  return nullptr;
}

std::optional<unsigned> TilePlan::getState(Value value) const {
  auto it = states.find(value);
  return it == states.end() ? std::nullopt : std::optional<unsigned>(it->second);
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

bool TilePlan::dependsOn(Value value, function_ref<bool(Value)> isWanted) const {
  llvm::SmallPtrSet<Value, 16> seen;
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    auto push = [&](Operation *reader) {
      for (Value operand : reader->getOperands())
        if (seen.insert(operand).second)
          worklist.push_back(operand);
    };
    size_t numSeen = worklist.size();
    push(op);
    // A loop also depends on what its body takes from outside.
    if (auto loop = dyn_cast<TemporalOp>(op))
      loop.getBody().walk(push);
    if (llvm::any_of(ArrayRef(worklist).drop_front(numSeen), isWanted))
      return true;
  }
  return false;
}

Expression TilePlan::getExpression(Value root) const {
  if (auto reduction = root.getDefiningOp<AllToOneOp>())
    return {reduction.getSource(), {}, /*open=*/false};
  return {root, {}, /*open=*/true};
}

namespace {

/// Depth-first walk over what an expression reads.
struct LeafVisitor {
  const TilePlan &plan;
  ArrayRef<Value> inlined;
  llvm::function_ref<void(Value)> visit;
  llvm::SmallPtrSet<Value, 16> seen;

  void visitSpace(Value space, bool open) {
    if (!seen.insert(space).second)
      return;
    // A source has no operands to look through even where it is what is computed.
    bool isLeaf = isa_and_nonnull<SourceOp, TemporalOp>(space.getDefiningOp()) || isa<BlockArgument>(space) ||
                  (plan.hasTile(space) && !open && !llvm::is_contained(inlined, space));
    if (isLeaf)
      return visit(space);
    if (auto map = space.getDefiningOp<MapOp>())
      visitScalar(cast<YieldOp>(map.getBody().front().getTerminator()).getValue());
    else if (auto broadcast = space.getDefiningOp<OneToAllOp>())
      visitSpace(broadcast.getSource(), /*open=*/false);
    else if (auto reduction = space.getDefiningOp<AllToOneOp>())
      visitSpace(reduction.getSource(), /*open=*/false);
  }

  void visitScalar(Value scalar) {
    if (!seen.insert(scalar).second)
      return;
    if (Value operand = getMapOperand(scalar))
      return visitSpace(operand, /*open=*/false);
    if (Operation *op = scalar.getDefiningOp()) {
      // Operands of operations in regions come from this body or from the region; the walk covers both.
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          visitScalar(operand);
      });
    }
  }
};

} // namespace

void TilePlan::visitLeaves(Expression expression, ArrayRef<Value> inlined, function_ref<void(Value)> visit) const {
  LeafVisitor visitor{*this, inlined, visit, {}};
  if (expression.scalar)
    visitor.visitScalar(expression.scalar);
  else
    visitor.visitSpace(expression.space, expression.open);
}
