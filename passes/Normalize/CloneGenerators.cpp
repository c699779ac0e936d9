//===- CloneGenerators.cpp - One copy of a generator per way of reading it ----===//

#include "GenericRewriting.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace fusion {
#define GEN_PASS_DEF_CLONEGENERATORS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

struct CloneGenerators : fusion::impl::CloneGeneratorsBase<CloneGenerators> {
  using CloneGeneratorsBase::CloneGeneratorsBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generators;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && fusion::isGenerator(op))
        generators.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generators)
      cloneForOtherReads(rewriter, op);
  }

private:
  /// A generator is read with one map and through one chain of views only: another reader gets a copy, so
  /// that its rows need not be the first reader's rows.
  void cloneForOtherReads(IRRewriter &rewriter, linalg::GenericOp generator) {
    struct Read {
      OpOperand *operand;
      SmallVector<Operation *> views; // from the generator on
    };
    SmallVector<Read> reads;
    collectReads(generator->getResult(0), {}, [&](OpOperand &operand, ArrayRef<Operation *> views) {
      reads.push_back({&operand, SmallVector<Operation *>(views)});
    });
    auto isSame = [](const Read &lhs, const Read &rhs) {
      auto left = cast<linalg::GenericOp>(lhs.operand->getOwner()),
           right = cast<linalg::GenericOp>(rhs.operand->getOwner());
      return lhs.views == rhs.views &&
             left.getMatchingIndexingMap(lhs.operand) == right.getMatchingIndexingMap(rhs.operand);
    };
    // Uses are listed from the last to the first.
    std::reverse(reads.begin(), reads.end());
    for (Read &read : reads) {
      if (isSame(reads.front(), read))
        continue;
      rewriter.setInsertionPointAfter(generator);
      IRMapping mapping;
      Operation *last = rewriter.clone(*generator, mapping);
      for (Operation *view : read.views) {
        rewriter.setInsertionPointAfter(view);
        last = rewriter.clone(*view, mapping);
      }
      rewriter.modifyOpInPlace(read.operand->getOwner(), [&] { read.operand->set(last->getResult(0)); });
      ++numCloned;
    }
  }

  /// Calls `visit` on each input of a generic that shows `value`, with the views in between.
  void collectReads(Value value, SmallVector<Operation *> views,
                    llvm::function_ref<void(OpOperand &, ArrayRef<Operation *>)> visit) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto reader = dyn_cast<linalg::GenericOp>(user)) {
        if (reader.isDpsInput(&use))
          visit(use, views);
      } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, linalg::TransposeOp>(user) &&
                 use.getOperandNumber() == 0 && user->getNumResults() == 1) {
        SmallVector<Operation *> longer = views;
        longer.push_back(user);
        collectReads(user->getResult(0), longer, visit);
      }
    }
  }
};

} // namespace
