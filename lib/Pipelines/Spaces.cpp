//===- Spaces.cpp - The pipeline of the spaces stage ----------------------===//

#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

void buildSpacesPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  buildSpacesPipeline(pm, "cpu", options.threads);
}

void buildSpacesPipeline(OpPassManager &pm, llvm::StringRef target, unsigned threads) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createSpaceMapBuild());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createSpaceMapMergeDims());
  functions.addPass(createSpaceMapPostponeBroadcast());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  SpaceMapPartitionOptions partition;
  partition.target = target.str();
  partition.threads = threads;
  functions.addPass(createSpaceMapPartition(partition));
  functions.addPass(createCanonicalizerPass());
  SpaceMapSliceOptions slice;
  slice.target = target.str();
  slice.threads = threads;
  functions.addPass(createSpaceMapSlice(slice));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

} // namespace fusion
