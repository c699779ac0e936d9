//===- Target.h - What the scheduler knows of a machine -------------------===//
//
// Limits and rates of the machines that kernels are scheduled for. Limits decide what is possible (SpaceFusion, EuroSys
// 2025, section 5.1: resource-aware slicing); rates rank what is possible. Descriptions are constant and may be
// shared between threads.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TARGET_TARGET_H
#define FUSION_TARGET_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fusion {

struct Target {
  enum class Kind { CPU, GPU };

  std::string name;
  Kind kind = Kind::CPU;

  /// Bytes that one block may hold on chip: shared memory of a GPU block, a core's share of the L2 cache on a CPU.
  int64_t blockBytes = 0;
  /// Bytes of registers for the tiles of a block (a GPU), or of the L1 data cache (a CPU).
  int64_t nearBytes = 0;
  /// Blocks that run at a time: streaming multiprocessors, or threads.
  int64_t units = 1;
  /// f32 elements in a vector register (a CPU), or 1.
  int64_t lanes = 1;
  /// f32 multiply-adds of one unit per second, times two.
  double flops = 0;
  /// Bytes per second: from memory for all units together, from the shared cache for one unit, from `blockBytes` for
  /// one unit.
  double memoryRate = 0, sharedRate = 0, blockRate = 0;
  /// Seconds to start a kernel, and a block.
  double launchSeconds = 0, blockSeconds = 0;
};

/// The description called `name`: `cpu` (this machine, all of its processors), a GPU product (`v100`, `a100`, `h100`,
/// `h200`, `b200`) or a chip of GpuChip.h (`sm_80`); on failure the error names what is accepted. `threads` overrides the number of units of a CPU where it is positive.
llvm::Expected<Target> getTarget(llvm::StringRef name, int64_t threads = 0);

} // namespace fusion

#endif // FUSION_TARGET_TARGET_H
