//===- CheckLowered.cpp - Nothing but LLVM and NVVM in device code --------===//

#include "fusion/GPU/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_GPUCHECKLOWERED
#include "fusion/GPU/Passes.h.inc"

namespace {

struct CheckLowered : impl::GPUCheckLoweredBase<CheckLowered> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    module.walk([&](Operation *op) {
      if (op == module || isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("has no lowering to GPU code");
      signalPassFailure();
      return WalkResult::interrupt();
    });
  }
};

} // namespace
} // namespace fusion
