//===- Launch.cpp - One execution of a kernel -------------------------------===//

#include "Launch.h"

#include "Block.h"
#include "Mbarrier.h"
#include "WarpGroup.h"

using namespace fusion::emulator;

const char *fusion::emulator::getName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned access";
  case FindingKind::Uninitialised:
    return "uninitialised data";
  case FindingKind::SharedRace:
    return "race in shared memory";
  case FindingKind::GlobalRace:
    return "race in global memory";
  case FindingKind::AsyncNotWaited:
    return "asynchronous copy not waited for";
  case FindingKind::DivergentBarrier:
    return "divergent barrier";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::MaskMismatch:
    return "mismatched lanes";
  case FindingKind::InvalidOperation:
    return "invalid operation";
  }
  return "";
}

void Launch::add(Finding finding, uint32_t site) {
  ++numFindings;
  if (known.insert({finding.kind, site}).second)
    findings.push_back(std::move(finding));
}

bool Launch::check(std::string &error) const {
  uint64_t threads = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (grid[d] == 0 || block[d] == 0) {
      error = "a launch needs at least one block and one thread";
      return false;
    }
    threads *= block[d];
    if (kernel.requiredThreads[d] && kernel.requiredThreads[d] != block[d]) {
      error = "kernel '" + kernel.name + "' is compiled for blocks of " + std::to_string(kernel.requiredThreads[0]) +
              " x " + std::to_string(kernel.requiredThreads[1]) + " x " + std::to_string(kernel.requiredThreads[2]) +
              " threads";
      return false;
    }
  }
  if (threads > fusion::emulator::maxThreads || (kernel.maxThreads && threads > kernel.maxThreads)) {
    error = "a block of " + std::to_string(threads) + " threads is too large; " +
            std::to_string(kernel.maxThreads ? kernel.maxThreads : fusion::emulator::maxThreads) + " are possible";
    return false;
  }
  if (grid[1] > 65535 || grid[2] > 65535 || grid[0] > 0x7fffffff) {
    error = "the grid is too large: 2^31 - 1 blocks along x and 65535 along y and z are possible";
    return false;
  }
  if (sharedBytes > chip.maxShared) {
    error = "a block of '" + kernel.name + "' needs " + std::to_string(sharedBytes) + " bytes of shared memory; " +
            chip.name + " has " + std::to_string(chip.maxShared);
    return false;
  }
  return true;
}

bool Launch::run(std::string &error) {
  if (!check(error))
    return false;
  memory.beginKernel();
  struct ParameterMemory {
    DeviceMemory &memory;
    std::vector<char *> parts;
    ~ParameterMemory() {
      for (char *part : parts)
        memory.remove(part);
    }
  } byValue{memory, {}};
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].isByValue) {
      byValue.parts.push_back(static_cast<char *>(parameters[i]));
      memory.add(byValue.parts.back(), kernel.parameters[i].bytes, /*isConstant=*/true, "parameter");
    }
  Block runner(*this);
  if (!runner.create()) {
    error = "no memory for the threads of a block";
    return false;
  }
  uint32_t id[3];
  for (id[2] = 0; id[2] < grid[2]; ++id[2])
    for (id[1] = 0; id[1] < grid[1]; ++id[1])
      for (id[0] = 0; id[0] < grid[0]; ++id[0]) {
        uint64_t before = numFindings;
        runner.run(id);
        // Enough is known; what follows would only repeat it.
        if (numFindings > before && numFindings > 1000)
          return true;
        if (runner.wasAbandoned())
          return true;
      }
  measureBuffers();
  return true;
}

void Launch::measureBuffers() {
  for (uint32_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!kernel.parameters[i].isPointer)
      continue;
    const char *address = *static_cast<const char *const *>(parameters[i]);
    const Allocation *allocation = memory.find(address, 0);
    if (!allocation)
      continue;
    BufferTraffic buffer{i, allocation->bytes, allocation->loadedBytes, allocation->storedBytes, 0, 0};
    for (uint64_t at = 0; at < allocation->bytes; ++at) {
      buffer.loadedOnce += (allocation->flags[at] & byteRead) != 0;
      buffer.storedOnce += (allocation->flags[at] & byteWritten) != 0;
    }
    buffers.push_back(buffer);
  }
}
