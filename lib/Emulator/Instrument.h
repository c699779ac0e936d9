//===- Instrument.h - Device code into calls of the run-time ------*- C++ -*-===//

#ifndef FUSION_LIB_EMULATOR_INSTRUMENT_H
#define FUSION_LIB_EMULATOR_INSTRUMENT_H

#include "fusion/Emulator/Abi.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace fusion::emulator {

/// Places shared variables in the window and makes their uses relative to it; fills `staticShared`. Other variables get
/// names that can be looked up and are listed in `globals`, without addresses.
llvm::Error placeVariables(llvm::Module &module, KernelModule &result);

/// Rewrites every function with a body for the emulation of `chip` ("sm_80"). The module is for the host afterwards and has an entry
/// `fusion_emu_entry.NAME` for each kernel, listed in `kernels`.
llvm::Error instrument(llvm::Module &module, llvm::StringRef chip, KernelModule &result);

/// "file:line:column" of a debug location; empty without one.
std::string describeLocation(const llvm::DebugLoc &location);

} // namespace fusion::emulator

#endif // FUSION_LIB_EMULATOR_INSTRUMENT_H
