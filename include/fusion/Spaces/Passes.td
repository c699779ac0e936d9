//===- Passes.td - Passes of the Spaces stage ----------------------*- tablegen -*-===//

#ifndef FUSION_SPACES_PASSES
#define FUSION_SPACES_PASSES

include "mlir/Pass/PassBase.td"

#endif // FUSION_SPACES_PASSES
