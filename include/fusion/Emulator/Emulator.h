//===- Emulator.h - Device code for the emulated GPU --------------*- C++ -*-===//
//
// The compiling half of the emulated device: device code (NVVM level) becomes host code whose memory accesses and device
// operations are calls of the emulator's run-time. Once registered, the device "emulator:CHIP" of fusion/Runtime/Device.h
// loads what `translateDeviceModule` makes.
//
// The compiler knows a closed list of operations. Whatever is not on it, an inline assembly statement among them, is an
// error that names it: no unknown operation is skipped or approximated.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EMULATOR_EMULATOR_H
#define FUSION_EMULATOR_EMULATOR_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fusion {

/// Makes the compiler known to the run-time. May be called any number of times, from any thread.
void registerEmulatorCompiler();

/// LLVM bitcode for NVPTX of a `gpu.module` (or of a module of the LLVM dialect) whose functions are in the LLVM and NVVM
/// dialects. The operation is only read. Places in the program are kept as debug locations. This is what the emulated
/// device loads; an assembler for NVPTX reads it as well.
llvm::Expected<std::string> translateDeviceModule(mlir::Operation *module);

} // namespace fusion

#endif // FUSION_EMULATOR_EMULATOR_H
