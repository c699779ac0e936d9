//===- CpuCodegen.cpp - From a tile program to the LLVM dialect -------------===//

#include "fusion/CPU/Passes.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Target/HostCpu.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildCpuBufferizePipeline(OpPassManager &pm, const CpuPipelineOptions &pipeline) {
  // Bufferization and deallocation want structured control flow.
  pm.addPass(createLiftControlFlowToSCFPass());
  pm.addPass(createCPURecordSignatures({pipeline.target}));
  pm.addPass(createCPUDecompose());
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createCPUParallelizeOpaque());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCPUPrepareBufferization());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  // A loop of the program whose state cannot be updated in place is slow, not wrong.
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createCPUPlaceBuffers());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  bufferization::buildBufferDeallocationPipeline(pm, bufferization::BufferDeallocationPipelineOptions());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addNestedPass<func::FuncOp>(createCPUExpandCopies());
}

/// Structured operations on buffers to scalar and vector code.
static void buildKernels(OpPassManager &pm, unsigned vectorBits) {
  CPUVectorizeOptions vectors;
  vectors.vectorBits = vectorBits;
  pm.addNestedPass<func::FuncOp>(createCPUVectorize(vectors));
  pm.addNestedPass<func::FuncOp>(createCPUVectorMath());
  pm.addPass(createCPUOutlineParallel());
  cleanUp(pm);
}

static void buildToLLVM(OpPassManager &pm) {
  // 16-bit floats are stored; arithmetic on them is done in f32.
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16", "f16"};
  floats.targetTypeStr = "f32";
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(math::createMathExpandOpsPass({{"fpowi", "rsqrt", "ceilf", "roundeven", "round", "ctlz", "exp2f"}}));
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createCPULowerAsserts());
  cleanUp(pm);
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createConvertComplexToLLVMPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  // Functions without an instruction are called element by element, which leaves vector.extract.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useAlignedAlloc = true;
  memory.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCPUCheckLowered());
  pm.addPass(createCPUParallelCalls());
  pm.addPass(createCPUEntryPoints());
}

void buildCpuCodegenPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  unsigned vectorBits = options.vectorBits;
  if (vectorBits == 0) {
    llvm::Expected<CpuTarget> target = getCpuTarget(options.target);
    vectorBits = target ? target->vectorBits : 128;
    // An unknown name is an error of the first pass.
    llvm::consumeError(target.takeError());
  }
  buildCpuBufferizePipeline(pm, options);
  buildKernels(pm, vectorBits);
  buildToLLVM(pm);
}

void buildCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  buildToTilesPipeline(pm, options);
  buildCpuCodegenPipeline(pm, options);
}

void registerPipelines() {
  PassPipelineRegistration<CpuPipelineOptions>("fusion-cpu", "Compile a program for the CPU, to the LLVM dialect",
                                               buildCpuPipeline);
  PassPipelineRegistration<CpuPipelineOptions>(
      "fusion-cpu-codegen", "Compile a tile program for the CPU, to the LLVM dialect", buildCpuCodegenPipeline);
  PassPipelineRegistration<CpuPipelineOptions>("fusion-normalize", "Bring a program into the form that fusion reads",
                                               buildNormalizePipeline);
  PassPipelineRegistration<CpuPipelineOptions>(
      "fusion-cpu-bufferize", "Put a tile program on buffers, all of them freed", buildCpuBufferizePipeline);
  PassPipelineRegistration<CpuPipelineOptions>("fusion-to-spaces", "Fuse a program to sliced space-mapping graphs",
                                               [](OpPassManager &pm, const CpuPipelineOptions &options) {
                                                 buildNormalizePipeline(pm, options);
                                                 buildSpacesPipeline(pm, options);
                                               });
  PassPipelineRegistration<CpuPipelineOptions>("fusion-to-tiles", "Fuse a program to kernels, as a tile program",
                                               buildToTilesPipeline);
}

} // namespace fusion
