//===- OnDevice.cpp - Runs a program with its kernels on a GPU --------------===//

#include "OnDevice.h"

#include "fusion/Runtime/Emulator.h"

#include <chrono>
#include <cstring>

namespace fusion {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The memory of results belongs to the compiled program; copies outlive it.
static llvm::Error copyResults(llvm::ArrayRef<HostArray> outputs, std::vector<HostArray> &results) {
  results.clear();
  for (const HostArray &output : outputs) {
    llvm::Expected<HostArray> copy = HostArray::createUninitialized(output.getKind(), output.getShape());
    if (!copy)
      return copy.takeError();
    std::memcpy(copy->getMutableData(), output.getData(), output.getSizeInBytes());
    results.push_back(std::move(*copy));
  }
  return llvm::Error::success();
}

llvm::Error runOnDevice(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                        DeviceCompileOptions options, unsigned repeat, Summary &summary,
                        std::vector<HostArray> &results) {
  options.onTiles = [&](mlir::ModuleOp tiles) { summary.fusion = findFusion(tiles, entry); };
  double start = now();
  auto program = DeviceProgram::create(module, options);
  if (!program)
    return program.takeError();
  summary.compileSeconds = summary.scheduleSeconds + now() - start;
  bool isEmulated = options.device == "emulator";
  for (unsigned i = 0; i < repeat; ++i) {
    llvm::SmallVector<HostArray> outputs;
    if (isEmulated)
      fusion_rt_emulator_reset((*program)->getDevice());
    start = now();
    if (llvm::Error error = (*program)->run(entry, inputs, outputs))
      return error;
    summary.runSeconds.push_back(now() - start);
    if (llvm::Error error = copyResults(outputs, results))
      return error;
  }
  const char *launches = nullptr;
  if (isEmulated && fusion_rt_emulator_report((*program)->getDevice(), &launches) == FUSION_OK)
    summary.launches = launches;
  return llvm::Error::success();
}

} // namespace fusion
