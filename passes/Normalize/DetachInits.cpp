//===- DetachInits.cpp - Inits that are never read become empty ---------------===//

#include "GenericRewriting.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {
#define GEN_PASS_DEF_DETACHINITS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

struct DetachInits : fusion::impl::DetachInitsBase<DetachInits> {
  using DetachInitsBase::DetachInitsBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || !isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(*op))
        return;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        auto type = cast<RankedTensorType>(init.get().getType());
        if (init.get().getDefiningOp<tensor::EmptyOp>() || type.getEncoding() ||
            !op.getMatchingBlockArgument(&init).use_empty())
          continue;
        // Every element must be written, else the old one shows.
        if (op.getNumReductionLoops() != 0 || !op.getMatchingIndexingMap(&init).isProjectedPermutation(true))
          continue;
        builder.setInsertionPoint(op);
        init.set(fusion::createEmptyLike(builder, op.getLoc(), init.get()));
        ++numDetached;
      }
    });
  }
};

} // namespace
