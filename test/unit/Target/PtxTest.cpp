//===- PtxTest.cpp - NVIDIA's tools, present and missing ------------------===//

#include "fusion/Target/Ptx.h"

#include "gtest/gtest.h"

using namespace fusion;

namespace {

GpuChip getChip(llvm::StringRef name) { return llvm::cantFail(getGpuChip(name)); }

constexpr llvm::StringLiteral kernel = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %r; ld.param.u64 %r, [p]; st.global.u32 [%r], 1; ret; }
)";

bool hasToolkit() {
  llvm::Expected<std::string> tool = CudaToolkit::find().getTool("ptxas");
  if (tool)
    return true;
  llvm::consumeError(tool.takeError());
  return false;
}

} // namespace

TEST(Ptx, AMissingToolIsOneLineWithTheRemedy) {
  llvm::Expected<std::string> cubin = assemblePtx(kernel, getChip("sm_80"), {"/nowhere"});
  ASSERT_FALSE(bool(cubin));
  EXPECT_EQ(llvm::toString(cubin.takeError()),
            "no ptxas in /nowhere/bin: install the CUDA toolkit, or name its folder by --cuda-path or CUDA_PATH");
  llvm::Expected<std::string> device = CudaToolkit{"/nowhere"}.getLibDevice();
  ASSERT_FALSE(bool(device));
  EXPECT_NE(llvm::toString(device.takeError()).find("no /nowhere/nvvm/libdevice/libdevice.10.bc"), std::string::npos);
}

TEST(Ptx, AssemblesWithAReport) {
  if (!hasToolkit())
    GTEST_SKIP() << "no CUDA toolkit";
  std::vector<PtxasReport> report;
  llvm::Expected<std::string> cubin = assemblePtx(kernel, getChip("sm_80"), CudaToolkit::find(), &report);
  ASSERT_TRUE(bool(cubin)) << llvm::toString(cubin.takeError());
  EXPECT_EQ(llvm::StringRef(*cubin).take_front(4), "\x7f"
                                                   "ELF");
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].kernel, "k");
  EXPECT_GT(report[0].registers, 0);
  EXPECT_EQ(report[0].spillStores, 0);
  EXPECT_EQ(llvm::cantFail(assemblePtx(kernel, getChip("sm_80"), CudaToolkit::find())), *cubin);
}

TEST(Ptx, AFaultyKernelIsOneLine) {
  if (!hasToolkit())
    GTEST_SKIP() << "no CUDA toolkit";
  llvm::Expected<std::string> cubin =
      assemblePtx(".version 7.0\n.target sm_80\nnonsense\n", getChip("sm_80"), CudaToolkit::find());
  ASSERT_FALSE(bool(cubin));
  std::string text = llvm::toString(cubin.takeError());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("error"), std::string::npos);
}

TEST(Ptx, FatBinaryOfTwoChips) {
  if (!hasToolkit())
    GTEST_SKIP() << "no CUDA toolkit";
  std::vector<CudaImage> images;
  for (const char *name : {"sm_80", "sm_90"})
    images.push_back({getChip(name), llvm::cantFail(assemblePtx(kernel, getChip(name), CudaToolkit::find())), ""});
  images.back().ptx = kernel.str();
  llvm::Expected<std::string> binary = makeFatBinary(images, CudaToolkit::find());
  ASSERT_TRUE(bool(binary)) << llvm::toString(binary.takeError());
  EXPECT_GT(binary->size(), images[0].cubin.size());
  EXPECT_EQ(llvm::cantFail(makeFatBinary(images, CudaToolkit::find())), *binary);
}
