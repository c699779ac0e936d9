//===- Kernels.h - Templates of instructions on lanes -------------*- C++ -*-===//
//
// A kernel is made from a functor on numbers: `native` functors are evaluated in the register's own type (exact
// operations such as addition, whose 16-bit result is right when the float result is rounded), `wide` ones in double.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_KERNELS_H
#define FUSION_LIB_REFERENCE_KERNELS_H

#include "Program.h"

namespace fusion::reference {

/// The number `value` as a register of kind `kind` holds it.
template <ElementKind kind>
inline float roundTo(double value) {
  if constexpr (kind == ElementKind::F16)
    return float(decodeF16(encodeF16(value)));
  else if constexpr (kind == ElementKind::BF16)
    return float(decodeBF16(encodeBF16(value)));
  else
    return float(value);
}

namespace detail {

template <typename Functor, typename T, size_t arity>
inline T call(T *const *sources, int64_t lane) {
  if constexpr (arity == 1)
    return T(Functor()(sources[0][lane]));
  else if constexpr (arity == 2)
    return T(Functor()(sources[0][lane], sources[1][lane]));
  else
    return T(Functor()(sources[0][lane], sources[1][lane], sources[2][lane]));
}

template <typename Functor, size_t arity, typename T, ElementKind kind>
void runNative(const Instruction &instruction, Registers &registers, int64_t n) {
  T *sources[3] = {};
  for (size_t i = 0; i < arity; ++i)
    sources[i] = registers.get<T>(instruction.sources[i]);
  T *target = registers.get<T>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane) {
    T value = call<Functor, T, arity>(sources, lane);
    if constexpr (kind == ElementKind::F16 || kind == ElementKind::BF16)
      target[lane] = roundTo<kind>(value);
    else
      target[lane] = value;
  }
}

template <typename Functor, size_t arity, ElementKind kind>
void runWide(const Instruction &instruction, Registers &registers, int64_t n) {
  float *sources[3] = {};
  for (size_t i = 0; i < arity; ++i)
    sources[i] = registers.get<float>(instruction.sources[i]);
  float *target = registers.get<float>(instruction.targets[0]);
  for (int64_t lane = 0; lane < n; ++lane) {
    double wide[3];
    for (size_t i = 0; i < arity; ++i)
      wide[i] = sources[i][lane];
    double value;
    if constexpr (arity == 1)
      value = Functor()(wide[0]);
    else if constexpr (arity == 2)
      value = Functor()(wide[0], wide[1]);
    else
      value = Functor()(wide[0], wide[1], wide[2]);
    target[lane] = roundTo<kind>(value);
  }
}

} // namespace detail

template <typename Functor, size_t arity>
Kernel getNativeKernel(ScalarType type) {
  switch (type.kind) {
  case ElementKind::F16:
    return detail::runNative<Functor, arity, float, ElementKind::F16>;
  case ElementKind::BF16:
    return detail::runNative<Functor, arity, float, ElementKind::BF16>;
  case ElementKind::F32:
    return detail::runNative<Functor, arity, float, ElementKind::F32>;
  case ElementKind::F64:
    return detail::runNative<Functor, arity, double, ElementKind::F64>;
  default:
    return nullptr;
  }
}

template <typename Functor, size_t arity>
Kernel getWideKernel(ScalarType type) {
  switch (type.kind) {
  case ElementKind::F16:
    return detail::runWide<Functor, arity, ElementKind::F16>;
  case ElementKind::BF16:
    return detail::runWide<Functor, arity, ElementKind::BF16>;
  case ElementKind::F32:
    return detail::runWide<Functor, arity, ElementKind::F32>;
  case ElementKind::F64:
    return detail::runNative<Functor, arity, double, ElementKind::F64>;
  default:
    return nullptr;
  }
}

/// An integer operation: the functor is given the operands and the width; the result wraps.
template <typename Functor>
void runInteger(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *lhs = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *rhs = registers.get<int64_t>(instruction.sources[instruction.sources.size() > 1 ? 1 : 0]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  unsigned width = instruction.sourceType.width;
  for (int64_t lane = 0; lane < n; ++lane)
    target[lane] = wrapInteger(Functor()(lhs[lane], rhs[lane], width), width);
}

/// An integer operation that is not defined for all operands: the functor returns what is wrong, or null.
template <typename Functor>
void runChecked(const Instruction &instruction, Registers &registers, int64_t n) {
  const int64_t *lhs = registers.get<int64_t>(instruction.sources[0]);
  const int64_t *rhs = registers.get<int64_t>(instruction.sources[1]);
  int64_t *target = registers.get<int64_t>(instruction.targets[0]);
  unsigned width = instruction.sourceType.width;
  for (int64_t lane = 0; lane < n; ++lane) {
    int64_t value = 0;
    if (const char *problem = Functor()(lhs[lane], rhs[lane], width, value))
      return registers.fail(instruction, problem);
    target[lane] = wrapInteger(value, width);
  }
}

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_KERNELS_H
