//===- WgmmaCheck.h - Accumulators that are read too early --------*- C++ -*-===//

#ifndef FUSION_LIB_EMULATOR_WGMMACHECK_H
#define FUSION_LIB_EMULATOR_WGMMACHECK_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

namespace fusion::emulator {

/// Instructions that read an accumulator of a wgmma on a path from it without a wait for its group. The registers of a
/// wgmma belong to the hardware until then; only another wgmma may take them over.
llvm::SmallVector<llvm::Instruction *> findEarlyReads(llvm::Function &function);

} // namespace fusion::emulator

#endif // FUSION_LIB_EMULATOR_WGMMACHECK_H
