//===- Passes.h - Passes of the Spaces stage ---===//

#ifndef FUSION_SPACES_PASSES_H
#define FUSION_SPACES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Spaces/Passes.h.inc"

} // namespace fusion

#endif // FUSION_SPACES_PASSES_H
