//===- ExprTest.cpp - Symbolic scalar expressions ---------------------------===//

#include "test/unit/Algebra/Leaves.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace fusion::algebra;
using namespace mlir;

TEST_F(AlgebraTest, EqualStructureIsTheSameExpression) {
  EXPECT_EQ(context.exp(context.sub(x, m)), context.exp(context.sub(x, m)));
  EXPECT_NE(context.sub(x, m), context.sub(m, x));
  EXPECT_NE(context.leaf(Role::Varying, "x", f32), x);
}

TEST_F(AlgebraTest, Prints) {
  EXPECT_EQ(context.mul(context.exp(context.sub(x, m)), v).str(), "exp(x - m) * v");
  EXPECT_EQ(context.sub(x, context.sub(v, w)).str(), "x - (v - w)");
  EXPECT_EQ(context.div(x, context.mul(v, w)).str(), "x / (v * w)");
  EXPECT_EQ(context.mul(context.add(x, v), w).str(), "(x + v) * w");
  EXPECT_EQ(context.next(m).str(), "m'");
  EXPECT_EQ(context.toFloat(x, f16).str(), "f16(x)");
  EXPECT_EQ(context.select(less(x, v), x, number(0)).str(), "select(olt(x, v), x, 0)");
}

TEST_F(AlgebraTest, Simplifies) {
  EXPECT_EQ(context.add(x, number(0)), x);
  EXPECT_EQ(context.mul(number(1), x), x);
  EXPECT_EQ(context.neg(context.neg(x)), x);
  EXPECT_EQ(context.sub(context.neg(x), context.neg(v)).str(), "v - x");
  EXPECT_EQ(context.mul(number(2), number(3)), number(6));
  EXPECT_EQ(context.toFloat(context.toFloat(context.leaf(Role::Varying, "z", f32), f64), f32).str(), "z");
  // An infinity minus itself is NaN, and 0 times an infinity: nothing is cancelled.
  EXPECT_EQ(context.sub(x, x).str(), "x - x");
  EXPECT_EQ(context.mul(x, number(0)).str(), "x * 0");
}

TEST_F(AlgebraTest, FoldsInTheTypeOfTheConstant) {
  Expr third = context.div(context.constant(1, f16), context.constant(3, f16));
  EXPECT_EQ(third.constantValue(), 0.333251953125);
}

TEST_F(AlgebraTest, Evaluates) {
  Assignment values = {{x.get(), 3}, {m.get(), 4}, {v.get(), 2}};
  EXPECT_DOUBLE_EQ(evaluate(context.mul(context.exp(context.sub(x, m)), v), values), 2 * std::exp(-1.0));
  EXPECT_DOUBLE_EQ(evaluate(context.select(less(x, m), x, v), values), 3);
  EXPECT_TRUE(std::isnan(evaluate(w, values)));
}

TEST_F(AlgebraTest, ComparesIntegers) {
  mlir::Type index = mlir::IndexType::get(&mlirContext);
  Expr i = context.leaf(Role::Varying, "i", index), isZero = context.equal(i, context.constant(0, index));
  EXPECT_EQ(isZero.str(), "eq(i, 0)");
  EXPECT_EQ(evaluate(isZero, {{i.get(), 0}}), 1);
}

TEST_F(AlgebraTest, Substitutes) {
  llvm::DenseMap<const Node *, Expr> replacements = {{x.get(), number(2)}, {v.get(), number(3)}};
  EXPECT_EQ(context.substitute(context.add(context.mul(x, v), w), replacements).str(), "6 + w");
  EXPECT_EQ(context.advance(context.sub(x, m)).str(), "x - m'");
}

TEST_F(AlgebraTest, KnowsSigns) {
  EXPECT_TRUE(isPositive(context.exp(x)));
  EXPECT_TRUE(isPositive(s));
  EXPECT_FALSE(isPositive(t));
  EXPECT_FALSE(isPositive(context.mul(x, x)));
  EXPECT_TRUE(isPositive(context.mul(x, x), /*orZero=*/true));
  EXPECT_TRUE(
      isPositive(unary(ExprKind::Rsqrt, context.add(reduction("q", Reducer::Sum, context.mul(x, x)), number(1)))));
}

TEST_F(AlgebraTest, LargeExpressionsAreRefusedQuickly) {
  Expr e = context.sub(x, d);
  for (unsigned i = 0; i < 60; ++i)
    e = context.mul(e, e);
  EXPECT_EQ(e.getTreeSize(), Expr::maxTreeSize);
  EXPECT_EQ(e.str(), "a function of x, d");
  std::string reason;
  EXPECT_FALSE(synthesizeUpdate(context, e, Reducer::Sum, reason));
  EXPECT_EQ(reason, "the expression is too large");
  EXPECT_FALSE(postpone(context, e, Reducer::Sum, [](Expr) { return true; }));
}

static const char *const bodyText = R"(
  func.func @body(%a: f32, %b: f32, %i: i32) -> f32 {
    %c = arith.constant 2.0 : f32
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = math.atan2 %1, %c : f32
    %3 = arith.cmpf ogt, %2, %b fastmath<fast> : f32
    %4 = math.floor %1 : f32
    %5 = arith.sitofp %i : i32 to f32
    %6 = arith.select %3, %4, %5 : f32
    %7 = arith.addi %i, %i overflow<nsw> : i32
    %8 = arith.shli %7, %i overflow<nuw> : i32
    %9 = math.fpowi %6, %8 : f32, i32
    return %9 : f32
  })";

TEST_F(AlgebraTest, ComesFromAndGoesToBodies) {
  mlirContext.loadDialect<func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(bodyText, &mlirContext);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  Expr a = context.leaf(Role::Varying, "a", f32), b = context.leaf(Role::State, "b", f32);
  Expr i = context.leaf(Role::Parameter, "i", IntegerType::get(&mlirContext, 32));
  std::string reason;
  Expr expr = context.fromBody(function.getBody().front(), {a, b, i}, reason);
  ASSERT_TRUE(expr) << reason;
  EXPECT_EQ(expr.str(),
            "pow(select(ogt(math.atan2(exp(a - b), 2), b), math.floor(exp(a - b)), f32(i)), arith.shli(i + i, i))");

  auto made = func::FuncOp::create(UnknownLoc::get(&mlirContext), "made", function.getFunctionType());
  OwningOpRef<func::FuncOp> owner(made);
  OpBuilder builder = OpBuilder::atBlockBegin(made.addEntryBlock());
  llvm::DenseMap<const Node *, Value> values = {
      {a.get(), made.getArgument(0)}, {b.get(), made.getArgument(1)}, {i.get(), made.getArgument(2)}};
  Value result = emit(builder, made.getLoc(), expr, values);
  ASSERT_TRUE(result);
  func::ReturnOp::create(builder, made.getLoc(), result);
  ASSERT_TRUE(succeeded(made.verify()));
  EXPECT_EQ(context.fromBody(made.getBody().front(), {a, b, i}, reason), expr);
}

TEST_F(AlgebraTest, RefusesBodiesThatUseOtherValues) {
  mlirContext.loadDialect<func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: f32) -> f32 {
      %0 = func.call @f(%a) : (f32) -> f32
      return %0 : f32
    })",
                                            &mlirContext);
  ASSERT_TRUE(module);
  std::string reason;
  auto function = *module->getOps<func::FuncOp>().begin();
  EXPECT_FALSE(context.fromBody(function.getBody().front(), {x}, reason));
  EXPECT_EQ(reason, "func.call is not a plain function of scalars");
}
