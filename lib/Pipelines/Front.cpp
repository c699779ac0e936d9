//===- Front.cpp - Pipelines from a program to a tile program ---------------===//

#include "fusion/Pipelines/Pipelines.h"

using namespace mlir;

namespace fusion {

void buildToTilesPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (!options.fuse)
    return;
  buildNormalizePipeline(pm, options);
  buildSpacesPipeline(pm, options);
  buildTilesPipeline(pm, options);
}

} // namespace fusion
