//===- Postponement.cpp - Moving earlier reductions behind a later one ------===//

#include "fusion/Algebra/Separability.h"

#include <cmath>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

Expr fusion::algebra::accumulated(ExprContext &context, Type type, unsigned index) {
  return context.leaf(Role::Accumulated, ("y" + (index ? Twine(index) : Twine(""))).str(), type);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static Expr skipFloatCasts(Expr expr) {
  while (expr.isFloatCast())
    expr = expr[0];
  return expr;
}

/// `kinds` are the two operations, `reducers` the two reducers that make a bound.
static bool isBound(Expr bound, Expr value, ArrayRef<ExprKind> kinds, ArrayRef<Reducer> reducers) {
  bound = skipFloatCasts(bound);
  value = skipFloatCasts(value);
  if (llvm::is_contained(kinds, bound.op()))
    return isBound(bound[0], value, kinds, reducers) || isBound(bound[1], value, kinds, reducers);
  if (!bound.isLeaf() || !bound.facts().reducer || !bound.facts().source)
    return false;
  return llvm::is_contained(reducers, *bound.facts().reducer) && skipFloatCasts(Expr(bound.facts().source)) == value;
}

bool fusion::algebra::isUpperBound(Expr bound, Expr value) {
  return isBound(bound, value, {ExprKind::Maximum, ExprKind::MaxNum}, {Reducer::Max, Reducer::MaxNum});
}

bool fusion::algebra::isLowerBound(Expr bound, Expr value) {
  return isBound(bound, value, {ExprKind::Minimum, ExprKind::MinNum}, {Reducer::Min, Reducer::MinNum});
}

bool fusion::algebra::isAtMostOne(Expr expr) {
  switch (expr.op()) {
  case ExprKind::Constant:
    return std::fabs(expr.constantValue()) <= 1;
  case ExprKind::Exp:
  case ExprKind::Exp2:
    return expr[0].op() == ExprKind::Sub && isUpperBound(expr[0][1], expr[0][0]);
  case ExprKind::Tanh:
  case ExprKind::Erf:
  case ExprKind::Sin:
  case ExprKind::Cos:
    return true;
  case ExprKind::Neg:
  case ExprKind::Abs:
    return isAtMostOne(expr[0]);
  case ExprKind::Cast:
    return expr.isFloatCast() && isAtMostOne(expr[0]);
  case ExprKind::Mul:
    return isAtMostOne(expr[0]) && isAtMostOne(expr[1]);
  case ExprKind::Select:
    return isAtMostOne(expr[1]) && isAtMostOne(expr[2]);
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Sums: factors
//===----------------------------------------------------------------------===//

namespace {

/// Something linear that commutes with a sum.
struct Factor {
  enum Kind { Times, Over, ZeroWhere, ZeroUnless } kind;
  Expr value;
  bool operator==(const Factor &other) const { return kind == other.kind && value == other.value; }
};

struct Stripped {
  Expr inner;
  SmallVector<Factor> factors;
};

class FactorStripper {
public:
  FactorStripper(ExprContext &context, llvm::function_ref<bool(Expr)> movable) : context(context), movable(movable) {}

  Stripped strip(Expr e) {
    Stripped whole{e, {}};
    if (!e.dependsOnState() || !e.isFloat())
      return whole;
    switch (e.op()) {
    case ExprKind::Mul: {
      for (unsigned i : {1u, 0u})
        if (canMove(e[i]))
          return with(strip(e[1 - i]), {Factor::Times, e[i]});
      Stripped a = strip(e[0]), b = strip(e[1]);
      if (a.factors.empty() && b.factors.empty())
        return whole;
      Stripped result{context.mul(a.inner, b.inner), a.factors};
      llvm::append_range(result.factors, b.factors);
      return result;
    }
    case ExprKind::Div: {
      if (canMove(e[1]))
        return with(strip(e[0]), {Factor::Over, e[1]});
      Stripped a = strip(e[0]), b = strip(e[1]);
      // A divisor that may be chosen as 0 cannot be turned around.
      bool invertible = llvm::all_of(
          b.factors, [](const Factor &factor) { return factor.kind == Factor::Times || factor.kind == Factor::Over; });
      if (!invertible)
        b = {e[1], {}};
      if (a.factors.empty() && b.factors.empty())
        return whole;
      Stripped result{context.div(a.inner, b.inner), a.factors};
      for (const Factor &factor : b.factors)
        result.factors.push_back({factor.kind == Factor::Times ? Factor::Over : Factor::Times, factor.value});
      return result;
    }
    case ExprKind::Neg:
      return rebuild(e, strip(e[0]), [&](Expr inner) { return context.neg(inner); });
    case ExprKind::Cast: {
      if (!e.isFloatCast())
        return whole;
      Stripped a = strip(e[0]);
      // Without the factor the value may leave the range of the narrow type. bf16 has the range of f32.
      if (e.isNarrowing() && !(e.type().isBF16() && e[0].type().isF32()) && !isAtMostOne(a.inner))
        return whole;
      return rebuild(e, a, [&](Expr inner) { return context.toFloat(inner, e.type()); });
    }
    case ExprKind::Add:
    case ExprKind::Sub: {
      Stripped a = strip(e[0]), b = strip(e[1]);
      if (a.factors.empty() || a.factors != b.factors)
        return whole;
      return {context.make(e.op(), {a.inner, b.inner}), a.factors};
    }
    case ExprKind::Select:
      // A condition that is the same for all elements moves as well: what it hides must stay hidden.
      if (e[0].dependsOnState() ? !canMove(e[0]) : e[0].contains(Role::Varying))
        return whole;
      if (e[1].isConstant(0))
        return with(strip(e[2]), {Factor::ZeroWhere, e[0]});
      if (e[2].isConstant(0))
        return with(strip(e[1]), {Factor::ZeroUnless, e[0]});
      return whole;
    default:
      return whole;
    }
  }

  Expr apply(Expr y, const Factor &factor) {
    Type type = y.type();
    switch (factor.kind) {
    case Factor::Times:
      return context.toFloat(context.promote(ExprKind::Mul, y, factor.value), type);
    case Factor::Over:
      return context.toFloat(context.promote(ExprKind::Div, y, factor.value), type);
    case Factor::ZeroWhere:
      return context.select(factor.value, context.constant(0, type), y);
    case Factor::ZeroUnless:
      return context.select(factor.value, y, context.constant(0, type));
    }
    return {};
  }

private:
  bool canMove(Expr e) { return e.dependsOnState() && !e.contains(Role::Varying) && movable(e); }
  static Stripped with(Stripped stripped, Factor factor) {
    stripped.factors.push_back(factor);
    return stripped;
  }
  static Stripped rebuild(Expr whole, Stripped stripped, llvm::function_ref<Expr(Expr)> make) {
    return stripped.factors.empty() ? Stripped{whole, {}} : Stripped{make(stripped.inner), stripped.factors};
  }

  ExprContext &context;
  llvm::function_ref<bool(Expr)> movable;
};

//===----------------------------------------------------------------------===//
// Maxima and minima: monotone functions
//===----------------------------------------------------------------------===//

struct Monotone {
  Expr inner;
  llvm::SmallVector<std::function<Expr(Expr)>> outer; ///< innermost first
  bool decreasing = false;
};

std::optional<Monotone> stripMonotone(ExprContext &context, Expr e, llvm::function_ref<bool(Expr)> movable) {
  if (!e.dependsOnState())
    return Monotone{e, {}};
  if (!e.isFloat())
    return std::nullopt;
  auto fixed = [&](Expr other) {
    return !other.contains(Role::Varying) && (!other.dependsOnState() || movable(other));
  };
  auto through = [&](Expr next, bool flip, std::function<Expr(Expr)> step) -> std::optional<Monotone> {
    auto result = stripMonotone(context, next, movable);
    if (!result)
      return std::nullopt;
    result->outer.push_back(std::move(step));
    result->decreasing ^= flip;
    return result;
  };
  ExprContext *c = &context;
  switch (e.op()) {
  case ExprKind::Neg:
    return through(e[0], true, [c](Expr y) { return c->neg(y); });
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Maximum:
  case ExprKind::Minimum: {
    for (unsigned i : {0u, 1u}) {
      Expr other = e[1 - i];
      if (!fixed(other))
        continue;
      bool flip = e.op() == ExprKind::Sub && i == 1;
      if (e.op() == ExprKind::Mul || e.op() == ExprKind::Div) {
        if (e.op() == ExprKind::Div && i == 1)
          return std::nullopt;
        flip = other.isConstant() && other.constantValue() < 0;
        if (!flip && !isPositive(other))
          return std::nullopt;
      }
      return through(e[i], flip, [c, e, i, other](Expr y) {
        return i == 0 ? c->make(e.op(), {y, other}) : c->make(e.op(), {other, y});
      });
    }
    return std::nullopt;
  }
  case ExprKind::Log:
  case ExprKind::Log2:
  case ExprKind::Sqrt:
    // A negative element would be NaN; its maximum may not be.
    if (!isPositive(e[0], /*orZero=*/true))
      return std::nullopt;
    [[fallthrough]];
  case ExprKind::Exp:
  case ExprKind::Exp2:
  case ExprKind::Tanh:
  case ExprKind::Erf:
    return through(e[0], false, [c, e](Expr y) { return c->make(e.op(), y); });
  case ExprKind::Cast:
    if (!e.isFloatCast())
      return std::nullopt;
    return through(e[0], false, [c, e](Expr y) { return c->toFloat(y, e.type()); });
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Postponed> fusion::algebra::postpone(ExprContext &context, Expr f, Reducer reducer,
                                                   llvm::function_ref<bool(Expr)> movable) {
  if (!f.dependsOnState() || !f.isFloat() || f.getTreeSize() >= Expr::maxTreeSize)
    return std::nullopt;
  switch (reducer) {
  case Reducer::Sum: {
    FactorStripper stripper(context, movable);
    Stripped stripped = stripper.strip(f);
    if (stripped.factors.empty())
      return std::nullopt;
    Expr outer = accumulated(context, stripped.inner.type());
    for (const Factor &factor : stripped.factors)
      outer = stripper.apply(outer, factor);
    return Postponed{stripped.inner, outer, reducer};
  }
  // Not maxnum and minnum, which skip a NaN that comes by a state.
  case Reducer::Max:
  case Reducer::Min: {
    auto monotone = stripMonotone(context, f, movable);
    if (!monotone)
      return std::nullopt;
    Reducer opposite = reducer == Reducer::Max ? Reducer::Min : Reducer::Max;
    Expr outer = accumulated(context, monotone->inner.type());
    for (auto &step : monotone->outer)
      outer = step(outer);
    return Postponed{monotone->inner, outer, monotone->decreasing ? opposite : reducer};
  }
  case Reducer::Prod: {
    bool isPower = f.op() == ExprKind::IntegerPow || (f.op() == ExprKind::Pow && isPositive(f[0]));
    if (!isPower || f[0].dependsOnState() || f[1].contains(Role::Varying) || !movable(f[1]))
      return std::nullopt;
    return Postponed{f[0], context.make(f.op(), {accumulated(context, f[0].type()), f[1]}), reducer};
  }
  default:
    return std::nullopt;
  }
}
