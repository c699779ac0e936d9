//===- ThreadPool.cpp - Parallel loops --------------------------------------===//
//
// One loop at a time has the pool. Workers attach to the open loop, take ranges from a shared counter and detach; the
// caller takes ranges too, closes the loop, and waits for the attached workers only: a worker that wakes up late costs
// nothing.
//
//===------------------------------------------------------------------------===//

#include "Guard.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

using namespace fusion::runtime;

namespace {

constexpr int32_t maxThreads = 4096;

/// Kernels store large results past the caches; such stores are ordered by nothing but a fence.
void publishStores() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

/// A parallel loop in progress.
struct Loop {
  FusionRangeFunction function = nullptr;
  void *context = nullptr;
  int64_t count = 0;
  int64_t step = 1;
  std::atomic<int64_t> next{0};
  std::mutex failureMutex;
  Failure failure;

  void start(FusionRangeFunction newFunction, void *newContext, int64_t newCount, int threads) {
    function = newFunction;
    context = newContext;
    count = newCount;
    // A few ranges per thread: enough to even out blocks of different cost, few enough to reuse a range's scratch.
    step = std::max<int64_t>(1, count / (int64_t(threads) * 8));
    failure.status = FUSION_OK;
    next.store(0, std::memory_order_relaxed);
  }

  void takeRanges() {
    for (;;) {
      int64_t begin = next.fetch_add(step, std::memory_order_relaxed);
      if (begin >= count)
        return;
      function(context, begin, std::min(begin + step, count));
    }
  }

  /// Takes ranges until none is left or one of them failed.
  void work() {
    Failure own;
    bool &flag = inParallelLoop();
    bool before = flag;
    flag = true;
    FusionStatus status = runGuarded([](void *loop) { static_cast<Loop *>(loop)->takeRanges(); }, this, own);
    flag = before;
    publishStores();
    if (status == FUSION_OK)
      return;
    std::lock_guard<std::mutex> lock(failureMutex);
    if (failure.status == FUSION_OK)
      failure = own;
    next.store(count, std::memory_order_relaxed);
  }
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// What the environment asks for, else the CPUs that the process may use.
int32_t defaultThreads() {
  if (const char *text = std::getenv("FUSION_THREADS")) {
    char *end = nullptr;
    long count = std::strtol(text, &end, 10);
    if (end != text && *end == 0 && count > 0 && count <= maxThreads)
      return int32_t(count);
  }
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

class Pool {
public:
  /// Held by the caller whose loop has the pool; only ever tried, never waited for.
  std::mutex owner;

  void run(Loop &loop, int threads) {
    while (workers.size() + 1 < size_t(threads))
      workers.emplace_back([this, index = int(workers.size())] { serve(index); });
    current = &loop;
    limit.store(threads - 1, std::memory_order_relaxed);
    uint64_t generation = (state.load(std::memory_order_relaxed) >> 32) + 1;
    state.store(generation << 32 | open, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) > 0) {
      std::lock_guard<std::mutex> lock(sleepMutex);
      wake.notify_all();
    }
    loop.work();
    state.fetch_and(~open, std::memory_order_acq_rel);
    for (int spins = 0; (state.load(std::memory_order_acquire) & attachedMask) != 0; ++spins)
      spins < 4096 ? relax() : std::this_thread::yield();
  }

private:
  static constexpr uint64_t open = uint64_t(1) << 31;
  static constexpr uint64_t attachedMask = open - 1;

  /// generation << 32 | open bit | number of attached workers.
  std::atomic<uint64_t> state{0};
  std::atomic<int> limit{0};
  std::atomic<int> sleepers{0};
  std::mutex sleepMutex;
  std::condition_variable wake;
  Loop *current = nullptr;
  std::vector<std::thread> workers;

  bool hasWork(uint64_t served, int index) const {
    uint64_t now = state.load(std::memory_order_seq_cst);
    return (now & open) && (now >> 32) != served && index < limit.load(std::memory_order_relaxed);
  }

  void waitForWork(uint64_t served, int index) {
    // Consecutive kernels follow within microseconds; waking a sleeping thread takes tens of them.
    auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    for (int spins = 0;; ++spins) {
      if (hasWork(served, index))
        return;
      relax();
      if (spins % 64 == 63 && std::chrono::steady_clock::now() > deadline)
        break;
    }
    std::unique_lock<std::mutex> lock(sleepMutex);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    wake.wait(lock, [&] { return hasWork(served, index); });
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }

  void serve(int index) {
    uint64_t served = 0;
    for (;;) {
      waitForWork(served, index);
      uint64_t now = state.load(std::memory_order_acquire);
      while ((now & open) && !state.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel))
        ;
      if (!(now & open))
        continue;
      served = now >> 32;
      current->work();
      state.fetch_sub(1, std::memory_order_acq_rel);
    }
  }
};

/// Never destroyed: the workers live until the process ends.
Pool &pool() {
  static Pool *instance = new Pool;
  return *instance;
}

std::atomic<int32_t> wantedThreads{0};
std::mutex executorMutex;
FusionExecutor hostExecutor = {nullptr, nullptr};

FusionExecutor executor() {
  std::lock_guard<std::mutex> lock(executorMutex);
  return hostExecutor;
}

} // namespace

extern "C" {

FusionStatus fusion_rt_set_thread_count(int32_t count) {
  if (count < 0 || count > maxThreads)
    return report(FUSION_INVALID_ARGUMENT, "the number of threads must be between 0 and 4096");
  wantedThreads.store(count);
  return FUSION_OK;
}

int32_t fusion_rt_thread_count(void) {
  static const int32_t available = defaultThreads();
  int32_t wanted = wantedThreads.load();
  return wanted ? wanted : available;
}

FusionStatus fusion_rt_set_executor(const FusionExecutor *newExecutor) {
  std::lock_guard<std::mutex> lock(executorMutex);
  hostExecutor = newExecutor ? *newExecutor : FusionExecutor{nullptr, nullptr};
  return FUSION_OK;
}

FusionStatus fusion_rt_parallel_for(FusionRangeFunction function, void *context, int64_t count) {
  if (!function)
    return report(FUSION_INVALID_ARGUMENT, "fusion_rt_parallel_for: no function");
  if (count <= 0)
    return FUSION_OK;
  int threads = int(std::min<int64_t>(fusion_rt_thread_count(), count));
  if (threads == 1 || inParallelLoop() || !pool().owner.try_lock()) {
    if (currentGuard()) {
      function(context, 0, count);
      publishStores();
      return FUSION_OK;
    }
    Loop loop;
    loop.start(function, context, count, 1);
    loop.work();
    return loop.failure.status == FUSION_OK ? FUSION_OK : report(loop.failure.status, loop.failure.message);
  }

  FusionStatus status = FUSION_OK;
  char message[maxMessage];
  {
    Loop loop;
    loop.start(function, context, count, threads);
    FusionExecutor host = executor();
    if (host.run)
      host.run(
          host.state, threads, [](void *l, int32_t) { static_cast<Loop *>(l)->work(); }, &loop);
    else
      pool().run(loop, threads);
    pool().owner.unlock();
    status = loop.failure.status;
    if (status != FUSION_OK)
      std::copy(std::begin(loop.failure.message), std::end(loop.failure.message), message);
  }
  // All objects with destructors are gone: the frame may be left by a jump.
  if (status != FUSION_OK)
    raise(status, message);
  return status;
}

} // extern "C"
