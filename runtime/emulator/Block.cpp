//===- Block.cpp - A block of threads in execution --------------------------===//

#include "Block.h"

#include "Mbarrier.h"
#include "WarpGroup.h"

#include <algorithm>

using namespace fusion::emulator;

static thread_local Thread *currentThread = nullptr;

Thread *fusion::emulator::getCurrentThread() { return currentThread; }

std::string Thread::describe() const {
  auto triple = [](const uint32_t (&v)[3]) {
    return "(" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + ")";
  };
  return "thread " + triple(header.tid) + " of block " + triple(header.ctaid);
}

Block::Block(Launch &launch) : launch(launch) {}
Block::~Block() = default;

bool Block::create() {
  if (!shared.create())
    return false;
  unsigned count = launch.block[0] * launch.block[1] * launch.block[2];
  for (unsigned i = 0; i < count; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->block = this;
    thread->index = i;
    thread->loopTrips.resize(launch.module.loops.size());
    if (!thread->fiber.create(runThread, thread.get()))
      return false;
    threads.push_back(std::move(thread));
  }
  warps.resize((count + warpSize - 1) / warpSize);
  for (unsigned w = 0; w < warps.size(); ++w) {
    warps[w].index = w;
    unsigned lanes = std::min(warpSize, count - w * warpSize);
    warps[w].lanes = lanes == warpSize ? fullMask : (1u << lanes) - 1;
  }
  origin = std::make_shared<std::vector<uint32_t>>(getNumAgents(), 0);
  return true;
}

void Block::run(const uint32_t (&id)[3]) {
  shared.reset(launch.sharedBytes);
  launch.traffic.beginBlock(unsigned(warps.size()), shared.getBase(), launch.sharedBytes);
  ++number;
  numDone = idlePolls = 0;
  isAbandoned = false;
  mbarriers.clear();
  numMbarriersMade = 0;
  warpGroups.clear();
  ready.clear();
  for (HardwareBarrier &barrier : barriers)
    barrier = HardwareBarrier();
  for (Warp &warp : warps)
    warp.waiting = warp.ended = 0;
  for (auto &thread : threads) {
    ThreadHeader &header = thread->header;
    unsigned index = thread->index;
    for (unsigned d = 0; d < 3; ++d) {
      header.ntid[d] = launch.block[d];
      header.nctaid[d] = launch.grid[d];
      header.ctaid[d] = id[d];
      header.tid[d] = index % launch.block[d];
      index /= launch.block[d];
    }
    header.lane = thread->index % warpSize;
    header.warp = thread->index / warpSize;
    header.laneCounts = launch.traffic.laneCounts.data();
    header.loopTrips = thread->loopTrips.data();
    header.shared = shared.getBase();
    thread->state = Thread::State::Ready;
    thread->clock = 1;
    thread->seen = thread->fencedSeen = origin;
    thread->fencedClock = 0;
    thread->openCopies.clear();
    thread->copyGroups.clear();
    thread->openReads.clear();
    thread->readGroups.clear();
    thread->locals.clear();
    std::fill(thread->loopTrips.begin(), thread->loopTrips.end(), 0);
    thread->site = nullptr;
    thread->barrier = -1;
    ready.push_back(thread.get());
  }
  Thread *first = ready.front();
  ready.pop_front();
  currentThread = first;
  Fiber::switchTo(host, first->fiber);
  currentThread = nullptr;
  if (isAbandoned)
    for (auto &thread : threads)
      thread->fiber.restart();
  launch.traffic.endBlock();
  for (auto &thread : threads)
    for (size_t i = 0; i < thread->loopTrips.size(); ++i)
      launch.traffic.loopTrips[i] += thread->loopTrips[i];
}

void Block::runThread(void *argument) {
  Thread &thread = *static_cast<Thread *>(argument);
  Block &block = *thread.block;
  for (;;) {
    block.launch.kernel.entry(block.launch.parameters);
    block.finish();
  }
}

void Block::finish() {
  Thread &thread = *currentThread;
  thread.state = Thread::State::Done;
  ++numDone;
  idlePolls = 0;
  Warp &warp = getWarp(thread);
  warp.ended |= 1u << thread.header.lane;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (warp.waiting >> lane & 1) {
      Thread &other = getThread(warp, lane);
      if (other.mask >> thread.header.lane & 1)
        report(FindingKind::MaskMismatch, other, *other.site,
               "waits for lane " + std::to_string(thread.header.lane) + " of its warp, which has ended", true);
    }
  for (HardwareBarrier &barrier : barriers)
    if (!barrier.waiting.empty() && barrier.expected == threads.size()) {
      Thread &other = *barrier.waiting.front();
      report(FindingKind::DivergentBarrier, other, *other.site,
             "waits for all threads of its block, but " + thread.describe() + " has ended", true);
    }
  schedule(&thread);
}

void Block::schedule(Thread *from) {
  while (ready.empty() && numDone < threads.size() && progressAsync())
    ;
  if (ready.empty()) {
    if (numDone < threads.size())
      reportDeadlock();
    currentThread = nullptr;
    Fiber::switchTo(from->fiber, host);
    return;
  }
  Thread *next = ready.front();
  ready.pop_front();
  if (next == from)
    return;
  currentThread = next;
  Fiber::switchTo(from->fiber, next->fiber);
}

void Block::wait(Thread &thread) {
  thread.state = Thread::State::Waiting;
  idlePolls = 0;
  while (thread.state == Thread::State::Waiting)
    schedule(&thread);
}

void Block::wake(Thread &thread) {
  if (thread.state != Thread::State::Waiting)
    return;
  thread.state = Thread::State::Ready;
  idlePolls = 0;
  ready.push_back(&thread);
}

void Block::yield(Thread &thread, bool isPolling) {
  if (!isPolling)
    idlePolls = 0;
  else if (++idlePolls > 4 * threads.size() && !progressAsync() && idlePolls > 1000 * threads.size())
    reportDeadlock();
  ready.push_back(&thread);
  schedule(&thread);
}

void Block::abandon() {
  isAbandoned = true;
  Thread *thread = currentThread;
  currentThread = nullptr;
  Fiber::switchTo(thread->fiber, host);
  __builtin_unreachable();
}

void Block::report(FindingKind kind, Thread &thread, const Site &site, const std::string &text, bool isFatal) {
  launch.add({kind, site.name, site.location, thread.describe() + " " + text}, site.id);
  if (isFatal)
    abandon();
}

void Block::reportDeadlock() {
  // One line for each group of threads that waits at the same place.
  std::map<const Site *, std::vector<Thread *>> places;
  for (auto &thread : threads)
    if (thread->state != Thread::State::Done && thread->site)
      places[thread->site].push_back(thread.get());
  Thread *any = nullptr;
  std::string text = "waits for ever";
  for (auto &[site, group] : places) {
    if (!any || group.front()->index < any->index)
      any = group.front();
    text += "; " + std::to_string(group.size()) + " threads are at " + site->name +
            (site->location.empty() ? "" : " (" + site->location + ")");
  }
  if (!any) {
    launch.add({FindingKind::Deadlock, launch.kernel.name, "", "threads poll for something that never happens"}, 0);
    abandon();
  }
  text += "; " + std::to_string(numDone) + " have ended";
  report(FindingKind::Deadlock, *any, *any->site, text, true);
}

Arrival Block::arrive(Thread &thread) { return {&thread, thread.seen, thread.clock++}; }

Snapshot Block::merge(const Snapshot &a, const Snapshot &b) const {
  if (a == b)
    return a;
  auto merged = std::make_shared<std::vector<uint32_t>>(*a);
  for (size_t i = 0; i < merged->size(); ++i)
    (*merged)[i] = std::max((*merged)[i], (*b)[i]);
  return merged;
}

Snapshot Block::join(const std::vector<Arrival> &arrivals) const {
  auto joined = std::make_shared<std::vector<uint32_t>>(*arrivals.front().seen);
  const std::vector<uint32_t> *done = arrivals.front().seen.get();
  for (const Arrival &arrival : arrivals) {
    const std::vector<uint32_t> *seen = arrival.seen.get();
    // Most threads hold the same snapshot, that of their last barrier.
    if (seen != done)
      for (size_t i = 0; i < joined->size(); ++i)
        (*joined)[i] = std::max((*joined)[i], (*seen)[i]);
    done = seen;
  }
  for (const Arrival &arrival : arrivals) {
    uint32_t &epoch = (*joined)[arrival.thread->index];
    epoch = std::max(epoch, arrival.clock);
  }
  return joined;
}

bool Block::progressAsync() {
  for (auto &[offset, mbarrier] : mbarriers)
    if (mbarrier->deliver(*this))
      return true;
  return false;
}
