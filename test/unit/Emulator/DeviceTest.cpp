//===- DeviceTest.cpp - The device interface over the emulated device -------===//

#include "fusion/Emulator/Emulator.h"
#include "fusion/Runtime/Emulator.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace {
const char *const addOne = R"(
define ptx_kernel void @add_one(ptr addrspace(1) %x, i64 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %b, 32
  %number = add i32 %first, %t
  %i = zext i32 %number to i64
  %in = icmp slt i64 %i, %n
  br i1 %in, label %work, label %exit
work:
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %v = load i32, ptr addrspace(1) %p
  %w = add i32 %v, 1
  store i32 %w, ptr addrspace(1) %p
  br label %exit
exit:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
)";

class Device : public ::testing::Test {
protected:
  void SetUp() override {
    fusion::registerEmulatorCompiler();
    ASSERT_EQ(fusion_rt_device_open("emulator:sm_80", &device), FUSION_OK) << fusion_rt_last_error();
    ASSERT_EQ(fusion_rt_module_load(device, addOne, std::char_traits<char>::length(addOne), &module), FUSION_OK)
        << fusion_rt_last_error();
    ASSERT_EQ(fusion_rt_module_kernel(device, module, "add_one", &kernel), FUSION_OK);
  }
  void TearDown() override { fusion_rt_device_close(device); }
  std::string lastError() { return fusion_rt_last_error(); }

  FusionDevice *device = nullptr;
  FusionModule *module = nullptr;
  FusionKernel *kernel = nullptr;
};
} // namespace

TEST_F(Device, RunsAndCounts) {
  std::vector<int32_t> data(50, 7);
  void *address = nullptr;
  int64_t n = 50;
  ASSERT_EQ(fusion_rt_device_alloc(device, 200, &address), FUSION_OK);
  ASSERT_EQ(fusion_rt_copy_to_device(device, address, data.data(), 200, nullptr), FUSION_OK);
  void *arguments[] = {&address, &n};
  // By name, as compiled host programs do.
  EXPECT_EQ(fusion_rt_launch("add_one", 2, 32, 0, arguments, 2), FUSION_NO_DEVICE);
  ASSERT_EQ(fusion_rt_set_module(device, module), FUSION_OK);
  ASSERT_EQ(fusion_rt_launch("add_one", 2, 32, 0, arguments, 2), FUSION_OK) << lastError();
  EXPECT_EQ(fusion_rt_launch("add_one", 0, 32, 0, arguments, 2), FUSION_OK);
  ASSERT_EQ(fusion_rt_copy_to_host(device, data.data(), address, 200, nullptr), FUSION_OK);
  EXPECT_EQ(data, std::vector<int32_t>(50, 8));
  FusionEmulatorCounters counters;
  ASSERT_EQ(fusion_rt_emulator_counters(device, "add_one", &counters), FUSION_OK);
  EXPECT_EQ(counters.load_bytes, 200u);
  EXPECT_EQ(counters.store_bytes, 200u);
  EXPECT_EQ(counters.global_accesses, 100u);
  EXPECT_EQ(fusion_rt_device_free(device, address), FUSION_OK);
}

TEST_F(Device, FaultsAreErrorsWithText) {
  void *address = nullptr;
  int64_t n = 64;
  ASSERT_EQ(fusion_rt_device_alloc(device, 200, &address), FUSION_OK);
  std::vector<int32_t> data(50);
  ASSERT_EQ(fusion_rt_copy_to_device(device, address, data.data(), 200, nullptr), FUSION_OK);
  void *arguments[] = {&address, &n};
  FusionLaunch launch = {{2, 1, 1}, {32, 1, 1}, 0};
  EXPECT_EQ(fusion_rt_kernel_launch(device, kernel, &launch, arguments, nullptr), FUSION_KERNEL_FAULTY);
  EXPECT_NE(lastError().find("kernel 'add_one': out of bounds"), std::string::npos) << lastError();
  // The device works on.
  n = 50;
  EXPECT_EQ(fusion_rt_kernel_launch(device, kernel, &launch, arguments, nullptr), FUSION_OK) << lastError();
  // What was freed is no buffer any more.
  ASSERT_EQ(fusion_rt_device_free(device, address), FUSION_OK);
  EXPECT_EQ(fusion_rt_kernel_launch(device, kernel, &launch, arguments, nullptr), FUSION_KERNEL_FAULTY);
  EXPECT_NE(lastError().find("memory that was freed"), std::string::npos) << lastError();
}

TEST_F(Device, WrongUses) {
  FusionDevice *other = nullptr;
  EXPECT_EQ(fusion_rt_device_open("gpu", &other), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "there is no device 'gpu'; cuda, cuda:N and emulator:CHIP are accepted");
  EXPECT_EQ(fusion_rt_device_open("emulator:sm_1", &other), FUSION_INVALID_ARGUMENT);
  FusionKernel *none = nullptr;
  EXPECT_EQ(fusion_rt_module_kernel(device, module, "nothing", &none), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "there is no kernel 'nothing' in the module; there are: add_one");
  char host[8];
  void *address = nullptr;
  ASSERT_EQ(fusion_rt_device_alloc(device, 4, &address), FUSION_OK);
  EXPECT_EQ(fusion_rt_copy_to_host(device, host, address, 8, nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(fusion_rt_device_free(device, static_cast<char *>(address) + 1), FUSION_INVALID_ARGUMENT);
  FusionModule *broken = nullptr;
  EXPECT_EQ(fusion_rt_module_load(device, "nonsense", 8, &broken), FUSION_INVALID_ARGUMENT);
  EXPECT_NE(lastError().find("the device module is no LLVM IR"), std::string::npos);
}

TEST(CudaDevice, NoDriverIsOneLine) {
  int32_t count = -1;
  ASSERT_EQ(fusion_rt_cuda_device_count(&count), FUSION_OK);
  if (count > 0)
    GTEST_SKIP() << "there is a CUDA device";
  FusionDevice *device = nullptr;
  EXPECT_EQ(fusion_rt_device_open("cuda", &device), FUSION_NO_DEVICE);
  std::string text = fusion_rt_last_error();
  EXPECT_NE(text.find("CUDA driver"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}
