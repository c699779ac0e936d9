//===- MachineCode.h - From the LLVM dialect to an object file --------------===//

#ifndef FUSION_LIB_EXECUTION_MACHINECODE_H
#define FUSION_LIB_EXECUTION_MACHINECODE_H

#include "fusion/Execution/Jit.h"
#include "fusion/Target/HostCpu.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace fusion {

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuTarget &target, unsigned optLevel);

/// Translates, optimises and compiles; writes the dumps that the options ask for.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compileToObject(mlir::ModuleOp module, const CpuTarget &target,
                                                                    const CompileOptions &options);

} // namespace fusion

#endif // FUSION_LIB_EXECUTION_MACHINECODE_H
