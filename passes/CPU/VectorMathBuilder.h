//===- VectorMathBuilder.h - Functions of vectors as arithmetic ---------------------------------------*- C++ -*-===//
//
// Builds polynomial approximations of mathematical functions on vectors of f32 and f64. Internal to passes/CPU.
//
// Polynomials are minimax fits of the relative error over the reduced range, computed for this project; their errors
// and the measured errors of the functions stand in docs/rationale/cpu-vectorize.md.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_CPU_VECTORMATHBUILDER_H
#define FUSION_PASSES_CPU_VECTORMATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fusion::cpu {

class VectorMathBuilder {
public:
  /// For values of `type`, a vector of f32 or f64 of any shape.
  VectorMathBuilder(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type);

  mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value log10(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  /// f32 only.
  mlir::Value powf(mlir::Value x, mlir::Value y);
  /// Vectors of rank 1 only: sine or cosine.
  mlir::Value sine(mlir::Value x, bool cosine);
  mlir::Value fpowi(mlir::Value x, int64_t exponent);
  /// `exponent` is a vector of integers.
  mlir::Value fpowi(mlir::Value x, mlir::Value exponent);

private:
  bool isDouble() const { return mantissaBits == 52; }

  mlir::Value constant(double value);
  mlir::Value integer(int64_t value);
  mlir::Value splatTrue();
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  /// One rounding or two, as the machine prefers.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value abs(mlir::Value x);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value clamp(mlir::Value x, double low, double high); // keeps NaN
  mlir::Value bits(mlir::Value x);
  mlir::Value fromBits(mlir::Value x);
  mlir::Value shiftLeft(mlir::Value x, int64_t count);
  mlir::Value shiftRight(mlir::Value x, int64_t count); // arithmetic
  mlir::Value addInteger(mlir::Value lhs, mlir::Value rhs);
  /// Coefficients of rising powers.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);

  /// The nearest integer of a small `x * factor`, as a number and as an integer.
  std::pair<mlir::Value, mlir::Value> nearest(mlir::Value x, double factor);
  /// 2^(n - 1); 0 for the least n, that of the smallest normal number.
  mlir::Value halfPower(mlir::Value n);
  /// exp(x) - 1 = (1 + p) * 2^n - 1 with |x| in the range of `exp`.
  struct Exponential {
    mlir::Value p, n;
  };
  Exponential reduceExp(mlir::Value x);
  /// log(x) = exponent * log(2) + high + low for positive finite x.
  struct Logarithm {
    mlir::Value exponent, high, low;
  };
  Logarithm reduceLog(mlir::Value x);
  /// `result` where the logarithm of `x` is finite, else its limit.
  mlir::Value finishLog(mlir::Value x, mlir::Value result);

  mlir::ImplicitLocOpBuilder &b;
  mlir::VectorType type, intType;
  unsigned mantissaBits;
  int64_t bias;
};

} // namespace fusion::cpu

#endif // FUSION_PASSES_CPU_VECTORMATHBUILDER_H
