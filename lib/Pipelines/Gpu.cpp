//===- Gpu.cpp - From a program to device code ----------------------------===//

#include "fusion/GPU/Passes.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Spaces/Passes.h"
#include "fusion/Tiles/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildGpuToTilesPipeline(OpPassManager &pm, const GpuPipelineOptions &options) {
  CpuPipelineOptions front;
  front.narrowF64 = options.narrowF64;
  buildNormalizePipeline(pm, front);
  buildSpacesPipeline(pm, options.chip, /*threads=*/0);
  SpaceMapToTilesOptions tiles;
  // Operands are staged in shared memory, where strides do not matter.
  tiles.pack = false;
  pm.addPass(createSpaceMapToTiles(tiles));
  pm.addPass(createCanonicalizerPass());
}

static void buildDeviceCode(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  cleanUp(device);
  device.addPass(createLowerAffinePass());
  device.addPass(math::createMathExtendToSupportedTypes());
  device.addPass(createGPULowerMath());
  // Arithmetic on bf16 needs newer chips than its storage.
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16"};
  floats.targetTypeStr = "f32";
  device.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  device.addPass(math::createMathExpandOpsPass({{"fpowi", "ceilf", "roundeven", "ctlz"}}));
  cleanUp(device);
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createUBToLLVMConversionPass());
  device.addPass(createConvertGpuOpsToNVVMOps());
  device.addPass(createReconcileUnrealizedCastsPass());
  cleanUp(device);
  device.addPass(createGPUCheckLowered());
}

void buildGpuCodegenPipeline(OpPassManager &pm, const GpuPipelineOptions &options) {
  GPUAssignLayoutsOptions layouts;
  layouts.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createGPUAssignLayouts(layouts));
  GPUDistributeOptions distribute;
  distribute.chip = options.chip;
  pm.addPass(createGPUDistribute(distribute));
  buildDeviceCode(pm);
}

void buildGpuPipeline(OpPassManager &pm, const GpuPipelineOptions &options) {
  buildGpuToTilesPipeline(pm, options);
  buildGpuCodegenPipeline(pm, options);
}

void registerGpuPipelines() {
  PassPipelineRegistration<GpuPipelineOptions>(
      "fusion-gpu", "Compile a program for a GPU: kernels in the LLVM and NVVM dialects, and their launches",
      buildGpuPipeline);
  PassPipelineRegistration<GpuPipelineOptions>(
      "fusion-gpu-to-tiles", "Fuse a program to kernels for a GPU, as a tile program", buildGpuToTilesPipeline);
  PassPipelineRegistration<GpuPipelineOptions>(
      "fusion-gpu-codegen", "Compile a tile program for a GPU, to the LLVM and NVVM dialects", buildGpuCodegenPipeline);
}

} // namespace fusion
