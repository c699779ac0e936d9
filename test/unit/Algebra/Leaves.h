//===- Leaves.h - Leaves for the tests of the algebra -------------*- C++ -*-===//

#ifndef FUSION_TEST_UNIT_ALGEBRA_LEAVES_H
#define FUSION_TEST_UNIT_ALGEBRA_LEAVES_H

#include "fusion/Algebra/Update.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "gtest/gtest.h"

/// Elements `x`, `v`, `w`; a parameter `c`; the maximum `m` of x, the sum `s` of exp(x - m), the sum `t` of x, and
/// states of which nothing is known: `d`, `h`.
class AlgebraTest : public ::testing::Test {
protected:
  using Expr = fusion::algebra::Expr;
  using ExprKind = fusion::algebra::ExprKind;
  using Role = fusion::algebra::Role;
  using Reducer = fusion::spacemap::Reducer;

  AlgebraTest() : context(&mlirContext) {
    mlirContext.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect>();
    mlir::Builder builder(&mlirContext);
    f16 = builder.getF16Type();
    f32 = builder.getF32Type();
    f64 = builder.getF64Type();
    x = context.leaf(Role::Varying, "x", f64);
    v = context.leaf(Role::Varying, "v", f64);
    w = context.leaf(Role::Varying, "w", f64);
    c = context.leaf(Role::Parameter, "c", f64);
    m = reduction("m", Reducer::Max, x);
    s = reduction("s", Reducer::Sum, context.exp(context.sub(x, m)));
    t = reduction("t", Reducer::Sum, x);
    d = context.leaf(Role::State, "d", f64);
    h = context.leaf(Role::State, "h", f64);
  }

  Expr reduction(llvm::StringRef name, Reducer reducer, Expr source) {
    fusion::algebra::LeafFacts facts;
    facts.reducer = reducer;
    facts.source = source.get();
    return context.leaf(Role::State, name, source.type(), facts);
  }
  Expr number(double value) { return context.constant(value, f64); }
  Expr unary(ExprKind kind, Expr a) { return context.make(kind, a); }
  Expr less(Expr a, Expr b) {
    return context.compare(mlir::arith::CmpFPredicateAttr::get(&mlirContext, mlir::arith::CmpFPredicate::OLT), a, b);
  }

  mlir::MLIRContext mlirContext;
  fusion::algebra::ExprContext context;
  mlir::Type f16, f32, f64;
  Expr x, v, w, c, m, s, t, d, h;
};

#endif // FUSION_TEST_UNIT_ALGEBRA_LEAVES_H
