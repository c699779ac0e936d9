//===- Manifest.h - What a host must know to launch kernels ---------------===//

#ifndef FUSION_TOOLS_FUSION_TRANSLATE_MANIFEST_H
#define FUSION_TOOLS_FUSION_TRANSLATE_MANIFEST_H

#include "fusion/Target/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/JSON.h"

/// `fusion.launch` of each kernel as JSON, with its number of threads. Fails at a kernel that has none.
llvm::Expected<llvm::json::Value> makeManifest(mlir::gpu::GPUModuleOp module, llvm::ArrayRef<fusion::GpuChip> chips);

/// One line per kernel: registers, spills, shared memory, threads, blocks per multiprocessor.
void printReport(mlir::gpu::GPUModuleOp module, const fusion::GpuChip &chip,
                 llvm::ArrayRef<fusion::PtxasReport> reports, llvm::raw_ostream &os);

#endif // FUSION_TOOLS_FUSION_TRANSLATE_MANIFEST_H
