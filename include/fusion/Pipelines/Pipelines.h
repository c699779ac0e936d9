//===- Pipelines.h - Pass pipelines as functions ------------------*- C++ -*-===//
//
// The stages in the order in which a program passes them. Each builder adds the passes of one stage; an embedder may
// enter or leave between any two. The levels of IR between them are those of docs/rationale.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_PIPELINES_H
#define FUSION_PIPELINES_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace fusion {

struct CpuPipelineOptions : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("Fuse operations to kernels; off compiles every operation by itself"),
                    llvm::cl::init(true)};
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Instruction set: host, generic, avx2 or avx512. Sets the vector width and the tile sizes"),
      llvm::cl::init("host")};
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("Width of the vectors in the generated code; 0 takes that of the target"),
                              llvm::cl::init(0)};
  Option<unsigned> threads{*this, "threads",
                           llvm::cl::desc("Number of threads to plan the grid for; 0 for that of this machine"),
                           llvm::cl::init(0)};
  Option<bool> narrowF64{*this, "narrow-f64",
                         llvm::cl::desc("Compute f64 islands of an f32 program in f32 (changes rounding)"),
                         llvm::cl::init(false)};
};

struct TasksPipelineOptions : mlir::PassPipelineOptions<TasksPipelineOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("Fuse tasks; off launches each by itself"), llvm::cl::init(true)};
  Option<bool> reorder{*this, "reorder",
                       llvm::cl::desc("Move tasks past others that they do not depend on, where that makes fewer groups"),
                       llvm::cl::init(false)};
  Option<unsigned> window{*this, "window", llvm::cl::desc("Tasks in a group at most; 0 is any number"),
                          llvm::cl::init(0)};
};

struct GpuPipelineOptions : mlir::PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("The chip to compile for: sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100"),
      llvm::cl::init("sm_80")};
  Option<bool> narrowF64{*this, "narrow-f64",
                         llvm::cl::desc("Compute f64 islands of an f32 program in f32 (changes rounding)"),
                         llvm::cl::init(true)};
};

/// Whether the module has operations of the dist dialect.
bool isDistProgram(mlir::ModuleOp module);
/// dist program -> dist program of fused tasks whose communication is planned (passes/Tasks).
void buildTasksPipeline(mlir::OpPassManager &pm, const TasksPipelineOptions &options);
/// dist program -> program: functions on tensors and calls of fusion/Runtime/Dist.h. Other programs stay as they are.
void buildDistPipeline(mlir::OpPassManager &pm, const TasksPipelineOptions &options);
/// Registers `fusion-tasks` and `fusion-dist`.
void registerDistPipelines();

/// program -> canonical program (passes/Normalize).
void buildNormalizePipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);
/// canonical program -> sliced space-mapping graphs (passes/Spaces).
void buildSpacesPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);
/// The same for any machine that fusion/Target/Target.h knows.
void buildSpacesPipeline(mlir::OpPassManager &pm, llvm::StringRef target, unsigned threads);
/// sliced graphs -> tile program in upstream dialects (passes/Tiles).
void buildTilesPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);
/// The three above: program -> tile program. When `fuse` is off, only what
/// asserts that the program is defined at run time.
void buildToTilesPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);

/// tile program, with any other linalg-on-tensors around the kernels -> LLVM dialect (passes/CPU). Ends with an error
/// at the first operation that has no lowering. Every public function gets an entry for fusion/Execution/Jit.h.
void buildCpuCodegenPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);

/// The first part of that: tensors to buffers, in place where the tile program says so; every buffer is freed, none is
/// allocated in a loop of a kernel.
void buildCpuBufferizePipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);

/// program -> LLVM dialect.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options);

/// program -> tile program for a GPU.
void buildGpuToTilesPipeline(mlir::OpPassManager &pm, const GpuPipelineOptions &options);
/// tile program -> `gpu.module` in the LLVM and NVVM dialects and launches (passes/GPU); the host program stays on
/// tensors.
void buildGpuCodegenPipeline(mlir::OpPassManager &pm, const GpuPipelineOptions &options);
/// Both.
void buildGpuPipeline(mlir::OpPassManager &pm, const GpuPipelineOptions &options);
/// Registers `fusion-gpu`, `fusion-gpu-to-tiles` and `fusion-gpu-codegen`.
void registerGpuPipelines();

/// Registers `fusion-cpu`, `fusion-cpu-bufferize`, `fusion-cpu-codegen` and `fusion-to-tiles`.
void registerPipelines();

} // namespace fusion

#endif // FUSION_PIPELINES_PIPELINES_H
