//===- Target.cpp - Machine descriptions ----------------------------------===//

#include "fusion/Target/Target.h"
#include "fusion/Target/GpuChip.h"

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

/// What the scheduler knows of a chip. `sharedRate` and `blockRate` are guessed from the rate of the memory.
static Target getGPU(llvm::StringRef name, const GpuChip &chip) {
  Target target;
  target.name = name.str();
  target.kind = Target::Kind::GPU;
  target.units = chip.units;
  // An eighth is left for padding and for what warps exchange.
  target.blockBytes = chip.sharedPerBlock * 7 / 8;
  // A fifth of the registers is left for addresses and operands.
  target.nearBytes = 4 * gpuRegistersPerUnit * 4 / 5;
  target.flops = chip.flops / chip.units;
  target.memoryRate = name == "h200" ? 4.8e12 : chip.memoryRate;
  target.sharedRate = 3 * target.memoryRate / chip.units;
  target.blockRate = 10 * target.memoryRate / chip.units;
  target.launchSeconds = 5e-6;
  target.blockSeconds = 1e-6;
  return target;
}

llvm::Expected<Target> fusion::getTarget(llvm::StringRef name, int64_t threads) {
  if (name == "cpu")
    return getHost(threads);
  llvm::Expected<GpuChip> chip = getGpuChip(name);
  if (chip)
    return getGPU(name, *chip);
  llvm::consumeError(chip.takeError());
  std::string chips;
  for (const GpuChip &known : getGpuChips())
    chips += ", " + known.name.str();
  return llvm::createStringError("unknown target '" + name + "': accepted are cpu, v100, a100, h100, h200, b200" +
                                 chips);
}
