//===- Access.h - Checked accesses to memory ----------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_ACCESS_H
#define FUSION_RUNTIME_EMULATOR_ACCESS_H

#include "Block.h"

namespace fusion::emulator {

/// What an access finds out about its address.
struct Place {
  /// Where the data is on the host.
  char *address = nullptr;
  /// Null in shared and local memory.
  Allocation *allocation = nullptr;
  bool isShared = false;
  /// Offset in shared memory.
  uint32_t offset = 0;
};

/// Bounds and alignment; both end the kernel.
Place locate(Thread &thread, const Site &site, const void *address, Space space, uint32_t bytes, uint32_t align);

/// Records the access in the shadow: initialised data, races. Reports and goes on.
void touchShared(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes, AccessKind kind,
                 const Viewer &viewer);
void touchShared(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes, AccessKind kind);
void touchGlobal(Thread &thread, const Site &site, Allocation &allocation, const char *address, uint32_t bytes,
                 AccessKind kind);

/// The offset in shared memory of an address in any of its forms; ends the kernel unless the bytes exist.
uint32_t locateShared(Thread &thread, const Site &site, uint64_t address, uint32_t bytes, uint32_t align);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_ACCESS_H
