//===- Passes.td - Passes of the Tiles stage ----------------------*- tablegen -*-===//

#ifndef FUSION_TILES_PASSES
#define FUSION_TILES_PASSES

include "mlir/Pass/PassBase.td"

#endif // FUSION_TILES_PASSES
