//===- Passes.h - Passes of the Normalize stage ---===//

#ifndef FUSION_NORMALIZE_PASSES_H
#define FUSION_NORMALIZE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Normalize/Passes.h.inc"

} // namespace fusion

#endif // FUSION_NORMALIZE_PASSES_H
