//===- Math.cpp - Instructions for the math dialect -------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace fusion;
using namespace fusion::reference;
namespace math = mlir::math;

// A functor for a function of <cmath> on doubles.
#define FUSION_UNARY(Name, expression)                                                                                 \
  struct Name {                                                                                                        \
    double operator()(double x) const { return expression; }                                                           \
  };
#define FUSION_BINARY(Name, expression)                                                                                \
  struct Name {                                                                                                        \
    double operator()(double x, double y) const { return expression; }                                                 \
  };

namespace {

FUSION_UNARY(Abs, std::fabs(x))
FUSION_UNARY(Acos, std::acos(x))
FUSION_UNARY(Acosh, std::acosh(x))
FUSION_UNARY(Asin, std::asin(x))
FUSION_UNARY(Asinh, std::asinh(x))
FUSION_UNARY(Atan, std::atan(x))
FUSION_UNARY(Atanh, std::atanh(x))
FUSION_UNARY(Cbrt, std::cbrt(x))
FUSION_UNARY(Ceil, std::ceil(x))
FUSION_UNARY(Cos, std::cos(x))
FUSION_UNARY(Cosh, std::cosh(x))
FUSION_UNARY(Erf, std::erf(x))
FUSION_UNARY(Erfc, std::erfc(x))
FUSION_UNARY(Exp, std::exp(x))
FUSION_UNARY(Exp2, std::exp2(x))
FUSION_UNARY(ExpM1, std::expm1(x))
FUSION_UNARY(Floor, std::floor(x))
FUSION_UNARY(Log, std::log(x))
FUSION_UNARY(Log10, std::log10(x))
FUSION_UNARY(Log1p, std::log1p(x))
FUSION_UNARY(Log2, std::log2(x))
FUSION_UNARY(Round, std::round(x))
FUSION_UNARY(RoundEven, std::nearbyint(x))
FUSION_UNARY(Rsqrt, 1.0 / std::sqrt(x))
FUSION_UNARY(Sin, std::sin(x))
FUSION_UNARY(Sinh, std::sinh(x))
FUSION_UNARY(Sqrt, std::sqrt(x))
FUSION_UNARY(Tan, std::tan(x))
FUSION_UNARY(Tanh, std::tanh(x))
FUSION_UNARY(Trunc, std::trunc(x))
FUSION_BINARY(Atan2, std::atan2(x, y))
FUSION_BINARY(CopySign, std::copysign(x, y))
FUSION_BINARY(PowF, std::pow(x, y))

struct Fma {
  template <typename T>
  T operator()(T x, T y, T z) const {
    return std::fma(x, y, z);
  }
};
struct ClampF {
  double operator()(double x, double low, double high) const {
    if (std::isnan(x) || std::isnan(low) || std::isnan(high))
      return x + low + high;
    return std::min(std::max(x, low), high);
  }
};

struct AbsI {
  int64_t operator()(int64_t a, int64_t, unsigned) const { return a < 0 ? int64_t(-uint64_t(a)) : a; }
};
struct CountLeadingZeros {
  int64_t operator()(int64_t a, int64_t, unsigned width) const {
    return llvm::countl_zero(zeroExtend(a, width)) - int64_t(64 - width);
  }
};
struct CountTrailingZeros {
  int64_t operator()(int64_t a, int64_t, unsigned width) const {
    return std::min<int64_t>(llvm::countr_zero(zeroExtend(a, width)), width);
  }
};
struct PopulationCount {
  int64_t operator()(int64_t a, int64_t, unsigned width) const { return llvm::popcount(zeroExtend(a, width)); }
};

struct IPowI {
  const char *operator()(int64_t base, int64_t exponent, unsigned width, int64_t &result) const {
    if (exponent < 0) {
      if (base == 0)
        return "zero to a negative power";
      result = base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
      return nullptr;
    }
    uint64_t power = 1, factor = uint64_t(base);
    for (uint64_t rest = uint64_t(exponent); rest; rest >>= 1) {
      if (rest & 1)
        power *= factor;
      factor *= factor;
    }
    result = int64_t(power);
    return nullptr;
  }
};

} // namespace

#undef FUSION_UNARY
#undef FUSION_BINARY

/// Float to an integer power. Small powers are products, which are exact in double more often than pow is.
static void runFPowI(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *exponents = registers.get<int64_t>(instruction.sources[1]);
  for (int64_t lane = 0; lane < n; ++lane) {
    double base = registers.read(instruction.sources[0], instruction.sourceType, lane).real;
    double value = std::pow(base, double(exponents[lane]));
    if (exponents[lane] == 2)
      value = base * base;
    else if (exponents[lane] == 3)
      value = base * base * base;
    value = roundToType(value, instruction.targetType.kind);
    registers.write(instruction.targets[0], lane, Scalar::makeReal(instruction.targetType, value));
  }
}

static void runSinCos(const Instruction &instruction, Registers &registers, int64_t n) {
  for (int64_t lane = 0; lane < n; ++lane) {
    double x = registers.read(instruction.sources[0], instruction.sourceType, lane).real;
    for (auto [number, value] : llvm::enumerate(std::array<double, 2>{std::sin(x), std::cos(x)}))
      registers.write(instruction.targets[number], lane,
                      Scalar::makeReal(instruction.targetType, roundToType(value, instruction.targetType.kind)));
  }
}

enum class FloatClass { Finite, Infinite, NaN, Normal };

/// Whether a number is of a class. "Normal" depends on the type.
template <FloatClass floatClass>
static void runClassify(const Instruction &instruction, Registers &registers, int64_t n) {
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  ElementKind kind = instruction.sourceType.kind;
  double smallest = kind == ElementKind::F64   ? std::numeric_limits<double>::min()
                    : kind == ElementKind::F16 ? std::ldexp(1.0, -14)
                                               : std::numeric_limits<float>::min();
  for (int64_t lane = 0; lane < n; ++lane) {
    double x = registers.read(instruction.sources[0], instruction.sourceType, lane).real;
    bool holds = floatClass == FloatClass::Finite     ? std::isfinite(x)
                 : floatClass == FloatClass::Infinite ? std::isinf(x)
                 : floatClass == FloatClass::NaN      ? std::isnan(x)
                                                      : std::isfinite(x) && std::fabs(x) >= smallest;
    target[lane] = -int64_t(holds);
  }
}

bool reference::compileMath(mlir::Operation *op, ProgramBuilder &builder) {
  if (op->getNumResults() == 0 || op->getNumOperands() == 0)
    return false;
  std::optional<ScalarType> type = ScalarType::get(mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
  if (!type)
    return false;
  auto unary = [&](auto functor) { return builder.emit(op, getWideKernel<decltype(functor), 1>(*type)); };
  auto binary = [&](auto functor) { return builder.emit(op, getWideKernel<decltype(functor), 2>(*type)); };
  auto ternary = [&](auto functor) { return builder.emit(op, getWideKernel<decltype(functor), 3>(*type)); };
  auto integer = [&](auto functor) { return !type->isFloat() && builder.emit(op, runInteger<decltype(functor)>); };
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case([&](math::AbsFOp) { return unary(Abs()); })
      .Case([&](math::AcosOp) { return unary(Acos()); })
      .Case([&](math::AcoshOp) { return unary(Acosh()); })
      .Case([&](math::AsinOp) { return unary(Asin()); })
      .Case([&](math::AsinhOp) { return unary(Asinh()); })
      .Case([&](math::AtanOp) { return unary(Atan()); })
      .Case([&](math::AtanhOp) { return unary(Atanh()); })
      .Case([&](math::CbrtOp) { return unary(Cbrt()); })
      .Case([&](math::CeilOp) { return unary(Ceil()); })
      .Case([&](math::CosOp) { return unary(Cos()); })
      .Case([&](math::CoshOp) { return unary(Cosh()); })
      .Case([&](math::ErfOp) { return unary(Erf()); })
      .Case([&](math::ErfcOp) { return unary(Erfc()); })
      .Case([&](math::ExpOp) { return unary(Exp()); })
      .Case([&](math::Exp2Op) { return unary(Exp2()); })
      .Case([&](math::ExpM1Op) { return unary(ExpM1()); })
      .Case([&](math::FloorOp) { return unary(Floor()); })
      .Case([&](math::LogOp) { return unary(Log()); })
      .Case([&](math::Log10Op) { return unary(Log10()); })
      .Case([&](math::Log1pOp) { return unary(Log1p()); })
      .Case([&](math::Log2Op) { return unary(Log2()); })
      .Case([&](math::RoundOp) { return unary(Round()); })
      .Case([&](math::RoundEvenOp) { return unary(RoundEven()); })
      .Case([&](math::RsqrtOp) { return unary(Rsqrt()); })
      .Case([&](math::SinOp) { return unary(Sin()); })
      .Case([&](math::SinhOp) { return unary(Sinh()); })
      .Case([&](math::SqrtOp) { return unary(Sqrt()); })
      .Case([&](math::TanOp) { return unary(Tan()); })
      .Case([&](math::TanhOp) { return unary(Tanh()); })
      .Case([&](math::TruncOp) { return unary(Trunc()); })
      .Case([&](math::Atan2Op) { return binary(Atan2()); })
      .Case([&](math::CopySignOp) { return binary(CopySign()); })
      .Case([&](math::PowFOp) { return binary(PowF()); })
      .Case([&](math::FmaOp) { return builder.emit(op, getNativeKernel<Fma, 3>(*type)); })
      .Case([&](math::ClampFOp) { return ternary(ClampF()); })
      .Case([&](math::FPowIOp) { return builder.emit(op, runFPowI); })
      .Case([&](math::SincosOp) { return builder.emit(op, runSinCos); })
      .Case([&](math::AbsIOp) { return integer(AbsI()); })
      .Case([&](math::CountLeadingZerosOp) { return integer(CountLeadingZeros()); })
      .Case([&](math::CountTrailingZerosOp) { return integer(CountTrailingZeros()); })
      .Case([&](math::CtPopOp) { return integer(PopulationCount()); })
      .Case([&](math::IPowIOp) { return builder.emit(op, runChecked<IPowI>, /*mayFail=*/true); })
      .Case([&](math::IsFiniteOp) { return builder.emit(op, runClassify<FloatClass::Finite>); })
      .Case([&](math::IsInfOp) { return builder.emit(op, runClassify<FloatClass::Infinite>); })
      .Case([&](math::IsNaNOp) { return builder.emit(op, runClassify<FloatClass::NaN>); })
      .Case([&](math::IsNormalOp) { return builder.emit(op, runClassify<FloatClass::Normal>); })
      .Default([](mlir::Operation *) { return false; });
}
