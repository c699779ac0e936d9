//===- WarpGroup.h - wgmma ----------------------------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_WARPGROUP_H
#define FUSION_RUNTIME_EMULATOR_WARPGROUP_H

#include "Block.h"

namespace fusion::emulator {

constexpr unsigned warpGroupSize = 128;

/// Four warps that execute wgmma together, and their operations in flight.
struct WarpGroup {
  unsigned index = 0;
  std::vector<Thread *> waiting;
  bool hasFence = false;
  uint32_t clock = 0;
  std::vector<PendingRead> openReads;
  std::deque<std::vector<PendingRead>> readGroups;
};

/// Reads of shared memory by an asynchronous operation see plain writes only after fence.proxy.async.
void checkProxyFence(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_WARPGROUP_H
