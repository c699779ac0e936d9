//===- Functions.h - What compiled device code calls --------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_FUNCTIONS_H
#define FUSION_RUNTIME_EMULATOR_FUNCTIONS_H

#include "fusion/Emulator/Abi.h"

extern "C" {
/// The running thread: its ThreadHeader comes first.
void *fusion_emu_self();

/// Check an access of Site::bytes bytes and return where the data is on the host.
void *fusion_emu_load(void *thread, const fusion::emulator::Site *site, void *address);
void *fusion_emu_store(void *thread, const fusion::emulator::Site *site, void *address);
void *fusion_emu_atomic(void *thread, const fusion::emulator::Site *site, void *address);
void *fusion_emu_volatile_load(void *thread, const fusion::emulator::Site *site, void *address);
/// A local variable starts its life.
void fusion_emu_local(void *thread, void *address, uint64_t bytes);
void fusion_emu_move(void *thread, const fusion::emulator::Site *load, const fusion::emulator::Site *store, void *to,
                     void *from, uint64_t bytes);
void fusion_emu_fill(void *thread, const fusion::emulator::Site *site, void *to, uint8_t value, uint64_t bytes);

/// An operation of the device. Operands and results are in slots of 8 bytes each.
void fusion_emu_operation(void *thread, const fusion::emulator::Site *site, const uint64_t *in, uint64_t *out);

/// Undefined behaviour is met unless `condition`; `what` says which. Then it does not return.
void fusion_emu_require(void *thread, const fusion::emulator::Site *site, uint8_t condition, const char *what);
/// An undefined value is used unless `condition`.
void fusion_emu_defined(void *thread, const fusion::emulator::Site *site, uint8_t condition, const char *what);
}

namespace fusion::emulator {
struct Thread;

void runWarpOperation(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out);
void runBarrier(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out);
void runAsyncCopy(Thread &thread, const Site &site, const uint64_t *in);
void runMbarrier(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out);
void runBulkCopy(Thread &thread, const Site &site, const uint64_t *in);
void runWarpGroup(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out);

/// Functions of Math.cpp, by the name that compiled code uses.
const RuntimeFunction *getMathFunctions(size_t &count);
} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_FUNCTIONS_H
