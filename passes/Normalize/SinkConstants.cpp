//===- SinkConstants.cpp - Bodies get their own copies of scalar constants ----===//

#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace fusion {
#define GEN_PASS_DEF_SINKCONSTANTS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

struct SinkConstants : fusion::impl::SinkConstantsBase<SinkConstants> {
  using SinkConstantsBase::SinkConstantsBase;

  void runOnOperation() override {
    llvm::SetVector<Operation *> sunk;
    getOperation()->walk([&](linalg::GenericOp op) {
      Block *body = op.getBody();
      OpBuilder builder = OpBuilder::atBlockBegin(body);
      DenseMap<Operation *, Operation *> copies;
      body->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands()) {
          auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
          if (!constant || !constant.getType().isIntOrIndexOrFloat() ||
              op.getRegion().isAncestor(constant->getParentRegion()))
            continue;
          Operation *&copy = copies[constant];
          if (!copy) {
            copy = builder.clone(*constant);
            sunk.insert(constant);
            ++numSunk;
          }
          operand.set(copy->getResult(0));
        }
      });
    });
    for (Operation *constant : sunk)
      if (constant->use_empty())
        constant->erase();
  }
};

} // namespace
