//===- SharedMemory.cpp - The shared memory of a block ----------------------===//

#include "SharedMemory.h"

#include "Memory.h"

#include <algorithm>
#include <sys/mman.h>

using namespace fusion::emulator;

SharedMemory::~SharedMemory() {
  if (base)
    munmap(base, windowBytes);
}

bool SharedMemory::create() {
  if (base)
    return true;
  // The low 32 bits of a shared address are its offset, so the window starts at a multiple of 4 GiB.
  constexpr uint64_t step = uint64_t(1) << 32;
  void *reserved = mmap(nullptr, 2 * step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return false;
  uintptr_t start = reinterpret_cast<uintptr_t>(reserved);
  uintptr_t aligned = (start + step - 1) / step * step;
  if (aligned > start)
    munmap(reserved, aligned - start);
  uintptr_t end = start + 2 * step;
  munmap(reinterpret_cast<void *>(aligned + windowBytes), end - aligned - windowBytes);
  base = reinterpret_cast<char *>(aligned);
  return mprotect(base, windowBytes, PROT_READ | PROT_WRITE) == 0;
}

void SharedMemory::reset(uint32_t bytes) {
  size = bytes;
  fillUninitialised(base, bytes);
  initialised.assign(bytes, 0);
  for (std::vector<SharedAccess> &cell : cells)
    cell.clear();
  cells.resize((bytes + 3) / 4);
}

static bool isWrite(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::Atomic || kind == AccessKind::PendingWrite;
}

static bool isPending(AccessKind kind) { return kind == AccessKind::PendingWrite || kind == AccessKind::PendingRead; }

static bool conflicts(const SharedAccess &old, AccessKind kind, const Viewer &viewer) {
  if (!isWrite(old.kind) && !isWrite(kind))
    return false;
  if (old.kind == AccessKind::Atomic && kind == AccessKind::Atomic)
    return false;
  return isPending(old.kind) || !viewer.isOrderedAfter(old);
}

bool SharedMemory::touch(uint32_t offset, uint32_t bytes, AccessKind kind, const Viewer &viewer,
                         SharedAccess &conflict) {
  bool isFree = true;
  uint32_t end = offset + bytes;
  for (uint32_t cell = offset / 4; cell * 4 < end; ++cell) {
    uint32_t first = std::max(offset, cell * 4) - cell * 4, last = std::min(end, cell * 4 + 4) - cell * 4;
    uint8_t mask = uint8_t((1u << last) - (1u << first));
    std::vector<SharedAccess> &accesses = cells[cell];
    size_t kept = 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      SharedAccess old = accesses[i];
      if ((old.bytes & mask) && conflicts(old, kind, viewer)) {
        if (isFree)
          conflict = old;
        isFree = false;
      }
      // What comes after the new access comes after the old one, too.
      bool isCovered = (old.bytes & ~mask) == 0 && !isPending(old.kind) && viewer.isOrderedAfter(old) &&
                       !isPending(kind) && (kind == old.kind || kind == AccessKind::Write);
      if (!isCovered)
        accesses[kept++] = old;
    }
    accesses.resize(kept);
    accesses.push_back({viewer.clock, viewer.agent, mask, kind});
  }
  return isFree;
}

void SharedMemory::complete(uint32_t offset, uint32_t bytes, AccessKind kind, uint16_t agent, uint32_t clock) {
  for (uint32_t cell = offset / 4; cell * 4 < offset + bytes; ++cell) {
    std::vector<SharedAccess> &accesses = cells[cell];
    accesses.erase(std::remove_if(accesses.begin(), accesses.end(),
                                  [&](const SharedAccess &old) {
                                    return old.kind == kind && old.agent == agent && old.clock == clock;
                                  }),
                   accesses.end());
  }
}
