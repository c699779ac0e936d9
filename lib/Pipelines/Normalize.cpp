//===- Normalize.cpp - Pipeline of the Normalize stage ------------------------===//

#include "fusion/Normalize/Passes.h"
#include "fusion/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildNormalizePipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  addCleanUp(pm);
  // While operations still have the names that messages give.
  pm.addPass(createAssertBounds());
  pm.addPass(createGeneralize());
  pm.addPass(createDropDeadResults());
  pm.addPass(createDetachInits());
  // Names of extents first: guards and reshapes hide what reads what.
  pm.addPass(createMergeExtents());
  addCleanUp(pm);
  pm.addPass(createInlineScalars());
  pm.addPass(createSimplifyScalars());
  if (options.narrowF64)
    pm.addPass(createNarrowF64());
  addCleanUp(pm);
  // Extents that were computed by division have got names by now.
  pm.addPass(createAssertDivisors());
  pm.addPass(createSplitAsserts());
  pm.addPass(createFoldGenerators());
  pm.addPass(createSplitConcats());
  pm.addPass(createPushSlices());
  addCleanUp(pm);
  // Folding and slicing leave operands unused, and make extents.
  pm.addPass(createDropDeadResults());
  pm.addPass(createDetachInits());
  pm.addPass(createMergeExtents());
  addCleanUp(pm);
  // Both would be undone by a clean-up.
  pm.addPass(createCloneGenerators());
  pm.addPass(createSinkConstants());
}

} // namespace fusion
