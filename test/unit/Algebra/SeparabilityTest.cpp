//===- SeparabilityTest.cpp - Separation, quotients, postponement -----------===//

#include "test/unit/Algebra/Leaves.h"

using namespace fusion::algebra;

namespace {

class Separability : public AlgebraTest {
protected:
  std::string product(Expr f) {
    auto result = separateProduct(context, f);
    EXPECT_EQ(result.has_value(), separatesAtRandomPoints(f, /*additive=*/false)) << f.str();
    return result ? result->elements.str() + " | " + result->states.str() : "none";
  }
  std::string sum(Expr f) {
    auto result = separateSum(context, f);
    EXPECT_EQ(result.has_value(), separatesAtRandomPoints(f, /*additive=*/true)) << f.str();
    return result ? result->elements.str() + " | " + result->states.str() : "none";
  }
  std::string postponed(Expr f, Reducer reducer = Reducer::Sum) {
    auto result = postpone(context, f, reducer, [](Expr) { return true; });
    if (!result)
      return "none";
    std::string reason;
    EXPECT_TRUE(llvm::succeeded(checkPostponed(context, f, reducer, *result, reason))) << reason;
    return fusion::spacemap::stringifyReducer(result->reducer).str() + " of " + result->inner.str() + ", then " +
           result->outer.str();
  }
};

} // namespace

TEST_F(Separability, Products) {
  Expr e = context.exp(context.sub(x, m));
  EXPECT_EQ(product(e), "exp(x) | exp(-m)");
  EXPECT_EQ(product(context.mul(context.div(e, s), v)), "exp(x) * v | exp(-m) / s");
  EXPECT_EQ(product(context.exp(context.mul(context.sub(x, m), c))), "exp(x * c) | exp(-(m * c))");
  EXPECT_EQ(product(context.add(context.mul(x, d), context.mul(v, d))), "x + v | d");
  EXPECT_EQ(product(context.select(less(x, v), context.mul(x, d), number(0))), "select(olt(x, v), x, 0) | d");
  EXPECT_EQ(product(unary(ExprKind::Abs, context.mul(x, d))), "abs(x) | abs(d)");
  EXPECT_EQ(product(unary(ExprKind::Rsqrt, context.mul(context.mul(x, x), s))), "rsqrt(x * x) | rsqrt(s)");
}

TEST_F(Separability, ProductsThatAreNone) {
  EXPECT_EQ(product(unary(ExprKind::Tanh, context.sub(x, d))), "none");
  EXPECT_EQ(product(context.make(ExprKind::Maximum, {context.sub(x, d), number(0)})), "none");
  EXPECT_EQ(product(unary(ExprKind::Abs, context.sub(x, d))), "none");
  EXPECT_EQ(product(context.sub(x, d)), "none");
  EXPECT_EQ(product(context.mul(context.sub(x, d), context.sub(x, d))), "none");
  EXPECT_EQ(product(context.exp(context.mul(x, d))), "none");
}

TEST_F(Separability, Sums) {
  EXPECT_EQ(sum(context.sub(x, m)), "x | -m");
  EXPECT_EQ(sum(context.mul(context.add(context.sub(x, m), h), c)), "x * c | (h - m) * c");
  EXPECT_EQ(sum(context.make(ExprKind::Maximum, {context.sub(x, m), context.sub(v, m)})), "max(x, v) | -m");
  EXPECT_EQ(sum(context.mul(x, d)), "none");
  EXPECT_EQ(sum(unary(ExprKind::Tanh, context.sub(x, m))), "none");
}

TEST_F(Separability, ThroughFloatConversions) {
  Expr e = context.exp(context.sub(x, m));
  auto result = separateProduct(context, context.toFloat(context.div(e, s), f16));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->elements.str(), "f16(exp(x))");
  EXPECT_EQ(result->states.str(), "exp(-m) / s");
}

TEST_F(Separability, Quotients) {
  EXPECT_EQ(quotient(context, context.exp(context.neg(m))).str(), "exp(m - m')");
  EXPECT_EQ(quotient(context, context.div(context.exp(context.neg(m)), s)).str(), "exp(m - m') * (s / s')");
  EXPECT_FALSE(quotient(context, t));
  EXPECT_FALSE(quotient(context, context.mul(context.exp(m), t)));
}

TEST_F(Separability, PostponesFactorsOfSums) {
  Expr e = context.exp(context.sub(x, m));
  EXPECT_EQ(postponed(context.mul(context.div(e, s), v)), "sum of exp(x - m) * v, then y / s");
  EXPECT_EQ(postponed(context.mul(context.mul(context.mul(x, d), v), w)), "sum of x * v * w, then y * d");
  // exp(-m) is never taken out: it may overflow.
  EXPECT_EQ(postponed(e), "none");
  // An addend stays: sum(x) - n*d cancels.
  EXPECT_EQ(postponed(context.sub(x, d)), "none");
  EXPECT_EQ(postponed(context.select(less(d, h), number(0), context.div(e, s))),
            "sum of exp(x - m), then select(olt(d, h), 0, y / s)");
}

TEST_F(Separability, PostponesNothingPastASelectionByElements) {
  // A row without elements is NaN in 1/s, but where the selection takes 0 nobody sees it.
  Expr e = context.exp(context.sub(x, m));
  EXPECT_EQ(postponed(context.select(less(x, v), context.div(e, s), number(0))), "none");
}

TEST_F(Separability, PostponesASelectionThatIsTheSameForAllElements) {
  Expr e = context.exp(context.sub(x, m));
  EXPECT_EQ(postponed(context.mul(context.select(less(c, number(0)), number(0), context.div(e, s)), v)),
            "sum of exp(x - m) * v, then select(olt(c, 0), 0, y / s)");
}

TEST_F(Separability, PostponesThroughNarrowingOnlyWhatStaysInRange) {
  Expr e = context.exp(context.sub(x, m));
  Expr wide = context.toFloat(context.toFloat(context.div(e, s), f16), f64);
  EXPECT_EQ(postponed(context.mul(wide, v)), "sum of f64(f16(exp(x - m))) * v, then y / s");
  EXPECT_EQ(postponed(context.mul(context.toFloat(context.toFloat(context.mul(v, d), f16), f64), w)), "none");
}

TEST_F(Separability, PostponesMonotoneFunctionsOfMaxima) {
  EXPECT_EQ(postponed(context.sub(x, d), Reducer::Max), "max of x, then y - d");
  EXPECT_EQ(postponed(context.sub(d, x), Reducer::Max), "min of x, then d - y");
  EXPECT_EQ(postponed(context.div(x, s), Reducer::Max), "max of x, then y / s");
  EXPECT_EQ(postponed(context.mul(x, d), Reducer::Max), "none");
  EXPECT_EQ(postponed(unary(ExprKind::Tanh, context.sub(x, d)), Reducer::Min), "min of x, then tanh(y - d)");
  EXPECT_EQ(postponed(unary(ExprKind::Abs, context.sub(x, d)), Reducer::Max), "none");
}

TEST_F(Separability, RefusesAPlantedPostponement) {
  Expr f = context.mul(context.mul(x, d), v);
  std::string reason;
  Postponed planted{context.mul(x, v), context.div(accumulated(context, f64), d), Reducer::Sum};
  EXPECT_TRUE(llvm::failed(checkPostponed(context, f, Reducer::Sum, planted, reason)));
  EXPECT_EQ(reason.substr(0, 24), "postponing y / d gives -") << reason;
}
