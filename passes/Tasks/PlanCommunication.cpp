//===- PlanCommunication.cpp - Exchanges where points need what others wrote ===//
//
// Dataflow over structured control flow: for each store where its current elements are (Holdings.h). Before a launch
// that reads through a placement that is not known to be current there is an exchange. What must hold at the start of
// each iteration of a loop is found by iterating without changing the program; it is made true before the loop, so
// exchanges of what the loop does not change happen there. See docs/rationale/communication.md.
//
//===------------------------------------------------------------------------===//

#include "FuseOptions.h"
#include "Holdings.h"
#include "HostValues.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace fusion {
#define GEN_PASS_DEF_DISTPLANCOMMUNICATION
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

/// By store.
using State = llvm::MapVector<Value, StoreHoldings>;

/// What a region does to a store outside of it.
struct Effects {
  bool accessed = false, written = false;
  /// If all it does is to reduce with this; null otherwise.
  PrivilegeAttr reduction;
  PlacementAttr reducedBy;
  bool onlyReduces = true;
};

struct Counts {
  unsigned exchanges = 0, hoisted = 0, dropped = 0, reductions = 0;
};

class Planner {
public:
  Counts counts;

  LogicalResult planFunction(FunctionOpInterface function);

private:
  LogicalResult planBlock(Block &block, State &state, bool emit);
  LogicalResult planOp(Operation &op, State &state, bool emit);
  void planAccesses(AccessOpInterface op, State &state, bool emit);
  LogicalResult planLoop(Operation *loop, ArrayRef<Region *> regions, State &state, bool emit);
  LogicalResult planIf(scf::IfOp branch, State &state, bool emit);

  /// Makes placements of a store current before `where`; does nothing for those that are.
  void require(Value store, ArrayRef<Holding> wanted, State &state, Operation *where, bool emit, unsigned &counter);
  /// Ends the pending reductions of a store except those that `stays` accepts.
  void combine(Value store, State &state, Operation *where, bool emit,
               function_ref<bool(PrivilegeAttr, PlacementAttr)> stays = nullptr);
  void noteWrite(Value store, const Holding &written, State &state);
  /// Makes what `wanted` says of each of its stores true before `where`.
  void establish(const State &wanted, State &state, Operation *where, bool emit, unsigned &counter);
  /// What holds in both of two states, after `establish` in `other`. Stores that only one knows are left out.
  State join(const State &dominant, const State &other, function_ref<bool(Value)> forcesCurrent);

  const llvm::MapVector<Value, Effects> &getEffects(Operation *op);
  llvm::DenseMap<Operation *, llvm::MapVector<Value, Effects>> effects;
};

} // namespace

static StoreType getType(Value store) { return cast<StoreType>(store.getType()); }

static PlacementAttr getWholeAtFirst(MLIRContext *context) {
  return PlacementAttr::get(context, cast<PartitionInterface>(NoneAttr::get(context)), ArrayRef<int64_t>(1));
}

/// What a store is where everybody that may ask has it: a scalar on every rank, all others at the first point.
static Holding getHost(Value store) {
  return Holding(getType(store), getWholeAtFirst(store.getContext()), getType(store).getRank() == 0);
}

/// What the host program needs of a store that it reads, maybe through a view.
static Holding getRead(ToTensorOp op) {
  auto view = op.getStore().getDefiningOp<ViewOp>();
  Value root = getRootStore(op.getStore());
  if (!view || getType(root).getRank() == 0)
    return getHost(root);
  PartitionInterface part = composeWithView(cast<PartitionInterface>(NoneAttr::get(op.getContext())),
                                            ArrayRef<int64_t>(1), getType(op.getStore()).getShape(), view.getOffsets());
  return Holding(getType(root), PlacementAttr::get(op.getContext(), part, ArrayRef<int64_t>(1)));
}

/// Whether each rank executes it: its stores are scalars, and it reduces none.
static bool isEverywhere(AccessOpInterface op) {
  return getNumPoints(op.getLaunchDomain()) == 1 && llvm::all_of(op.getAccesses(), [](const Access &access) {
           return getType(access.store).getRank() == 0 && !access.privilege.reduces();
         });
}

//===----------------------------------------------------------------------===//
// Effects of regions
//===----------------------------------------------------------------------===//

static void addEffect(Effects &effects, AccessOpInterface op, const Access &access) {
  effects.accessed = true;
  effects.written |= access.privilege.writes() || access.privilege.reduces();
  if (!access.privilege.reduces()) {
    effects.onlyReduces = false;
    return;
  }
  auto placement = PlacementAttr::get(op->getContext(), access.partition, op.getLaunchDomain());
  if (effects.reduction && (effects.reduction != access.privilege || effects.reducedBy != placement))
    effects.onlyReduces = false;
  effects.reduction = access.privilege;
  effects.reducedBy = placement;
}

const llvm::MapVector<Value, Effects> &Planner::getEffects(Operation *op) {
  auto [entry, isNew] = effects.try_emplace(op);
  if (!isNew)
    return entry->second;
  llvm::MapVector<Value, Effects> found;
  op->walk([&](Operation *inner) {
    if (auto access = dyn_cast<AccessOpInterface>(inner))
      for (const Access &argument : access.getAccesses())
        addEffect(found[argument.store], access, argument);
    if (auto read = dyn_cast<ToTensorOp>(inner)) {
      Effects &of = found[getRootStore(read.getStore())];
      of.accessed = true;
      of.onlyReduces = false;
    }
  });
  return effects[op] = std::move(found);
}

//===----------------------------------------------------------------------===//
// Exchanges and reductions
//===----------------------------------------------------------------------===//

static ArrayAttr getPlacements(MLIRContext *context, ArrayRef<Holding> holdings) {
  SmallVector<Attribute> placements;
  for (const Holding &holding : holdings)
    placements.push_back(holding.getPlacement());
  return ArrayAttr::get(context, placements);
}

void Planner::require(Value store, ArrayRef<Holding> wanted, State &state, Operation *where, bool emit,
                      unsigned &counter) {
  StoreHoldings &holdings = state[store];
  // Targets that are images may refer to different stores: one exchange for each such list, and one for the others.
  SmallVector<Holdings, 0> groups;
  for (const Holding &one : wanted) {
    if (holdings.isCurrent(one)) {
      counts.dropped += emit;
      continue;
    }
    auto group = llvm::find_if(groups, [&](ArrayRef<Holding> members) {
      return members.front().isImage() == one.isImage() && members.front().getGiven() == one.getGiven();
    });
    if (group == groups.end())
      groups.push_back({one});
    else if (!llvm::is_contained(*group, one))
      group->push_back(one);
  }
  for (Holdings &targets : groups) {
    // Every rank gets a scalar.
    if (getType(store).getRank() == 0)
      targets.assign(1, getHost(store));
    Holdings sources = holdings.getSources(targets);
    if (!sources.empty() && emit) {
      OpBuilder builder(where);
      SmallVector<Value> given;
      SmallVector<Attribute> givenPartitions;
      for (auto [givenStore, partition] : targets.front().getGiven()) {
        given.push_back(givenStore);
        givenPartitions.push_back(partition);
      }
      ExchangeOp::create(builder, where->getLoc(), store, getPlacements(builder.getContext(), sources),
                         getPlacements(builder.getContext(), targets), given, builder.getArrayAttr(givenPartitions));
      ++counter;
    }
    for (const Holding &target : targets)
      holdings.noteExchange(target);
  }
}

void Planner::noteWrite(Value store, const Holding &written, State &state) {
  state[store].noteWrite(written);
  for (auto &[other, holdings] : state)
    holdings.forgetImagesOf(store);
}

void Planner::combine(Value store, State &state, Operation *where, bool emit,
                      function_ref<bool(PrivilegeAttr, PlacementAttr)> stays) {
  auto pending = std::move(state[store].pending);
  state[store].pending.clear();
  StoreType type = getType(store);
  for (auto [reduction, placement] : pending) {
    if (stays && stays(reduction, placement)) {
      state[store].pending.push_back({reduction, placement});
      continue;
    }
    Holding target(type, placement, type.getRank() == 0);
    // The old elements are combined with the contributions.
    require(store, target, state, where, emit, counts.exchanges);
    if (emit) {
      OpBuilder builder(where);
      AllReduceOp::create(builder, where->getLoc(), store, reduction, placement);
      ++counts.reductions;
    }
    noteWrite(store, target, state);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The placement of an access, with the arguments that an image refers to, directly or through another image.
static Holding getHolding(AccessOpInterface op, ArrayRef<Access> accesses, const Access &access, bool everywhere) {
  MLIRContext *context = op->getContext();
  PartitionInterface partition = access.partition;
  SmallVector<std::pair<Value, Attribute>> given;
  if (auto image = dyn_cast<ImageAttr>(partition)) {
    llvm::MapVector<unsigned, unsigned> numbers;
    std::function<ImageAttr(ImageAttr)> renumber = [&](ImageAttr of) {
      SmallVector<unsigned> arguments;
      for (unsigned argument : of.getArguments()) {
        auto known = numbers.find(argument);
        if (known == numbers.end()) {
          Attribute inner = accesses[argument].partition;
          if (auto innerImage = dyn_cast<ImageAttr>(inner))
            inner = renumber(innerImage);
          known = numbers.insert({argument, unsigned(given.size())}).first;
          given.push_back({accesses[argument].store, inner});
        }
        arguments.push_back(known->second);
      }
      return ImageAttr::get(context, of.getKind(), arguments);
    };
    partition = renumber(image);
  }
  return Holding(getType(access.store), PlacementAttr::get(context, partition, op.getLaunchDomain()), everywhere,
                 given);
}

void Planner::planAccesses(AccessOpInterface op, State &state, bool emit) {
  SmallVector<Access> accesses = op.getAccesses();
  bool everywhere = isEverywhere(op);
  Holdings holdings;
  for (const Access &access : accesses)
    holdings.push_back(getHolding(op, accesses, access, everywhere));

  // Reductions before this go on only if nothing but they touches the store here.
  for (const Access &access : accesses) {
    auto stays = [&](PrivilegeAttr reduction, PlacementAttr placement) {
      bool onlyReduces = llvm::all_of(
          accesses, [&](const Access &other) { return other.store != access.store || other.privilege.reduces(); });
      return onlyReduces && llvm::any_of(llvm::zip(accesses, holdings), [&](const auto &pair) {
               const auto &[other, holding] = pair;
               return other.store == access.store && other.privilege == reduction &&
                      holding.getPlacement() == placement;
             });
    };
    combine(access.store, state, op, emit, stays);
  }

  // What is read: all placements of a store together. Images come after what they refer to.
  for (bool images : {false, true}) {
    llvm::MapVector<Value, Holdings> wanted;
    for (auto [access, holding] : llvm::zip(accesses, holdings)) {
      if (!access.privilege.reads() || holding.isImage() != images)
        continue;
      if (images)
        require(access.store, holding, state, op, emit, counts.exchanges);
      else
        wanted[access.store].push_back(holding);
    }
    for (auto &[store, targets] : wanted)
      require(store, targets, state, op, emit, counts.exchanges);
  }

  for (auto [access, holding] : llvm::zip(accesses, holdings)) {
    if (access.privilege.writes())
      noteWrite(access.store, holding, state);
    if (!access.privilege.reduces())
      continue;
    std::pair<PrivilegeAttr, PlacementAttr> contribution{access.privilege, holding.getPlacement()};
    auto &pending = state[access.store].pending;
    if (!llvm::is_contained(pending, contribution))
      pending.push_back(contribution);
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Planner::establish(const State &wanted, State &state, Operation *where, bool emit, unsigned &counter) {
  for (bool images : {false, true})
    for (const auto &[store, holdings] : wanted) {
      Holdings targets;
      auto add = [&, images = images, &known = state[store]](ArrayRef<Holding> all) {
        for (const Holding &one : all)
          if (one.isImage() == images && !known.isCurrent(one) && !llvm::is_contained(targets, one))
            targets.push_back(one);
      };
      add(state[store].getMissingLayers(holdings));
      add(holdings.current);
      require(store, targets, state, where, emit, counter);
    }
}

State Planner::join(const State &dominant, const State &other, function_ref<bool(Value)> forcesCurrent) {
  State joined;
  for (const auto &[store, theirs] : other) {
    auto found = dominant.find(store);
    if (found == dominant.end())
      continue;
    const StoreHoldings &ours = found->second;
    StoreHoldings &result = joined[store];
    result.pending = ours.pending;
    // Where the dominant state knows of no write there was none on its way: there any claim holds.
    for (const Holding &layer : theirs.layers)
      if (!llvm::is_contained(ours.layers, layer))
        result.layers.push_back(layer);
    result.layers.append(ours.layers.begin(), ours.layers.end());
    result.dropHiddenLayers();
    Holdings missing = theirs.getMissingLayers(result);
    for (const Holding &known : ours.current) {
      bool isLayer = llvm::is_contained(missing, known);
      bool referable = llvm::all_of(known.getGiven(), [&](const auto &given) { return forcesCurrent(given.first); });
      if (isLayer || (forcesCurrent(store) && referable) || (!known.isImage() && theirs.isCurrent(known)) ||
          llvm::is_contained(theirs.current, known))
        result.current.push_back(known);
    }
  }
  return joined;
}

LogicalResult Planner::planLoop(Operation *loop, ArrayRef<Region *> regions, State &state, bool emit) {
  const llvm::MapVector<Value, Effects> inside = getEffects(loop);
  auto staysPending = [&](Value store, PrivilegeAttr reduction, PlacementAttr placement) {
    auto found = inside.find(store);
    if (found == inside.end())
      return true;
    const Effects &of = found->second;
    return of.onlyReduces && of.reduction == reduction && of.reducedBy == placement;
  };
  auto endReductions = [&](State &of, Operation *where, bool emits) {
    SmallVector<Value> stores;
    for (auto &[store, holdings] : state)
      stores.push_back(store);
    for (Value store : stores)
      combine(store, of, where, emits, [&, store](PrivilegeAttr reduction, PlacementAttr placement) {
        return staysPending(store, reduction, placement);
      });
  };
  endReductions(state, loop, emit);
  auto isUnchanged = [&](Value store) {
    auto found = inside.find(store);
    return state.count(store) && (found == inside.end() || !found->second.written);
  };

  auto runBody = [&](State &at, State *afterFirst, bool emits) -> LogicalResult {
    for (auto [number, region] : llvm::enumerate(regions)) {
      Block &block = region->front();
      if (failed(planBlock(block, at, emits)))
        return failure();
      endReductions(at, block.getTerminator(), emits);
      if (number == 0 && afterFirst)
        *afterFirst = at;
    }
    return success();
  };

  // What holds at the start of each iteration.
  State entry = state, end;
  bool stable = false;
  for (unsigned round = 0; round < 8 && !stable; ++round) {
    end = entry;
    if (failed(runBody(end, nullptr, /*emits=*/false)))
      return failure();
    State next = join(end, state, isUnchanged);
    stable = llvm::all_of(next, [&](const auto &known) { return entry.lookup(known.first) == known.second; });
    entry = std::move(next);
  }
  for (auto &[store, holdings] : entry)
    for (auto contribution : holdings.pending)
      if (!llvm::is_contained(state[store].pending, contribution))
        state[store].pending.push_back(contribution);
  establish(entry, state, loop, emit, counts.hoisted);
  State exit = entry, iteration = entry;
  if (failed(runBody(iteration, regions.size() > 1 ? &exit : nullptr, emit)))
    return failure();
  if (!stable)
    establish(entry, iteration, regions.back()->front().getTerminator(), emit, counts.exchanges);
  // Stores made inside are gone.
  for (auto &[store, holdings] : state)
    holdings = exit.lookup(store);
  return success();
}

LogicalResult Planner::planIf(scf::IfOp branch, State &state, bool emit) {
  const llvm::MapVector<Value, Effects> inside = getEffects(branch);
  for (const auto &[store, of] : inside)
    if (state.count(store))
      combine(store, state, branch, emit);
  auto endReductions = [&](State &of, Operation *where) {
    for (const auto &[store, effects] : inside)
      if (state.count(store))
        combine(store, of, where, emit);
  };
  State thenState = state, elseState = state;
  Block *thenBlock = branch.thenBlock();
  if (failed(planBlock(*thenBlock, thenState, emit)))
    return failure();
  endReductions(thenState, thenBlock->getTerminator());
  if (Block *elseBlock = branch.elseBlock()) {
    if (failed(planBlock(*elseBlock, elseState, emit)))
      return failure();
    endReductions(elseState, elseBlock->getTerminator());
  }
  auto writes = [](Region &region, Value store) {
    return region
        .walk([&](AccessOpInterface op) {
          return llvm::any_of(op.getAccesses(),
                              [&](const Access &access) {
                                return access.store == store && access.privilege.getKind() != PrivilegeKind::Read;
                              })
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  // The branch that does not write a store decides where it is afterwards; the other brings it there.
  State thenOwes, elseOwes;
  auto never = [](Value) { return false; };
  for (auto &[store, before] : state) {
    if (!inside.count(store))
      continue;
    State one, two;
    one[store] = thenState.lookup(store);
    two[store] = elseState.lookup(store);
    bool thenWrites = writes(branch.getThenRegion(), store), elseWrites = writes(branch.getElseRegion(), store);
    if (!thenWrites && !elseWrites)
      continue;
    before = thenWrites && !elseWrites ? join(two, one, never).lookup(store) : join(one, two, never).lookup(store);
    (thenWrites && !elseWrites ? thenOwes : elseOwes)[store] = before;
  }
  establish(thenOwes, thenState, thenBlock->getTerminator(), emit, counts.exchanges);
  bool owes = llvm::any_of(elseOwes, [&](const auto &entry) {
    const auto &[store, holdings] = entry;
    const StoreHoldings &known = elseState[store];
    auto isMissing = [&](const Holding &one) { return !known.isCurrent(one); };
    return llvm::any_of(known.getMissingLayers(holdings), isMissing) || llvm::any_of(holdings.current, isMissing);
  });
  if (owes && emit && !branch.elseBlock()) {
    OpBuilder builder(branch);
    builder.createBlock(&branch.getElseRegion());
    scf::YieldOp::create(builder, branch.getLoc());
  }
  if (owes)
    establish(elseOwes, elseState, branch.elseBlock() ? branch.elseBlock()->getTerminator() : branch, emit,
              counts.exchanges);
  // What a branch wrote makes images of it old.
  for (const auto &[store, of] : inside)
    if (of.written)
      for (auto &[other, holdings] : state)
        holdings.forgetImagesOf(store);
  return success();
}

LogicalResult Planner::planOp(Operation &op, State &state, bool emit) {
  if (auto create = dyn_cast<CreateOp>(op)) {
    state[create.getStore()] = StoreHoldings();
    return success();
  }
  if (auto from = dyn_cast<FromTensorOp>(op)) {
    state[from.getStore()] = StoreHoldings();
    noteWrite(from.getStore(), getHost(from.getStore()), state);
    return success();
  }
  if (auto to = dyn_cast<ToTensorOp>(op)) {
    Value root = getRootStore(to.getStore());
    combine(root, state, to, emit);
    require(root, getRead(to), state, to, emit, counts.exchanges);
    return success();
  }
  if (auto access = dyn_cast<AccessOpInterface>(op)) {
    for (auto [index, argument] : llvm::enumerate(access.getAccesses()))
      if (argument.store.getDefiningOp<ViewOp>())
        return access.emitOpError("argument ") << index << " is an image of a view; images are of whole stores";
    planAccesses(access, state, emit);
    return success();
  }
  if (op.getNumRegions() == 0 || getEffects(&op).empty())
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return planLoop(loop, &loop.getRegion(), state, emit);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return planLoop(loop, {&loop.getBefore(), &loop.getAfter()}, state, emit);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return planIf(branch, state, emit);
  return op.emitOpError(
      "has operations on stores inside, which is not supported; scf.for, scf.while and scf.if may have "
      "them");
}

LogicalResult Planner::planBlock(Block &block, State &state, bool emit) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(planOp(op, state, emit)))
      return failure();
  return success();
}

LogicalResult Planner::planFunction(FunctionOpInterface function) {
  Region &body = function.getFunctionBody();
  if (body.empty() || getEffects(function).empty())
    return success();
  // Somebody has planned it.
  auto isCommunication = [](Operation *op) {
    return isa<ExchangeOp, ExchangeStartOp, AllReduceOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (body.walk(isCommunication).wasInterrupted())
    return success();
  if (!body.hasOneBlock())
    return function.emitOpError("has operations on stores and several blocks; structured control flow (scf) is needed "
                                "to plan their communication");
  if (failed(verifyHostValues(function)))
    return failure();
  State state;
  return planBlock(body.front(), state, /*emit=*/true);
}

namespace {

class PlanCommunication : public fusion::impl::DistPlanCommunicationBase<PlanCommunication> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(moveViewsToRoots(module)))
      return signalPassFailure();
    Planner planner;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (failed(planner.planFunction(function)))
        return signalPassFailure();
    numExchanges += planner.counts.exchanges;
    numHoisted += planner.counts.hoisted;
    numDropped += planner.counts.dropped;
    numReductions += planner.counts.reductions;
  }
};

} // namespace
