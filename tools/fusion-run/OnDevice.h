//===- OnDevice.h - Runs a program with its kernels on a GPU ----------------===//

#ifndef FUSION_TOOLS_RUN_ONDEVICE_H
#define FUSION_TOOLS_RUN_ONDEVICE_H

#include "Summary.h"

#include "fusion/Execution/RunOnDevice.h"

namespace fusion {

/// Compiles the program in place for `options.device` and runs `entry` `repeat` times. Fills the times of the summary,
/// what was fused and, of the emulated device, what the launches of the last run did. The results own their memory.
llvm::Error runOnDevice(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                        DeviceCompileOptions options, unsigned repeat, Summary &summary,
                        std::vector<HostArray> &results);

} // namespace fusion

#endif // FUSION_TOOLS_RUN_ONDEVICE_H
