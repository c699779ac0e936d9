//===- CheckLowered.cpp - Nothing but the LLVM dialect is left --------------===//

#include "fusion/CPU/Passes.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUCHECKLOWERED
#include "fusion/CPU/Passes.h.inc"

namespace {

struct CheckLowered : impl::CPUCheckLoweredBase<CheckLowered> {
  void runOnOperation() override {
    Operation *foreign = nullptr;
    getOperation()->walk([&](Operation *op) {
      if (op == getOperation() || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        return WalkResult::advance();
      // Casts are only the seam between a lowered op and one that is not: name the latter.
      if (!foreign || isa<UnrealizedConversionCastOp>(foreign))
        foreign = op;
      return isa<UnrealizedConversionCastOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (!foreign)
      return;
    foreign->emitError() << "'" << foreign->getName() << "' has no lowering for the CPU";
    signalPassFailure();
  }
};

} // namespace
} // namespace fusion
