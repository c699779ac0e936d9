//===- Tiles.cpp - From sliced graphs to a tile program ---------------------===//

#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Tiles/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

void buildTilesPipeline(OpPassManager &pm, const CpuPipelineOptions &) {
  pm.addPass(createSpaceMapToTiles());
  // No CSE here: it makes one value of scratch tiles of the same shape, which bufferization then has to take apart.
  pm.addPass(createCanonicalizerPass());
}

} // namespace fusion
