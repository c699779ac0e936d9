//===- Libdevice.h - CUDA's library of device functions -----------*- C++ -*-===//

#ifndef FUSION_LIB_EMULATOR_LIBDEVICE_H
#define FUSION_LIB_EMULATOR_LIBDEVICE_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace fusion::emulator {

/// Links the functions `__nv_...` that the module calls, if any, and settles what libdevice asks about its compiler
/// (__nvvm_reflect) for the chip "sm_NN".
llvm::Error linkLibdevice(llvm::Module &module, llvm::StringRef chip);

} // namespace fusion::emulator

#endif // FUSION_LIB_EMULATOR_LIBDEVICE_H
