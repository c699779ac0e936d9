//===- GpuChip.cpp - NVIDIA chips that code is made for -------------------===//

#include "fusion/Target/GpuChip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace fusion {
namespace {

GpuChip makeVolta() {
  GpuChip chip;
  chip.name = "sm_70";
  chip.computeCapability = 70;
  chip.ptxVersion = 63;
  chip.sharedPerBlock = chip.sharedPerUnit = 96 << 10;
  chip.units = 80;
  chip.threadsPerUnit = 2048;
  chip.flops = 112e12;
  chip.memoryRate = 0.9e12;
  return chip;
}

/// What sm_80 brought and all later chips have.
GpuChip makeAmpere(StringRef name, int capability, int64_t units, int64_t threadsPerUnit) {
  GpuChip chip;
  chip.name = name;
  chip.computeCapability = capability;
  chip.ptxVersion = 70;
  chip.units = units;
  chip.threadsPerUnit = threadsPerUnit;
  chip.hasAsyncCopy = chip.hasMma16816 = true;
  return chip;
}

/// One KiB of a block's shared memory is the system's.
void setRates(GpuChip &chip, int64_t sharedKiB, double flops, double memoryRate) {
  chip.sharedPerUnit = sharedKiB << 10;
  chip.sharedPerBlock = (sharedKiB - 1) << 10;
  chip.flops = flops;
  chip.memoryRate = memoryRate;
}

SmallVector<GpuChip, 8> makeChips() {
  SmallVector<GpuChip, 8> chips = {makeVolta()};
  GpuChip &a100 = chips.emplace_back(makeAmpere("sm_80", 80, 108, 2048));
  setRates(a100, 164, 312e12, 1.55e12);
  GpuChip &a40 = chips.emplace_back(makeAmpere("sm_86", 86, 84, 1536));
  a40.ptxVersion = 71;
  setRates(a40, 100, 150e12, 0.7e12);
  GpuChip &l40s = chips.emplace_back(makeAmpere("sm_89", 89, 142, 1536));
  l40s.ptxVersion = 81;
  l40s.hasFloat8Mma = true;
  setRates(l40s, 100, 362e12, 0.86e12);
  GpuChip h100 = makeAmpere("sm_90", 90, 132, 2048);
  h100.ptxVersion = 80;
  h100.hasBf16Maths = h100.hasFloat8Mma = h100.hasBulkCopy = true;
  setRates(h100, 228, 989e12, 3.35e12);
  chips.push_back(h100);
  GpuChip h100a = h100;
  h100a.name = "sm_90a";
  h100a.hasWarpgroupMma = true;
  chips.push_back(h100a);
  GpuChip b200 = h100;
  b200.name = "sm_100";
  b200.computeCapability = 100;
  b200.ptxVersion = 86;
  b200.units = 148;
  setRates(b200, 228, 2250e12, 8e12);
  chips.push_back(b200);
  return chips;
}

} // namespace

ArrayRef<GpuChip> getGpuChips() {
  static const SmallVector<GpuChip, 8> chips = makeChips();
  return chips;
}

Expected<GpuChip> getGpuChip(StringRef name) {
  StringRef chipName = StringSwitch<StringRef>(name)
                           .Case("v100", "sm_70")
                           .Case("a100", "sm_80")
                           .Cases({"h100", "h200"}, "sm_90")
                           .Case("b200", "sm_100")
                           .Default(name);
  for (const GpuChip &chip : getGpuChips())
    if (chip.name == chipName)
      return chip;
  std::string names;
  for (const GpuChip &chip : getGpuChips())
    names += (names.empty() ? "" : ", ") + chip.name.str();
  return createStringError("unknown chip '" + name + "': accepted are " + names);
}

} // namespace fusion
