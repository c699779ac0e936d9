//===- RunOnCpu.cpp - Compile a program for this CPU ------------------------===//

#include "fusion/Execution/RunOnCpu.h"

#include "fusion/Target/HostCpu.h"
#include "fusion/Tasks/Passes.h"

#include <chrono>

using namespace mlir;

namespace fusion {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

llvm::Error lowerForCpu(ModuleOp module, const CpuCompileOptions &options, CpuCompileTimes *times) {
  llvm::Expected<CpuTarget> target = getCpuTarget(options.code.target);
  if (!target)
    return target.takeError();
  CpuPipelineOptions pipeline;
  pipeline.fuse = options.fuse;
  pipeline.target = options.code.target;
  pipeline.threads = options.threads;
  pipeline.narrowF64 = options.narrowF64;

  double start = now();
  if (isDistProgram(module)) {
    TasksPipelineOptions tasks;
    tasks.fuse = options.fuseTasks;
    PassManager fuse(module.getContext());
    buildTasksPipeline(fuse, tasks);
    if (failed(fuse.run(module)))
      return llvm::createStringError("the tasks could not be fused");
    if (options.onTasks)
      options.onTasks(module);
    PassManager lower(module.getContext());
    lower.addPass(createDistLower());
    if (failed(lower.run(module)))
      return llvm::createStringError("the tasks could not be lowered");
  }
  PassManager front(module.getContext());
  buildToTilesPipeline(front, pipeline);
  if (failed(front.run(module)))
    return llvm::createStringError("the program could not be fused");
  double scheduled = now();
  if (options.onTiles)
    options.onTiles(module);

  double codegen = now();
  PassManager back(module.getContext());
  buildCpuCodegenPipeline(back, pipeline);
  if (failed(back.run(module)))
    return llvm::createStringError("the program could not be compiled");
  if (times) {
    times->scheduleSeconds = scheduled - start;
    times->codegenSeconds = now() - codegen;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<JitModule>> compileForCpu(ModuleOp module, const CpuCompileOptions &options,
                                                         CpuCompileTimes *times) {
  if (llvm::Error error = lowerForCpu(module, options, times))
    return std::move(error);
  double start = now();
  auto result = JitModule::create(module, options.code);
  if (times)
    times->codegenSeconds += now() - start;
  return result;
}

llvm::Error runOnCpu(ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                     llvm::SmallVectorImpl<HostArray> &outputs, const CpuCompileOptions &options) {
  OwningOpRef<ModuleOp> copy(module.clone());
  auto compiled = compileForCpu(*copy, options);
  if (!compiled)
    return compiled.takeError();
  return (*compiled)->run(entry, inputs, outputs);
}

} // namespace fusion
