//===- AsyncCopy.cpp - cp.async ---------------------------------------------===//
//
// The hardware may do such a copy at any time between the instruction and the wait for its group. The emulator does it as
// late as possible, at the wait, and lets nobody touch the target before: whoever forgets the wait finds old data and is
// told.
//
//===------------------------------------------------------------------------===//

#include "Access.h"
#include "Functions.h"
#include "Mbarrier.h"

#include <cstring>

using namespace fusion::emulator;

static void start(Thread &thread, const Site &site, const uint64_t *in) {
  Block &block = *thread.block;
  uint32_t bytes = site.params[0];
  uint64_t sourceBytes = site.params[1] ? uint32_t(in[2]) : bytes;
  if (sourceBytes > bytes)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "copies " + std::to_string(sourceBytes) + " bytes into " + std::to_string(bytes), true);
  uint32_t target = locateShared(thread, site, in[0], bytes, bytes);
  const Site &sharedSite = *block.launch.module.sites[site.params[2]];
  const char *source = reinterpret_cast<const char *>(in[1]);
  Warp &warp = block.getWarp(thread);
  uint64_t trip = thread.loopTrips[site.loop];
  if (sourceBytes > 0) {
    Place place = locate(thread, site, source, Space::Global, uint32_t(sourceBytes), bytes);
    touchGlobal(thread, site, *place.allocation, source, uint32_t(sourceBytes), AccessKind::Read);
    block.launch.traffic.access(site, warp.index, thread.header.lane, warp.lanes, trip, source);
  }
  block.launch.traffic.access(sharedSite, warp.index, thread.header.lane, warp.lanes, trip,
                              block.shared.getBase() + target);
  touchShared(thread, site, target, bytes, AccessKind::PendingWrite);
  thread.openCopies.push_back({target, source, bytes, uint32_t(sourceBytes), &site, thread.clock});
}

/// Does the copies of a group; from now on they are writes of the thread.
static void finish(Thread &thread, const std::vector<AsyncCopy> &group) {
  Block &block = *thread.block;
  for (const AsyncCopy &copy : group) {
    block.shared.complete(copy.target, copy.bytes, AccessKind::PendingWrite, uint16_t(thread.index), copy.clock);
    char *target = block.shared.getBase() + copy.target;
    std::memset(target, 0, copy.bytes);
    std::memcpy(target, copy.source, copy.sourceBytes);
    touchShared(thread, *copy.site, copy.target, copy.bytes, AccessKind::Write);
  }
}

void fusion::emulator::finishAllCopies(Thread &thread) {
  for (const std::vector<AsyncCopy> &group : thread.copyGroups)
    finish(thread, group);
  thread.copyGroups.clear();
  finish(thread, thread.openCopies);
  thread.openCopies.clear();
}

void fusion::emulator::runAsyncCopy(Thread &thread, const Site &site, const uint64_t *in) {
  switch (site.kind) {
  case OpKind::CpAsync:
    return start(thread, site, in);
  case OpKind::CpAsyncCommit:
    thread.copyGroups.push_back(std::move(thread.openCopies));
    thread.openCopies.clear();
    return;
  default:
    if (site.params[0] == ~0u)
      return finishAllCopies(thread);
    while (thread.copyGroups.size() > site.params[0]) {
      finish(thread, thread.copyGroups.front());
      thread.copyGroups.pop_front();
    }
  }
}
