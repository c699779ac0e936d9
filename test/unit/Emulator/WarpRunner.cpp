//===- WarpRunner.cpp - Runs one operation in one warp ----------------------===//

#include "WarpRunner.h"

#include "fusion/Emulator/Emulator.h"
#include "fusion/Runtime/Device.h"

#include "gtest/gtest.h"

using namespace fusion::test;

LaneValues fusion::test::runKernel(const std::string &assembly, const LaneValues &operands, size_t numResults,
                                   const std::string &chip) {
  LaneValues results;
  for (auto &lane : results)
    lane.assign(numResults, 0);
  std::vector<uint64_t> in, out(32 * std::max<size_t>(numResults, 1));
  for (const auto &lane : operands)
    in.insert(in.end(), lane.begin(), lane.end());
  in.resize(std::max<size_t>(in.size(), 1));

  fusion::registerEmulatorCompiler();
  FusionDevice *device = nullptr;
  FusionModule *module = nullptr;
  FusionKernel *kernel = nullptr;
  void *source = nullptr, *target = nullptr;
  FusionLaunch launch = {{1, 1, 1}, {32, 1, 1}, 16384};
  void *arguments[] = {&source, &target};
  bool isGood =
      fusion_rt_device_open(("emulator:" + chip).c_str(), &device) == FUSION_OK &&
      fusion_rt_module_load(device, assembly.data(), assembly.size(), &module) == FUSION_OK &&
      fusion_rt_module_kernel(device, module, "k", &kernel) == FUSION_OK &&
      fusion_rt_device_alloc(device, in.size() * 8, &source) == FUSION_OK &&
      fusion_rt_device_alloc(device, out.size() * 8, &target) == FUSION_OK &&
      fusion_rt_copy_to_device(device, source, in.data(), in.size() * 8, nullptr) == FUSION_OK &&
      fusion_rt_copy_to_device(device, target, out.data(), out.size() * 8, nullptr) == FUSION_OK &&
      fusion_rt_kernel_launch(device, kernel, &launch, arguments, nullptr) == FUSION_OK &&
      fusion_rt_copy_to_host(device, out.data(), target, out.size() * 8, nullptr) == FUSION_OK;
  EXPECT_TRUE(isGood) << fusion_rt_last_error() << "\n" << assembly;
  fusion_rt_device_close(device);
  for (size_t lane = 0; isGood && lane < 32; ++lane)
    results[lane].assign(out.begin() + lane * numResults, out.begin() + (lane + 1) * numResults);
  return results;
}

LaneValues fusion::test::runIntrinsic(const std::string &name, const std::vector<std::string> &operandTypes,
                                      const std::vector<std::string> &resultTypes, const LaneValues &operands,
                                      const std::string &chip) {
  size_t stride = operands[0].size();
  std::string body, arguments, types, result;
  size_t slot = 0;
  for (size_t i = 0; i < operandTypes.size(); ++i) {
    std::string type = operandTypes[i], value;
    if (type[0] == '=') {
      value = type.substr(1);
      type = value.substr(0, value.rfind(' '));
    } else {
      std::string number = std::to_string(i);
      body += "  %pi" + number + " = getelementptr i64, ptr addrspace(1) %in.lane, i64 " + std::to_string(slot++) + "\n";
      body += "  %v" + number + " = load " + type + ", ptr addrspace(1) %pi" + number + "\n";
      value = type + " %v" + number;
    }
    arguments += (i ? ", " : "") + value;
    types += (i ? ", " : "") + type;
  }
  for (size_t i = 0; i < resultTypes.size(); ++i)
    result += (i ? ", " : "") + resultTypes[i];
  bool isStruct = resultTypes.size() > 1;
  if (isStruct)
    result = "{ " + result + " }";
  body += "  %r = call " + result + " @" + name + "(" + arguments + ")\n";
  for (size_t i = 0; i < resultTypes.size(); ++i) {
    std::string number = std::to_string(i), value = "%r";
    if (isStruct) {
      body += "  %e" + number + " = extractvalue " + result + " %r, " + number + "\n";
      value = "%e" + number;
    }
    body += "  %po" + number + " = getelementptr i64, ptr addrspace(1) %out.lane, i64 " + number + "\n";
    body += "  store " + resultTypes[i] + " " + value + ", ptr addrspace(1) %po" + number + "\n";
  }
  std::string assembly = "define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
                         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                         "  %lane = zext i32 %t to i64\n"
                         "  %i = mul i64 %lane, " +
                         std::to_string(stride) + "\n  %o = mul i64 %lane, " + std::to_string(resultTypes.size()) +
                         "\n  %in.lane = getelementptr i64, ptr addrspace(1) %in, i64 %i\n"
                         "  %out.lane = getelementptr i64, ptr addrspace(1) %out, i64 %o\n" +
                         body + "  ret void\n}\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare " + result + " @" +
                         name + "(" + types + ")\n";
  return runKernel(assembly, operands, resultTypes.size(), chip);
}
