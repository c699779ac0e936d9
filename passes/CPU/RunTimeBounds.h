//===- RunTimeBounds.h - Extents and slices that only run time knows -----------===//

#ifndef FUSION_PASSES_CPU_RUNTIMEBOUNDS_H
#define FUSION_PASSES_CPU_RUNTIMEBOUNDS_H

#include "mlir/IR/Operation.h"

namespace fusion {

/// Asserts, before each operation of the tensor dialect under `root` that is outside of kernels and could reach outside of
/// its operands, that it does not: run-time extents are not negative, slices and elements lie within their tensors, casts
/// and expansions fit. Nothing is emitted for what is static, nor for extents that are those of another tensor.
void assertBounds(mlir::Operation *root);

} // namespace fusion

#endif // FUSION_PASSES_CPU_RUNTIMEBOUNDS_H
