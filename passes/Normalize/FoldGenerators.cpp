//===- FoldGenerators.cpp - Positions and masks are computed where used -------===//

#include "GenericRewriting.h"
#include "ViewCoordinates.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"

namespace fusion {
#define GEN_PASS_DEF_FOLDGENERATORS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// Whether the body calls a function that costs more than a load, such as a logarithm.
bool isExpensive(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect()) &&
           !isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::TruncOp, math::FmaOp>(
               inner);
  });
}

struct FoldGenerators : fusion::impl::FoldGeneratorsBase<FoldGenerators> {
  using FoldGeneratorsBase::FoldGeneratorsBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk<WalkOrder::PreOrder>([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        generics.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // In program order, so that chains fold from their beginning.
    for (linalg::GenericOp &op : generics)
      op = foldInto(rewriter, op);
    eraseDead(rewriter);
  }

private:
  /// Generators that are read no more, and the views of them.
  void eraseDead(IRRewriter &rewriter) {
    SmallVector<Operation *> candidates;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::LinalgDialect, tensor::TensorDialect>(op->getDialect()) && op->getNumResults() != 0)
        candidates.push_back(op);
    });
    for (Operation *op : llvm::reverse(candidates))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
  }

  linalg::GenericOp foldInto(IRRewriter &rewriter, linalg::GenericOp reader) {
    llvm::SmallBitVector dropped(reader.getNumDpsInputs());
    SmallVector<Value> values(reader.getNumDpsInputs());
    for (OpOperand *input : reader.getDpsInputOperands()) {
      unsigned index = input->getOperandNumber();
      fusion::ViewChain chain(input->get());
      auto generator = chain.getOrigin().getDefiningOp<linalg::GenericOp>();
      if (!generator || !fusion::isGenerator(generator) || !isWorthwhile(generator, reader, *input))
        continue;
      dropped.set(index);
      if (fusion::boundsAllLoops(fusion::mapsWithout(reader, dropped)))
        values[index] = inlineGenerator(rewriter, generator, chain, reader, *input);
      if (!values[index])
        dropped.reset(index);
    }
    if (dropped.none())
      return reader;
    numFolded += dropped.count();
    linalg::GenericOp result = fusion::dropInputs(rewriter, reader, dropped, values);
    // What several generators of a chain shared is computed once again.
    DominanceInfo dominance(result);
    eliminateCommonSubExpressions(rewriter, dominance, result);
    return result;
  }

  bool isWorthwhile(linalg::GenericOp generator, linalg::GenericOp reader, OpOperand &input) {
    size_t size = generator.getBody()->getOperations().size() + reader.getBody()->getOperations().size();
    if (size > maxBodySize)
      return false;
    if (!isExpensive(generator))
      return true;
    // Each loop of the reader runs over an axis of what the generator makes: as many evaluations as elements.
    AffineMap map = reader.getMatchingIndexingMap(&input);
    for (auto [loop, range] : llvm::enumerate(reader.getStaticLoopRanges()))
      if (range != 1 && !map.isFunctionOfDim(loop))
        return false;
    return true;
  }

  /// Computes at the beginning of the reader's body what it reads from the generator. Null if the position is not
  /// known; nothing is left behind then but dead arithmetic.
  Value inlineGenerator(IRRewriter &rewriter, linalg::GenericOp generator, fusion::ViewChain &chain,
                        linalg::GenericOp reader, OpOperand &input) {
    OpBuilder::InsertionGuard guard(rewriter);
    Location loc = generator.getLoc();
    rewriter.setInsertionPointToStart(reader.getBody());
    SmallVector<Value> position;
    for (AffineExpr expr : reader.getMatchingIndexingMap(&input).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        position.push_back(linalg::IndexOp::create(rewriter, loc, dim.getPosition()));
      else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        position.push_back(arith::ConstantIndexOp::create(rewriter, loc, constant.getValue()));
      else
        return {};
    }
    FailureOr<SmallVector<Value>> origin = chain.getOriginPosition(rewriter, loc, position);
    if (failed(origin))
      return {};

    AffineMap written = generator.getMatchingIndexingMap(generator.getDpsInitOperand(0));
    IRMapping mapping;
    for (Operation &inner : generator.getBody()->without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      if (!index) {
        rewriter.clone(inner, mapping);
        continue;
      }
      std::optional<unsigned> axis = written.getResultPosition(getAffineDimExpr(index.getDim(), rewriter.getContext()));
      // A loop that is no axis of the result has extent 1.
      Value coordinate = axis ? (*origin)[*axis] : arith::ConstantIndexOp::create(rewriter, loc, 0).getResult();
      mapping.map(index.getResult(), coordinate);
    }
    return mapping.lookupOrDefault(generator.getBody()->getTerminator()->getOperand(0));
  }
};

} // namespace
