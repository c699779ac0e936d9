//===- Block.h - A block of threads in execution ------------------*- C++ -*-===//
//
// Threads are fibers and take turns: a thread runs until it waits for others. Which events are ordered is kept in vector
// clocks. Each thread counts its own epochs and holds a snapshot of the epochs of all agents that it comes after. Agents
// are the threads and, behind them, the mbarriers of the block (their epochs are phases: what a bulk copy has written) and
// the groups of four warps (their epochs are wgmma operations: what these have read).
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EMULATOR_BLOCK_H
#define FUSION_RUNTIME_EMULATOR_BLOCK_H

#include "Fiber.h"
#include "Launch.h"
#include "SharedMemory.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace fusion::emulator {

class Block;
struct Thread;

using Snapshot = std::shared_ptr<const std::vector<uint32_t>>;

constexpr unsigned warpSize = 32;
constexpr uint32_t fullMask = ~0u;
constexpr unsigned maxThreads = 1024;
/// Mbarriers that a block may have alive at once.
constexpr unsigned maxMbarriers = 64;
constexpr unsigned maxWarpGroups = maxThreads / 128;
constexpr unsigned numBarriers = 16;

/// A copy of cp.async that has not been waited for.
struct AsyncCopy {
  uint32_t target;
  const char *source;
  uint32_t bytes, sourceBytes;
  const Site *site;
  uint32_t clock;
};

/// Bytes of shared memory that an asynchronous operation may still read.
struct PendingRead {
  uint32_t offset, bytes, clock;
  const Site *site;
};

/// A local variable.
struct LocalVariable {
  char *data;
  uint64_t bytes;
  std::vector<uint8_t> initialised;
};

struct Thread {
  /// First: compiled code reads it.
  ThreadHeader header = {};
  Block *block = nullptr;
  unsigned index = 0;
  Fiber fiber;
  enum class State { Ready, Waiting, Done } state = State::Ready;

  // While it waits, or takes part in a collective operation.
  const Site *site = nullptr;
  const void *in = nullptr;
  void *out = nullptr;
  uint32_t mask = 0;
  int barrier = -1;

  // Order of events.
  uint32_t clock = 1;
  Snapshot seen;

  // Asynchronous copies: those since the last commit, and the committed groups, oldest first.
  std::vector<AsyncCopy> openCopies;
  std::deque<std::vector<AsyncCopy>> copyGroups;
  /// Bulk stores (TMA) alike; what they read is pending.
  std::vector<PendingRead> openReads;
  std::deque<std::vector<PendingRead>> readGroups;

  std::vector<LocalVariable> locals;
  std::vector<uint64_t> loopTrips;

  /// Order of proxies: own writes up to this epoch, and what was seen at the last fence, are visible to asynchronous
  /// operations (fence.proxy.async).
  uint32_t fencedClock = 0;
  Snapshot fencedSeen;

  Viewer getViewer() const { return {uint16_t(index), clock, uint16_t(index), seen->data()}; }
  std::string describe() const;
};

struct Warp {
  unsigned index = 0;
  /// Lanes that exist, that wait in a collective operation, that have ended.
  uint32_t lanes = 0, waiting = 0, ended = 0;
};

/// A thread that has arrived at a barrier, and what came before its arrival.
struct Arrival {
  Thread *thread;
  Snapshot seen;
  uint32_t clock;
};

struct HardwareBarrier {
  std::vector<Arrival> arrivals;
  std::vector<Thread *> waiting;
  uint32_t expected = 0;
  /// Of barriers that reduce a predicate: how many were true.
  uint32_t numTrue = 0;
};

struct Mbarrier;
struct WarpGroup;

class Block {
public:
  explicit Block(Launch &launch);
  ~Block();

  /// False if there is no memory.
  bool create();
  /// Runs the block with that number to its end, or to a fatal finding.
  void run(const uint32_t (&id)[3]);
  /// The last block met a fatal finding.
  bool wasAbandoned() const { return isAbandoned; }

  Launch &launch;
  SharedMemory shared;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<Warp> warps;
  HardwareBarrier barriers[numBarriers];
  std::map<uint32_t, std::unique_ptr<Mbarrier>> mbarriers;
  std::vector<std::unique_ptr<WarpGroup>> warpGroups;
  uint32_t number = 0;
  uint32_t numMbarriersMade = 0;

  Thread &getThread(const Warp &warp, unsigned lane) { return *threads[warp.index * warpSize + lane]; }
  Warp &getWarp(const Thread &thread) { return warps[thread.header.warp]; }

  // Scheduling.
  /// Stops the running thread until somebody wakes it.
  void wait(Thread &thread);
  void wake(Thread &thread);
  /// Lets the others run first. A thread that only polls is no progress.
  void yield(Thread &thread, bool isPolling);
  /// Leaves the block for good: the finding has been reported.
  [[noreturn]] void abandon();

  // Order of events.
  unsigned getNumAgents() const { return unsigned(threads.size()) + maxMbarriers + maxWarpGroups; }
  uint16_t getMbarrierAgent(unsigned slot) const { return uint16_t(threads.size() + slot); }
  uint16_t getWarpGroupAgent(unsigned group) const { return uint16_t(threads.size() + maxMbarriers + group); }
  /// The thread's arrival now; what it does later is not part of it.
  Arrival arrive(Thread &thread);
  /// Everything that comes before one of the arrivals.
  Snapshot join(const std::vector<Arrival> &arrivals) const;
  /// A snapshot that has what both have.
  Snapshot merge(const Snapshot &a, const Snapshot &b) const;

  /// Reports against the running thread. A fatal finding does not return.
  void report(FindingKind kind, Thread &thread, const Site &site, const std::string &text, bool isFatal);

  /// Finishes asynchronous work that the device would be free to do now; true if there was any.
  bool progressAsync();

private:
  static void runThread(void *argument);
  void schedule(Thread *from);
  void reportDeadlock();
  void finish();

  Fiber host;
  std::deque<Thread *> ready;
  unsigned numDone = 0;
  unsigned idlePolls = 0;
  bool isAbandoned = false;
  Snapshot origin;
};

/// The thread that runs now.
Thread *getCurrentThread();

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_BLOCK_H
