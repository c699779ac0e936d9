//===- PrepareBufferization.cpp - One destination for each writer -----------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUPREPAREBUFFERIZATION
#include "fusion/CPU/Passes.h.inc"

namespace {

bool hasTensor(TypeRange types) { return llvm::any_of(types, llvm::IsaPred<TensorType>); }

struct PrepareBufferization : impl::CPUPrepareBufferizationBase<PrepareBufferization> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) {
      // Terminators of structured ops and functions are handled with their parents.
      if ((!hasTensor(op->getOperandTypes()) && !hasTensor(op->getResultTypes())) ||
          isa<bufferization::BufferizableOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
          isa<tensor::ParallelInsertSliceOp>(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' has no lowering for the CPU";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    separate<linalg::FillOp>();
    separate<tensor::EmptyOp>();
  }

  /// Gives every use but the last its own copy of the op. Both ops are cheaper made twice than copied.
  template <typename OpTy>
  void separate() {
    SmallVector<OpTy> ops;
    getOperation().walk([&](OpTy op) {
      if (op->getNumResults() == 1 && isa<TensorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    for (OpTy op : ops) {
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : op->getResult(0).getUses())
        uses.push_back(&use);
      for (OpOperand *use : llvm::drop_end(uses)) {
        // Readers share.
        if (!isa<DestinationStyleOpInterface, tensor::ExtractSliceOp, scf::ForallOp, scf::ForOp>(use->getOwner()))
          continue;
        OpBuilder builder(op);
        use->set(builder.clone(*op)->getResult(0));
      }
    }
  }
};

} // namespace
} // namespace fusion
