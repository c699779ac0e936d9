//===- RunOnDevice.cpp - Compile a program for a GPU and run it -------------===//

#include "fusion/Execution/RunOnDevice.h"

#include "fusion/Emulator/Emulator.h"
#include "fusion/Target/GpuChip.h"
#include "fusion/Target/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace fusion {

static llvm::Error makeError(const char *what) {
  return llvm::createStringError(std::string(what) + ": " + fusion_rt_last_error());
}

/// The device code of a program, as the device loads it; empty if it has no kernels.
static llvm::Expected<std::string> makeImage(ModuleOp module, const GpuChip &chip, bool isEmulated) {
  SmallVector<gpu::GPUModuleOp> modules(module.getOps<gpu::GPUModuleOp>());
  if (modules.empty())
    return "";
  if (modules.size() > 1)
    return llvm::createStringError("the program has several device modules; one is accepted");
  if (isEmulated)
    return translateDeviceModule(modules.front());
  PtxOptions options;
  options.toolkit = CudaToolkit::find();
  return translateToPtx(modules.front(), chip, options);
}

DeviceProgram::~DeviceProgram() {
  host.reset();
  fusion_rt_device_close(device);
}

llvm::Expected<std::unique_ptr<DeviceProgram>> DeviceProgram::create(ModuleOp module,
                                                                     const DeviceCompileOptions &options) {
  std::unique_ptr<DeviceProgram> program(new DeviceProgram);
  bool isEmulated = options.device == "emulator";
  std::string chipName = options.chip;
  if (isEmulated)
    registerEmulatorCompiler();
  // A device that is not there is told before anything is compiled.
  std::string name = isEmulated ? "emulator:" + chipName : options.device;
  if (fusion_rt_device_open(name.c_str(), &program->device) != FUSION_OK)
    return llvm::createStringError(fusion_rt_last_error());
  if (chipName.empty()) {
    FusionDeviceInfo info;
    if (fusion_rt_device_info(program->device, &info) != FUSION_OK)
      return makeError("the device does not say what it is");
    chipName = info.chip;
  }
  llvm::Expected<GpuChip> chip = getGpuChip(chipName);
  if (!chip)
    return chip.takeError();

  GpuPipelineOptions gpuOptions;
  gpuOptions.chip = chipName;
  gpuOptions.narrowF64 = options.narrowF64;
  MLIRContext *context = module.getContext();
  PassManager front(context);
  buildGpuToTilesPipeline(front, gpuOptions);
  if (failed(front.run(module)))
    return llvm::createStringError("the program could not be fused");
  if (options.onTiles)
    options.onTiles(module);
  PassManager device(context);
  buildGpuCodegenPipeline(device, gpuOptions);
  if (failed(device.run(module)))
    return llvm::createStringError("the program could not be compiled for " + chipName);

  llvm::Expected<std::string> image = makeImage(module, *chip, isEmulated);
  if (!image)
    return image.takeError();
  if (failed(lowerLaunches(module)))
    return llvm::createStringError("the launches of kernels could not be lowered");
  for (gpu::GPUModuleOp kernels : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
      program->numKernels += function->hasAttr("nvvm.kernel");
    kernels.erase();
  }
  module->removeAttr("gpu.container_module");

  CpuPipelineOptions hostOptions;
  hostOptions.target = options.host.target;
  PassManager back(context);
  buildCpuCodegenPipeline(back, hostOptions);
  if (failed(back.run(module)))
    return llvm::createStringError("the host program could not be compiled");
  auto host = JitModule::create(module, options.host);
  if (!host)
    return host.takeError();
  program->host = std::move(*host);
  if (!image->empty() &&
      fusion_rt_module_load(program->device, image->data(), image->size(), &program->module) != FUSION_OK)
    return llvm::createStringError(fusion_rt_last_error());
  return program;
}

llvm::Error DeviceProgram::run(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                               llvm::SmallVectorImpl<HostArray> &outputs) {
  fusion_rt_set_module(device, module);
  llvm::Error error = host->run(entry, inputs, outputs);
  fusion_rt_set_module(nullptr, nullptr);
  return error;
}

} // namespace fusion
