//===- Passes.h - Passes of the Tiles stage ---===//

#ifndef FUSION_TILES_PASSES_H
#define FUSION_TILES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Tiles/Passes.h.inc"

} // namespace fusion

#endif // FUSION_TILES_PASSES_H
