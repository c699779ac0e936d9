//===- HalfFloat.cpp - Conversions of 16-bit floats -------------------------===//
//
// The code generator of LLVM calls these where the CPU has no instruction for them (x86 before F16C). The compiler's
// support library has them too, but not in every version, and code that is compiled in memory is not linked to it.
//
//===------------------------------------------------------------------------===//

#include "fusion/Runtime/HalfFloat.h"

#include <cstdint>
#include <cstring>

namespace {

template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f)
    return bitCast<float>(sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0));
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return bitCast<float>(sign | bitCast<uint32_t>(magnitude));
  }
  return bitCast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/// Rounds to nearest even straight from the double, so that nothing is rounded twice.
uint16_t doubleToHalf(double value) {
  uint64_t bits = bitCast<uint64_t>(value);
  uint16_t sign = uint16_t(bits >> 48) & 0x8000;
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = int((bits >> 52) & 0x7ff);
  if (exponent == 0x7ff)
    return sign | 0x7c00 | (mantissa ? 0x200 | uint16_t(mantissa >> 42) : 0);
  int unbiased = exponent - 1023;
  if (unbiased < -25)
    return sign;
  if (unbiased > 15)
    return sign | 0x7c00;
  mantissa |= uint64_t(1) << 52;
  int drop = unbiased < -14 ? 42 + (-14 - unbiased) : 42;
  uint64_t kept = mantissa >> drop;
  uint64_t rest = mantissa & ((uint64_t(1) << drop) - 1);
  uint64_t halfway = uint64_t(1) << (drop - 1);
  if (rest > halfway || (rest == halfway && (kept & 1)))
    ++kept;
  // A normal number carries its leading 1 into the exponent field; a carry out of the mantissa goes there by itself.
  uint64_t field = unbiased < -14 ? 0 : uint64_t(unbiased + 14) << 10;
  return sign | uint16_t(field + kept);
}

uint16_t floatToBrain(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t(bits >> 16) | 0x40;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// To the nearest float, a tie or an inexact one to the odd neighbour: the second rounding is then exact.
float doubleToFloatOdd(double value) {
  float rounded = float(value);
  if (double(rounded) == value || rounded != rounded)
    return rounded;
  uint32_t bits = bitCast<uint32_t>(rounded);
  if (bits & 1)
    return rounded;
  bool away = (double(rounded) < 0 ? -double(rounded) : double(rounded)) > (value < 0 ? -value : value);
  return bitCast<float>(away ? bits - 1 : bits + 1);
}

#if defined(__x86_64__)
/// A 16-bit float travels in the low bits of xmm0, where a float has its low bits; the rest is ignored. So no compiler
/// with _Float16 is needed.
using Half = float;
Half toHalf(uint16_t bits) { return bitCast<float>(uint32_t(bits)); }
uint16_t fromHalf(Half value) { return uint16_t(bitCast<uint32_t>(value)); }

float extendHalf(Half value) { return halfToFloat(fromHalf(value)); }
Half truncateFloat(float value) { return toHalf(doubleToHalf(value)); }
Half truncateDouble(double value) { return toHalf(doubleToHalf(value)); }
Half brainOfFloat(float value) { return toHalf(floatToBrain(value)); }
Half brainOfDouble(double value) { return toHalf(floatToBrain(doubleToFloatOdd(value))); }

const FusionSupportFunction functions[] = {
    {"__extendhfsf2", reinterpret_cast<void *>(extendHalf)},
    {"__gnu_h2f_ieee", reinterpret_cast<void *>(extendHalf)},
    {"__truncsfhf2", reinterpret_cast<void *>(truncateFloat)},
    {"__gnu_f2h_ieee", reinterpret_cast<void *>(truncateFloat)},
    {"__truncdfhf2", reinterpret_cast<void *>(truncateDouble)},
    {"__truncsfbf2", reinterpret_cast<void *>(brainOfFloat)},
    {"__truncdfbf2", reinterpret_cast<void *>(brainOfDouble)},
};
#endif

} // namespace

extern "C" {

float fusion_rt_half_to_float(uint16_t half) { return halfToFloat(half); }
uint16_t fusion_rt_double_to_half(double value) { return doubleToHalf(value); }
uint16_t fusion_rt_double_to_brain(double value) { return floatToBrain(doubleToFloatOdd(value)); }

const FusionSupportFunction *fusion_rt_support_functions(size_t *count) {
#if defined(__x86_64__)
  *count = sizeof(functions) / sizeof(functions[0]);
  return functions;
#else
  *count = 0;
  return nullptr;
#endif
}

} // extern "C"
