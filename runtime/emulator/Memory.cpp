//===- Memory.cpp - The global memory of an emulated device -----------------===//

#include "Memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace fusion::emulator;

namespace {
/// Of device allocations, as cuMemAlloc gives it, and of the room on both sides.
constexpr uint64_t alignment = 256;
constexpr uint64_t redZone = 4096;
} // namespace

void fusion::emulator::fillUninitialised(void *data, uint64_t bytes) { std::memset(data, 0xFF, bytes); }

DeviceMemory::~DeviceMemory() {
  for (auto &[address, allocation] : allocations)
    std::free(allocation->block);
}

char *DeviceMemory::allocate(uint64_t bytes) {
  if (bytes > UINT64_MAX / 2)
    return nullptr;
  uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *block = std::aligned_alloc(alignment, rounded + 2 * redZone);
  std::unique_ptr<uint8_t[]> flags(new (std::nothrow) uint8_t[bytes + 1]);
  if (!block || !flags) {
    std::free(block);
    return nullptr;
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->block = block;
  allocation->data = static_cast<char *>(block) + redZone;
  allocation->bytes = bytes;
  allocation->flags = std::move(flags);
  std::memset(allocation->flags.get(), 0, bytes + 1);
  fillUninitialised(block, rounded + 2 * redZone);
  char *data = allocation->data;
  freed.erase(reinterpret_cast<uintptr_t>(data));
  allocations[reinterpret_cast<uintptr_t>(data)] = std::move(allocation);
  liveBytes += bytes;
  return data;
}

void DeviceMemory::add(char *data, uint64_t bytes, bool isConstant, std::string name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->data = data;
  allocation->bytes = bytes;
  allocation->isConstant = isConstant;
  allocation->name = std::move(name);
  allocation->flags.reset(new uint8_t[bytes + 1]);
  std::memset(allocation->flags.get(), byteInitialised, bytes + 1);
  allocations[reinterpret_cast<uintptr_t>(data)] = std::move(allocation);
  last = nullptr;
}

void DeviceMemory::remove(char *data) {
  last = nullptr;
  allocations.erase(reinterpret_cast<uintptr_t>(data));
}

bool DeviceMemory::free(char *data) {
  auto it = allocations.find(reinterpret_cast<uintptr_t>(data));
  if (it == allocations.end() || !it->second->block)
    return false;
  if (freed.size() > 1000)
    freed.erase(freed.begin());
  freed[it->first] = it->second->bytes;
  liveBytes -= it->second->bytes;
  std::free(it->second->block);
  allocations.erase(it);
  last = nullptr;
  return true;
}

Allocation *DeviceMemory::search(const char *address, uint64_t bytes) {
  auto it = allocations.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (it == allocations.begin())
    return nullptr;
  Allocation *allocation = std::prev(it)->second.get();
  uint64_t offset = address - allocation->data;
  if (offset > allocation->bytes || bytes > allocation->bytes - offset)
    return nullptr;
  return last = allocation;
}

std::string DeviceMemory::describe(const char *address) const {
  uintptr_t value = reinterpret_cast<uintptr_t>(address);
  auto within = [&](uintptr_t start, uint64_t size) { return value >= start && value - start < size; };
  if (value < 4096)
    return "a null pointer";
  auto old = freed.upper_bound(value);
  if (old != freed.begin() && within(std::prev(old)->first, std::prev(old)->second))
    return "memory that was freed";
  auto after = allocations.upper_bound(value);
  const Allocation *best = nullptr;
  uint64_t distance = 1 << 20;
  bool isBehind = false;
  if (after != allocations.begin()) {
    const Allocation *before = std::prev(after)->second.get();
    uint64_t behind = value - std::prev(after)->first;
    if (behind < before->bytes + distance) {
      best = before;
      isBehind = true;
      distance = behind - (behind < before->bytes ? 0 : before->bytes);
      if (behind < before->bytes)
        return "the last " + std::to_string(before->bytes - behind) + " bytes of a buffer of " +
               std::to_string(before->bytes) + " bytes and beyond its end";
    }
  }
  if (after != allocations.end() && after->first - value < distance) {
    best = after->second.get();
    isBehind = false;
    distance = after->first - value;
  }
  if (!best)
    return "an address that is no device memory";
  return std::to_string(distance) + " bytes " + (isBehind ? "behind the end" : "before the start") + " of a buffer of " +
         std::to_string(best->bytes) + " bytes";
}

void DeviceMemory::beginKernel() {
  for (auto &[address, allocation] : allocations) {
    allocation->cells.clear();
    allocation->cells.shrink_to_fit();
    bool wasUsed = allocation->loadedBytes || allocation->storedBytes;
    allocation->loadedBytes = allocation->storedBytes = 0;
    if (wasUsed)
      for (uint64_t i = 0; i < allocation->bytes; ++i)
        allocation->flags[i] &= byteInitialised;
  }
}
