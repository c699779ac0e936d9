//===- Passes.h - Passes of the GPU stage ---===//

#ifndef FUSION_GPU_PASSES_H
#define FUSION_GPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/GPU/Passes.h.inc"

} // namespace fusion

#endif // FUSION_GPU_PASSES_H
