//===- Spaces.cpp - The pipeline of the spaces stage ----------------------===//

#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

void buildSpacesPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createSpaceMapBuild());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createSpaceMapMergeDims());
  functions.addPass(createSpaceMapPostponeBroadcast());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  SpaceMapPartitionOptions partition;
  partition.threads = options.threads;
  functions.addPass(createSpaceMapPartition(partition));
  functions.addPass(createCanonicalizerPass());
  SpaceMapSliceOptions slice;
  slice.threads = options.threads;
  functions.addPass(createSpaceMapSlice(slice));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

} // namespace fusion
