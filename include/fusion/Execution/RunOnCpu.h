//===- RunOnCpu.h - Compile a program for this CPU ----------------*- C++ -*-===//

#ifndef FUSION_EXECUTION_RUNONCPU_H
#define FUSION_EXECUTION_RUNONCPU_H

#include "fusion/Execution/Jit.h"
#include "fusion/Pipelines/Pipelines.h"

namespace fusion {

struct CpuCompileOptions {
  CompileOptions code;
  /// Off compiles every operation by itself.
  bool fuse = true;
  /// 0 for the number of threads of the run-time.
  unsigned threads = 0;
  bool narrowF64 = false;
  /// For dist programs. Off launches every task by itself.
  bool fuseTasks = true;
  /// Called with a dist program between fusion and lowering; may be null.
  std::function<void(mlir::ModuleOp)> onTasks;
  /// Called with the module between the stages, as soon as it is a tile program; may be null.
  std::function<void(mlir::ModuleOp)> onTiles;
};

/// What was measured while compiling.
struct CpuCompileTimes {
  /// program -> tile program: normalise, build graphs, slice, schedule.
  double scheduleSeconds = 0;
  /// tile program -> machine code.
  double codegenSeconds = 0;
};

/// Takes a linalg-on-tensors module, or a dist program, to the LLVM dialect in place: what Jit.h compiles or writes.
/// Diagnostics go to the context's handlers, the error says which stage failed.
llvm::Error lowerForCpu(mlir::ModuleOp module, const CpuCompileOptions &options, CpuCompileTimes *times = nullptr);

/// The same, and compiles it. The result refers to the module's context.
llvm::Expected<std::unique_ptr<JitModule>> compileForCpu(mlir::ModuleOp module, const CpuCompileOptions &options,
                                                         CpuCompileTimes *times = nullptr);

/// Compiles a copy of the module and runs one of its functions once.
llvm::Error runOnCpu(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                     llvm::SmallVectorImpl<HostArray> &outputs, const CpuCompileOptions &options = {});

} // namespace fusion

#endif // FUSION_EXECUTION_RUNONCPU_H
