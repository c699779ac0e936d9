//===- Mbarrier.cpp - Barriers in shared memory -----------------------------===//

#include "Mbarrier.h"

#include "Access.h"
#include "Functions.h"

#include <cstring>

using namespace fusion::emulator;

namespace {
constexpr int64_t maxTransferBytes = (1 << 20) - 1;
constexpr uint32_t maxCount = (1 << 20) - 1;
} // namespace

Mbarrier &fusion::emulator::getMbarrier(Thread &thread, const Site &site, uint64_t address) {
  Block &block = *thread.block;
  uint32_t offset = locateShared(thread, site, address, 8, 8);
  auto it = block.mbarriers.find(offset);
  if (it == block.mbarriers.end())
    block.report(FindingKind::Uninitialised, thread, site,
                 "uses an mbarrier at offset " + std::to_string(offset) + " that has not been initialised", true);
  // Whoever uses it without being ordered after its initialisation has a race.
  touchShared(thread, site, offset, 8, AccessKind::Atomic);
  return *it->second;
}

void Mbarrier::completePhase(Block &block) {
  if (pending != 0 || transferBytes != 0)
    return;
  ++phase;
  pending = expected;
  auto all = std::make_shared<std::vector<uint32_t>>(*block.merge(completed, arrived));
  (*all)[block.getMbarrierAgent(slot)] = uint32_t(phase);
  completed = all;
  for (Thread *thread : waiting) {
    thread->seen = block.merge(thread->seen, completed);
    block.wake(*thread);
  }
  waiting.clear();
}

void Mbarrier::arrive(Block &block, Thread &thread, uint32_t count) {
  if (count > pending)
    block.report(FindingKind::InvalidOperation, thread, *thread.site,
                 "arrives at an mbarrier more often than it was initialised for", true);
  arrived = block.merge(arrived, block.join({block.arrive(thread)}));
  pending -= count;
  completePhase(block);
}

void Mbarrier::addBytes(Block &block, int64_t bytes) {
  transferBytes += bytes;
  completePhase(block);
}

bool Mbarrier::deliver(Block &block) {
  if (transfers.empty())
    return false;
  BulkTransfer transfer = std::move(transfers.front());
  transfers.pop_front();
  uint16_t agent = block.getMbarrierAgent(slot);
  uint32_t clock = uint32_t(transfer.phase) + 1;
  if (transfer.phase != phase)
    block.report(FindingKind::AsyncNotWaited, *transfer.thread, *transfer.site,
                 "copies into a phase of its mbarrier that ended without it: too few bytes were expected", false);
  Viewer viewer{agent, clock, uint16_t(transfer.thread->index), transfer.seen->data()};
  for (const BulkTransfer::Run &run : transfer.runs) {
    block.shared.complete(run.target, run.bytes, AccessKind::PendingWrite, agent, clock);
    char *target = block.shared.getBase() + run.target;
    if (run.source)
      std::memcpy(target, run.source, run.bytes);
    else
      std::memset(target, 0, run.bytes);
    touchShared(*transfer.thread, *transfer.site, run.target, run.bytes, AccessKind::Write, viewer);
  }
  addBytes(block, -int64_t(transfer.bytes));
  return true;
}

static void initialise(Thread &thread, const Site &site, uint64_t address, uint64_t count) {
  Block &block = *thread.block;
  uint32_t offset = locateShared(thread, site, address, 8, 8);
  touchShared(thread, site, offset, 8, AccessKind::Write);
  if (count == 0 || count > maxCount)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "initialises an mbarrier with the count " + std::to_string(count), true);
  if (block.mbarriers.count(offset))
    block.report(FindingKind::InvalidOperation, thread, site,
                 "initialises the mbarrier at offset " + std::to_string(offset) + " again without mbarrier.inval", true);
  if (block.numMbarriersMade == maxMbarriers)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "makes more than " + std::to_string(maxMbarriers) + " mbarriers; the emulator has no more", true);
  auto mbarrier = std::make_unique<Mbarrier>();
  mbarrier->slot = block.numMbarriersMade++;
  mbarrier->expected = mbarrier->pending = uint32_t(count);
  mbarrier->arrived = mbarrier->completed = thread.seen;
  block.mbarriers[offset] = std::move(mbarrier);
}

static bool isComplete(const Mbarrier &mbarrier, const Site &site, uint64_t token) {
  bool byParity = site.params[0];
  return byParity ? (mbarrier.phase & 1) != (token & 1) : mbarrier.phase > token;
}

/// Test and wait. A try_wait may suspend the thread for as long as the hardware likes: here until the phase is complete.
static void test(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out) {
  Block &block = *thread.block;
  Mbarrier &mbarrier = getMbarrier(thread, site, in[0]);
  bool suspends = site.kind == OpKind::MbarrierWait || site.params[1];
  if (!isComplete(mbarrier, site, in[1])) {
    if (!suspends) {
      block.yield(thread, /*isPolling=*/true);
    } else {
      while (!isComplete(mbarrier, site, in[1])) {
        mbarrier.waiting.push_back(&thread);
        block.wait(thread);
      }
    }
  }
  bool isDone = isComplete(mbarrier, site, in[1]);
  if (isDone)
    thread.seen = block.merge(thread.seen, mbarrier.completed);
  if (site.kind == OpKind::MbarrierTest)
    out[0] = isDone;
}

void fusion::emulator::runMbarrier(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out) {
  Block &block = *thread.block;
  thread.site = &site;
  block.launch.traffic.operation(site, 1);
  switch (site.kind) {
  case OpKind::MbarrierInit:
    initialise(thread, site, in[0], uint32_t(in[1]));
    break;
  case OpKind::MbarrierInval: {
    Mbarrier &mbarrier = getMbarrier(thread, site, in[0]);
    if (!mbarrier.waiting.empty() || !mbarrier.transfers.empty())
      block.report(FindingKind::InvalidOperation, thread, site, "invalidates an mbarrier that is in use", true);
    uint32_t offset = uint32_t(in[0]);
    block.mbarriers.erase(offset);
    block.shared.setInitialised(offset, 8, false);
    break;
  }
  case OpKind::MbarrierArrive: {
    Mbarrier &mbarrier = getMbarrier(thread, site, in[0]);
    uint64_t phase = mbarrier.phase;
    if (site.params[1])
      --mbarrier.expected;
    mbarrier.arrive(block, thread, site.params[0] ? uint32_t(in[1]) : 1);
    out[0] = phase;
    break;
  }
  case OpKind::MbarrierExpectTx: {
    Mbarrier &mbarrier = getMbarrier(thread, site, in[0]);
    uint64_t phase = mbarrier.phase;
    int64_t bytes = uint32_t(in[1]);
    if (mbarrier.transferBytes + bytes > maxTransferBytes)
      block.report(FindingKind::InvalidOperation, thread, site,
                   "expects " + std::to_string(bytes) + " bytes; an mbarrier counts to " +
                       std::to_string(maxTransferBytes),
                   true);
    mbarrier.transferBytes += bytes;
    if (site.params[0])
      mbarrier.arrive(block, thread, 1);
    out[0] = phase;
    break;
  }
  default:
    test(thread, site, in, out);
  }
  thread.site = nullptr;
}
