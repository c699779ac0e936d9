//===- Dist.cpp - From a program of tasks to functions ----------------------===//

#include "fusion/Dist/Dist.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

bool isDistProgram(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa_and_nonnull<dist::DistDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void buildTasksPipeline(OpPassManager &pm, const TasksPipelineOptions &options) {
  // Views become parts of their root stores.
  pm.addPass(createCanonicalizerPass());
  DistFuseOptions fuse;
  fuse.window = options.fuse ? unsigned(options.window) : 1;
  fuse.reorder = options.fuse && options.reorder;
  if (options.fuse) {
    DistRotateLoopsOptions rotate;
    rotate.window = options.window;
    pm.addPass(createDistRotateLoops(rotate));
  }
  pm.addPass(createDistFuse(fuse));
  if (options.fuse)
    pm.addPass(createDistEliminateDeadStores());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createDistPlanCommunication());
  pm.addPass(createDistOverlapCommunication());
}

void buildDistPipeline(OpPassManager &pm, const TasksPipelineOptions &options) {
  buildTasksPipeline(pm, options);
  pm.addPass(createDistLower());
}

void registerDistPipelines() {
  PassPipelineRegistration<TasksPipelineOptions>(
      "fusion-tasks", "Fuse the tasks of a dist program, and plan its communication", buildTasksPipeline);
  PassPipelineRegistration<TasksPipelineOptions>(
      "fusion-dist", "Fuse, plan and lower a dist program to functions on tensors and calls of the run-time",
      buildDistPipeline);
}

} // namespace fusion
