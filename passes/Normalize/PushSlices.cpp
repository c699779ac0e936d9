//===- PushSlices.cpp - Slices of results become slices of operands -----------===//

#include "SliceRewriting.h"
#include "fusion/Normalize/Passes.h"

namespace fusion {
#define GEN_PASS_DEF_PUSHSLICES
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

struct PushSlices : fusion::impl::PushSlicesBase<PushSlices> {
  using PushSlicesBase::PushSlicesBase;

  void runOnOperation() override {
    SmallVector<Operation *> operations;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResultTypes()[0]) &&
          !isa<tensor::ExtractSliceOp>(op))
        operations.push_back(op);
    });
    // Users first: a pushed slice becomes a user of an operation that is still to come.
    for (Operation *op : llvm::reverse(operations))
      numPushed += fusion::pushSlicesAbove(op);
  }
};

} // namespace
