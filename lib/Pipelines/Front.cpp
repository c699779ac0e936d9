//===- Front.cpp - Pipelines from a program to a tile program ---------------===//

#include "fusion/Normalize/Passes.h"
#include "fusion/Pipelines/Pipelines.h"

using namespace mlir;

namespace fusion {

void buildToTilesPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (!options.fuse) {
    pm.addPass(createAssertBounds());
    pm.addPass(createGeneralize());
    pm.addPass(createAssertDivisors());
    return;
  }
  buildNormalizePipeline(pm, options);
  buildSpacesPipeline(pm, options);
  buildTilesPipeline(pm, options);
}

} // namespace fusion
