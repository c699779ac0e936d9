//===- UpdateTest.cpp - Synthesis and check of update functions -------------===//

#include "test/unit/Algebra/Leaves.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace fusion::algebra;

namespace {

class Update : public AlgebraTest {
protected:
  /// The update of the reduction of `f`, checked; or the reason for none.
  std::string update(Expr f, Reducer reducer = Reducer::Sum) {
    std::string reason;
    plan = synthesizeUpdate(context, f, reducer, reason);
    if (!plan)
      return reason;
    EXPECT_TRUE(llvm::succeeded(checkUpdate(context, *plan, reason))) << reason;
    return plan->states.front().update.str();
  }
  Expr exponential() { return context.exp(context.sub(x, m)); }
  Expr square(Expr a) { return context.mul(a, a); }

  /// Walks a row with the given slices, keeping the plan's states for the sum of `f` where the estimate of each of the
  /// states `leaf` is `estimate(seen)`.
  template <typename Estimate>
  double walk(llvm::ArrayRef<double> row, unsigned slice, Expr leaf, Estimate estimate) {
    llvm::SmallVector<double> values(plan->states.size(), 0.0);
    double old = 0;
    for (size_t begin = 0; begin < row.size(); begin += slice) {
      size_t end = std::min(row.size(), begin + slice);
      double current = estimate(row.take_front(end));
      Assignment at = {{leaf.get(), begin ? old : current}, {context.next(leaf).get(), current}};
      for (auto [index, value] : llvm::enumerate(values))
        at[accumulated(context, f64, index).get()] = value;
      for (auto [value, state] : llvm::zip_equal(values, plan->states)) {
        value = evaluate(state.update, at);
        for (double element : row.slice(begin, end - begin))
          value += evaluate(state.element, {{x.get(), element}, {leaf.get(), current}});
      }
      old = current;
    }
    return values.front();
  }

  std::optional<UpdatePlan> plan;
};

} // namespace

TEST_F(Update, IndependentReductionsAreSimple) {
  EXPECT_EQ(update(context.mul(x, v)), "y");
  EXPECT_EQ(plan->kind, UpdatePlan::Kind::Simple);
}

// The table of the specification.
TEST_F(Update, Exponential) {
  EXPECT_EQ(update(exponential()), "y * exp(m - m')");
  EXPECT_EQ(plan->infiniteStates.size(), 1u);
  EXPECT_TRUE(plan->dominated);
  EXPECT_TRUE(plan->zeroStates.empty());
}

TEST_F(Update, ExponentialTimesValue) { EXPECT_EQ(update(context.mul(exponential(), v)), "y * exp(m - m')"); }

TEST_F(Update, NormalisedExponentialTimesValue) {
  EXPECT_EQ(update(context.mul(context.div(exponential(), s), v)), "y * (exp(m - m') * (s / s'))");
  ASSERT_EQ(plan->zeroStates.size(), 1u);
  EXPECT_EQ(plan->zeroStates.front(), s);
}

TEST_F(Update, MaximumOfDifference) { EXPECT_EQ(update(context.sub(x, m), Reducer::Max), "y + (m - m')"); }

TEST_F(Update, SquareOfDifference) {
  EXPECT_EQ(update(square(context.sub(x, d))), "y + y1 * (d' - d) + y2 * (d' - d) * (d' - d)");
  ASSERT_EQ(plan->states.size(), 3u);
  EXPECT_EQ(plan->states[1].element.str(), "(d - x) * 2");
  EXPECT_EQ(plan->states[1].update.str(), "y1 + y2 * (d' - d) * 2");
  EXPECT_EQ(plan->states[2].element.str(), "1");
  EXPECT_EQ(plan->states[2].update.str(), "y2");
}

TEST_F(Update, NoneForFunctionsThatAreNotSeparable) {
  for (Expr f : {unary(ExprKind::Tanh, context.sub(x, d)), unary(ExprKind::Abs, context.sub(x, d)),
                 context.make(ExprKind::Maximum, {context.sub(x, d), number(0)}),
                 context.opaque("math.floor", context.sub(x, d), f64, mlir::DictionaryAttr::get(&mlirContext))})
    EXPECT_EQ(update(f), "no update for the sum of " + f.str() +
                             ": it is neither a product of a function of the elements and a function of the earlier "
                             "reductions, nor a polynomial of degree at most 4 in those");
}

TEST_F(Update, NotByAFactorThatMayVanish) {
  // c = sum(y*m) with m = sum(x): for x = [1,-1,1] the state m is 0 after two items. The sum becomes a polynomial in m,
  // whose derivative, sum(y), is the state that is kept.
  EXPECT_EQ(update(context.mul(v, t)), "y + y1 * (t' - t)");
  EXPECT_EQ(plan->states[1].element, v);
  double y = 0, y1 = 0, sum = 0;
  for (double element : {1.0, -1.0, 1.0}) {
    Assignment at = {{v.get(), 1},
                     {t.get(), sum},
                     {context.next(t).get(), sum + element},
                     {accumulated(context, f64).get(), y},
                     {accumulated(context, f64, 1).get(), y1}};
    y = evaluate(plan->states[0].update, at);
    y1 = evaluate(plan->states[1].update, at);
    sum += element;
    at[t.get()] = sum;
    y += evaluate(plan->states[0].element, at);
    y1 += evaluate(plan->states[1].element, at);
  }
  EXPECT_EQ(y, 3);
}

TEST_F(Update, ScaleOfAPositiveSum) {
  Expr q = reduction("q", Reducer::Sum, square(x));
  Expr r = unary(ExprKind::Rsqrt, context.add(context.div(q, c), number(1e-5)));
  std::string reason;
  // Nothing is known of the sign of the parameter c.
  EXPECT_FALSE(synthesizeUpdate(context, context.exp(context.mul(r, x)), Reducer::Sum, reason));
  Expr known = unary(ExprKind::Rsqrt, context.add(context.div(q, number(64)), number(1e-5)));
  EXPECT_EQ(update(context.mul(context.mul(x, known), v)), "y * (rsqrt(q' / 64 + 1e-05) / rsqrt(q / 64 + 1e-05))");
  EXPECT_TRUE(plan->zeroStates.empty());
}

TEST_F(Update, TwoExponentials) {
  Expr k = reduction("k", Reducer::Max, v);
  EXPECT_EQ(update(context.mul(exponential(), context.exp(context.sub(v, k)))), "y * (exp(m - m') * exp(k - k'))");
  EXPECT_TRUE(plan->dominated);
}

TEST_F(Update, RefusesExponentsThatNothingBounds) {
  // The maximum is of x: as long as it is provisional, exp(v - m) may overflow or vanish though the final one does not.
  EXPECT_EQ(update(context.exp(context.sub(v, m))),
            "no update for exp(v - m): exp(v - m) may overflow or vanish before the earlier reduction is known");
  EXPECT_EQ(update(context.mul(x, context.exp(d))),
            "no update for x * exp(d): exp(d) may overflow or vanish before the earlier reduction is known");
  EXPECT_EQ(update(context.exp(context.sub(context.sub(x, m), unary(ExprKind::Log, s)))),
            "y * exp(m - m' - (log(s') - log(s)))");
}

TEST_F(Update, RefusesSelectionsThatHideStates) {
  EXPECT_NE(update(context.select(less(v, w), exponential(), number(0)))
                .find("it selects whether an earlier reduction matters"),
            std::string::npos);
}

TEST_F(Update, ExponentialTimesLogarithm) {
  // What an entropy needs: sum of exp(x - m) * (x - m).
  EXPECT_EQ(update(context.mul(exponential(), context.sub(x, m))), "(y + y1 * (m' - m)) * exp(m - m')");
  ASSERT_EQ(plan->states.size(), 2u);
  EXPECT_EQ(plan->states[1].element.str(), "-exp(x - m)");
}

TEST_F(Update, Covariance) {
  Expr f = context.mul(context.sub(x, d), context.sub(v, h));
  EXPECT_EQ(update(f), "y + y1 * (d' - d) + y2 * (h' - h) + y3 * (d' - d) * (h' - h)");
}

TEST_F(Update, BoundsTheAccumulatedValues) {
  std::string reason;
  Expr f = context.mul(square(context.sub(x, d)), square(context.sub(v, h)));
  EXPECT_FALSE(synthesizeUpdate(context, f, Reducer::Sum, reason, /*maxStates=*/3));
  EXPECT_EQ(reason.substr(reason.rfind(':')), ": the polynomial update would need more than 3 accumulated values");
}

TEST_F(Update, NoneForReducersThatSkipNaN) {
  EXPECT_EQ(update(context.sub(x, d), Reducer::MaxNum), "there is an update for sums, maxima and minima only");
  EXPECT_FALSE(postpone(context, context.sub(x, d), Reducer::MaxNum, [](Expr) { return true; }));
}

TEST_F(Update, IntegerReductionsHaveNone) {
  mlir::Type i64 = mlir::IntegerType::get(&mlirContext, 64);
  Expr a = context.leaf(Role::Varying, "a", i64), b = context.leaf(Role::State, "b", i64);
  std::string reason;
  EXPECT_FALSE(synthesizeUpdate(context, context.mul(a, b), Reducer::Sum, reason));
  EXPECT_EQ(reason, "an integer reduction that depends on an earlier reduction has no update");
  EXPECT_TRUE(synthesizeUpdate(context, context.mul(a, a), Reducer::Sum, reason));
}

TEST_F(Update, PolynomialsAgreeWithBruteForce) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 2);
  llvm::SmallVector<double> row;
  for (unsigned i = 0; i < 101; ++i)
    row.push_back(normal(random) + 3);
  auto mean = [](llvm::ArrayRef<double> seen) {
    return std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
  };
  Expr difference = context.sub(x, d);
  for (Expr f : {square(difference), context.mul(square(difference), difference), square(square(difference)),
                 context.add(square(difference), context.mul(x, difference)),
                 context.mul(x, square(context.mul(difference, number(0.5)))),
                 context.make(ExprKind::IntegerPow,
                              {difference, context.constant(3, mlir::IntegerType::get(&mlirContext, 64))})}) {
    update(f);
    ASSERT_TRUE(plan) << f.str();
    double expected = 0;
    for (double element : row)
      expected += evaluate(f, {{x.get(), element}, {d.get(), mean(row)}});
    for (unsigned slice : {1u, 7u, 32u, 101u, 500u})
      EXPECT_NEAR(walk(row, slice, d, mean), expected, 1e-9 * std::fabs(expected)) << f.str() << " by " << slice;
  }
}

TEST_F(Update, VarianceOfDataWithALargeMean) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(1e6, 2);
  llvm::SmallVector<double> row;
  for (unsigned i = 0; i < 500; ++i)
    row.push_back(normal(random));
  auto mean = [](llvm::ArrayRef<double> seen) {
    return std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
  };
  double expected = 0;
  for (double element : row)
    expected += (element - mean(row)) * (element - mean(row));
  update(square(context.sub(x, d)));
  for (unsigned slice : {1u, 16u, 333u})
    EXPECT_NEAR(walk(row, slice, d, mean), expected, 1e-7 * expected) << slice;
}

TEST_F(Update, RefusesPlantedFaults) {
  auto isRefused = [&](Expr element, Expr update, Reducer reducer = Reducer::Sum) {
    UpdatePlan planted;
    planted.states.push_back({element, update, reducer});
    std::string reason;
    bool refused = llvm::failed(checkUpdate(context, planted, reason));
    EXPECT_EQ(refused, !reason.empty());
    return refused;
  };
  Expr y = accumulated(context, f64), next = context.next(m);
  EXPECT_FALSE(isRefused(exponential(), context.mul(y, context.exp(context.sub(m, next)))));
  EXPECT_TRUE(isRefused(exponential(), context.mul(y, context.exp(context.sub(next, m)))));
  EXPECT_TRUE(isRefused(exponential(), y));
  EXPECT_TRUE(isRefused(exponential(), context.mul(y, context.add(number(1), context.sub(m, next)))));
  EXPECT_TRUE(isRefused(context.sub(x, m), context.add(y, context.sub(m, next))));
  EXPECT_FALSE(isRefused(context.sub(x, m), context.add(y, context.sub(m, next)), Reducer::Max));
  EXPECT_TRUE(isRefused(context.div(exponential(), s), context.mul(y, context.exp(context.sub(m, next)))));
  // Depends on an element.
  EXPECT_TRUE(isRefused(context.mul(x, d), context.mul(x, context.next(d))));
  // The variance without the count.
  update(square(context.sub(x, d)));
  UpdatePlan planted = *plan;
  planted.states[0].update = context.add(y, context.mul(accumulated(context, f64, 1), context.sub(context.next(d), d)));
  std::string reason;
  EXPECT_TRUE(llvm::failed(checkUpdate(context, planted, reason)));
  EXPECT_NE(reason.find("does not correct an element"), std::string::npos) << reason;
}
