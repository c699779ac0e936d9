//===- RunOnDevice.h - Compile a program for a GPU and run it -----*- C++ -*-===//

#ifndef FUSION_EXECUTION_RUNONDEVICE_H
#define FUSION_EXECUTION_RUNONDEVICE_H

#include "fusion/Execution/Jit.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Runtime/Device.h"

#include <functional>

namespace fusion {

struct DeviceCompileOptions {
  /// "emulator", "cuda" or "cuda:N".
  std::string device = "emulator";
  /// The chip to compile for; for CUDA empty stands for the device's own.
  std::string chip = "sm_80";
  bool narrowF64 = true;
  /// Of the host program around the kernels.
  CompileOptions host;
  /// Called with the module between the stages, as soon as it is a tile program; may be null.
  std::function<void(mlir::ModuleOp)> onTiles;
};

/// A compiled program: kernels loaded on a device, and the host code that launches them. Each launch copies the buffers
/// that its kernel reads to the device, and back those that it writes. Not for use by two threads at once.
class DeviceProgram {
public:
  /// Compiles a linalg-on-tensors module in place. Diagnostics go to the context's handlers, the error says which stage
  /// failed. The module's context must outlive the result.
  static llvm::Expected<std::unique_ptr<DeviceProgram>> create(mlir::ModuleOp module,
                                                               const DeviceCompileOptions &options);
  ~DeviceProgram();

  llvm::Error run(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs, llvm::SmallVectorImpl<HostArray> &outputs);
  FusionDevice *getDevice() const { return device; }
  unsigned getNumKernels() const { return numKernels; }

private:
  DeviceProgram() = default;

  std::unique_ptr<JitModule> host;
  FusionDevice *device = nullptr;
  FusionModule *module = nullptr;
  unsigned numKernels = 0;
};

/// Replaces the launches of a host program by calls of fusion_rt_launch_staged. Fails, with a diagnostic, on a launch that
/// is not as docs/rationale/gpu.md says.
mlir::LogicalResult lowerLaunches(mlir::ModuleOp module);

} // namespace fusion

#endif // FUSION_EXECUTION_RUNONDEVICE_H
