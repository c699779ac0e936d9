//===- BuildAlignment.cpp - Which ops form a graph, over which dimensions -===//

#include "Build.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

bool fusion::spacemap::isReshape(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, linalg::TransposeOp>(op);
}

Value fusion::spacemap::getReshaped(Operation *op) {
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return transpose.getInput();
  return op->getOperand(0);
}

OpFoldResult BlockAlignment::getExtent(Value value, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder(value.getContext());
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSize(axis);
  Value &extent = extents[{value, axis}];
  if (!extent) {
    builder.setInsertionPointAfterValue(value);
    extent = tensor::DimOp::create(builder, value.getLoc(), value, axis);
  }
  return extent;
}

Operator *BlockAlignment::getProducer(Value value, unsigned stage) {
  Operation *op = value.getDefiningOp();
  auto it = operators.find(op);
  return op && it != operators.end() && it->second.stage == stage ? &it->second : nullptr;
}

Operator *BlockAlignment::getProducer(Value value, const Operator &user) { return getProducer(value, user.stage); }

std::optional<SmallVector<DimTable::Dims>> BlockAlignment::forward(Operation *reshape, ArrayRef<DimTable::Dims> axes) {
  SmallVector<DimTable::Dims> result;
  if (isa<tensor::CastOp>(reshape)) {
    llvm::append_range(result, axes);
    return result;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(reshape)) {
    for (int64_t axis : transpose.getPermutation())
      result.push_back(axes[axis]);
    return result;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      DimTable::Dims &merged = result.emplace_back();
      for (int64_t axis : group)
        merged.append(axes[axis]);
    }
    return result;
  }
  auto expand = cast<tensor::ExpandShapeOp>(reshape);
  SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
  for (auto [index, group] : llvm::enumerate(expand.getReassociationIndices())) {
    if (group.size() == 1) {
      result.push_back(axes[index]);
      continue;
    }
    DimTable::Dims parts;
    for (int64_t axis : group) {
      result.push_back(table.createAxis(shape[axis]));
      parts.append(result.back());
    }
    if (!table.unify(axes[index], parts))
      return std::nullopt;
  }
  return result;
}

std::optional<TracedValue> BlockAlignment::trace(Value value, unsigned stage) {
  SmallVector<Operation *> reshapes;
  TracedValue result{value, {}, {}};
  while (Operation *op = result.root.getDefiningOp()) {
    if (op->getBlock() != &block || !isReshape(op))
      break;
    reshapes.push_back(op);
    result.root = getReshaped(op);
  }
  if (Operator *producer = getProducer(result.root, stage)) {
    result.rootAxes = producer->resultAxes;
  } else {
    // A scalar operand has no axes.
    auto type = dyn_cast<RankedTensorType>(result.root.getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis)
      result.rootAxes.push_back(table.createAxis(getExtent(result.root, axis)));
  }
  result.axes = result.rootAxes;
  for (Operation *reshape : llvm::reverse(reshapes)) {
    std::optional<SmallVector<DimTable::Dims>> axes = forward(reshape, result.axes);
    if (!axes)
      return std::nullopt;
    result.axes = std::move(*axes);
  }
  return result;
}

std::optional<Refusal> BlockAlignment::align(Operator &candidate) {
  linalg::GenericOp op = candidate.op;
  candidate.operands.clear();
  candidate.loops.assign(op.getNumLoops(), {});
  SmallVector<bool> known(op.getNumLoops(), false);
  for (OpOperand &operand : op->getOpOperands()) {
    bool isUnreadInit = op.isDpsInit(&operand) && !candidate.fusible.readsInit;
    std::optional<TracedValue> traced;
    if (isUnreadInit) {
      // Only its shape counts: no dependence on whoever made it.
      traced.emplace();
      for (int64_t axis = 0, rank = op.getRank(&operand); axis < rank; ++axis)
        traced->axes.push_back(table.createAxis(getExtent(operand.get(), axis)));
    } else {
      traced = trace(operand.get(), candidate.stage);
    }
    if (!traced)
      return Refusal{Reason::ReshapeMismatch, "a reshape in front of it splits or merges run-time extents"};
    for (auto [axis, expr] : llvm::zip_equal(traced->axes, op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue; // constant 0 at an axis of extent 1
      DimTable::Dims &dims = candidate.loops[loop.getPosition()];
      if (!known[loop.getPosition()])
        dims = axis;
      else if (!table.unify(dims, axis))
        return Refusal{Reason::ReshapeMismatch, "its operands divide the range of loop " +
                                                    std::to_string(loop.getPosition()) +
                                                    " into dimensions in different ways"};
      known[loop.getPosition()] = true;
    }
    candidate.operands.push_back(std::move(*traced));
  }
  candidate.resultAxes.clear();
  for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    candidate.resultAxes.push_back(loop ? candidate.loops[loop.getPosition()] : DimTable::Dims());
  }
  if (hasAliasConflict(candidate))
    return Refusal{Reason::AliasConflict, "in one graph a space would have the same dimension twice"};
  return std::nullopt;
}

bool BlockAlignment::hasAliasConflict(const Operator &candidate) const {
  auto isBox = [&](const Operator &op) {
    llvm::SmallDenseSet<DimTable::Dim> seen;
    for (const DimTable::Dims &loop : op.loops)
      for (DimTable::Dim dim : table.resolve(loop))
        if (!seen.insert(dim).second)
          return false;
    return true;
  };
  auto inSameStage = [&](auto &entry) { return entry.second.stage == candidate.stage; };
  return !isBox(candidate) || llvm::any_of(llvm::make_filter_range(operators, inSameStage),
                                           [&](auto &entry) { return !isBox(entry.second); });
}

void BlockAlignment::run() {
  assignStages();
  if (findLaterStages()) {
    operators.clear();
    table = DimTable();
    refusals.clear();
    barriers.clear();
    numCuts = 0;
    assignStages();
  }
}

bool BlockAlignment::findLaterStages() {
  bool isAnyLater = false;
  for (auto &[op, entry] : llvm::reverse(operators)) {
    std::optional<unsigned> earliestUse;
    bool isOnlyRead = true;
    SmallVector<Value> values = {op->getResult(0)};
    while (!values.empty() && isOnlyRead) {
      Value value = values.pop_back_val();
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        auto reader = operators.find(user);
        if (reader != operators.end()) {
          unsigned stage = std::max(reader->second.stage, notBefore.lookup(user));
          earliestUse = std::min(earliestUse.value_or(stage), stage);
        } else if (user->getBlock() == &block && isReshape(user) && use.getOperandNumber() == 0) {
          values.push_back(user->getResult(0));
        } else {
          isOnlyRead = false;
        }
      }
    }
    if (isOnlyRead && earliestUse && *earliestUse > entry.stage) {
      notBefore[op] = *earliestUse;
      isAnyLater = true;
    }
  }
  return isAnyLater;
}

void BlockAlignment::assignStages() {
  // For each op, the first stage at which everything that it depends on has been computed. Side effects stay in
  // program order: what follows one that depends on stage s is of a later stage.
  llvm::DenseMap<Operation *, unsigned> available;
  unsigned barrier = 0;
  Operation *barrierOp = nullptr;
  auto getAvailable = [&](Value value) -> unsigned {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block ? available.lookup(op) : 0;
  };

  for (Operation &op : llvm::make_early_inc_range(block)) {
    unsigned stage = 0;
    bool dependsOnGraph = false;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        stage = std::max(stage, getAvailable(operand));
        Operation *producer = operand.getDefiningOp();
        while (producer && producer->getBlock() == &block && isReshape(producer))
          producer = getReshaped(producer).getDefiningOp();
        dependsOnGraph |= producer && operators.contains(producer);
      }
    });
    if (joinGraph(op, std::max({stage, barrier, notBefore.lookup(&op)}))) {
      if (barrier > stage)
        barriers[&op] = barrierOp;
      available[&op] = operators.find(&op)->second.stage;
      continue;
    }
    // What an op outside of the graphs makes of a graph's result is there for the next stage only.
    bool isLater = dependsOnGraph && !isReshape(&op);
    available[&op] = isLater ? stage + 1 : stage;
    if (isLater && !isMemoryEffectFree(&op) && stage + 1 > barrier) {
      barrier = stage + 1;
      barrierOp = &op;
    }
  }
}

bool BlockAlignment::joinGraph(Operation &op, unsigned stage) {
  auto generic = dyn_cast<linalg::GenericOp>(&op);
  if (!generic)
    return false;
  std::string reason;
  FailureOr<FusibleOp> fusible = analyzeFusible(generic, &reason);
  if (failed(fusible)) {
    refusals[&op] = {Reason::NotAMapping, reason};
    return false;
  }
  Operator candidate;
  candidate.op = generic;
  candidate.fusible = *fusible;
  // With its operands' graph if the dimensions align, else after it.
  for (candidate.stage = stage; candidate.stage <= stage + 1; ++candidate.stage) {
    DimTable::Mark mark = table.mark();
    std::optional<Refusal> refusal = align(candidate);
    if (!refusal) {
      numCuts += candidate.stage - stage;
      operators.insert({&op, std::move(candidate)});
      return true;
    }
    refusals.try_emplace(&op, std::move(*refusal));
    table.rollback(mark);
  }
  return false;
}

std::vector<SmallVector<Operator *>> BlockAlignment::getGraphs() {
  llvm::EquivalenceClasses<Operation *> classes;
  for (auto &[op, entry] : operators) {
    classes.insert(op);
    for (TracedValue &operand : entry.operands)
      if (operand.root)
        if (Operator *producer = getProducer(operand.root, entry))
          classes.unionSets(op, producer->op);
  }
  llvm::MapVector<Operation *, SmallVector<Operator *>> byLeader;
  for (auto &[op, entry] : operators)
    byLeader[classes.getLeaderValue(op)].push_back(&entry);
  std::vector<SmallVector<Operator *>> graphs;
  for (auto &[leader, list] : byLeader)
    graphs.push_back(std::move(list));
  llvm::stable_sort(graphs, [](const auto &a, const auto &b) { return a.front()->stage < b.front()->stage; });
  return graphs;
}
