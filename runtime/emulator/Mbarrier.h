//===- Mbarrier.h - Barriers in shared memory ---------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_MBARRIER_H
#define FUSION_RUNTIME_EMULATOR_MBARRIER_H

#include "Block.h"

namespace fusion::emulator {

/// A bulk copy into shared memory that has not arrived. Parts of it are runs of bytes.
struct BulkTransfer {
  struct Run {
    uint32_t target;
    /// Null: zeros.
    const char *source;
    uint32_t bytes;
  };
  std::vector<Run> runs;
  uint32_t bytes = 0;
  Thread *thread = nullptr;
  const Site *site = nullptr;
  Snapshot seen;
  uint64_t phase = 0;
};

/// An mbarrier object. What it does when is decided by the block's scheduler: transfers arrive as late as possible, when
/// no thread can go on without them.
struct Mbarrier {
  unsigned slot = 0;
  uint64_t phase = 0;
  uint32_t expected = 0, pending = 0;
  int64_t transferBytes = 0;
  /// What comes before the arrivals of this phase, and before the completion of the phases until now.
  Snapshot arrived, completed;
  std::vector<Thread *> waiting;
  std::deque<BulkTransfer> transfers;

  /// Does the oldest transfer; false if there is none.
  bool deliver(Block &block);
  void arrive(Block &block, Thread &thread, uint32_t count);
  void addBytes(Block &block, int64_t bytes);

private:
  void completePhase(Block &block);
};

/// The mbarrier at an address; ends the kernel if there is none. The access counts as one of the thread.
Mbarrier &getMbarrier(Thread &thread, const Site &site, uint64_t address);

/// Does all copies of cp.async of the thread that are in flight.
void finishAllCopies(Thread &thread);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_MBARRIER_H
