//===- Update.cpp - Synthesis of update functions ---------------------------===//

#include "fusion/Algebra/Update.h"
#include "Polynomial.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

double fusion::algebra::identityValue(Reducer reducer) {
  switch (reducer) {
  case Reducer::Prod:
    return 1;
  case Reducer::Max:
  case Reducer::MaxNum:
    return -std::numeric_limits<double>::infinity();
  case Reducer::Min:
  case Reducer::MinNum:
    return std::numeric_limits<double>::infinity();
  default:
    return 0;
  }
}

static bool isMaximum(Reducer reducer) { return reducer == Reducer::Max || reducer == Reducer::MaxNum; }
static bool isMinimum(Reducer reducer) { return reducer == Reducer::Min || reducer == Reducer::MinNum; }

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

/// Whether the argument of an exponential is minus infinity as long as the state `m` is at its identity.
static bool isBelow(Expr argument, Expr m) {
  switch (argument.op()) {
  case ExprKind::Sub: {
    bool has = false;
    argument[1].walk([&](Expr inner) { has |= inner == m; });
    return (has && isUpperBound(argument[1], argument[0])) || isBelow(argument[0], m);
  }
  case ExprKind::Add:
    return isBelow(argument[0], m) || isBelow(argument[1], m);
  case ExprKind::Mul:
    return (isBelow(argument[0], m) && isPositive(argument[1])) || (isBelow(argument[1], m) && isPositive(argument[0]));
  case ExprKind::Div:
    return isBelow(argument[0], m) && isPositive(argument[1]);
  case ExprKind::Cast:
    return argument.isFloatCast() && isBelow(argument[0], m);
  default:
    return false;
  }
}

/// Whether `f` is 0 as long as the state `m` is at its identity.
static bool vanishesWith(Expr f, Expr m) {
  switch (f.op()) {
  case ExprKind::Exp:
  case ExprKind::Exp2:
    return isBelow(f[0], m);
  case ExprKind::Mul:
    return vanishesWith(f[0], m) || vanishesWith(f[1], m);
  case ExprKind::Div:
  case ExprKind::Neg:
    return vanishesWith(f[0], m);
  case ExprKind::Cast:
    return f.isFloatCast() && vanishesWith(f[0], m);
  case ExprKind::Select:
    return (f[1].isConstant(0) || vanishesWith(f[1], m)) && (f[2].isConstant(0) || vanishesWith(f[2], m));
  default:
    return false;
  }
}

/// Whether `f` loses its meaning where the state is 0.
static bool breaksAtZero(Expr f, Expr state) {
  bool breaks = false;
  f.walk([&](Expr inner) {
    bool divides = inner.op() == ExprKind::Div || inner.op() == ExprKind::Rsqrt || inner.op() == ExprKind::Log ||
                   inner.op() == ExprKind::Log2;
    if (!divides)
      return;
    Expr divisor = inner.op() == ExprKind::Div ? inner[1] : inner[0];
    Assignment values;
    for (Expr leaf : divisor.leaves())
      values[leaf.get()] = leaf == state ? 0.0 : 0.75;
    bool has = false;
    divisor.walk([&](Expr e) { has |= e == state; });
    breaks |= has && evaluate(divisor, values) == 0;
  });
  return breaks;
}

/// Whether each occurrence of the state `m` in `f` is in a difference of an element and its own bound, which is NaN
/// where `m` is infinite because it has seen nothing finite.
static bool occursInBoundedDifferencesOnly(Expr f, Expr m) {
  if (f == m)
    return false;
  bool has = false;
  if (f.op() == ExprKind::Sub) {
    f[1].walk([&](Expr inner) { has |= inner == m; });
    if (has && (isUpperBound(f[1], f[0]) || isLowerBound(f[1], f[0])))
      return true;
  }
  for (unsigned i = 0; i < f.size(); ++i)
    if (!occursInBoundedDifferencesOnly(f[i], m))
      return false;
  return true;
}

static void addGuards(ExprContext &context, Expr f, UpdatePlan &plan) {
  for (Expr leaf : f.leaves()) {
    if (!leaf.isLeaf(Role::State) || !leaf.isFloat() || !leaf.facts().reducer)
      continue;
    Reducer reducer = *leaf.facts().reducer;
    if (isMaximum(reducer) || isMinimum(reducer)) {
      plan.infiniteStates.push_back(leaf);
      if (plan.kind != UpdatePlan::Kind::Shift)
        plan.dominated &= vanishesWith(f, leaf);
    }
    // The updates divide by old states as well: d'/d.
    bool divides = breaksAtZero(f, leaf);
    for (const UpdateState &state : plan.states)
      divides |= breaksAtZero(state.update, leaf);
    // Even what is positive can be 0 for now: nothing seen, or exp(-inf).
    if (isPositive(leaf) && divides)
      plan.zeroStates.push_back(leaf);
  }
  if (!plan.infiniteStates.empty() || !plan.zeroStates.empty())
    plan.restore = plan.states.front().update;
  if (plan.kind == UpdatePlan::Kind::Polynomial && !plan.infiniteStates.empty()) {
    // A shift by an infinite difference is NaN or infinite by chance. What the reduction is then is known: see above.
    Expr result = accumulated(context, plan.states.front().update.type());
    if (!plan.zeroStates.empty())
      result = plan.restore;
    for (Expr state : plan.infiniteStates)
      result = context.select(
          context.equal(context.next(state), context.constant(identityValue(*state.facts().reducer), state.type())),
          context.constant(std::nan(""), result.type()), result);
    plan.restore = result;
  }
  if (plan.infiniteStates.empty() || plan.dominated)
    return;
  // Nothing accumulated yet: a factor that overflows must not make 0 * inf of it, nor one that underflows -inf * 0.
  if (plan.kind == UpdatePlan::Kind::Scale) {
    UpdateState &state = plan.states.front();
    Type type = state.update.type();
    Expr y = accumulated(context, type), none = context.constant(0, type);
    Expr identity = context.constant(identityValue(state.reducer), type);
    if (identity != none)
      state.update = context.select(context.equal(y, identity), identity, state.update);
    state.update = context.select(context.equal(y, none), none, state.update);
  }
}

//===----------------------------------------------------------------------===//
// Synthesis
//===----------------------------------------------------------------------===//

/// Whether a selection hides the states from some elements: where a state is NaN, or infinite because it has seen
/// nothing, the reduction then depends on the condition.
static bool hidesStates(Expr f) {
  bool found = false;
  f.walk([&](Expr inner) {
    found |= inner.op() == ExprKind::Select && inner[1].dependsOnState() != inner[2].dependsOnState();
  });
  return found;
}

/// Whether an exponent stays in range with the provisional values of the states wherever it does with the final ones: a
/// difference with the bound of the very same value, logarithms, and what is bounded anyway.
static bool isSafeExponent(Expr e) {
  if (!e.dependsOnState() || isAtMostOne(e))
    return true;
  switch (e.op()) {
  case ExprKind::Sub:
    if (isUpperBound(e[1], e[0]) || isLowerBound(e[1], e[0]) || isUpperBound(e[0], e[1]) || isLowerBound(e[0], e[1]))
      return true;
    [[fallthrough]];
  case ExprKind::Add:
    return isSafeExponent(e[0]) && isSafeExponent(e[1]);
  case ExprKind::Log:
  case ExprKind::Log2:
    return isPositive(e[0]);
  case ExprKind::Mul:
    return (isSafeExponent(e[0]) && !e[1].dependsOnState()) || (isSafeExponent(e[1]) && !e[0].dependsOnState());
  case ExprKind::Div:
    return isSafeExponent(e[0]) && !e[1].dependsOnState();
  case ExprKind::Cast:
    return e.isFloatCast() && isSafeExponent(e[0]);
  default:
    return false;
  }
}

/// An exponential that may leave the range of floats for provisional states only; null if there is none.
static Expr findUnsafeExponential(Expr f) {
  Expr found;
  f.walk([&](Expr inner) {
    if ((inner.op() == ExprKind::Exp || inner.op() == ExprKind::Exp2) && !isSafeExponent(inner[0]))
      found = inner;
  });
  return found;
}

double fusion::algebra::getInfiniteStandIn(Expr state) { return isPositive(state) ? 1 : 0; }

std::optional<UpdatePlan> fusion::algebra::synthesizeUpdate(ExprContext &context, Expr f, Reducer reducer,
                                                            std::string &reason, unsigned maxStates) {
  Expr y = accumulated(context, f.type());
  UpdatePlan plan;
  if (!f.dependsOnState()) {
    plan.states.push_back({f, y, reducer});
    return plan;
  }
  auto refuse = [&](const Twine &text) -> std::optional<UpdatePlan> {
    reason = text.str();
    return std::nullopt;
  };
  if (f.getTreeSize() >= Expr::maxTreeSize)
    return refuse("the expression is too large");
  if (!f.isFloat())
    return refuse("an integer reduction that depends on an earlier reduction has no update");

  if (hidesStates(f))
    return refuse("no update for " + f.str() + ": it selects whether an earlier reduction matters");
  if (Expr unsafe = findUnsafeExponential(f))
    return refuse("no update for " + f.str() + ": " + unsafe.str() +
                  " may overflow or vanish before the earlier reduction is known");
  // maxnum and minnum skip NaN; a NaN that comes by a state would be skipped in all elements, but not in an update.
  bool isOrder = reducer == Reducer::Max || reducer == Reducer::Min;
  if (reducer != Reducer::Sum && !isOrder)
    return refuse("there is an update for sums, maxima and minima only");
  std::string unsafe;
  if (isOrder) {
    if (auto sum = separateSum(context, f)) {
      plan.kind = UpdatePlan::Kind::Shift;
      Expr shift = context.sub(context.advance(sum->states), sum->states);
      plan.states.push_back({f, context.toFloat(context.promote(ExprKind::Add, y, shift), y.type()), reducer});
    }
  }
  if (plan.states.empty()) {
    auto product = separateProduct(context, f);
    Expr ratio = product ? quotient(context, product->states) : Expr();
    if (product && !ratio)
      unsafe = "the factor " + product->states.str() + " is not provably different from zero";
    if (ratio && isOrder && !isPositive(product->states)) {
      unsafe = "the factor " + product->states.str() + " is not provably positive";
      ratio = {};
    }
    if (ratio) {
      plan.kind = UpdatePlan::Kind::Scale;
      plan.states.push_back({f, context.toFloat(context.promote(ExprKind::Mul, y, ratio), y.type()), reducer});
    }
  }
  if (plan.states.empty() && reducer == Reducer::Sum) {
    std::string text;
    auto polynomial = synthesizePolynomial(context, f, maxStates, text);
    if (!polynomial)
      return refuse("no update for the sum of " + f.str() + ": " + (unsafe.empty() ? text : unsafe));
    plan = std::move(*polynomial);
  }
  if (plan.states.empty())
    return refuse("no update for " + f.str() + (unsafe.empty() ? std::string() : ": " + unsafe));

  addGuards(context, f, plan);
  if (plan.kind == UpdatePlan::Kind::Polynomial)
    for (Expr state : plan.infiniteStates)
      if (!occursInBoundedDifferencesOnly(f, state))
        return refuse("no update for " + f.str() + ": " + state.str() +
                      " may be infinite, and is not only subtracted from what it bounds");
  return plan;
}
