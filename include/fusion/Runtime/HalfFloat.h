/*===- HalfFloat.h - Conversions of 16-bit floats ------------------*- C -*-===*/

#ifndef FUSION_RUNTIME_HALFFLOAT_H
#define FUSION_RUNTIME_HALFFLOAT_H

#include "fusion/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exact. */
FUSION_RT_EXPORT float fusion_rt_half_to_float(uint16_t half);

/* To nearest, ties to even, subnormal numbers kept; rounded once. */
FUSION_RT_EXPORT uint16_t fusion_rt_double_to_half(double value);
FUSION_RT_EXPORT uint16_t fusion_rt_double_to_brain(double value);

/* A function that LLVM's code generator expects by this name. */
typedef struct FusionSupportFunction {
  const char *name;
  void *address;
} FusionSupportFunction;

/* Those of them that a just-in-time linker must offer on this machine; static, never freed. */
FUSION_RT_EXPORT const FusionSupportFunction *fusion_rt_support_functions(size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_HALFFLOAT_H */
