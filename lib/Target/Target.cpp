//===- Target.cpp - Machine descriptions ----------------------------------===//

#include "fusion/Target/Target.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

using namespace fusion;

/// A cache size as the system reports it, or `otherwise` where it does not.
static int64_t getCacheBytes(int key, int64_t otherwise) {
  long bytes = sysconf(key);
  return bytes > 0 ? bytes : otherwise;
}

static Target getHost(int64_t threads) {
  Target target;
  target.name = "cpu";
  target.kind = Target::Kind::CPU;
  target.units = threads > 0 ? threads : std::max(1, llvm::get_physical_cores());
  target.nearBytes = getCacheBytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  // Half of the L2 cache: the other half holds what streams through.
  target.blockBytes = getCacheBytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20) / 2;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  target.lanes = features.lookup("avx512f") ? 16 : features.lookup("avx2") ? 8 : 4;
  // Two multiply-adds a cycle at an assumed 3 GHz. Only ratios between these rates matter for the choice.
  target.flops = 3e9 * 2 * 2 * target.lanes;
  target.memoryRate = 12e9 * target.units;
  target.sharedRate = 25e9;
  target.blockRate = 80e9;
  // Waking the threads and waiting for the last one, and a buffer for each result.
  target.launchSeconds = 2e-5;
  target.blockSeconds = 5e-7;
  return target;
}

/// `flops` of all units together (f16 tensor cores), `memory` in bytes per second.
static Target getGPU(llvm::StringRef name, int64_t units, int64_t sharedKiB, double flops, double memory) {
  Target target;
  target.name = name.str();
  target.kind = Target::Kind::GPU;
  target.units = units;
  target.blockBytes = sharedKiB << 10;
  // 64K 32-bit registers; a fifth is left for addresses and operands.
  target.nearBytes = (256 << 10) * 4 / 5;
  target.flops = flops / units;
  target.memoryRate = memory;
  target.sharedRate = 3 * memory / units;
  target.blockRate = 10 * memory / units;
  target.launchSeconds = 5e-6;
  target.blockSeconds = 1e-6;
  return target;
}

llvm::Expected<Target> fusion::getTarget(llvm::StringRef name, int64_t threads) {
  if (name == "cpu")
    return getHost(threads);
  if (name == "v100")
    return getGPU(name, 80, 96, 112e12, 0.9e12);
  if (name == "a100")
    return getGPU(name, 108, 163, 312e12, 1.55e12);
  if (name == "h100")
    return getGPU(name, 132, 227, 989e12, 3.35e12);
  if (name == "h200")
    return getGPU(name, 132, 227, 989e12, 4.8e12);
  return llvm::createStringError("unknown target '" + name + "': accepted are cpu, v100, a100, h100 and h200");
}
