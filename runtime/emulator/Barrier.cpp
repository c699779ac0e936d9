//===- Barrier.cpp - The sixteen barriers of a block ------------------------===//

#include "Access.h"
#include "Functions.h"

using namespace fusion::emulator;

/// All lanes of a warp must be at the same barrier instruction.
static void checkConvergence(Block &block, Thread &thread, const Site &site) {
  Warp &warp = block.getWarp(thread);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (lane == thread.header.lane || !(warp.lanes >> lane & 1))
      continue;
    Thread &other = block.getThread(warp, lane);
    if (other.barrier >= 0 && other.site != &site)
      block.report(FindingKind::DivergentBarrier, thread, site,
                   "is at a barrier while lane " + std::to_string(lane) + " of its warp waits at another, " +
                       other.site->name + " " + other.site->location,
                   true);
  }
}

static void release(Block &block, HardwareBarrier &barrier) {
  Snapshot all = block.join(barrier.arrivals);
  uint32_t total = uint32_t(barrier.arrivals.size());
  for (Thread *waiting : barrier.waiting) {
    waiting->seen = all;
    waiting->barrier = -1;
    if (waiting->site->kind == OpKind::BarrierReduce) {
      uint32_t results[] = {barrier.numTrue, barrier.numTrue == total, barrier.numTrue != 0};
      *static_cast<uint64_t *>(waiting->out) = results[waiting->site->params[0]];
    }
    block.wake(*waiting);
  }
  barrier = HardwareBarrier();
}

void fusion::emulator::runBarrier(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out) {
  Block &block = *thread.block;
  uint64_t id = in[0];
  bool hasCount = site.kind != OpKind::BarrierReduce && site.params[0];
  uint64_t expected = hasCount ? in[1] : block.threads.size();
  if (id >= numBarriers)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "names barrier " + std::to_string(id) + "; there are 16, from 0", true);
  if (expected == 0 || expected > block.threads.size() || (hasCount && expected % warpSize != 0))
    block.report(FindingKind::InvalidOperation, thread, site,
                 "waits for " + std::to_string(expected) + " threads; a multiple of 32 up to the " +
                     std::to_string(block.threads.size()) + " of the block is accepted",
                 true);
  HardwareBarrier &barrier = block.barriers[id];
  if (!barrier.arrivals.empty() && barrier.expected != expected)
    block.report(FindingKind::DivergentBarrier, thread, site,
                 "waits for " + std::to_string(expected) + " threads at barrier " + std::to_string(id) +
                     ", others there for " + std::to_string(barrier.expected),
                 true);
  checkConvergence(block, thread, site);
  if (!hasCount)
    for (const Warp &warp : block.warps)
      if (warp.ended)
        block.report(FindingKind::DivergentBarrier, thread, site,
                     "waits for all threads of its block, but " +
                         block.getThread(warp, unsigned(__builtin_ctz(warp.ended))).describe() + " has ended",
                     true);
  if (thread.header.lane == 0)
    block.launch.traffic.operation(site, warpSize);
  barrier.expected = uint32_t(expected);
  barrier.arrivals.push_back(block.arrive(thread));
  barrier.numTrue += site.kind == OpKind::BarrierReduce && (in[1] & 1);
  bool waits = site.kind != OpKind::BarrierArrive;
  thread.site = &site;
  thread.out = out;
  if (waits) {
    thread.barrier = int(id);
    barrier.waiting.push_back(&thread);
  }
  if (barrier.arrivals.size() == expected) {
    release(block, barrier);
    thread.site = nullptr;
    return;
  }
  if (waits)
    block.wait(thread);
  thread.site = nullptr;
}
