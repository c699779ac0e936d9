//===- Functions.cpp - What compiled device code calls ----------------------===//

#include "Functions.h"

#include "Access.h"

#include <vector>

using namespace fusion::emulator;

void *fusion_emu_self() { return getCurrentThread(); }

void fusion_emu_require(void *thread, const Site *site, uint8_t condition, const char *what) {
  if (condition)
    return;
  Thread &self = *static_cast<Thread *>(thread);
  self.block->report(FindingKind::InvalidOperation, self, *site, what, true);
}

void fusion_emu_defined(void *thread, const Site *site, uint8_t condition, const char *what) {
  if (condition)
    return;
  Thread &self = *static_cast<Thread *>(thread);
  self.block->report(FindingKind::Uninitialised, self, *site, what, false);
}

static void fence(Thread &thread, const Site &site) {
  if (FenceKind(site.params[0]) != FenceKind::ProxyAsync)
    return;
  thread.fencedClock = thread.clock++;
  thread.fencedSeen = thread.seen;
}

void fusion_emu_operation(void *argument, const Site *site, const uint64_t *in, uint64_t *out) {
  Thread &thread = *static_cast<Thread *>(argument);
  Block &block = *thread.block;
  switch (site->kind) {
  case OpKind::Shuffle:
  case OpKind::Vote:
  case OpKind::Redux:
  case OpKind::Match:
  case OpKind::Elect:
  case OpKind::WarpSync:
  case OpKind::Ldmatrix:
  case OpKind::Stmatrix:
  case OpKind::Mma:
    return runWarpOperation(thread, *site, in, out);
  case OpKind::Barrier:
  case OpKind::BarrierArrive:
  case OpKind::BarrierReduce:
    return runBarrier(thread, *site, in, out);
  case OpKind::CpAsync:
  case OpKind::CpAsyncCommit:
  case OpKind::CpAsyncWait:
    return runAsyncCopy(thread, *site, in);
  case OpKind::MbarrierInit:
  case OpKind::MbarrierInval:
  case OpKind::MbarrierArrive:
  case OpKind::MbarrierExpectTx:
  case OpKind::MbarrierTest:
  case OpKind::MbarrierWait:
    return runMbarrier(thread, *site, in, out);
  case OpKind::TmaLoad:
  case OpKind::TmaStore:
  case OpKind::TmaPrefetch:
  case OpKind::BulkCommit:
  case OpKind::BulkWait:
    return runBulkCopy(thread, *site, in);
  case OpKind::Wgmma:
  case OpKind::WgmmaFence:
  case OpKind::WgmmaCommit:
  case OpKind::WgmmaWait:
    return runWarpGroup(thread, *site, in, out);
  case OpKind::Fence:
    return fence(thread, *site);
  case OpKind::SetMaxRegisters:
    return;
  case OpKind::NanoSleep:
    return block.yield(thread, /*isPolling=*/true);
  default:
    block.report(FindingKind::InvalidOperation, thread, *site, "is an operation that the emulator does not execute",
                 true);
  }
}

const RuntimeFunction *fusion::emulator::getRuntimeFunctions(size_t &count) {
  static const std::vector<RuntimeFunction> functions = [] {
    std::vector<RuntimeFunction> all = {
        {"fusion_emu_self", reinterpret_cast<void *>(fusion_emu_self)},
        {"fusion_emu_load", reinterpret_cast<void *>(fusion_emu_load)},
        {"fusion_emu_store", reinterpret_cast<void *>(fusion_emu_store)},
        {"fusion_emu_atomic", reinterpret_cast<void *>(fusion_emu_atomic)},
        {"fusion_emu_volatile_load", reinterpret_cast<void *>(fusion_emu_volatile_load)},
        {"fusion_emu_local", reinterpret_cast<void *>(fusion_emu_local)},
        {"fusion_emu_move", reinterpret_cast<void *>(fusion_emu_move)},
        {"fusion_emu_fill", reinterpret_cast<void *>(fusion_emu_fill)},
        {"fusion_emu_operation", reinterpret_cast<void *>(fusion_emu_operation)},
        {"fusion_emu_require", reinterpret_cast<void *>(fusion_emu_require)},
        {"fusion_emu_defined", reinterpret_cast<void *>(fusion_emu_defined)},
    };
    size_t numMath = 0;
    const RuntimeFunction *math = getMathFunctions(numMath);
    all.insert(all.end(), math, math + numMath);
    return all;
  }();
  count = functions.size();
  return functions.data();
}
