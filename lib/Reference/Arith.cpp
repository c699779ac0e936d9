//===- Arith.cpp - Instructions for the arith dialect -----------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace fusion;
using namespace fusion::reference;
namespace arith = mlir::arith;

namespace {

//===----------------------------------------------------------------------===//
// Functors
//===----------------------------------------------------------------------===//

struct AddF {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct SubF {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct MulF {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct DivF {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct RemF {
  template <typename T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};
struct NegF {
  template <typename T>
  T operator()(T a) const {
    return -a;
  }
};
/// NaN if one operand is; -0 is smaller than +0.
struct MaximumF {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
struct MinimumF {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
/// The other operand if one is NaN.
struct MaxNumF {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) ? b : std::isnan(b) ? a : MaximumF()(a, b);
  }
};
struct MinNumF {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) ? b : std::isnan(b) ? a : MinimumF()(a, b);
  }
};

struct AddI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return int64_t(uint64_t(a) + uint64_t(b)); }
};
struct SubI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return int64_t(uint64_t(a) - uint64_t(b)); }
};
struct MulI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return int64_t(uint64_t(a) * uint64_t(b)); }
};
struct AndI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return a & b; }
};
struct OrI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return a | b; }
};
struct XorI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return a ^ b; }
};
/// Shifting by the width or more is poison: any value will do.
struct ShlI {
  int64_t operator()(int64_t a, int64_t b, unsigned width) const {
    uint64_t amount = zeroExtend(b, width);
    return amount < width ? int64_t(uint64_t(a) << amount) : 0;
  }
};
struct ShrSI {
  int64_t operator()(int64_t a, int64_t b, unsigned width) const {
    uint64_t amount = zeroExtend(b, width);
    return amount < width ? a >> amount : 0;
  }
};
struct ShrUI {
  int64_t operator()(int64_t a, int64_t b, unsigned width) const {
    uint64_t amount = zeroExtend(b, width);
    return amount < width ? int64_t(zeroExtend(a, width) >> amount) : 0;
  }
};
struct MaxSI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return std::max(a, b); }
};
struct MinSI {
  int64_t operator()(int64_t a, int64_t b, unsigned) const { return std::min(a, b); }
};
struct MaxUI {
  int64_t operator()(int64_t a, int64_t b, unsigned width) const {
    return zeroExtend(a, width) > zeroExtend(b, width) ? a : b;
  }
};
struct MinUI {
  int64_t operator()(int64_t a, int64_t b, unsigned width) const {
    return zeroExtend(a, width) < zeroExtend(b, width) ? a : b;
  }
};

const char *checkSigned(int64_t a, int64_t b, unsigned width) {
  if (b == 0)
    return "division by zero";
  if (b == -1 && a == wrapInteger(int64_t(uint64_t(1) << (width - 1)), width) && width > 1)
    return "overflow in a signed division";
  return nullptr;
}
struct DivSI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    const char *problem = checkSigned(a, b, width);
    if (!problem)
      result = a / b;
    return problem;
  }
};
struct CeilDivSI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    const char *problem = checkSigned(a, b, width);
    if (!problem)
      result = a / b + (a % b != 0 && (a < 0) == (b < 0));
    return problem;
  }
};
struct FloorDivSI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    const char *problem = checkSigned(a, b, width);
    if (!problem)
      result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return problem;
  }
};
struct RemSI {
  const char *operator()(int64_t a, int64_t b, unsigned, int64_t &result) const {
    if (b == 0)
      return "division by zero";
    result = b == -1 ? 0 : a % b;
    return nullptr;
  }
};
struct DivUI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    if (b == 0)
      return "division by zero";
    result = int64_t(zeroExtend(a, width) / zeroExtend(b, width));
    return nullptr;
  }
};
struct CeilDivUI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    if (b == 0)
      return "division by zero";
    uint64_t x = zeroExtend(a, width), y = zeroExtend(b, width);
    result = int64_t(x / y + (x % y != 0));
    return nullptr;
  }
};
struct RemUI {
  const char *operator()(int64_t a, int64_t b, unsigned width, int64_t &result) const {
    if (b == 0)
      return "division by zero";
    result = int64_t(zeroExtend(a, width) % zeroExtend(b, width));
    return nullptr;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

template <typename T>
static bool compareFloats(arith::CmpFPredicate predicate, T a, T b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

template <typename T>
static void runCmpF(const Instruction &instruction, Registers &registers, int64_t n) {
  const T *a = registers.get<T>(instruction.sources[0]), *b = registers.get<T>(instruction.sources[1]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  auto predicate = arith::CmpFPredicate(instruction.immediate);
  for (int64_t lane = 0; lane < n; ++lane)
    target[lane] = -int64_t(compareFloats(predicate, a[lane], b[lane]));
}

static bool compareIntegers(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  uint64_t x = zeroExtend(a, width), y = zeroExtend(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  return false;
}

static void runCmpI(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *a = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *b = registers.get<int64_t>(instruction.sources[1]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  auto predicate = arith::CmpIPredicate(instruction.immediate);
  for (int64_t lane = 0; lane < n; ++lane)
    target[lane] = -int64_t(compareIntegers(predicate, a[lane], b[lane], instruction.sourceType.width));
}

template <typename T>
static void runSelect(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *condition = registers.get<int64_t>(instruction.sources[0]);
  const T *a = registers.get<T>(instruction.sources[1]), *b = registers.get<T>(instruction.sources[2]);
  T *target = registers.get<T>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane)
    target[lane] = condition[lane] ? a[lane] : b[lane];
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

template <typename S, typename T, ElementKind kind>
static void runRealToReal(const Instruction &instruction, Registers &registers, int64_t n) {
  const S *source = registers.get<S>(instruction.sources[0]);
  T *target = registers.get<T>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane)
    if constexpr (kind == ElementKind::F64)
      target[lane] = source[lane];
    else
      target[lane] = roundTo<kind>(source[lane]);
}

template <typename S>
static Kernel getRealToReal(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return runRealToReal<S, float, ElementKind::F16>;
  case ElementKind::BF16:
    return runRealToReal<S, float, ElementKind::BF16>;
  case ElementKind::F32:
    return runRealToReal<S, float, ElementKind::F32>;
  case ElementKind::F64:
    return runRealToReal<S, double, ElementKind::F64>;
  default:
    return nullptr;
  }
}

template <bool isSigned>
static void runIntegerToReal(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *source = registers.get<int64_t>(instruction.sources[0]);
  unsigned width = instruction.sourceType.width;
  auto convert = [&](auto *target, auto round) {
    for (int64_t lane = 0; lane < n; ++lane)
      if constexpr (isSigned)
        target[lane] = round(source[lane]);
      else
        target[lane] = round(zeroExtend(source[lane], width));
  };
  // An integer is rounded straight to f32: through double it would be rounded twice.
  switch (instruction.targetType.kind) {
  case ElementKind::F64:
    return convert(registers.get<double>(instruction.targets[0]), [](auto value) { return double(value); });
  case ElementKind::F32:
    return convert(registers.get<float>(instruction.targets[0]), [](auto value) { return float(value); });
  default:
    return convert(registers.get<float>(instruction.targets[0]),
                   [&](auto value) { return float(roundToType(double(value), instruction.targetType.kind)); });
  }
}

/// Numbers out of range are poison, not undefined behaviour: a later select may drop them. They become the smallest
/// integer, as the usual processors have it.
template <bool isSigned, typename S>
static void runRealToInteger(const Instruction &instruction, Registers &registers, int64_t n) {
  const S *source = registers.get<S>(instruction.sources[0]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  unsigned width = instruction.targetType.width;
  double low = isSigned ? -std::ldexp(1.0, width - 1) : 0.0, high = std::ldexp(1.0, isSigned ? width - 1 : width);
  for (int64_t lane = 0; lane < n; ++lane) {
    double value = std::trunc(double(source[lane]));
    if (!(value >= low && value < high))
      target[lane] = INT64_MIN >> (64 - width);
    else
      target[lane] = wrapInteger(isSigned ? int64_t(value) : int64_t(uint64_t(value)), width);
  }
}

template <bool isSigned>
static void runIntegerCast(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *source = registers.get<int64_t>(instruction.sources[0]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  unsigned from = instruction.sourceType.width, to = instruction.targetType.width;
  for (int64_t lane = 0; lane < n; ++lane)
    target[lane] = wrapInteger(isSigned ? source[lane] : int64_t(zeroExtend(source[lane], from)), to);
}

static uint64_t toBits(Scalar value) {
  switch (value.type.kind) {
  case ElementKind::F16:
    return encodeF16(value.real);
  case ElementKind::BF16:
    return encodeBF16(value.real);
  case ElementKind::F32:
    return llvm::bit_cast<uint32_t>(float(value.real));
  case ElementKind::F64:
    return llvm::bit_cast<uint64_t>(value.real);
  default:
    return zeroExtend(value.integer, value.type.width);
  }
}

static Scalar fromBits(uint64_t bits, ScalarType type) {
  switch (type.kind) {
  case ElementKind::F16:
    return Scalar::makeReal(type, decodeF16(uint16_t(bits)));
  case ElementKind::BF16:
    return Scalar::makeReal(type, decodeBF16(uint16_t(bits)));
  case ElementKind::F32:
    return Scalar::makeReal(type, llvm::bit_cast<float>(uint32_t(bits)));
  case ElementKind::F64:
    return Scalar::makeReal(type, llvm::bit_cast<double>(bits));
  default:
    return Scalar::makeInteger(type, wrapInteger(int64_t(bits), type.width));
  }
}

static void runBitcast(const Instruction &instruction, Registers &registers, int64_t n) {
  for (int64_t lane = 0; lane < n; ++lane) {
    Scalar value = registers.read(instruction.sources[0], instruction.sourceType, lane);
    registers.write(instruction.targets[0], lane, fromBits(toBits(value), instruction.targetType));
  }
}

//===----------------------------------------------------------------------===//
// Extended arithmetic: two results
//===----------------------------------------------------------------------===//

static void runAddUIExtended(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *a = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *b = registers.get<int64_t>(instruction.sources[1]);
  int64_t *sum = registers.get<int64_t>(instruction.targets[0]);
  int64_t *overflow = registers.get<int64_t>(instruction.targets[1]);
  unsigned width = instruction.sourceType.width;
  for (int64_t lane = 0; lane < n; ++lane) {
    uint64_t x = zeroExtend(a[lane], width);
    int64_t result = wrapInteger(AddI()(a[lane], b[lane], width), width);
    overflow[lane] = -int64_t(zeroExtend(result, width) < x);
    sum[lane] = result;
  }
}

template <bool isSigned>
static void runMulExtended(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *a = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *b = registers.get<int64_t>(instruction.sources[1]);
  int64_t *low = registers.get<int64_t>(instruction.targets[0]);
  int64_t *high = registers.get<int64_t>(instruction.targets[1]);
  unsigned width = instruction.sourceType.width;
  for (int64_t lane = 0; lane < n; ++lane) {
    unsigned __int128 product = isSigned ? (unsigned __int128)((__int128)a[lane] * b[lane])
                                         : (unsigned __int128)zeroExtend(a[lane], width) * zeroExtend(b[lane], width);
    low[lane] = wrapInteger(int64_t(product), width);
    high[lane] = wrapInteger(int64_t(product >> width), width);
  }
}

//===----------------------------------------------------------------------===//
// Selection of the instruction
//===----------------------------------------------------------------------===//

bool reference::compileArith(mlir::Operation *op, ProgramBuilder &builder) {
  if (op->getNumResults() == 0)
    return false;
  std::optional<ScalarType> resultType = ScalarType::get(mlir::getElementTypeOrSelf(op->getResult(0).getType()));
  if (!resultType)
    return false;
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    std::optional<Scalar> value = Scalar::get(constant.getValue());
    if (!value)
      return false;
    builder.bind(constant.getResult(), builder.emitConstant(*value));
    return true;
  }
  if (op->getNumOperands() == 0)
    return false;
  std::optional<ScalarType> sourceType = ScalarType::get(mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
  if (!sourceType)
    return false;
  bool toReal = resultType->isFloat(), fromReal = sourceType->isFloat(), fromDouble = sourceType->isDouble();

  auto native = [&](auto functor) { return builder.emit(op, getNativeKernel<decltype(functor), 2>(*resultType)); };
  auto integer = [&](auto functor) { return !toReal && builder.emit(op, runInteger<decltype(functor)>); };
  auto checked = [&](auto functor) {
    return !toReal && builder.emit(op, runChecked<decltype(functor)>, /*mayFail=*/true);
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case([&](arith::AddFOp) { return native(AddF()); })
      .Case([&](arith::SubFOp) { return native(SubF()); })
      .Case([&](arith::MulFOp) { return native(MulF()); })
      .Case([&](arith::DivFOp) { return native(DivF()); })
      .Case([&](arith::RemFOp) { return native(RemF()); })
      .Case([&](arith::MaximumFOp) { return native(MaximumF()); })
      .Case([&](arith::MinimumFOp) { return native(MinimumF()); })
      .Case([&](arith::MaxNumFOp) { return native(MaxNumF()); })
      .Case([&](arith::MinNumFOp) { return native(MinNumF()); })
      .Case([&](arith::NegFOp) { return builder.emit(op, getNativeKernel<NegF, 1>(*resultType)); })
      .Case([&](arith::AddIOp) { return integer(AddI()); })
      .Case([&](arith::SubIOp) { return integer(SubI()); })
      .Case([&](arith::MulIOp) { return integer(MulI()); })
      .Case([&](arith::AndIOp) { return integer(AndI()); })
      .Case([&](arith::OrIOp) { return integer(OrI()); })
      .Case([&](arith::XOrIOp) { return integer(XorI()); })
      .Case([&](arith::ShLIOp) { return integer(ShlI()); })
      .Case([&](arith::ShRSIOp) { return integer(ShrSI()); })
      .Case([&](arith::ShRUIOp) { return integer(ShrUI()); })
      .Case([&](arith::MaxSIOp) { return integer(MaxSI()); })
      .Case([&](arith::MinSIOp) { return integer(MinSI()); })
      .Case([&](arith::MaxUIOp) { return integer(MaxUI()); })
      .Case([&](arith::MinUIOp) { return integer(MinUI()); })
      .Case([&](arith::DivSIOp) { return checked(DivSI()); })
      .Case([&](arith::DivUIOp) { return checked(DivUI()); })
      .Case([&](arith::CeilDivSIOp) { return checked(CeilDivSI()); })
      .Case([&](arith::CeilDivUIOp) { return checked(CeilDivUI()); })
      .Case([&](arith::FloorDivSIOp) { return checked(FloorDivSI()); })
      .Case([&](arith::RemSIOp) { return checked(RemSI()); })
      .Case([&](arith::RemUIOp) { return checked(RemUI()); })
      .Case([&](arith::AddUIExtendedOp) { return builder.emit(op, runAddUIExtended); })
      .Case([&](arith::MulSIExtendedOp) { return builder.emit(op, runMulExtended<true>); })
      .Case([&](arith::MulUIExtendedOp) { return builder.emit(op, runMulExtended<false>); })
      .Case([&](arith::CmpFOp compare) {
        return builder.emit(op, fromDouble ? runCmpF<double> : runCmpF<float>, false, int64_t(compare.getPredicate()));
      })
      .Case([&](arith::CmpIOp compare) { return builder.emit(op, runCmpI, false, int64_t(compare.getPredicate())); })
      .Case([&](arith::SelectOp) {
        return builder.emit(op, resultType->isDouble() ? runSelect<double>
                                : toReal               ? runSelect<float>
                                                       : runSelect<int64_t>);
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](mlir::Operation *cast) {
        auto truncate = llvm::dyn_cast<arith::TruncFOp>(cast);
        if (truncate && truncate.getRoundingmode() &&
            *truncate.getRoundingmode() != arith::RoundingMode::to_nearest_even)
          return false;
        return fromReal && builder.emit(op, fromDouble ? getRealToReal<double>(resultType->kind)
                                                       : getRealToReal<float>(resultType->kind));
      })
      .Case([&](arith::SIToFPOp) { return toReal && builder.emit(op, runIntegerToReal<true>); })
      .Case([&](arith::UIToFPOp) { return toReal && builder.emit(op, runIntegerToReal<false>); })
      .Case([&](arith::FPToSIOp) {
        return builder.emit(op, fromDouble ? runRealToInteger<true, double> : runRealToInteger<true, float>);
      })
      .Case([&](arith::FPToUIOp) {
        return builder.emit(op, fromDouble ? runRealToInteger<false, double> : runRealToInteger<false, float>);
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return builder.emit(op, runIntegerCast<true>); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return builder.emit(op, runIntegerCast<false>); })
      .Case([&](arith::BitcastOp) { return builder.emit(op, runBitcast); })
      .Default([](mlir::Operation *) { return false; });
}
