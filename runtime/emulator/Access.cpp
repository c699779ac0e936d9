//===- Access.cpp - Checked accesses to memory ------------------------------===//

#include "Access.h"
#include "Functions.h"

#include <algorithm>
#include <cstring>

using namespace fusion::emulator;

static std::string inBytes(uint32_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

static void checkAlignment(Thread &thread, const Site &site, uint64_t address, uint32_t align) {
  if (align > 1 && address % align != 0)
    thread.block->report(FindingKind::Misaligned, thread, site,
                         "uses an address that is not a multiple of " + std::to_string(align) +
                             " (remainder " + std::to_string(address % align) + ")",
                         true);
}

uint32_t fusion::emulator::locateShared(Thread &thread, const Site &site, uint64_t address, uint32_t bytes,
                                        uint32_t align) {
  Block &block = *thread.block;
  // A generic address has the window in its upper half, a shared one may have nothing there.
  uint64_t window = reinterpret_cast<uint64_t>(block.shared.getBase());
  uint64_t upper = address >> 32 << 32;
  if (upper != 0 && upper != window)
    block.report(FindingKind::OutOfBounds, thread, site, "uses an address that is not in shared memory", true);
  uint32_t offset = uint32_t(address);
  if (offset > block.shared.getSize() || bytes > block.shared.getSize() - offset)
    block.report(FindingKind::OutOfBounds, thread, site,
                 "accesses " + inBytes(bytes) + " at offset " + std::to_string(int32_t(offset)) +
                     " of shared memory, which has " + std::to_string(block.shared.getSize()),
                 true);
  checkAlignment(thread, site, offset, align);
  return offset;
}

Place fusion::emulator::locate(Thread &thread, const Site &site, const void *address, Space space, uint32_t bytes,
                               uint32_t align) {
  Block &block = *thread.block;
  Place place;
  uint64_t value = reinterpret_cast<uint64_t>(address);
  if (space == Space::Shared || space == Space::Cluster || (space == Space::Generic && block.shared.contains(address))) {
    place.isShared = true;
    place.offset = locateShared(thread, site, value, bytes, align);
    place.address = block.shared.getBase() + place.offset;
    return place;
  }
  char *data = static_cast<char *>(const_cast<void *>(address));
  if (thread.fiber.contains(data)) {
    for (LocalVariable &local : thread.locals)
      if (data >= local.data && uint64_t(data - local.data) <= local.bytes &&
          bytes <= local.bytes - uint64_t(data - local.data)) {
        checkAlignment(thread, site, value, align);
        place.address = data;
        return place;
      }
    block.report(FindingKind::OutOfBounds, thread, site,
                 "accesses " + inBytes(bytes) + " that do not lie in a local variable of its own", true);
  }
  place.allocation = block.launch.memory.find(data, bytes);
  if (!place.allocation)
    block.report(FindingKind::OutOfBounds, thread, site,
                 "accesses " + inBytes(bytes) + " at " + block.launch.memory.describe(data), true);
  checkAlignment(thread, site, value, align);
  place.address = data;
  return place;
}

static std::string describeAgent(Block &block, uint16_t agent) {
  if (agent < block.threads.size())
    return block.threads[agent]->describe();
  return "an asynchronous copy";
}

void fusion::emulator::touchShared(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes, AccessKind kind,
                                   const Viewer &viewer) {
  Block &block = *thread.block;
  SharedAccess other;
  if (!block.shared.touch(offset, bytes, kind, viewer, other)) {
    const char *verb = kind == AccessKind::Read || kind == AccessKind::PendingRead ? "reads" : "writes";
    std::string what = std::string(verb) + " shared memory at offset " + std::to_string(offset);
    if (other.kind == AccessKind::PendingWrite)
      block.report(FindingKind::AsyncNotWaited, thread, site,
                   what + ", where an asynchronous copy of " + describeAgent(block, other.agent) +
                       " may still write: it has not been waited for",
                   false);
    else if (other.kind == AccessKind::PendingRead)
      block.report(FindingKind::AsyncNotWaited, thread, site,
                   what + ", which an asynchronous operation of " + describeAgent(block, other.agent) +
                       " may still read: it has not been waited for",
                   false);
    else
      block.report(FindingKind::SharedRace, thread, site,
                   what + ", which " + describeAgent(block, other.agent) +
                       (other.kind == AccessKind::Read ? " reads" : " writes") + " without a barrier in between",
                   false);
  }
  bool reads = kind == AccessKind::Read || kind == AccessKind::PendingRead || kind == AccessKind::Atomic;
  if (reads && !block.shared.isInitialised(offset, bytes))
    block.report(FindingKind::Uninitialised, thread, site,
                 "reads " + inBytes(bytes) + " of shared memory at offset " + std::to_string(offset) +
                     " that are not all written",
                 false);
  if (kind == AccessKind::Write || kind == AccessKind::Atomic)
    block.shared.setInitialised(offset, bytes);
}

void fusion::emulator::touchShared(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes,
                                   AccessKind kind) {
  touchShared(thread, site, offset, bytes, kind, thread.getViewer());
}

static void checkGlobalRace(Thread &thread, const Site &site, Allocation &allocation, uint64_t offset, uint32_t bytes,
                            AccessKind kind) {
  Block &block = *thread.block;
  bool writes = kind != AccessKind::Read;
  if (allocation.cells.empty())
    allocation.cells.resize(allocation.bytes / 4 + 1);
  for (uint64_t cell = offset / 4; cell * 4 < offset + bytes; ++cell) {
    uint64_t first = std::max(offset, cell * 4) - cell * 4, last = std::min(offset + bytes, cell * 4 + 4) - cell * 4;
    uint8_t mask = uint8_t((1u << last) - (1u << first));
    GlobalCell &entry = allocation.cells[cell];
    bool areAtomic = kind == AccessKind::Atomic && (entry.flags & cellAtomic);
    bool isSameThread = entry.writerBlock == block.number && entry.writer == thread.index;
    if (entry.writerBlock && (entry.writtenBytes & mask) && !isSameThread && !areAtomic &&
        !(entry.flags & cellManyWriters)) {
      bool isOrdered =
          entry.writerBlock == block.number && (*thread.seen)[entry.writer] >= entry.writerClock;
      if (!isOrdered) {
        std::string by = entry.writerBlock == block.number
                             ? block.threads[entry.writer]->describe() + " writes without a barrier in between"
                             : "another block writes in the same kernel";
        block.report(FindingKind::GlobalRace, thread, site,
                     std::string(writes ? "writes" : "reads") + " global memory at offset " + std::to_string(offset) +
                         " of a buffer, which " + by,
                     false);
      }
    }
    if (writes && entry.readerBlock && entry.readerBlock != block.number && !areAtomic && !(entry.flags & cellAtomic))
      block.report(FindingKind::GlobalRace, thread, site,
                   "writes global memory at offset " + std::to_string(offset) +
                       " of a buffer, which another block reads in the same kernel",
                   false);
    if (!writes) {
      entry.readerBlock = entry.readerBlock == 0 || entry.readerBlock == block.number ? block.number : manyBlocks;
      continue;
    }
    // Writers of different bytes share a cell; only one of them can be remembered.
    bool isShared = entry.writerBlock && !isSameThread && (entry.writtenBytes & ~mask);
    entry.flags = uint8_t((kind == AccessKind::Atomic ? cellAtomic : 0) | (isShared ? cellManyWriters : 0));
    entry.writtenBytes = isShared || isSameThread ? entry.writtenBytes | mask : mask;
    entry.writerBlock = block.number;
    entry.writer = uint16_t(thread.index);
    entry.writerClock = thread.clock;
  }
}

void fusion::emulator::touchGlobal(Thread &thread, const Site &site, Allocation &allocation, const char *address,
                                   uint32_t bytes, AccessKind kind) {
  Block &block = *thread.block;
  uint64_t offset = address - allocation.data;
  bool reads = kind != AccessKind::Write, writes = kind != AccessKind::Read;
  uint8_t *flags = allocation.flags.get() + offset;
  if (writes && allocation.isConstant)
    block.report(FindingKind::InvalidOperation, thread, site, "writes constant memory", true);
  if (reads) {
    uint8_t all = byteInitialised;
    for (uint32_t i = 0; i < bytes; ++i)
      all &= flags[i];
    if (!all)
      block.report(FindingKind::Uninitialised, thread, site,
                   "reads " + inBytes(bytes) + " of global memory at offset " + std::to_string(offset) +
                       " of a buffer that are not all written",
                   false);
    for (uint32_t i = 0; i < bytes; ++i)
      flags[i] |= byteRead;
    allocation.loadedBytes += bytes;
  }
  if (writes) {
    for (uint32_t i = 0; i < bytes; ++i)
      flags[i] |= byteInitialised | byteWritten;
    allocation.storedBytes += bytes;
  }
  if (!allocation.isConstant)
    checkGlobalRace(thread, site, allocation, offset, bytes, kind);
}

static void record(Thread &thread, const Site &site, const Place &place) {
  Block &block = *thread.block;
  Warp &warp = block.getWarp(thread);
  block.launch.traffic.access(site, warp.index, thread.header.lane, warp.lanes, thread.loopTrips[site.loop],
                              place.address);
}

static LocalVariable &getLocal(Thread &thread, const char *address) {
  auto it = std::find_if(thread.locals.begin(), thread.locals.end(), [&](const LocalVariable &local) {
    return address >= local.data && address < local.data + local.bytes;
  });
  return *it;
}

/// An access of a local variable is counted by the site's lanes alone.
static void touchLocal(Thread &thread, const Site &site, const char *address, uint32_t bytes, bool isLoad) {
  if (bytes == 0)
    return;
  LocalVariable &local = getLocal(thread, address);
  auto first = local.initialised.begin() + (address - local.data);
  if (!isLoad)
    std::fill(first, first + bytes, 1);
  else if (std::find(first, first + bytes, 0) != first + bytes)
    thread.block->report(FindingKind::Uninitialised, thread, site,
                         "reads a local variable that is not all written", false);
}

static void *access(Thread &thread, const Site &site, void *address, uint32_t bytes, AccessKind kind) {
  Place place = locate(thread, site, address, site.space, bytes, site.align);
  if (place.isShared)
    touchShared(thread, site, place.offset, bytes, kind);
  else if (place.allocation)
    touchGlobal(thread, site, *place.allocation, place.address, bytes, kind);
  else {
    touchLocal(thread, site, place.address, bytes, kind != AccessKind::Write);
    return place.address;
  }
  record(thread, site, place);
  return place.address;
}

void *fusion_emu_load(void *thread, const Site *site, void *address) {
  return access(*static_cast<Thread *>(thread), *site, address, site->bytes, AccessKind::Read);
}

void *fusion_emu_store(void *thread, const Site *site, void *address) {
  return access(*static_cast<Thread *>(thread), *site, address, site->bytes, AccessKind::Write);
}

void *fusion_emu_atomic(void *thread, const Site *site, void *address) {
  Thread &self = *static_cast<Thread *>(thread);
  // Others get a turn, so that a loop that waits for them comes to its end.
  self.block->yield(self, /*isPolling=*/true);
  return access(self, *site, address, site->bytes, AccessKind::Atomic);
}

void *fusion_emu_volatile_load(void *thread, const Site *site, void *address) {
  Thread &self = *static_cast<Thread *>(thread);
  self.block->yield(self, /*isPolling=*/true);
  return access(self, *site, address, site->bytes, AccessKind::Read);
}

void fusion_emu_local(void *thread, void *address, uint64_t bytes) {
  Thread &self = *static_cast<Thread *>(thread);
  char *data = static_cast<char *>(address);
  for (LocalVariable &local : self.locals)
    if (local.data == data && local.bytes == bytes) {
      std::fill(local.initialised.begin(), local.initialised.end(), 0);
      return;
    }
  fillUninitialised(data, bytes);
  self.locals.push_back({data, bytes, std::vector<uint8_t>(bytes, 0)});
}

/// memcpy, memmove and memset of device code go byte by byte: each byte has its own checks.
void fusion_emu_move(void *thread, const Site *load, const Site *store, void *to, void *from, uint64_t bytes) {
  Thread &self = *static_cast<Thread *>(thread);
  std::vector<char> data(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    data[i] = *static_cast<char *>(access(self, *load, static_cast<char *>(from) + i, 1, AccessKind::Read));
  for (uint64_t i = 0; i < bytes; ++i)
    *static_cast<char *>(access(self, *store, static_cast<char *>(to) + i, 1, AccessKind::Write)) = data[i];
}

void fusion_emu_fill(void *thread, const Site *site, void *to, uint8_t value, uint64_t bytes) {
  Thread &self = *static_cast<Thread *>(thread);
  for (uint64_t i = 0; i < bytes; ++i)
    *static_cast<char *>(access(self, *site, static_cast<char *>(to) + i, 1, AccessKind::Write)) = char(value);
}
