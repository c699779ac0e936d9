//===- TemporalSlicePlan.cpp - Whether and how to slice temporally ---------===//
//
// SpaceFusion, sections 4.1 and 4.7.
//
//===------------------------------------------------------------------------===//

#include "SpaceExpr.h"
#include "fusion/Spaces/TemporalSlice.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fusion::spacemap;
namespace algebra = fusion::algebra;
using fusion::algebra::Expr;
using fusion::algebra::ExprContext;
using fusion::algebra::Role;
using fusion::algebra::UpdatePlan;

bool TemporalPlan::hasUpdates() const {
  return llvm::any_of(
      reductions, [](const TemporalReduction &reduction) { return reduction.update.kind != UpdatePlan::Kind::Simple; });
}

std::string TemporalPlan::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << numPasses << (numPasses == 1 ? " loop" : " loops") << " along " << dim.getValue();
  for (const TemporalReduction &reduction : reductions) {
    os << "; " << stringifyReducer(reduction.getOp().getReducer());
    if (reduction.update.kind == UpdatePlan::Kind::Simple)
      os << ": aggregated";
    else
      os << " of " << reduction.update.states.front().element.str() << ": "
         << reduction.update.states.front().update.str();
  }
  return text;
}

namespace {

class Planner {
public:
  Planner(GraphOp graph, StringAttr dim, const TemporalOptions &options, TemporalPlan &plan)
      : graph(graph), dim(dim), options(options), plan(plan) {}

  /// An empty text, or why not.
  std::string run();

private:
  /// The reductions along the dimension that a space depends on.
  const llvm::SmallBitVector &getDependencies(Value space);
  bool dependsOnPass(Value space, unsigned pass);
  std::string planReduction(unsigned index);
  std::string planUpdate(unsigned index, unsigned pass);
  std::string checkSupported(Value space, unsigned pass);

  GraphOp graph;
  StringAttr dim;
  const TemporalOptions &options;
  TemporalPlan &plan;
  llvm::DenseMap<Value, unsigned> positions;
  llvm::DenseMap<Value, llvm::SmallBitVector> dependencies;
};

} // namespace

const llvm::SmallBitVector &Planner::getDependencies(Value space) {
  if (auto it = dependencies.find(space); it != dependencies.end())
    return it->second;
  llvm::SmallBitVector result(plan.reductions.size());
  if (Operation *op = space.getDefiningOp()) {
    for (Value operand : op->getOperands())
      if (isa<SpaceType>(operand.getType()))
        result |= getDependencies(operand);
    if (auto it = positions.find(space); it != positions.end())
      result.set(it->second);
  }
  return dependencies[space] = result;
}

bool Planner::dependsOnPass(Value space, unsigned pass) {
  return llvm::any_of(getDependencies(space).set_bits(),
                      [&](unsigned index) { return plan.reductions[index].pass == pass; });
}

/// Only scalar functions of earlier reductions can be followed.
std::string Planner::checkSupported(Value space, unsigned pass) {
  std::string reason;
  llvm::SmallPtrSet<Operation *, 16> visited;
  auto visit = [&](auto &self, Value space) -> void {
    Operation *op = space.getDefiningOp();
    if (!op || !reason.empty() || !dependsOnPass(space, pass) || positions.contains(space) ||
        !visited.insert(op).second)
      return;
    if (!isa<MapOp, OneToAllOp>(op)) {
      reason = "it depends on an earlier reduction through a reduction over other dimensions";
      return;
    }
    for (Value operand : op->getOperands())
      self(self, operand);
  };
  visit(visit, space);
  return reason;
}

std::string Planner::planUpdate(unsigned index, unsigned pass) {
  TemporalReduction &reduction = plan.reductions[index];
  Value source = reduction.getOp().getSource();
  ExprContext &context = *plan.context;
  while (plan.exprs.size() <= pass)
    plan.exprs.push_back(std::make_shared<SpaceExprs>(context));
  if (std::string reason = checkSupported(source, pass); !reason.empty())
    return reason;
  auto classify = [&](Value space) -> std::optional<Role> {
    if (!dependsOnPass(space, pass))
      return llvm::is_contained(getDims(space), dim) ? Role::Varying : Role::Parameter;
    return isa<MapOp, OneToAllOp>(space.getDefiningOp()) ? std::nullopt : std::optional(Role::State);
  };
  std::string reason;
  Expr f = plan.exprs[pass]->get(source, classify, reason);
  if (!f)
    return reason;
  // Sums of 16-bit floats are kept in 32 bits; the order of numbers needs no more bits.
  Reducer reducer = reduction.getOp().getReducer();
  if (f.type().isF16() || f.type().isBF16())
    if (reducer == Reducer::Sum || reducer == Reducer::Prod)
      f = context.toFloat(f, Float32Type::get(graph.getContext()));
  auto update = algebra::synthesizeUpdate(context, f, reducer, reason, options.maxStates);
  if (!update)
    return reason;

  // An update sees the reduced element only.
  ArrayRef<StringAttr> dims = getDims(reduction.getOp().getResult());
  for (const algebra::UpdateState &state : update->states)
    for (Expr leaf : state.update.leaves()) {
      Expr known = leaf.role() == Role::NextState ? context.leaf(Role::State, leaf.name(), leaf.type()) : leaf;
      Value space = plan.exprs[pass]->getSpace(known);
      if (!space)
        continue;
      for (StringAttr inner : getDims(space))
        if (!llvm::is_contained(dims, inner))
          return ("it needs a correction for each element of '" + inner.getValue() + "', which it reduces as well")
              .str();
    }
  if (update->kind == UpdatePlan::Kind::Polynomial) {
    // A factor that may be 0 or infinite is better applied afterwards than corrected by differences.
    if (algebra::postpone(context, f, reducer, [](Expr) { return true; }))
      return "it has a factor that must be postponed first";
    // Accumulating several contractions costs more than it saves.
    unsigned costly = llvm::count_if(update->states, [](auto &state) { return !state.element.isConstant(); });
    bool isContraction = llvm::none_of(f.leaves(), [&](Expr leaf) {
      Value space = plan.exprs[pass]->getSpace(leaf);
      return space && getDims(space).size() == getDims(source).size();
    });
    if (isContraction && costly > 2)
      return llvm::formatv("its polynomial update would need {0} contractions", costly);
  }
  if (options.verify && update->kind != UpdatePlan::Kind::Simple &&
      failed(algebra::checkUpdate(context, *update, reason)))
    return reason;

  reduction.update = std::move(*update);
  reduction.pass = pass;
  reduction.dependencies.clear();
  for (unsigned other : getDependencies(source).set_bits())
    if (plan.reductions[other].pass == pass)
      reduction.dependencies.push_back(other);
  return "";
}

std::string Planner::planReduction(unsigned index) {
  unsigned pass = 0;
  for (unsigned other : getDependencies(plan.reductions[index].getOp().getSource()).set_bits())
    pass = std::max(pass, plan.reductions[other].pass);
  // Not the reduction under study itself.
  plan.reductions[index].pass = ~0u;
  std::string reason = planUpdate(index, pass);
  if (reason.empty() || pass + 1 >= options.maxReductionPasses)
    return reason;
  return planUpdate(index, pass + 1);
}

std::string Planner::run() {
  if (graph.getDimIndex(dim) < 0)
    return ("the graph has no dimension '" + dim.getValue() + "'").str();
  if (graph.getBlockSize(dim) != 0)
    return ("dimension '" + dim.getValue() + "' is spatially sliced").str();
  if (graph.getStaticExtent(dim) == 0)
    return ("dimension '" + dim.getValue() + "' is empty").str();
  Block &body = graph.getBody().front();
  if (!body.getOps<TemporalOp>().empty())
    return "the graph is temporally sliced already";

  plan.dim = dim;
  plan.context = std::make_shared<ExprContext>(graph.getContext());
  for (auto op : body.getOps<AllToOneOp>()) {
    if (op->use_empty() || !llvm::is_contained(getNames(op.getAlong()), dim))
      continue;
    positions[op.getResult()] = plan.reductions.size();
    plan.reductions.emplace_back().op = op;
  }
  for (unsigned index = 0; index < plan.reductions.size(); ++index) {
    std::string reason = planReduction(index);
    if (!reason.empty())
      return ("reduction " + Twine(index + 1) + " along '" + dim.getValue() + "' (" +
              stringifyReducer(plan.reductions[index].getOp().getReducer()) + "): " + reason)
          .str();
    plan.numReductionPasses = std::max(plan.numReductionPasses, plan.reductions[index].pass + 1);
  }
  plan.numPasses = std::max(plan.numReductionPasses, 1u);
  for (Value value : cast<OutputOp>(body.getTerminator()).getValues()) {
    if (!llvm::is_contained(getDims(value), dim))
      continue;
    unsigned pass = 0;
    for (unsigned index : getDependencies(value).set_bits())
      pass = std::max(pass, plan.reductions[index].pass + 1);
    if (!llvm::is_contained(plan.collected, std::pair(value, pass)))
      plan.collected.push_back({value, pass});
    plan.numPasses = std::max(plan.numPasses, pass + 1);
  }
  if (plan.collected.empty() && plan.reductions.empty())
    return ("no space has dimension '" + dim.getValue() + "'").str();
  return "";
}

FailureOr<TemporalPlan> fusion::spacemap::planTemporal(GraphOp graph, StringAttr dim, std::string *reason,
                                                       const TemporalOptions &options) {
  TemporalPlan plan;
  std::string text = Planner(graph, dim, options, plan).run();
  if (text.empty())
    return plan;
  if (reason)
    *reason = std::move(text);
  return failure();
}
