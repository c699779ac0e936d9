//===- RunTimeBounds.h - Extents and slices that only run time knows -----------===//

#ifndef FUSION_PASSES_CPU_RUNTIMEBOUNDS_H
#define FUSION_PASSES_CPU_RUNTIMEBOUNDS_H

#include "mlir/IR/Operation.h"

namespace fusion {

/// Asserts, before each `tensor.empty`, `tensor.extract_slice` and `tensor.insert_slice` under `root` that is outside of
/// kernels, that its run-time extents are not negative and that the slice lies within its tensor. Nothing is emitted
/// for what is static, nor for extents that are those of another tensor.
void assertBounds(mlir::Operation *root);

} // namespace fusion

#endif // FUSION_PASSES_CPU_RUNTIMEBOUNDS_H
