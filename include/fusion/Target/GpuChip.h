//===- GpuChip.h - NVIDIA chips that code is made for ---------------------===//
//
// Limits and features of the chips that the GPU stage compiles for. They decide which instructions may be used and how
// much of each resource a block may take; the rates that rank schedules are in Target.h. Descriptions are constant and
// may be shared between threads.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TARGET_GPUCHIP_H
#define FUSION_TARGET_GPUCHIP_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

namespace fusion {

struct GpuChip {
  /// What ptxas calls it, `sm_80`. Code for a name with an `a` runs on that very chip only.
  llvm::StringRef name;
  /// 10 * major + minor of the compute capability.
  int computeCapability = 0;
  /// The PTX version that is emitted, 10 * major + minor: the oldest one that has all features in use.
  int ptxVersion = 0;

  /// Bytes of shared memory: what one block may ask for (opt-in), and what a multiprocessor has.
  int64_t sharedPerBlock = 0, sharedPerUnit = 0;
  /// Multiprocessors of the common product of the chip.
  int64_t units = 0;
  /// Threads that a multiprocessor holds.
  int64_t threadsPerUnit = 0;
  /// Products of all units together per second times two, f16 on tensor cores; bytes per second from memory.
  double flops = 0, memoryRate = 0;

  /// Whether there is ...
  bool hasAsyncCopy = false;    ///< cp.async, global to shared memory
  bool hasMma16816 = false;     ///< mma.sync m16n8k16 of f16 and bf16, and ldmatrix
  bool hasBf16Maths = false;    ///< bf16 add and mul, not only fma and conversions
  bool hasFloat8Mma = false;    ///< mma.sync of e4m3 and e5m2
  bool hasWarpgroupMma = false; ///< wgmma
  bool hasBulkCopy = false;     ///< TMA and transaction barriers
};

/// 32-bit registers of a multiprocessor, and threads of a block at most: the same on all of these chips.
inline constexpr int64_t gpuRegistersPerUnit = 64 << 10;
inline constexpr int64_t gpuRegistersPerThread = 255;
inline constexpr int64_t gpuThreadsPerBlock = 1024;
inline constexpr int64_t gpuWarpSize = 32;

/// All chips, oldest first.
llvm::ArrayRef<GpuChip> getGpuChips();

/// The chip called `name`: `sm_80`, or that of a product, `a100`. On failure the error names what is accepted.
llvm::Expected<GpuChip> getGpuChip(llvm::StringRef name);

} // namespace fusion

#endif // FUSION_TARGET_GPUCHIP_H
