//===- InlineScalars.cpp - Uniform tensor operands become scalars -------------===//

#include "GenericRewriting.h"
#include "fusion/Analysis/FusibleOp.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace fusion {
#define GEN_PASS_DEF_INLINESCALARS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// The scalar that each element of `tensor` equals, as a value that dominates `tensor` or a constant made by
/// `rewriter`. Null if not known.
Value getUniformScalar(RewriterBase &rewriter, Location loc, Value tensor) {
  Type elementType = getElementTypeOrSelf(tensor.getType());
  if (TypedAttr constant = fusion::getUniformConstant(tensor))
    return arith::ConstantOp::create(rewriter, loc, constant);
  for (Value current = tensor; Operation *def = current.getDefiningOp(); current = def->getOperand(0)) {
    Value scalar;
    if (auto fill = dyn_cast<linalg::FillOp>(def))
      scalar = fill.hasPureTensorSemantics() ? fill.getInputs()[0] : Value();
    else if (auto splat = dyn_cast<tensor::SplatOp>(def))
      scalar = splat.getInput();
    else if (auto elements = dyn_cast<tensor::FromElementsOp>(def))
      scalar = elements.getElements().size() == 1 ? elements.getElements().front() : Value();
    else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(def))
      continue;
    return scalar && scalar.getType() == elementType ? scalar : Value();
  }
  return {};
}

struct InlineScalars : fusion::impl::InlineScalarsBase<InlineScalars> {
  using InlineScalarsBase::InlineScalarsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> operations;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::GenericOp, tensor::ExtractOp>(op))
        operations.push_back(op);
    });
    // In program order: a generic that becomes a fill is a scalar for those that follow. The body's extracts come after
    // their generic, and survive its rebuilding.
    for (Operation *op : operations) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
        rewriter.setInsertionPoint(extract);
        if (Value scalar = getUniformScalar(rewriter, extract.getLoc(), extract.getTensor()))
          rewriter.replaceOp(extract, scalar);
        continue;
      }
      auto generic = cast<linalg::GenericOp>(op);
      if (!generic.hasPureTensorSemantics())
        continue;
      generic = inlineInputs(rewriter, generic);
      if (failed(replaceByFill(rewriter, generic)))
        replaceByInput(rewriter, generic);
    }
  }

private:
  linalg::GenericOp inlineInputs(IRRewriter &rewriter, linalg::GenericOp op) {
    llvm::SmallBitVector dropped(op.getNumDpsInputs());
    SmallVector<Value> scalars(op.getNumDpsInputs());
    rewriter.setInsertionPoint(op);
    for (OpOperand *input : op.getDpsInputOperands()) {
      unsigned index = input->getOperandNumber();
      if (op.getBody()->getArgument(index).use_empty())
        continue;
      dropped.set(index);
      if (fusion::boundsAllLoops(fusion::mapsWithout(op, dropped)))
        scalars[index] = isa<RankedTensorType>(input->get().getType())
                             ? getUniformScalar(rewriter, op.getLoc(), input->get())
                             : input->get();
      if (!scalars[index])
        dropped.reset(index);
    }
    if (dropped.none())
      return op;
    numInlined += dropped.count();
    return fusion::dropInputs(rewriter, op, dropped, scalars);
  }

  /// A generic whose only act is to write one scalar everywhere.
  LogicalResult replaceByFill(IRRewriter &rewriter, linalg::GenericOp op) {
    if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 || !isFullWrite(op) || !isPureBody(op))
      return failure();
    Value scalar = op.getBody()->getTerminator()->getOperand(0);
    rewriter.setInsertionPoint(op);
    TypedAttr constant;
    if (matchPattern(scalar, m_Constant(&constant)))
      scalar = arith::ConstantOp::create(rewriter, op.getLoc(), constant);
    else if (op.getRegion().isAncestor(scalar.getParentRegion()))
      return failure();
    Value init = op.getOutputs().front();
    if (init.getType() != op->getResultTypes()[0])
      return failure();
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, scalar, init);
    ++numFills;
    return success();
  }

  /// A generic that copies a tensor element by element.
  void replaceByInput(IRRewriter &rewriter, linalg::GenericOp op) {
    if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 || !isFullWrite(op) || !isPureBody(op))
      return;
    auto argument = dyn_cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0));
    if (!argument || argument.getOwner() != op.getBody())
      return;
    OpOperand *source = op.getMatchingOpOperand(argument);
    if (op.getMatchingIndexingMap(source) != op.getMatchingIndexingMap(op.getDpsInitOperand(0)) ||
        source->get().getType() != op->getResultTypes()[0])
      return;
    rewriter.replaceOp(op, source->get());
  }

  static bool isFullWrite(linalg::GenericOp op) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return map.isProjectedPermutation(/*allowZeroInResults=*/true);
  }

  static bool isPureBody(linalg::GenericOp op) {
    return llvm::all_of(op.getBody()->without_terminator(),
                        [](Operation &inner) { return isMemoryEffectFree(&inner); });
  }
};

} // namespace
