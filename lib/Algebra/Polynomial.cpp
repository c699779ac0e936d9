//===- Polynomial.cpp - Polynomials in earlier reductions -------------------===//
//
// SpaceFusion, section 4.3, extended rule: earlier sums as state.
//
//===------------------------------------------------------------------------===//

#include "Polynomial.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

namespace {

constexpr unsigned maxDegree = 4;

struct Part {
  Expr factor; ///< H; null for 1
  unsigned degree = 0;
};

class Polynomial {
public:
  explicit Polynomial(ExprContext &context) : context(context) {}

  std::optional<Part> analyze(Expr e);
  /// The derivative by the variable `u`; null for zero. Decides as `analyze` did what belongs to H.
  Expr derive(Expr e, Expr u);

  llvm::SetVector<Expr> variables;

private:
  bool isStateOnly(Expr e) { return e.dependsOnState() && !e.contains(Role::Varying); }
  bool isSafeFactor(Expr e) { return isStateOnly(e) && quotient(context, e); }
  Expr times(Expr a, Expr b) { return !a ? b : !b ? a : context.promote(ExprKind::Mul, a, b); }
  /// A whole exponent that is worth expanding.
  static std::optional<unsigned> getExponent(Expr e) {
    if ((e.op() != ExprKind::Pow && e.op() != ExprKind::IntegerPow) || !e[1].isConstant())
      return std::nullopt;
    for (unsigned n = 1; n <= maxDegree; ++n)
      if (e[1].isConstant(n))
        return n;
    return std::nullopt;
  }

  ExprContext &context;
};

std::optional<Part> Polynomial::analyze(Expr e) {
  if (!e.dependsOnState())
    return Part{};
  if (!e.isFloat())
    return std::nullopt;
  if (isStateOnly(e)) {
    variables.insert(e);
    return Part{{}, 1};
  }
  auto common = [&](Expr x, Expr y) -> std::optional<Part> {
    auto a = analyze(x), b = analyze(y);
    if (!a || !b)
      return std::nullopt;
    if (a->factor != b->factor && !x.isConstant(0) && !y.isConstant(0))
      return std::nullopt;
    return Part{a->factor ? a->factor : b->factor, std::max(a->degree, b->degree)};
  };
  switch (e.op()) {
  case ExprKind::Add:
  case ExprKind::Sub:
    return common(e[0], e[1]);
  case ExprKind::Select:
    if (e[0].dependsOnState())
      break;
    return common(e[1], e[2]);
  case ExprKind::Mul: {
    for (unsigned i : {0u, 1u}) {
      if (!isSafeFactor(e[i]))
        continue;
      auto part = analyze(e[1 - i]);
      if (part)
        part->factor = times(part->factor, e[i]);
      return part;
    }
    auto a = analyze(e[0]), b = analyze(e[1]);
    if (!a || !b || a->degree + b->degree > maxDegree)
      return std::nullopt;
    return Part{times(a->factor, b->factor), a->degree + b->degree};
  }
  case ExprKind::Div: {
    auto part = analyze(e[0]);
    if (part && isSafeFactor(e[1])) {
      Expr numerator = part->factor ? part->factor : context.constant(1, e[1].type());
      part->factor = context.promote(ExprKind::Div, numerator, e[1]);
      return part;
    }
    return e[1].dependsOnState() ? std::nullopt : part;
  }
  case ExprKind::Neg:
    return analyze(e[0]);
  case ExprKind::Cast:
    return e.isFloatCast() ? analyze(e[0]) : std::nullopt;
  case ExprKind::Pow:
  case ExprKind::IntegerPow: {
    auto exponent = getExponent(e);
    auto part = exponent ? analyze(e[0]) : std::nullopt;
    if (!part || part->degree * *exponent > maxDegree)
      return std::nullopt;
    if (part->factor)
      part->factor = context.make(e.op(), {part->factor, e[1]});
    part->degree *= *exponent;
    return part;
  }
  default:
    break;
  }
  auto separation = separateProduct(context, e);
  if (!separation || !quotient(context, separation->states))
    return std::nullopt;
  return Part{separation->states, 0};
}

Expr Polynomial::derive(Expr e, Expr u) {
  if (e == u)
    return context.constant(1, e.type());
  if (!e.dependsOnState() || isStateOnly(e))
    return {};
  switch (e.op()) {
  case ExprKind::Add:
  case ExprKind::Sub: {
    Expr a = derive(e[0], u), b = derive(e[1], u);
    if (!b)
      return a;
    return a ? context.make(e.op(), {a, b}) : e.op() == ExprKind::Sub ? context.neg(b) : b;
  }
  case ExprKind::Select: {
    Expr a = derive(e[1], u), b = derive(e[2], u), none = context.constant(0, e.type());
    return a || b ? context.select(e[0], a ? a : none, b ? b : none) : Expr();
  }
  case ExprKind::Mul: {
    for (unsigned i : {0u, 1u})
      if (isSafeFactor(e[i])) {
        Expr a = derive(e[1 - i], u);
        return a ? context.mul(a, e[i]) : Expr();
      }
    Expr a = derive(e[0], u), b = derive(e[1], u);
    if (a)
      a = context.mul(a, e[1]);
    if (b)
      b = context.mul(e[0], b);
    return a && b ? context.add(a, b) : a ? a : b;
  }
  case ExprKind::Div: {
    Expr a = derive(e[0], u);
    return a ? context.div(a, e[1]) : Expr();
  }
  case ExprKind::Neg: {
    Expr a = derive(e[0], u);
    return a ? context.neg(a) : Expr();
  }
  case ExprKind::Cast: {
    Expr a = derive(e[0], u);
    return a ? context.toFloat(a, e.type()) : Expr();
  }
  case ExprKind::Pow:
  case ExprKind::IntegerPow: {
    auto exponent = getExponent(e);
    Expr a = exponent ? derive(e[0], u) : Expr();
    if (!a)
      return {};
    Expr power = context.constant(1, e.type());
    for (unsigned i = 1; i < *exponent; ++i)
      power = context.mul(power, e[0]);
    return context.mul(context.mul(context.constant(*exponent, e.type()), power), a);
  }
  default:
    return {};
  }
}

} // namespace

std::optional<UpdatePlan> fusion::algebra::synthesizePolynomial(ExprContext &context, Expr f, unsigned maxStates,
                                                                std::string &reason) {
  Polynomial polynomial(context);
  auto part = polynomial.analyze(f);
  if (!part || part->degree == 0) {
    reason = "it is neither a product of a function of the elements and a function of the earlier reductions, nor a "
             "polynomial of degree at most 4 in those";
    return std::nullopt;
  }
  ArrayRef<Expr> variables = polynomial.variables.getArrayRef();

  // All derivatives that are not zero, by multi-index, lowest degree first.
  using Index = SmallVector<unsigned, 2>;
  SmallVector<std::pair<Index, Expr>> derivatives = {{Index(variables.size(), 0), f}};
  std::map<Index, unsigned> positions = {{derivatives.front().first, 0}};
  unsigned costly = 0;
  for (unsigned current = 0; current < derivatives.size(); ++current) {
    if (!derivatives[current].second.isConstant() && ++costly > maxStates) {
      reason = llvm::formatv("the polynomial update would need more than {0} accumulated values", maxStates);
      return std::nullopt;
    }
    for (auto [variable, u] : llvm::enumerate(variables)) {
      Index index = derivatives[current].first;
      ++index[variable];
      if (positions.count(index))
        continue;
      Expr derivative = polynomial.derive(derivatives[current].second, u);
      if (!derivative || derivative.isConstant(0))
        continue;
      if (index[variable] > 1)
        derivative = context.div(derivative, context.constant(index[variable], derivative.type()));
      // (e * 2) / 2, as squares give it.
      if (derivative.op() == ExprKind::Div && derivative[0].op() == ExprKind::Mul && derivative[0][1] == derivative[1])
        derivative = derivative[0][0];
      positions[index] = derivatives.size();
      derivatives.push_back({index, derivative});
    }
  }

  Type type = f.type();
  SmallVector<Expr> deltas;
  for (Expr u : variables)
    deltas.push_back(context.toFloat(context.sub(context.advance(u), u), type));

  UpdatePlan plan;
  plan.kind = UpdatePlan::Kind::Polynomial;
  for (auto &[alpha, element] : derivatives) {
    Expr sum;
    for (auto [position, entry] : llvm::enumerate(derivatives)) {
      const Index &beta = entry.first;
      Expr term = accumulated(context, type, position);
      double binomial = 1;
      bool above = true;
      for (unsigned i = 0; i < variables.size(); ++i) {
        if (beta[i] < alpha[i]) {
          above = false;
          break;
        }
        for (unsigned k = 0; k < beta[i] - alpha[i]; ++k) {
          binomial = binomial * (beta[i] - k) / (k + 1);
          term = context.mul(term, deltas[i]);
        }
      }
      if (!above)
        continue;
      term = context.mul(term, context.constant(binomial, type));
      sum = sum ? context.add(sum, term) : term;
    }
    if (part->factor)
      sum = context.toFloat(context.promote(ExprKind::Mul, sum, quotient(context, part->factor)), type);
    plan.states.push_back({element, sum, Reducer::Sum});
  }
  return plan;
}
