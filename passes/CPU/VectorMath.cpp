//===- VectorMath.cpp - Mathematical functions of vectors ---------------------------------------------------------===//

#include "VectorMathBuilder.h"
#include "VectorizeNest.h"

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace fusion {
#define GEN_PASS_DEF_CPUVECTORMATH
#include "fusion/CPU/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using fusion::cpu::VectorMathBuilder;

namespace {

/// The value of `op` built from `operands`, which have the type that `math` is for; null if there is no expansion.
Value expand(ImplicitLocOpBuilder &b, VectorMathBuilder &math, VectorType type, Operation *op, ValueRange operands) {
  Value x = operands.front();
  bool isSingle = type.getElementType().isF32();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return math.exp(x); })
      .Case([&](math::Exp2Op) { return math.exp2(x); })
      .Case([&](math::ExpM1Op) { return math.expm1(x); })
      .Case([&](math::TanhOp) { return math.tanh(x); })
      .Case([&](math::LogOp) { return math.log(x); })
      .Case([&](math::Log2Op) { return math.log2(x); })
      .Case([&](math::Log10Op) { return math.log10(x); })
      .Case([&](math::Log1pOp) { return math.log1p(x); })
      .Case([&](math::ErfOp) { return math.erf(x); })
      .Case([&](math::RsqrtOp) { return math.rsqrt(x); })
      .Case<math::SinOp, math::CosOp>(
          [&](Operation *sine) { return type.getRank() == 1 ? math.sine(x, isa<math::CosOp>(sine)) : Value(); })
      .Case([&](math::PowFOp) { return isSingle ? math.powf(x, operands[1]) : Value(); })
      .Case([&](math::FPowIOp power) {
        DenseIntElementsAttr exponents;
        if (matchPattern(power.getRhs(), m_Constant(&exponents)) && exponents.isSplat())
          if (int64_t exponent = exponents.getSplatValue<APInt>().getSExtValue(); std::abs(exponent) <= 64)
            return math.fpowi(x, exponent);
        return math.fpowi(x, power.getRhs());
      })
      .Default([](Operation *) { return Value(); });
}

struct CPUVectorMath : fusion::impl::CPUVectorMathBase<CPUVectorMath> {
  using CPUVectorMathBase::CPUVectorMathBase;

  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && op->getNumResults() == 1)
        work.push_back(op);
    });
    for (Operation *op : work)
      rewrite(op);
  }

  /// Classifications and the clamp, which LLVM 22 lowers neither for scalars nor for vectors; null for other ops.
  static Value expandSimple(ImplicitLocOpBuilder &b, Operation *op) {
    using Predicate = arith::CmpFPredicate;
    if (auto clamp = dyn_cast<math::ClampFOp>(op))
      return arith::MinimumFOp::create(
          b, arith::MaximumFOp::create(b, clamp.getValue(), clamp.getMin(), clamp.getFastmath()).getResult(),
          clamp.getMax(), clamp.getFastmath());
    if (!isa<math::IsInfOp, math::IsNormalOp>(op))
      return Value();
    Value x = op->getOperand(0);
    auto type = cast<FloatType>(getElementTypeOrSelf(x));
    auto constant = [&](const APFloat &value) -> Value {
      TypedAttr scalar = b.getFloatAttr(type, value);
      if (auto vectorType = dyn_cast<VectorType>(x.getType()))
        return arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType, scalar));
      return arith::ConstantOp::create(b, scalar);
    };
    Value size = math::AbsFOp::create(b, x);
    Value infinity = constant(APFloat::getInf(type.getFloatSemantics()));
    if (isa<math::IsInfOp>(op))
      return arith::CmpFOp::create(b, Predicate::OEQ, size, infinity);
    Value least = constant(APFloat::getSmallestNormalized(type.getFloatSemantics()));
    Value finite = arith::CmpFOp::create(b, Predicate::OLT, size, infinity);
    return arith::AndIOp::create(b, finite, arith::CmpFOp::create(b, Predicate::OGE, size, least).getResult());
  }

  void rewrite(Operation *op) {
    ImplicitLocOpBuilder simple(op->getLoc(), op);
    if (Value value = expandSimple(simple, op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      ++numExpanded;
      return;
    }
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.isScalable() || !isa<FloatType>(type.getElementType()))
      return;
    Type element = fusion::cpu::computeType(type.getElementType());
    if (!element.isF32() && !element.isF64())
      return;
    if (!isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::TanhOp, math::LogOp, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::ErfOp, math::RsqrtOp, math::SinOp, math::CosOp, math::PowFOp, math::FPowIOp>(op))
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      bool isFloat = isa<FloatType>(getElementTypeOrSelf(operand));
      operands.push_back(isFloat ? fusion::cpu::convertFloat(b, operand, element) : operand);
    }
    VectorType computed = type.clone(element);
    VectorMathBuilder math(b, computed);
    Value value = expand(b, math, computed, op, operands);
    if (!value)
      return;
    op->getResult(0).replaceAllUsesWith(fusion::cpu::convertFloat(b, value, type.getElementType()));
    op->erase();
    ++numExpanded;
  }
};

} // namespace
