//===- World.h - The ranks as this process sees them --------------*- C++ -*-===//
//
// One object per process, guarded by one lock: MPI is initialised for calls from one thread at a time. Functions here
// never leave by a longjmp, since they hold objects; what fails is reported, and the C functions raise at their end.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_MPI_WORLD_H
#define FUSION_RUNTIME_MPI_WORLD_H

#include "fusion/Runtime/Mpi.h"

#include "../Guard.h"
#include "Transport.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

namespace fusion::runtime::mpi {

/// Memory of the ranks part. Not from fusion_rt_alloc: a failed call frees what it allocated there, and messages may
/// still be under way.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept : memory(other.memory), capacity(other.capacity) {
    other.memory = nullptr;
    other.capacity = 0;
  }
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer() { std::free(memory); }

  /// False where there is no memory. Keeps what it has if that is large enough, but not its content.
  bool reserve(int64_t bytes);
  char *get() const { return memory; }

private:
  char *memory = nullptr;
  int64_t capacity = 0;
};

/// All plans; in Exchange.cpp.
struct PlanTable;

struct World {
  std::mutex lock;
  /// Null for rank 0 of 1 without MPI.
  const Transport *transport = nullptr;
  int32_t rank = 0;
  int32_t size = 1;
  bool isDecided = false;
  bool isFinalized = false;
  bool hasInitialized = false;
  /// A thread is in MPI. When a rank aborts, an implementation may end this process from there.
  std::atomic<bool> isInside{false};
  /// fusion_mpi_fail is ending the job.
  std::atomic<bool> isAborting{false};
  int64_t chunk = maxChunk;
  /// Exchanges that were started and not waited for.
  int64_t pending = 0;
  FusionMpiStatistics statistics = {};
  PlanTable *plans = nullptr;

  /// Never destroyed: the end of the process comes through here.
  static World &get();

  /// Decides and initialises on demand, and checks that this thread may call. With the lock held.
  FusionStatus enter(const void *communicator = nullptr);

  /// Records "rank R of N: text" as this thread's last error.
  FusionStatus fail(FusionStatus status, const std::string &text) const;
  FusionStatus failCommunication(const char *operation, const char *text) const;
};

/// In Exchange.cpp.
void destroyPlans(World &world);

/// The end of every C function: a failure inside of a guarded call ends that call. The caller must hold nothing.
FusionStatus conclude(FusionStatus status);

/// The lock of the world.
class Inside {
public:
  explicit Inside(World &world) : world(world) {
    world.lock.lock();
    world.isInside = true;
  }
  ~Inside() {
    world.isInside = false;
    world.lock.unlock();
  }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;

private:
  World &world;
};

/// Runs `function` with the world locked and initialised.
template <typename Function>
FusionStatus withWorld(Function &&function) {
  World &world = World::get();
  Inside inside(world);
  FusionStatus status = world.enter();
  return status == FUSION_OK ? function(world) : status;
}

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_WORLD_H
