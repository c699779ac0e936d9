//===- Math.cpp - Scalar functions of the device ----------------------------===//
//
// What PTX defines exactly is computed exactly. The `approx` functions of PTX have an error bound; here they are the
// nearest float, which is within it. `ftz` flushes subnormal inputs and results to zero of the same sign.
//
//===------------------------------------------------------------------------===//

#include "Functions.h"

#include "BitCast.h"
#include "fusion/Runtime/HalfFloat.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace fusion::emulator;

namespace {
template <bool flushes>
float flush(float x) {
  return flushes && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
template <bool flushes>
double flush(double x) {
  return x;
}

/// Runs a computation under a rounding mode. Its operands are volatile, so that it is not moved out of here.
template <int mode, typename Body>
auto rounded(Body body) {
  if (mode == FE_TONEAREST)
    return body();
  int old = std::fegetround();
  std::fesetround(mode);
  auto result = body();
  std::fesetround(old);
  return result;
}

template <typename T, int mode, bool ftz>
T add(T a, T b) {
  volatile T x = flush<ftz>(a), y = flush<ftz>(b);
  return flush<ftz>(rounded<mode>([&] {
    volatile T r = x + y;
    return T(r);
  }));
}
template <typename T, int mode, bool ftz>
T mul(T a, T b) {
  volatile T x = flush<ftz>(a), y = flush<ftz>(b);
  return flush<ftz>(rounded<mode>([&] {
    volatile T r = x * y;
    return T(r);
  }));
}
template <typename T, int mode, bool ftz>
T divide(T a, T b) {
  volatile T x = flush<ftz>(a), y = flush<ftz>(b);
  return flush<ftz>(rounded<mode>([&] {
    volatile T r = x / y;
    return T(r);
  }));
}
template <typename T, int mode, bool ftz>
T fma(T a, T b, T c) {
  volatile T x = flush<ftz>(a), y = flush<ftz>(b), z = flush<ftz>(c);
  return flush<ftz>(rounded<mode>([&] {
    volatile T r = std::fma(T(x), T(y), T(z));
    return T(r);
  }));
}
template <typename T, int mode, bool ftz>
T squareRoot(T a) {
  volatile T x = flush<ftz>(a);
  return flush<ftz>(rounded<mode>([&] {
    volatile T r = std::sqrt(T(x));
    return T(r);
  }));
}
template <typename T, int mode, bool ftz>
T reciprocal(T a) {
  return divide<T, mode, ftz>(T(1), a);
}
template <int mode, bool ftz>
float narrow(double a) {
  volatile double x = a;
  return flush<ftz>(rounded<mode>([&] {
    volatile float r = float(x);
    return float(r);
  }));
}
/// cvt to an integer saturates; NaN becomes 0 (32-bit) or the smallest value (64-bit) as PTX has it.
template <typename To, typename From, int mode, bool ftz>
To toInteger(From a) {
  volatile From x = flush<ftz>(a);
  From whole = rounded<mode>([&] {
    volatile From r = std::nearbyint(From(x));
    return From(r);
  });
  if (std::isnan(whole))
    return sizeof(To) == 8 ? std::numeric_limits<To>::is_signed ? std::numeric_limits<To>::min() : To(1) << 63 : 0;
  double least = double(std::numeric_limits<To>::min()), beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
  if (double(whole) < least)
    return std::numeric_limits<To>::min();
  if (double(whole) >= beyond)
    return std::numeric_limits<To>::max();
  return To(whole);
}
template <typename To, typename From, int mode>
To fromInteger(From a) {
  volatile From x = a;
  return rounded<mode>([&] {
    volatile To r = To(x);
    return To(r);
  });
}

template <bool ftz>
float approximate(float x, double (*function)(double)) {
  return flush<ftz>(float(function(double(flush<ftz>(x)))));
}
template <bool ftz>
float ex2(float x) {
  return approximate<ftz>(x, [](double v) { return std::exp2(v); });
}
template <bool ftz>
float lg2(float x) {
  return approximate<ftz>(x, [](double v) { return std::log2(v); });
}
template <bool ftz>
float sine(float x) {
  return approximate<ftz>(x, [](double v) { return std::sin(v); });
}
template <bool ftz>
float cosine(float x) {
  return approximate<ftz>(x, [](double v) { return std::cos(v); });
}
template <bool ftz>
float rsqrt(float x) {
  return approximate<ftz>(x, [](double v) { return 1 / std::sqrt(v); });
}
template <bool ftz>
float squareRootApprox(float x) {
  return approximate<ftz>(x, [](double v) { return std::sqrt(v); });
}
template <bool ftz>
float rcp(float x) {
  return approximate<ftz>(x, [](double v) { return 1 / v; });
}
float tanhApprox(float x) { return float(std::tanh(double(x))); }
double rsqrtDouble(double x) { return 1 / std::sqrt(x); }
/// Only the upper word of the argument is read, and only the upper word of the result is defined.
double rcpDouble(double x) {
  double upper = bitCast<double>(bitCast<uint64_t>(x) & 0xffffffff00000000);
  return bitCast<double>(bitCast<uint64_t>(1 / upper) & 0xffffffff00000000);
}

/// The other operand where one is NaN; -0 is less than +0.
template <typename T, bool ftz, bool propagatesNan>
T smaller(T a, T b) {
  a = flush<ftz>(a);
  b = flush<ftz>(b);
  if (std::isnan(a) || std::isnan(b))
    return propagatesNan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
                                                              : std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T, bool ftz, bool propagatesNan>
T larger(T a, T b) {
  return -smaller<T, ftz, propagatesNan>(-a, -b);
}
template <typename T, bool ftz>
T roundDown(T x) {
  return std::floor(flush<ftz>(x));
}
template <typename T, bool ftz>
T roundUp(T x) {
  return std::ceil(flush<ftz>(x));
}
template <typename T, bool ftz>
T roundToZero(T x) {
  return std::trunc(flush<ftz>(x));
}
template <typename T, bool ftz>
T roundToEven(T x) {
  return std::nearbyint(flush<ftz>(x));
}
template <typename T, bool ftz>
T magnitude(T x) {
  return std::fabs(flush<ftz>(x));
}
template <bool ftz>
float saturate(float x) {
  x = flush<ftz>(x);
  return !(x > 0) ? 0.0f : x > 1 ? 1.0f : x;
}

// Packed conversions: the first operand goes to the upper half.
uint32_t pack(uint16_t upper, uint16_t lower) { return uint32_t(upper) << 16 | lower; }
uint16_t toHalf(float x) { return fusion_rt_double_to_half(x); }
uint16_t toBrain(float x) { return std::isnan(x) ? uint16_t(0x7fff) : fusion_rt_double_to_brain(x); }
/// NaN becomes the canonical one, negative values zero.
template <bool isBrain, bool relu>
uint16_t to16(float x) {
  if (std::isnan(x))
    return 0x7fff;
  if (relu && !(x > 0))
    x = 0;
  return isBrain ? toBrain(x) : toHalf(x);
}
template <bool isBrain, bool relu>
uint32_t pair16(float upper, float lower) {
  return pack(to16<isBrain, relu>(upper), to16<isBrain, relu>(lower));
}
/// To nearest, ties away from zero.
uint32_t toTf32(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  if (std::isnan(x))
    return 0x7fffffff;
  return std::isinf(x) ? bits : (bits + 0x1000) & ~0x1fffu;
}
uint32_t toTf32Even(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  if (std::isnan(x))
    return 0x7fffffff;
  return std::isinf(x) ? bits : (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t choice = selector >> (4 * i);
    uint8_t byte = uint8_t(bytes >> (8 * (choice & 7)));
    if (choice & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t(byte) << (8 * i);
  }
  return result;
}
int32_t mulHigh(int32_t a, int32_t b) { return int32_t(int64_t(a) * b >> 32); }
uint32_t mulHighUnsigned(uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
int64_t mulHighLong(int64_t a, int64_t b) { return int64_t(Int128(a) * b >> 64); }
uint64_t mulHighUnsignedLong(uint64_t a, uint64_t b) { return uint64_t(UInt128(a) * b >> 64); }
double joinWords(int32_t low, int32_t high) { return bitCast<double>(uint64_t(uint32_t(high)) << 32 | uint32_t(low)); }
int32_t lowWord(double x) { return int32_t(bitCast<uint64_t>(x)); }
int32_t highWord(double x) { return int32_t(bitCast<uint64_t>(x) >> 32); }

class Table {
public:
  std::vector<RuntimeFunction> functions;

  template <typename Function>
  void add(const char *name, Function *function) {
    functions.push_back({name, reinterpret_cast<void *>(function)});
  }
};

#define FUSION_MATH(name) "fusion_emu_math." name

// name.rn, name.rz, name.rm, name.rp, each with and without ftz for f32.
#define FUSION_ROUNDED(table, prefix, function)                                                                        \
  table.add(FUSION_MATH(prefix ".rn.f"), function<float, FE_TONEAREST, false>);                                        \
  table.add(FUSION_MATH(prefix ".rz.f"), function<float, FE_TOWARDZERO, false>);                                       \
  table.add(FUSION_MATH(prefix ".rm.f"), function<float, FE_DOWNWARD, false>);                                         \
  table.add(FUSION_MATH(prefix ".rp.f"), function<float, FE_UPWARD, false>);                                           \
  table.add(FUSION_MATH(prefix ".rn.ftz.f"), function<float, FE_TONEAREST, true>);                                     \
  table.add(FUSION_MATH(prefix ".rz.ftz.f"), function<float, FE_TOWARDZERO, true>);                                    \
  table.add(FUSION_MATH(prefix ".rm.ftz.f"), function<float, FE_DOWNWARD, true>);                                      \
  table.add(FUSION_MATH(prefix ".rp.ftz.f"), function<float, FE_UPWARD, true>);                                        \
  table.add(FUSION_MATH(prefix ".rn.d"), function<double, FE_TONEAREST, false>);                                       \
  table.add(FUSION_MATH(prefix ".rz.d"), function<double, FE_TOWARDZERO, false>);                                      \
  table.add(FUSION_MATH(prefix ".rm.d"), function<double, FE_DOWNWARD, false>);                                        \
  table.add(FUSION_MATH(prefix ".rp.d"), function<double, FE_UPWARD, false>);

#define FUSION_TO_INTEGER(table, prefix, To, From)                                                                     \
  table.add(FUSION_MATH(prefix ".rn"), toInteger<To, From, FE_TONEAREST, false>);                                      \
  table.add(FUSION_MATH(prefix ".rz"), toInteger<To, From, FE_TOWARDZERO, false>);                                     \
  table.add(FUSION_MATH(prefix ".rm"), toInteger<To, From, FE_DOWNWARD, false>);                                       \
  table.add(FUSION_MATH(prefix ".rp"), toInteger<To, From, FE_UPWARD, false>);                                         \
  table.add(FUSION_MATH(prefix ".rn.ftz"), toInteger<To, From, FE_TONEAREST, true>);                                   \
  table.add(FUSION_MATH(prefix ".rz.ftz"), toInteger<To, From, FE_TOWARDZERO, true>);                                  \
  table.add(FUSION_MATH(prefix ".rm.ftz"), toInteger<To, From, FE_DOWNWARD, true>);                                    \
  table.add(FUSION_MATH(prefix ".rp.ftz"), toInteger<To, From, FE_UPWARD, true>);

#define FUSION_FROM_INTEGER(table, prefix, To, From)                                                                   \
  table.add(FUSION_MATH(prefix ".rn"), fromInteger<To, From, FE_TONEAREST>);                                           \
  table.add(FUSION_MATH(prefix ".rz"), fromInteger<To, From, FE_TOWARDZERO>);                                          \
  table.add(FUSION_MATH(prefix ".rm"), fromInteger<To, From, FE_DOWNWARD>);                                            \
  table.add(FUSION_MATH(prefix ".rp"), fromInteger<To, From, FE_UPWARD>);

// name.f, name.ftz.f of one argument.
#define FUSION_FTZ(table, prefix, suffix, function)                                                                    \
  table.add(FUSION_MATH(prefix suffix), function<false>);                                                              \
  table.add(FUSION_MATH(prefix ".ftz" suffix), function<true>);

#define FUSION_FTZ_TYPED(table, prefix, function)                                                                      \
  table.add(FUSION_MATH(prefix ".f"), function<float, false>);                                                         \
  table.add(FUSION_MATH(prefix ".ftz.f"), function<float, true>);                                                      \
  table.add(FUSION_MATH(prefix ".d"), function<double, false>);

void addArithmetic(Table &table) {
  FUSION_ROUNDED(table, "add", add)
  FUSION_ROUNDED(table, "mul", mul)
  FUSION_ROUNDED(table, "div", divide)
  FUSION_ROUNDED(table, "fma", fma)
  FUSION_ROUNDED(table, "sqrt", squareRoot)
  FUSION_ROUNDED(table, "rcp", reciprocal)
  table.add(FUSION_MATH("div.full"), divide<float, FE_TONEAREST, false>);
  table.add(FUSION_MATH("div.full.ftz"), divide<float, FE_TONEAREST, true>);
  table.add(FUSION_MATH("div.approx.f"), divide<float, FE_TONEAREST, false>);
  table.add(FUSION_MATH("div.approx.ftz.f"), divide<float, FE_TONEAREST, true>);
  FUSION_FTZ_TYPED(table, "floor", roundDown)
  FUSION_FTZ_TYPED(table, "ceil", roundUp)
  FUSION_FTZ_TYPED(table, "trunc", roundToZero)
  FUSION_FTZ_TYPED(table, "round", roundToEven)
  FUSION_FTZ(table, "saturate", ".f", saturate)
  table.add(FUSION_MATH("fabs.f32"), magnitude<float, false>);
  table.add(FUSION_MATH("fabs.ftz.f32"), magnitude<float, true>);
  table.add(FUSION_MATH("fabs.f64"), magnitude<double, false>);
  table.add(FUSION_MATH("fmin.f"), smaller<float, false, false>);
  table.add(FUSION_MATH("fmin.ftz.f"), smaller<float, true, false>);
  table.add(FUSION_MATH("fmin.nan.f"), smaller<float, false, true>);
  table.add(FUSION_MATH("fmin.ftz.nan.f"), smaller<float, true, true>);
  table.add(FUSION_MATH("fmin.d"), smaller<double, false, false>);
  table.add(FUSION_MATH("fmax.f"), larger<float, false, false>);
  table.add(FUSION_MATH("fmax.ftz.f"), larger<float, true, false>);
  table.add(FUSION_MATH("fmax.nan.f"), larger<float, false, true>);
  table.add(FUSION_MATH("fmax.ftz.nan.f"), larger<float, true, true>);
  table.add(FUSION_MATH("fmax.d"), larger<double, false, false>);
  table.add(FUSION_MATH("prmt"), permute);
  table.add(FUSION_MATH("mulhi.i"), mulHigh);
  table.add(FUSION_MATH("mulhi.ui"), mulHighUnsigned);
  table.add(FUSION_MATH("mulhi.ll"), mulHighLong);
  table.add(FUSION_MATH("mulhi.ull"), mulHighUnsignedLong);
}

void addApproximations(Table &table) {
  FUSION_FTZ(table, "ex2.approx", ".f32", ex2)
  FUSION_FTZ(table, "lg2.approx", ".f", lg2)
  FUSION_FTZ(table, "sin.approx", ".f", sine)
  FUSION_FTZ(table, "cos.approx", ".f", cosine)
  FUSION_FTZ(table, "rsqrt.approx", ".f", rsqrt)
  FUSION_FTZ(table, "sqrt.approx", ".f", squareRootApprox)
  FUSION_FTZ(table, "rcp.approx", ".f", rcp)
  table.add(FUSION_MATH("rsqrt.approx.d"), rsqrtDouble);
  table.add(FUSION_MATH("rcp.approx.ftz.d"), rcpDouble);
  table.add(FUSION_MATH("tanh.approx.f32"), tanhApprox);
}

void addConversions(Table &table) {
  FUSION_TO_INTEGER(table, "f2i", int32_t, float)
  FUSION_TO_INTEGER(table, "f2ui", uint32_t, float)
  FUSION_TO_INTEGER(table, "f2ll", int64_t, float)
  FUSION_TO_INTEGER(table, "f2ull", uint64_t, float)
  FUSION_TO_INTEGER(table, "d2i", int32_t, double)
  FUSION_TO_INTEGER(table, "d2ui", uint32_t, double)
  FUSION_TO_INTEGER(table, "d2ll", int64_t, double)
  FUSION_TO_INTEGER(table, "d2ull", uint64_t, double)
  FUSION_FROM_INTEGER(table, "i2f", float, int32_t)
  FUSION_FROM_INTEGER(table, "ui2f", float, uint32_t)
  FUSION_FROM_INTEGER(table, "ll2f", float, int64_t)
  FUSION_FROM_INTEGER(table, "ull2f", float, uint64_t)
  FUSION_FROM_INTEGER(table, "i2d", double, int32_t)
  FUSION_FROM_INTEGER(table, "ui2d", double, uint32_t)
  FUSION_FROM_INTEGER(table, "ll2d", double, int64_t)
  FUSION_FROM_INTEGER(table, "ull2d", double, uint64_t)
  table.add(FUSION_MATH("d2f.rn"), narrow<FE_TONEAREST, false>);
  table.add(FUSION_MATH("d2f.rz"), narrow<FE_TOWARDZERO, false>);
  table.add(FUSION_MATH("d2f.rm"), narrow<FE_DOWNWARD, false>);
  table.add(FUSION_MATH("d2f.rp"), narrow<FE_UPWARD, false>);
  table.add(FUSION_MATH("d2f.rn.ftz"), narrow<FE_TONEAREST, true>);
  table.add(FUSION_MATH("lohi.i2d"), joinWords);
  table.add(FUSION_MATH("d2i.lo"), lowWord);
  table.add(FUSION_MATH("d2i.hi"), highWord);
  table.add(FUSION_MATH("f2h.rn"), toHalf);
  table.add(FUSION_MATH("ff2f16x2.rn"), pair16<false, false>);
  table.add(FUSION_MATH("ff2f16x2.rn.relu"), pair16<false, true>);
  table.add(FUSION_MATH("ff2bf16x2.rn"), pair16<true, false>);
  table.add(FUSION_MATH("ff2bf16x2.rn.relu"), pair16<true, true>);
  table.add(FUSION_MATH("f2f16.rn"), to16<false, false>);
  table.add(FUSION_MATH("f2f16.rn.relu"), to16<false, true>);
  table.add(FUSION_MATH("f2bf16.rn"), to16<true, false>);
  table.add(FUSION_MATH("f2bf16.rn.relu"), to16<true, true>);
  table.add(FUSION_MATH("f2tf32.rna"), toTf32);
  table.add(FUSION_MATH("f2tf32.rn"), toTf32Even);
}
} // namespace

const RuntimeFunction *fusion::emulator::getMathFunctions(size_t &count) {
  static const std::vector<RuntimeFunction> functions = [] {
    Table table;
    addArithmetic(table);
    addApproximations(table);
    addConversions(table);
    return table.functions;
  }();
  count = functions.size();
  return functions.data();
}
