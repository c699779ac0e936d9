//===- TemporalSliceValues.cpp - What stands for states, and final values --===//
//
// SpaceFusion, section 4.3, safety conditions: states that have seen nothing yet, means of what has been seen, and the
// exact value afterwards.
//
//===------------------------------------------------------------------------===//

#include "TemporalSlicer.h"

using namespace mlir;
using namespace fusion::spacemap;
using namespace fusion::algebra;
namespace algebra = fusion::algebra;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expr TemporalSlicer::getLeaf(unsigned index) {
  const TemporalReduction &reduction = plan.reductions[index];
  auto classify = [](Value) -> std::optional<Role> { return std::nullopt; };
  std::string reason;
  // The planner has made it where anything of the loop depends on it.
  return plan.exprs[reduction.pass]->get(reduction.getOp().getResult(), classify, reason);
}

Expr TemporalSlicer::getStateLeaf(unsigned index, unsigned state) {
  Type type = plan.reductions[index].update.states[state].update.type();
  return context.leaf(Role::Accumulated, ("r" + Twine(index) + "_" + Twine(state)).str(), type);
}

Expr TemporalSlicer::toFloat(Expr indexLeaf, Type type) {
  Expr integer = context.cast("arith.index_cast", indexLeaf, IntegerType::get(graph.getContext(), 64));
  return context.cast("arith.sitofp", integer, type);
}

/// Whether an accumulated value of a reduction is a multiple of the number of elements seen.
bool TemporalSlicer::isCount(unsigned index, unsigned state) {
  const TemporalReduction &reduction = plan.reductions[index];
  if (state == 0 || !reduction.update.states[state].element.isConstant())
    return false;
  return llvm::none_of(getNames(reduction.getOp().getAlong()), [&](StringAttr dim) {
    return dim != plan.dim && ShapedType::isDynamic(graph.getStaticExtent(dim));
  });
}

void TemporalSlicer::chooseStandIns(unsigned pass) {
  for (auto [index, reduction] : llvm::enumerate(plan.reductions)) {
    if (reduction.pass != pass || reduction.update.kind == UpdatePlan::Kind::Simple)
      continue;
    for (unsigned other : reduction.dependencies) {
      Expr leaf = getLeaf(other);
      StandIn &standIn = standIns[other];
      standIn.guardsIdentity |= llvm::is_contained(reduction.update.infiniteStates, leaf);
      standIn.guardsZero |= llvm::is_contained(reduction.update.zeroStates, leaf);
      standIn.extrapolates |= reduction.update.kind == UpdatePlan::Kind::Polynomial && leaf.isFloat() &&
                              plan.reductions[other].getOp().getReducer() == Reducer::Sum;
    }
  }
}

Expr fusion::spacemap::seenLeaf(ExprContext &context, bool isOld) {
  return context.leaf(Role::Accumulated, isOld ? "seen before" : "seen", IndexType::get(context.getContext()));
}
Expr fusion::spacemap::extentLeaf(ExprContext &context) {
  return context.leaf(Role::Accumulated, "extent", IndexType::get(context.getContext()));
}

/// The accumulated value that is a multiple of the number of elements, before the current slice or after all.
Expr TemporalSlicer::getCount(unsigned index, unsigned state, bool isFinal) {
  const TemporalReduction &reduction = plan.reductions[index];
  Expr element = reduction.update.states[state].element;
  double count = element.constantValue();
  for (StringAttr dim : getNames(reduction.getOp().getAlong()))
    if (dim != plan.dim)
      count *= static_cast<double>(graph.getStaticExtent(dim));
  Expr seen = toFloat(isFinal ? extentLeaf(context) : seenLeaf(context, /*isOld=*/true), element.type());
  if (int64_t size = graph.getStaticExtent(plan.dim); isFinal && !ShapedType::isDynamic(size))
    seen = context.constant(static_cast<double>(size), element.type());
  return context.mul(seen, context.constant(count, element.type()));
}

/// What stands for the reduction where `value` is its value. An old one that has seen nothing is replaced by `current`,
/// what stands for it now; an infinite one only in updates for which it is `dominated` (see `UpdatePlan`).
Expr TemporalSlicer::getStandIn(unsigned index, Expr value, bool isOld, Expr current, bool dominated) {
  const StandIn &standIn = standIns[index];
  Type type = value.type();
  Expr result = value;
  if (standIn.extrapolates) {
    int64_t size = graph.getStaticExtent(plan.dim);
    Expr all = ShapedType::isDynamic(size) ? toFloat(extentLeaf(context), type)
                                           : context.constant(static_cast<double>(size), type);
    result = context.mul(value, context.div(all, toFloat(seenLeaf(context, isOld), type)));
    if (isOld) {
      Expr none = context.constant(0, IndexType::get(context.getContext()));
      result = context.select(context.equal(seenLeaf(context, true), none), current, result);
    }
  }
  if (standIn.guardsZero)
    result = context.select(context.equal(value, context.constant(0, type)), context.constant(1, type), result);
  if (standIn.guardsIdentity) {
    Expr identity = context.constant(getIdentity(plan.reductions[index].getOp().getReducer(), type));
    Expr finite = isOld && dominated ? current : context.constant(algebra::getInfiniteStandIn(getLeaf(index)), type);
    result = context.select(context.equal(value, identity), finite, result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Final values
//===----------------------------------------------------------------------===//

/// Whether every user multiplies the reduction with, or divides it by, an earlier reduction that has been restored
/// under the same guards: what is NaN there makes the product NaN.
bool TemporalSlicer::isRestoredByUsers(unsigned index) {
  const TemporalReduction &reduction = plan.reductions[index];
  if (!reduction.update.dominated || !reduction.update.zeroStates.empty())
    return false;
  for (Operation *user : reduction.getOp().getResult().getUsers()) {
    auto map = dyn_cast<MapOp>(user);
    if (!map)
      return false;
    SmallVector<Expr> arguments;
    for (auto [position, operand] : llvm::enumerate(map.getOperands()))
      arguments.push_back(
          context.leaf(Role::Accumulated, ("argument" + Twine(position)).str(), getElementType(operand)));
    std::string ignored;
    Expr expr = context.fromBody(map.getBody().front(), arguments, ignored);
    if (!expr)
      return false;
    // Follow products from the root.
    bool covered = false;
    auto visit = [&](auto &self, Expr e) -> void {
      if (e.op() == ExprKind::Mul || e.op() == ExprKind::Div) {
        self(self, e[0]);
        self(self, e[1]);
      } else if (e.op() == ExprKind::Neg || e.isFloatCast()) {
        self(self, e[0]);
      } else if (e.op() == ExprKind::Select && (e[1].isConstant() || e[2].isConstant())) {
        // Where the constant is taken nobody sees the product.
        self(self, e[e[1].isConstant() ? 2 : 1]);
      } else if (e.isLeaf()) {
        Value operand = map.getOperand(std::distance(arguments.begin(), llvm::find(arguments, e)));
        while (auto oneToAll = operand.getDefiningOp<OneToAllOp>())
          operand = oneToAll.getSource();
        auto it = positions.find(operand);
        if (it == positions.end() || !restored.contains(operand.getDefiningOp()))
          return;
        const UpdatePlan &other = plan.reductions[it->second].update;
        covered |= other.kind == UpdatePlan::Kind::Scale && other.dominated &&
                   llvm::all_of(reduction.update.infiniteStates,
                                [&](Expr state) { return llvm::is_contained(other.infiniteStates, state); });
      }
    };
    visit(visit, expr);
    if (!covered)
      return false;
  }
  return true;
}

/// The final value of a reduction in its own type, from its final states.
Value TemporalSlicer::restore(unsigned index, Value final, ArrayRef<Value> states) {
  const TemporalReduction &reduction = plan.reductions[index];
  ArrayRef<StringAttr> dims = getDims(reduction.getOp().getResult());
  SpaceEmitter emitter(builder, reduction.getOp().getLoc(), graph);
  Expr result = getStateLeaf(index, 0);
  emitter.setSpace(result, final);
  // What stood for a reduction may differ from its final value because that has been restored itself.
  bool isStale = llvm::any_of(reduction.dependencies,
                              [&](unsigned other) { return restored.contains(plan.reductions[other].op); });
  if (isStale || (reduction.update.restore && !isRestoredByUsers(index))) {
    Expr formula = reduction.update.restore ? reduction.update.restore : reduction.update.states.front().update;
    llvm::DenseMap<const Node *, Expr> replacements;
    for (auto [position, state] : llvm::enumerate(reduction.update.states)) {
      Expr y = accumulated(context, state.update.type(), position);
      replacements[y.get()] = getStateLeaf(index, position);
      if (states[position]) {
        emitter.setSpace(getStateLeaf(index, position), states[position]);
      } else {
        replacements[y.get()] = getCount(index, position, /*isFinal=*/true);
        if (Value all = getExtent())
          emitter.setSpace(extentLeaf(context), all);
      }
    }
    for (Expr leaf : formula.leaves())
      if (leaf.role() == Role::Parameter)
        emitter.setSpace(leaf, materializeOutside(plan.exprs[reduction.pass]->getSpace(leaf)));
    for (unsigned other : reduction.dependencies) {
      Expr leaf = getLeaf(other), next = context.next(leaf);
      Value value = outside.lookupOrNull(plan.reductions[other].getOp().getResult());
      if (!value)
        return {};
      emitter.setSpace(next, value);
      Expr last = getStateLeaf(other, 0);
      emitter.setSpace(last, running[other].states.front());
      if (leaf.isFloat())
        last = context.toFloat(last, leaf.type());
      StandIn saved = standIns[other];
      standIns[other].extrapolates = false;
      replacements[leaf.get()] = getStandIn(other, last);
      standIns[other] = saved;
    }
    Expr exact = context.substitute(formula, replacements);
    // Without any element there is nothing to restore.
    if (Value all = getExtent()) {
      emitter.setSpace(extentLeaf(context), all);
      Expr none = context.constant(0, IndexType::get(graph.getContext()));
      exact = context.select(context.equal(extentLeaf(context), none), result, exact);
    }
    result = exact;
    restored.insert(reduction.op);
  }
  Type type = getElementType(reduction.getOp().getResult());
  if (isa<FloatType>(type))
    result = context.toFloat(result, type);
  return emitter.emit(result, dims);
}
