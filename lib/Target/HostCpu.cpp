//===- HostCpu.cpp - Instruction sets that code is made for -----------------===//

#include "fusion/Target/HostCpu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace fusion {
namespace {

constexpr StringRef targetNames[] = {"host", "generic", "avx2", "avx512"};

/// What the psABI levels v3 and v4 add that matters to generated code.
constexpr StringRef levelAvx2[] = {"avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe", "popcnt", "sse4.2"};
constexpr StringRef levelAvx512[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

bool hasAll(const StringMap<bool> &features, ArrayRef<StringRef> wanted) {
  return all_of(wanted, [&](StringRef feature) { return features.lookup(feature); });
}

StringMap<bool> getHostFeatures() {
  StringMap<bool> result;
  for (const auto &feature : sys::getHostCPUFeatures())
    result[feature.getKey()] = feature.getValue();
  return result;
}

std::string join(ArrayRef<StringRef> features) {
  std::string text;
  for (StringRef feature : features)
    text += (text.empty() ? "+" : ",+") + feature.str();
  return text;
}

void setVectors(CpuTarget &target, bool avx2, bool avx512) {
  target.vectorBits = avx512 ? 512 : avx2 ? 256 : 128;
  target.vectorRegisters = avx512 ? 32 : 16;
  target.hasFma = target.hasHalfConversion = avx2 || avx512;
}

CpuTarget getHost() {
  CpuTarget target;
  target.name = "host";
  Triple triple(sys::getProcessTriple());
  target.triple = triple.str();
  StringMap<bool> features = getHostFeatures();
  SmallVector<StringRef> used;
  for (const auto &feature : features)
    // The kernel must be asked before tiles are used, and nothing here uses them.
    if (feature.getValue() && !feature.getKey().starts_with("amx"))
      used.push_back(feature.getKey());
  sort(used);
  target.features = join(used);
  if (triple.getArch() != Triple::x86_64) {
    target.cpu = sys::getHostCPUName().str();
    if (triple.isAArch64()) {
      target.vectorRegisters = 32;
      target.hasFma = target.hasHalfConversion = true;
    }
    return target;
  }
  bool avx2 = hasAll(features, levelAvx2), avx512 = avx2 && hasAll(features, levelAvx512);
  target.cpu = avx512 ? "x86-64-v4" : avx2 ? "x86-64-v3" : "x86-64";
  setVectors(target, avx2, avx512);
  return target;
}

} // namespace

ArrayRef<StringRef> getCpuTargetNames() { return targetNames; }

Expected<CpuTarget> getCpuTarget(StringRef name) {
  if (name == "host" || name.empty())
    return getHost();
  if (!is_contained(targetNames, name))
    return createStringError("unknown CPU '" + name +
                             "', expected one of: " + llvm::join(std::begin(targetNames), std::end(targetNames), ", "));
  Triple triple(sys::getProcessTriple());
  CpuTarget target;
  target.name = name.str();
  target.triple = triple.str();
  if (triple.getArch() != Triple::x86_64) {
    if (name == "generic") {
      target.cpu = "generic";
      return target;
    }
    return createStringError("CPU '" + name + "' is an x86-64 level, this machine is " + triple.getArchName() +
                             "; use host or generic");
  }
  bool avx512 = name == "avx512", avx2 = avx512 || name == "avx2";
  target.cpu = avx512 ? "x86-64-v4" : avx2 ? "x86-64-v3" : "x86-64";
  SmallVector<StringRef> features;
  if (avx2)
    append_range(features, levelAvx2);
  if (avx512)
    append_range(features, levelAvx512);
  target.features = join(features);
  setVectors(target, avx2, avx512);
  return target;
}

Error checkRunsHere(const CpuTarget &target) {
  if (target.name == "host" || target.features.empty())
    return Error::success();
  StringMap<bool> host = getHostFeatures();
  SmallVector<StringRef> wanted;
  StringRef(target.features).split(wanted, ',');
  std::string missing;
  for (StringRef feature : wanted)
    if (feature.consume_front("+") && !host.lookup(feature))
      missing += (missing.empty() ? "" : ", ") + feature.str();
  if (missing.empty())
    return Error::success();
  return createStringError("this machine cannot run code for '" + target.name + "', it lacks " + missing);
}

} // namespace fusion
