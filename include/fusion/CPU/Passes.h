//===- Passes.h - Passes of the CPU stage ---===//

#ifndef FUSION_CPU_PASSES_H
#define FUSION_CPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/CPU/Passes.h.inc"

} // namespace fusion

#endif // FUSION_CPU_PASSES_H
