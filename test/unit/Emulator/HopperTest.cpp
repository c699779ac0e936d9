//===- HopperTest.cpp - Tensor copies, mbarriers and wgmma ------------------===//
//
// One group of warps: a tensor copy brings A and B to shared memory, wgmma multiplies them, the accumulators go out by the
// lane map of the PTX ISA. Then the same kernel with one fault each.
//
//===------------------------------------------------------------------------===//

#include "fusion/Emulator/Emulator.h"
#include "fusion/Runtime/Emulator.h"
#include "fusion/Runtime/HalfFloat.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace {
/// What a kernel does wrong; nothing by default.
struct Faults {
  bool noWait = false;
  /// Added to the bytes that the mbarrier expects.
  int expected = 0;
  bool noWgmmaWait = false;
  bool overwritesOperand = false;
  bool overwritesAfterWait = false;
  bool noFence = false;
  bool writesPlainly = false, fencesProxy = false;
  bool noInitBarrier = false;
};

/// D = A * B, 64 x 64 x 64 of f16. A is [m][k]; B is [n][k], or [k][n] when it is transposed.
struct Problem {
  /// Bytes of the swizzle, and so of a row of the boxes.
  unsigned swizzle = 128;
  bool isTransposed = false;
  Faults faults;
};

std::string hex(uint64_t value) { return std::to_string(value); }

std::string makeKernel(const Problem &problem) {
  const Faults &faults = problem.faults;
  unsigned columns = problem.swizzle / 2, panels = 64 / columns;
  unsigned panelBytes = 64 * problem.swizzle;
  unsigned mode = problem.swizzle == 128 ? 1 : problem.swizzle == 64 ? 2 : 3;
  std::string text = R"(
@s = external addrspace(3) global [0 x i8], align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()
declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64)
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %ma, ptr byval([128 x i8]) align 64 %mb, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  %bar = getelementptr i8, ptr addrspace(3) @s, i32 16384
  br i1 %first, label %init, label %after_init
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %bar, i32 1)
  br label %after_init
after_init:
)";
  if (!faults.noInitBarrier)
    text += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  text += "  br i1 %first, label %copy, label %wait\ncopy:\n";
  text += "  %state = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %bar, i32 " +
          std::to_string(16384 + faults.expected) + ")\n";
  for (unsigned matrix = 0; matrix < 2; ++matrix)
    for (unsigned panel = 0; panel < panels; ++panel) {
      std::string id = std::to_string(matrix) + "." + std::to_string(panel);
      text += "  %d" + id + " = getelementptr i8, ptr addrspace(3) @s, i32 " +
              std::to_string(matrix * 8192 + panel * panelBytes) + "\n  %c" + id +
              " = addrspacecast ptr addrspace(3) %d" + id + " to ptr addrspace(7)\n";
      text += "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %c" + id +
              ", ptr addrspace(3) %bar, ptr " + (matrix ? "%mb" : "%ma") + ", i32 " + std::to_string(panel * columns) +
              ", i32 0, i16 0, i64 0, i1 false, i1 false, i32 0)\n";
    }
  text += "  br label %wait\nwait:\n";
  if (!faults.noWait)
    text += "  call void asm sideeffect \"{.reg .pred P1;\\0ALAB_WAIT:\\0Ambarrier.try_wait.parity.shared.b64 P1, [$0], $1, "
            "$2;\\0A@P1 bra.uni DONE;\\0Abra.uni LAB_WAIT;\\0ADONE:\\0A}\", \"r,n,n\"(ptr addrspace(3) %bar, i32 0, i32 "
            "100000)\n";
  if (faults.writesPlainly) {
    // Thread 0 writes a word of B again, as it is.
    text += "  %word = getelementptr i8, ptr addrspace(3) @s, i32 8192\n";
    text += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
    text += "  br i1 %first, label %plain, label %after_plain\nplain:\n";
    text += "  %old = load i32, ptr addrspace(3) %word\n  store i32 %old, ptr addrspace(3) %word\n";
    if (faults.fencesProxy)
      text += "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";
    text += "  br label %after_plain\nafter_plain:\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  }
  if (!faults.noFence)
    text += "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
  // Descriptors: address, leading and stride offsets in units of 16 bytes, swizzle mode.
  text += "  %base = ptrtoint ptr addrspace(3) @s to i64\n  %base16 = lshr i64 %base, 4\n";
  std::string type = "{ ", outputs, ties, list;
  for (unsigned i = 0; i < 32; ++i) {
    type += std::string(i ? ", " : "") + "float";
    outputs += "=f,";
    ties += std::to_string(i) + ",";
    list += (i ? ", $" : "$") + std::to_string(i);
  }
  type += " }";
  std::string previous;
  for (unsigned step = 0; step < 4; ++step) {
    std::string id = std::to_string(step);
    unsigned k = step * 16, panel = k / columns;
    uint64_t layout = uint64_t(8 * problem.swizzle / 16) << 32 | uint64_t(mode) << 62;
    unsigned inA = panel * panelBytes + k % columns * 2;
    // Transposed, rows of B are along n: panels are along n, and k goes down.
    unsigned inB = 8192 + (problem.isTransposed ? k * problem.swizzle : panel * panelBytes + k % columns * 2);
    uint64_t leading = uint64_t(panelBytes / 16) << 16;
    text += "  %a" + id + " = add i64 %base16, " + hex((inA >> 4) | layout) + "\n";
    text += "  %b" + id + " = add i64 %base16, " + hex((inB >> 4) | layout | (problem.isTransposed ? leading : 0)) + "\n";
    std::string arguments;
    for (unsigned i = 0; i < 32; ++i) {
      std::string accumulator = "0.0";
      if (step > 0) {
        accumulator = "%e" + id + "." + std::to_string(i);
        text += "  " + accumulator + " = extractvalue " + type + " " + previous + ", " + std::to_string(i) + "\n";
      }
      arguments += "float " + accumulator + ", ";
    }
    text += "  %r" + id + " = call " + type + " asm sideeffect \"{\\0A.reg .pred p;\\0Asetp.ne.b32 p, $66, 0;\\0A" +
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" + list + "}, $64, $65, p, $67, $68, $69, $70;\\0A}\\0A\", \"" +
            outputs + ties + "l,l,n,n,n,n,n\"(" + arguments + "i64 %a" + id + ", i64 %b" + id + ", i32 " +
            (step ? "1" : "0") + ", i32 1, i32 1, i32 0, i32 " + (problem.isTransposed ? "1" : "0") + ")\n";
    previous = "%r" + id;
  }
  text += "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n";
  std::string overwrite = "  %target = getelementptr i8, ptr addrspace(3) @s, i32 0\n"
                          "  br i1 %first, label %over, label %after_over\nover:\n"
                          "  store i32 0, ptr addrspace(3) %target\n  br label %after_over\nafter_over:\n";
  if (faults.overwritesOperand)
    text += overwrite;
  if (!faults.noWgmmaWait)
    text += "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n";
  if (faults.overwritesAfterWait)
    text += overwrite;
  // PTX ISA: d[i] is row 16 * warp + lane / 4 + 8 * (i / 2 mod 2), column 8 * (i / 4) + 2 * (lane mod 4) + i mod 2.
  text += R"(  %warp = lshr i32 %t, 5
  %lane = and i32 %t, 31
  %group = lshr i32 %lane, 2
  %member = and i32 %lane, 3
  %row0 = mul i32 %warp, 16
  %row = add i32 %row0, %group
  %rowwords = mul i32 %row, 64
  %column = mul i32 %member, 2
  %where = add i32 %rowwords, %column
)";
  for (unsigned i = 0; i < 32; ++i) {
    std::string id = std::to_string(i);
    text += "  %f" + id + " = extractvalue " + type + " " + previous + ", " + id + "\n  %w" + id + " = add i32 %where, " +
            std::to_string(i / 2 % 2 * 8 * 64 + i / 4 * 8 + i % 2) + "\n  %p" + id +
            " = getelementptr float, ptr addrspace(1) %out, i32 %w" + id + "\n  store float %f" + id +
            ", ptr addrspace(1) %p" + id + "\n";
  }
  return text + "  ret void\n}\n";
}

class Hopper : public ::testing::Test {
protected:
  void SetUp() override {
    fusion::registerEmulatorCompiler();
    ASSERT_EQ(fusion_rt_device_open("emulator:sm_90a", &device), FUSION_OK);
  }
  void TearDown() override { fusion_rt_device_close(device); }

  /// Runs the problem on small integers; `d` is checked if the run succeeds. The text of the failure is returned.
  std::string run(const Problem &problem) {
    std::vector<uint16_t> a(64 * 64), b(64 * 64);
    std::vector<float> d(64 * 64);
    auto valueA = [](unsigned m, unsigned k) { return int((m * 7 + k * 3) % 11) - 5; };
    auto valueB = [](unsigned n, unsigned k) { return int((n * 5 + k * 13) % 9) - 4; };
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned k = 0; k < 64; ++k) {
        a[i * 64 + k] = fusion_rt_double_to_half(valueA(i, k));
        b[problem.isTransposed ? k * 64 + i : i * 64 + k] = fusion_rt_double_to_half(valueB(i, k));
      }
    FusionModule *module = nullptr;
    FusionKernel *kernel = nullptr;
    std::string text = makeKernel(problem);
    if (fusion_rt_module_load(device, text.data(), text.size(), &module) != FUSION_OK ||
        fusion_rt_module_kernel(device, module, "k", &kernel) != FUSION_OK)
      return fusion_rt_last_error();
    void *addresses[3] = {};
    for (void *&address : addresses)
      EXPECT_EQ(fusion_rt_device_alloc(device, 64 * 64 * 4, &address), FUSION_OK);
    EXPECT_EQ(fusion_rt_copy_to_device(device, addresses[0], a.data(), 8192, nullptr), FUSION_OK);
    EXPECT_EQ(fusion_rt_copy_to_device(device, addresses[1], b.data(), 8192, nullptr), FUSION_OK);
    struct alignas(64) Encoded {
      char bytes[128];
    } maps[2];
    for (unsigned i = 0; i < 2; ++i) {
      FusionTensorMap map = {2, 2, addresses[i], {64, 64}, {2, 128}, {problem.swizzle / 2, 64}, 0};
      map.swizzle = problem.swizzle == 128 ? FUSION_SWIZZLE_128 : problem.swizzle == 64 ? FUSION_SWIZZLE_64 : FUSION_SWIZZLE_32;
      EXPECT_EQ(fusion_rt_tensor_map_encode(device, &map, &maps[i]), FUSION_OK) << fusion_rt_last_error();
    }
    void *arguments[] = {&maps[0], &maps[1], &addresses[2]};
    FusionLaunch launch = {{1, 1, 1}, {128, 1, 1}, 16384 + 8};
    if (fusion_rt_kernel_launch(device, kernel, &launch, arguments, nullptr) != FUSION_OK)
      return fusion_rt_last_error();
    EXPECT_EQ(fusion_rt_copy_to_host(device, d.data(), addresses[2], d.size() * 4, nullptr), FUSION_OK);
    for (unsigned m = 0; m < 64; ++m)
      for (unsigned n = 0; n < 64; ++n) {
        int want = 0;
        for (unsigned k = 0; k < 64; ++k)
          want += valueA(m, k) * valueB(n, k);
        EXPECT_EQ(d[m * 64 + n], float(want)) << m << ", " << n;
        if (d[m * 64 + n] != float(want))
          return "wrong result";
      }
    return "";
  }

  void expectFault(Faults faults, const char *want) {
    Problem problem;
    problem.faults = faults;
    std::string text = run(problem);
    EXPECT_NE(text.find(want), std::string::npos) << text;
  }

  FusionDevice *device = nullptr;
};
} // namespace

TEST_F(Hopper, Swizzle128) { EXPECT_EQ(run({}), ""); }
TEST_F(Hopper, Swizzle64) { EXPECT_EQ(run({64, false, {}}), ""); }
TEST_F(Hopper, Swizzle32) { EXPECT_EQ(run({32, false, {}}), ""); }
TEST_F(Hopper, TransposedB) { EXPECT_EQ(run({128, true, {}}), ""); }

TEST_F(Hopper, Counters) {
  ASSERT_EQ(run({}), "");
  FusionEmulatorCounters counters;
  ASSERT_EQ(fusion_rt_emulator_counters(device, "k", &counters), FUSION_OK);
  EXPECT_EQ(counters.wgmma, 4u);
  EXPECT_EQ(counters.multiply_adds, 64u * 64 * 64);
  EXPECT_EQ(counters.load_bytes, 2u * 64 * 64 * 2);
  EXPECT_EQ(counters.async_copies, 2u);
}

TEST_F(Hopper, NoWaitForTheCopy) {
  Faults faults;
  faults.noWait = true;
  expectFault(faults, "where an asynchronous copy of an asynchronous copy may still write");
}

TEST_F(Hopper, TooManyBytesExpected) {
  Faults faults;
  faults.expected = 16;
  expectFault(faults, "deadlock");
}

TEST_F(Hopper, TooFewBytesExpected) {
  Faults faults;
  faults.expected = -8192;
  expectFault(faults, "asynchronous copy not waited for");
}

TEST_F(Hopper, OperandOverwrittenBeforeTheWait) {
  Faults faults;
  faults.overwritesOperand = true;
  expectFault(faults, "which an asynchronous operation of an asynchronous copy may still read");
  faults = {};
  faults.overwritesAfterWait = true;
  Problem problem;
  problem.faults = faults;
  EXPECT_EQ(run(problem), "");
}

TEST_F(Hopper, AccumulatorsReadBeforeTheWait) {
  Faults faults;
  faults.noWgmmaWait = true;
  expectFault(faults, "reads accumulators of a wgmma that has not been waited for");
}

TEST_F(Hopper, NoFenceBeforeTheFirstProduct) {
  Faults faults;
  faults.noFence = true;
  expectFault(faults, "comes before any wgmma.fence");
}

TEST_F(Hopper, PlainWriteWithoutProxyFence) {
  Faults faults;
  faults.writesPlainly = true;
  expectFault(faults, "has written without fence.proxy.async");
  faults.fencesProxy = true;
  Problem problem;
  problem.faults = faults;
  EXPECT_EQ(run(problem), "");
}

TEST_F(Hopper, MbarrierUsedBeforeItsInitialisationIsOrdered) {
  Faults faults;
  faults.noInitBarrier = true;
  std::string text;
  Problem problem;
  problem.faults = faults;
  text = run(problem);
  EXPECT_TRUE(text.find("race in shared memory") != std::string::npos ||
              text.find("has not been initialised") != std::string::npos)
      << text;
}

TEST(TensorMap, Refusals) {
  FusionDevice *device = nullptr;
  ASSERT_EQ(fusion_rt_device_open("emulator:sm_90a", &device), FUSION_OK);
  alignas(64) char encoded[128];
  FusionTensorMap good = {2, 2, reinterpret_cast<void *>(0x1000), {64, 64}, {2, 128}, {64, 64}, FUSION_SWIZZLE_128};
  auto refuse = [&](const FusionTensorMap &map, const char *want) {
    EXPECT_EQ(fusion_rt_tensor_map_encode(device, &map, encoded), FUSION_INVALID_ARGUMENT);
    EXPECT_NE(std::string(fusion_rt_last_error()).find(want), std::string::npos) << fusion_rt_last_error();
  };
  EXPECT_EQ(fusion_rt_tensor_map_encode(device, &good, encoded), FUSION_OK);
  FusionTensorMap map = good;
  map.rank = 6;
  refuse(map, "the rank must be 1 to 5");
  map = good;
  map.strides[1] = 130;
  refuse(map, "strides must be multiples of 16 bytes");
  map = good;
  map.box[0] = 128;
  refuse(map, "not be longer than the span of the swizzle");
  map = good;
  map.box[0] = 4;
  refuse(map, "rows of the box must be multiples of 16 bytes");
  map = good;
  map.address = reinterpret_cast<void *>(0x1008);
  refuse(map, "aligned to 16 bytes");
  map = good;
  map.box[1] = 257;
  refuse(map, "extents of the box must be 1 to 256");
  fusion_rt_device_close(device);
}
