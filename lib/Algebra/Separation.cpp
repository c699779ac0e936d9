//===- Separation.cpp - Separation into elements and states -----------------===//

#include "fusion/Algebra/Separability.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

static bool hasElements(Expr expr) { return expr.contains(Role::Varying); }

/// The one of two that is there, or the result of `join`.
static Expr join(Expr a, Expr b, llvm::function_ref<Expr(Expr, Expr)> both) { return !a ? b : !b ? a : both(a, b); }

static Expr zero(ExprContext &context, Type type) { return context.constant(0, type); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Separates both operands for an operation that keeps a common state factor: a sum, a selection, a maximum.
static std::optional<Separation> separateCommonProduct(ExprContext &context, ExprKind op, Expr condition, Expr a,
                                                       Expr b) {
  auto left = separateProduct(context, a), right = separateProduct(context, b);
  if (!left || !right)
    return std::nullopt;
  auto make = [&](Expr x, Expr y) { return condition ? context.select(condition, x, y) : context.make(op, {x, y}); };
  if (left->states == right->states)
    return Separation{make(left->elements, right->elements), left->states};
  // Zero has every factor.
  if (a.isConstant(0))
    return Separation{make(a, right->elements), right->states};
  if (b.isConstant(0))
    return Separation{make(left->elements, b), left->states};
  return std::nullopt;
}

std::optional<Separation> fusion::algebra::separateProduct(ExprContext &context, Expr f) {
  if (!f.dependsOnState())
    return Separation{f, {}};
  if (!f.isFloat())
    return std::nullopt;
  Expr one = context.constant(1, f.type());
  if (!hasElements(f))
    return Separation{one, f};
  auto product = [&](Expr a, Expr b) { return context.promote(ExprKind::Mul, a, b); };
  switch (f.op()) {
  case ExprKind::Mul: {
    auto a = separateProduct(context, f[0]), b = separateProduct(context, f[1]);
    if (!a || !b)
      return std::nullopt;
    return Separation{context.mul(a->elements, b->elements), join(a->states, b->states, product)};
  }
  case ExprKind::Div: {
    auto a = separateProduct(context, f[0]), b = separateProduct(context, f[1]);
    if (!a || !b)
      return std::nullopt;
    Expr states = a->states;
    if (b->states)
      states = context.promote(ExprKind::Div, states ? states : context.constant(1, b->states.type()), b->states);
    return Separation{context.div(a->elements, b->elements), states};
  }
  case ExprKind::Neg: {
    auto a = separateProduct(context, f[0]);
    return a ? std::optional(Separation{context.neg(a->elements), a->states}) : std::nullopt;
  }
  case ExprKind::Abs: {
    auto a = separateProduct(context, f[0]);
    if (!a)
      return std::nullopt;
    return Separation{context.make(ExprKind::Abs, a->elements), context.make(ExprKind::Abs, a->states)};
  }
  case ExprKind::Sqrt:
  case ExprKind::Rsqrt: {
    auto a = separateProduct(context, f[0]);
    if (!a || !isPositive(a->states))
      return std::nullopt;
    return Separation{context.make(f.op(), a->elements), context.make(f.op(), a->states)};
  }
  case ExprKind::Exp:
  case ExprKind::Exp2: {
    auto a = separateSum(context, f[0]);
    if (!a)
      return std::nullopt;
    return Separation{context.make(f.op(), a->elements), context.make(f.op(), a->states)};
  }
  case ExprKind::Pow:
  case ExprKind::IntegerPow: {
    // (a b)^n for a whole n, where no sign is lost.
    if (!f[1].isConstant() || f[1].constantValue() != std::nearbyint(f[1].constantValue()))
      return std::nullopt;
    auto a = separateProduct(context, f[0]);
    if (!a)
      return std::nullopt;
    return Separation{context.make(f.op(), {a->elements, f[1]}), context.make(f.op(), {a->states, f[1]})};
  }
  case ExprKind::Cast: {
    if (!f.isFloatCast())
      return std::nullopt;
    auto a = separateProduct(context, f[0]);
    return a ? std::optional(Separation{context.toFloat(a->elements, f.type()), a->states}) : std::nullopt;
  }
  case ExprKind::Add:
  case ExprKind::Sub:
    return separateCommonProduct(context, f.op(), {}, f[0], f[1]);
  // Not maxnum and minnum, which would hide a NaN of the states.
  case ExprKind::Maximum:
  case ExprKind::Minimum: {
    auto common = separateCommonProduct(context, f.op(), {}, f[0], f[1]);
    return common && isPositive(common->states) ? common : std::nullopt;
  }
  case ExprKind::Select:
    if (!f[0].dependsOnState())
      return separateCommonProduct(context, ExprKind::Select, f[0], f[1], f[2]);
    if (!hasElements(f[0])) {
      // A selection by states of 0 is a factor that may be 0.
      for (unsigned branch : {1u, 2u}) {
        if (!f[3 - branch].isConstant(0))
          continue;
        auto a = separateProduct(context, f[branch]);
        if (!a)
          return std::nullopt;
        Expr states = a->states ? a->states : one, none = zero(context, states.type());
        return Separation{a->elements,
                          branch == 1 ? context.select(f[0], states, none) : context.select(f[0], none, states)};
      }
    }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::optional<Separation> fusion::algebra::separateSum(ExprContext &context, Expr f) {
  if (!f.dependsOnState())
    return Separation{f, {}};
  if (!hasElements(f))
    return Separation{zero(context, f.type()), f};
  if (!f.isFloat())
    return std::nullopt;
  auto both = [&](ExprKind op, Expr a, Expr b) { return context.promote(op, a, b); };
  // A maximum or a selection moves by the addend that both operands share; an infinity has every addend.
  auto common = [&](Expr condition, Expr x, Expr y) -> std::optional<Separation> {
    auto a = separateSum(context, x), b = separateSum(context, y);
    if (!a || !b)
      return std::nullopt;
    auto isInfinite = [](Expr expr) { return expr.isConstant() && std::isinf(expr.constantValue()); };
    if (a->states != b->states && !isInfinite(x) && !isInfinite(y))
      return std::nullopt;
    Expr elements = condition ? context.select(condition, a->elements, b->elements)
                              : context.make(f.op(), {a->elements, b->elements});
    return Separation{elements, a->states ? a->states : b->states};
  };
  switch (f.op()) {
  case ExprKind::Add:
  case ExprKind::Sub: {
    auto a = separateSum(context, f[0]), b = separateSum(context, f[1]);
    if (!a || !b)
      return std::nullopt;
    Expr states = a->states;
    if (b->states)
      states = f.op() == ExprKind::Sub && !states ? context.neg(b->states)
               : states                           ? both(f.op(), states, b->states)
                                                  : b->states;
    return Separation{context.make(f.op(), {a->elements, b->elements}), states};
  }
  case ExprKind::Neg: {
    auto a = separateSum(context, f[0]);
    return a ? std::optional(Separation{context.neg(a->elements), context.neg(a->states)}) : std::nullopt;
  }
  case ExprKind::Mul:
  case ExprKind::Div: {
    // Distribution over a factor that is the same for every element.
    unsigned scaled = f[0].dependsOnState() ? 0 : 1;
    Expr scale = f[1 - scaled];
    if (scale.dependsOnState() || hasElements(scale) || (f.op() == ExprKind::Div && scaled == 1))
      return std::nullopt;
    auto a = separateSum(context, f[scaled]);
    if (!a)
      return std::nullopt;
    Expr stateScale = context.toFloat(scale, a->states.type());
    if (scaled == 0)
      return Separation{context.make(f.op(), {a->elements, scale}), context.make(f.op(), {a->states, stateScale})};
    return Separation{context.mul(scale, a->elements), context.mul(stateScale, a->states)};
  }
  case ExprKind::Cast: {
    if (!f.isFloatCast())
      return std::nullopt;
    auto a = separateSum(context, f[0]);
    return a ? std::optional(Separation{context.toFloat(a->elements, f.type()), a->states}) : std::nullopt;
  }
  case ExprKind::Log:
  case ExprKind::Log2: {
    auto a = separateProduct(context, f[0]);
    if (!a || !isPositive(a->states))
      return std::nullopt;
    return Separation{context.make(f.op(), a->elements), context.make(f.op(), a->states)};
  }
  case ExprKind::Maximum:
  case ExprKind::Minimum:
    return common({}, f[0], f[1]);
  case ExprKind::Select:
    return f[0].dependsOnState() ? std::nullopt : common(f[0], f[1], f[2]);
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// `h(d') - h(d)`, summand by summand: the difference of two large sums would cancel.
static Expr difference(ExprContext &context, Expr h) {
  switch (h.op()) {
  case ExprKind::Neg:
    return context.neg(difference(context, h[0]));
  case ExprKind::Add:
  case ExprKind::Sub:
    if (h[0].dependsOnState() && h[1].dependsOnState())
      return context.make(h.op(), {difference(context, h[0]), difference(context, h[1])});
    break;
  default:
    break;
  }
  return context.sub(context.advance(h), h);
}

Expr fusion::algebra::quotient(ExprContext &context, Expr h) {
  if (!h.dependsOnState())
    return context.constant(1, h.type());
  switch (h.op()) {
  case ExprKind::Exp:
  case ExprKind::Exp2:
    return context.make(h.op(), difference(context, h[0]));
  case ExprKind::Mul: {
    Expr a = quotient(context, h[0]), b = quotient(context, h[1]);
    return a && b ? context.mul(a, b) : Expr();
  }
  case ExprKind::Div: {
    Expr a = quotient(context, h[0]), b = quotient(context, h[1]);
    if (!a || !b)
      return {};
    // H = 1/s gives s/s', one division.
    return b.op() == ExprKind::Div ? context.mul(a, context.div(b[1], b[0])) : context.div(a, b);
  }
  case ExprKind::Neg:
    return quotient(context, h[0]);
  case ExprKind::Cast: {
    Expr a = h.isFloatCast() ? quotient(context, h[0]) : Expr();
    return a ? context.toFloat(a, h.type()) : Expr();
  }
  case ExprKind::Pow:
  case ExprKind::IntegerPow: {
    Expr a = h[1].isConstant() ? quotient(context, h[0]) : Expr();
    return a ? context.make(h.op(), {a, h[1]}) : Expr();
  }
  case ExprKind::Abs: {
    Expr a = quotient(context, h[0]);
    return a ? context.make(ExprKind::Abs, a) : Expr();
  }
  default:
    return isPositive(h) ? context.div(context.advance(h), h) : Expr();
  }
}

//===----------------------------------------------------------------------===//
// The fixed-point test
//===----------------------------------------------------------------------===//

bool fusion::algebra::separatesAtRandomPoints(Expr f, bool additive, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1.5);
  SmallVector<Expr, 6> leaves = f.leaves();
  unsigned tested = 0;
  for (unsigned round = 0; round < 400 && tested < 64; ++round) {
    // x, x0 with d, d0; a parameter has one value.
    Assignment values[2][2];
    for (Expr leaf : leaves) {
      auto draw = [&]() {
        double value = normal(random);
        return isPositive(leaf, /*orZero=*/true) ? std::fabs(value) + 0.05 : value;
      };
      double first = draw(), second = leaf.role() == Role::Parameter ? first : draw();
      for (unsigned x = 0; x < 2; ++x)
        for (unsigned d = 0; d < 2; ++d)
          values[x][d][leaf.get()] = (leaf.role() == Role::State ? d : x) ? second : first;
    }
    double f00 = evaluate(f, values[0][0]), f01 = evaluate(f, values[0][1]);
    double f10 = evaluate(f, values[1][0]), f11 = evaluate(f, values[1][1]);
    double left = additive ? f00 + f11 : f00 * f11, right = additive ? f01 + f10 : f01 * f10;
    if (!std::isfinite(left) || !std::isfinite(right))
      continue;
    ++tested;
    double size = additive ? std::fabs(f00) + std::fabs(f11) + std::fabs(f01) + std::fabs(f10)
                           : std::fabs(left) + std::fabs(right);
    if (std::fabs(left - right) > 1e-9 * size + 1e-300)
      return false;
  }
  return tested >= 16;
}
