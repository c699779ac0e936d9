//===- SharedMemory.h - The shared memory of a block --------------*- C++ -*-===//
//
// The data, which bytes of it are initialised, and for every four bytes the accesses that a later access could conflict
// with. Two accesses conflict when they touch the same byte, one of them writes, and nothing orders them.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EMULATOR_SHAREDMEMORY_H
#define FUSION_RUNTIME_EMULATOR_SHAREDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fusion::emulator {

enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,
  /// A copy into these bytes that may happen at any time until it is waited for.
  PendingWrite,
  /// An asynchronous operation that may still read these bytes.
  PendingRead,
};

/// Who accessed, and when. Agents are the threads of a block, and behind them the phases of mbarriers (see Clock.h).
struct SharedAccess {
  uint32_t clock;
  uint16_t agent;
  /// Of the four bytes of a cell.
  uint8_t bytes;
  AccessKind kind;
};

/// Who makes an access, and what it comes after: `seen[a]` is the last event of agent a that is ordered before. An
/// asynchronous operation is recorded as its own agent but comes after what its issuing thread has seen.
struct Viewer {
  uint16_t agent;
  uint32_t clock;
  uint16_t thread;
  const uint32_t *seen;

  bool isOrderedAfter(const SharedAccess &other) const {
    return other.agent == thread || seen[other.agent] >= other.clock;
  }
};

class SharedMemory {
public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  ~SharedMemory();

  /// Reserves the window of addresses. False if the system refuses.
  bool create();
  /// A block starts: `bytes` bytes, not initialised, never accessed.
  void reset(uint32_t bytes);

  char *getBase() const { return base; }
  uint32_t getSize() const { return size; }
  bool contains(const void *address) const {
    return uint64_t(static_cast<const char *>(address) - base) < windowBytes;
  }

  /// Records an access of bytes that exist. Returns false, and the other access, on a conflict.
  bool touch(uint32_t offset, uint32_t bytes, AccessKind kind, const Viewer &viewer, SharedAccess &conflict);
  /// Ends the pending accesses of an agent with that clock.
  void complete(uint32_t offset, uint32_t bytes, AccessKind kind, uint16_t agent, uint32_t clock);

  /// Calls `body` with each recorded write that touches the bytes.
  template <typename Body>
  void forEachWrite(uint32_t offset, uint32_t bytes, Body body) const {
    for (uint32_t cell = offset / 4; cell * 4 < offset + bytes; ++cell)
      for (const SharedAccess &access : cells[cell])
        if (access.kind == AccessKind::Write)
          body(access);
  }

  bool isInitialised(uint32_t offset, uint32_t bytes) const {
    for (uint32_t i = 0; i < bytes; ++i)
      if (!initialised[offset + i])
        return false;
    return true;
  }
  void setInitialised(uint32_t offset, uint32_t bytes, bool value = true) {
    for (uint32_t i = 0; i < bytes; ++i)
      initialised[offset + i] = value;
  }

  /// Addresses that shared memory may have; no chip has as much.
  static constexpr uint64_t windowBytes = 1 << 20;

private:
  std::vector<std::vector<SharedAccess>> cells;
  std::vector<uint8_t> initialised;
  char *base = nullptr;
  uint32_t size = 0;
};

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_SHAREDMEMORY_H
