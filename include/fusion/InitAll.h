//===- InitAll.h - Register everything that Fusion needs ----------*- C++ -*-===//

#ifndef FUSION_INITALL_H
#define FUSION_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fusion {

/// Our dialects, the dialects of programs and of every level below them, and the interface models that our pipelines
/// use (bufferization, tiling, value bounds, conversion and translation to LLVM).
void registerAllDialects(mlir::DialectRegistry &registry);

/// Our passes and pipelines under their names. Upstream's own passes are left to the caller. To be called once.
void registerAllPasses();

} // namespace fusion

#endif // FUSION_INITALL_H
