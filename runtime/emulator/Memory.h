//===- Memory.h - The global memory of an emulated device ---------*- C++ -*-===//
//
// Every allocation is known with its bounds, has unmapped room on both sides in the address map, and carries shadow: a
// byte of flags for each byte of data, and, while a kernel runs, the last writer and the readers of every four bytes.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EMULATOR_MEMORY_H
#define FUSION_RUNTIME_EMULATOR_MEMORY_H

#include "fusion/Emulator/Abi.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fusion::emulator {

/// Who touched four bytes of global memory in the running kernel. Blocks are numbered from 1; 0 is nobody.
struct GlobalCell {
  uint32_t writerBlock = 0;
  uint32_t writerClock = 0;
  uint32_t readerBlock = 0;
  uint16_t writer = 0;
  uint8_t writtenBytes = 0;
  uint8_t flags = 0;
};
enum : uint32_t { manyBlocks = ~0u };
enum : uint8_t { cellAtomic = 1, cellManyWriters = 2 };

enum ByteFlag : uint8_t { byteInitialised = 1, byteRead = 2, byteWritten = 4 };

struct Allocation {
  char *data = nullptr;
  uint64_t bytes = 0;
  bool isConstant = false;
  /// Set for what belongs to a module: "variable 'x'".
  std::string name;
  std::unique_ptr<uint8_t[]> flags;
  /// In use while a kernel runs that writes to the allocation.
  std::vector<GlobalCell> cells;
  /// Of the running kernel.
  uint64_t loadedBytes = 0, storedBytes = 0;
  /// What the host must free; null if it belongs to somebody else.
  void *block = nullptr;
};

class DeviceMemory {
public:
  ~DeviceMemory();

  /// Null if there is no memory.
  char *allocate(uint64_t bytes);
  /// Makes memory of somebody else known, initialised.
  void add(char *data, uint64_t bytes, bool isConstant, std::string name);
  void remove(char *data);
  /// False if `data` is not the start of an allocation of ours.
  bool free(char *data);

  /// The allocation that holds all of [address, address + bytes), or null.
  Allocation *find(const char *address, uint64_t bytes) {
    if (last && address >= last->data && uint64_t(address - last->data) <= last->bytes &&
        bytes <= last->bytes - uint64_t(address - last->data))
      return last;
    return search(address, bytes);
  }
  /// Where an address lies that `find` does not know, in words.
  std::string describe(const char *address) const;

  /// Forgets what the last kernel did.
  void beginKernel();

  uint64_t getLiveBytes() const { return liveBytes; }

private:
  Allocation *search(const char *address, uint64_t bytes);

  std::map<uintptr_t, std::unique_ptr<Allocation>> allocations;
  /// Start and size of what was freed lately, for messages.
  std::map<uintptr_t, uint64_t> freed;
  Allocation *last = nullptr;
  uint64_t liveBytes = 0;
};

/// What memory holds that nobody has written: NaN in every float type, far out of range as an index.
void fillUninitialised(void *data, uint64_t bytes);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_MEMORY_H
