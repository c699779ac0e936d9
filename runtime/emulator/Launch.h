//===- Launch.h - One execution of a kernel -----------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_LAUNCH_H
#define FUSION_RUNTIME_EMULATOR_LAUNCH_H

#include "Memory.h"
#include "Traffic.h"

#include "fusion/Emulator/Abi.h"
#include "fusion/Runtime/Emulator.h"

#include <set>
#include <string>
#include <vector>

namespace fusion::emulator {

enum class FindingKind {
  OutOfBounds,
  Misaligned,
  Uninitialised,
  SharedRace,
  GlobalRace,
  AsyncNotWaited,
  DivergentBarrier,
  Deadlock,
  MaskMismatch,
  InvalidOperation,
};
const char *getName(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string operation, location, text;
};

/// Limits of the emulated chip.
struct Chip {
  std::string name;
  uint32_t version = 0;
  bool hasArchitectureFeatures = false;
  uint32_t maxShared = 0;
};

struct BufferTraffic {
  uint32_t argument;
  uint64_t bytes, loaded, stored, loadedOnce, storedOnce;
};

/// What a launch is and what has been observed of it.
class Launch {
public:
  Launch(KernelModule &module, const Kernel &kernel, const Chip &chip, DeviceMemory &memory)
      : module(module), kernel(kernel), chip(chip), memory(memory), traffic(module) {}

  KernelModule &module;
  const Kernel &kernel;
  const Chip &chip;
  DeviceMemory &memory;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  void **parameters = nullptr;

  Traffic traffic;
  std::vector<Finding> findings;
  uint64_t numFindings = 0;
  std::vector<BufferTraffic> buffers;

  /// Keeps the first finding of each kind at each site.
  void add(Finding finding, uint32_t site);
  /// Runs all blocks, one after the other. False if the launch itself is wrong; `error` says why.
  bool run(std::string &error);
  /// Counters of everything, or of one loop with the loops in it.
  FusionEmulatorCounters count() const;
  FusionEmulatorCounters count(uint32_t loop) const;
  std::string toJson() const;

private:
  bool check(std::string &error) const;
  void measureBuffers();
  void addSite(FusionEmulatorCounters &counters, const Site &site) const;
  bool isIn(const Site &site, uint32_t loop) const;
  std::set<std::pair<FindingKind, uint32_t>> known;
};

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_LAUNCH_H
