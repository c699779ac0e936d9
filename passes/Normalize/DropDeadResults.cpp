//===- DropDeadResults.cpp - Remove unused results of linalg.generic ----------===//

#include "GenericRewriting.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fusion {
#define GEN_PASS_DEF_DROPDEADRESULTS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// What of a body is needed for its used results and its side effects.
class BodyLiveness {
public:
  explicit BodyLiveness(linalg::GenericOp op) : op(op), body(op.getBody()) {
    results.resize(op->getNumResults());
    for (OpResult result : op->getResults())
      if (!result.use_empty())
        keepResult(result.getResultNumber());
    for (Operation &inner : body->without_terminator())
      if (!isMemoryEffectFree(&inner))
        keep(&inner);
    while (!worklist.empty()) {
      Operation *inner = worklist.pop_back_val();
      inner->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          keep(operand);
      });
    }
  }

  bool isLive(Operation *inner) const { return operations.contains(inner); }
  bool isLiveResult(unsigned index) const { return results.test(index); }
  bool allResultsLive() const { return results.all(); }

private:
  /// A result is needed if it is used, or if the body reads its init's argument for something that is needed.
  void keepResult(unsigned index) {
    if (results.test(index))
      return;
    results.set(index);
    keep(body->getTerminator()->getOperand(index));
  }

  void keep(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != body)
        return;
      if (argument.getArgNumber() >= op.getNumDpsInputs())
        keepResult(argument.getArgNumber() - op.getNumDpsInputs());
      return;
    }
    if (Operation *ancestor = body->findAncestorOpInBlock(*value.getDefiningOp()))
      keep(ancestor);
  }

  void keep(Operation *inner) {
    if (operations.insert(inner).second)
      worklist.push_back(inner);
  }

  linalg::GenericOp op;
  Block *body;
  llvm::SmallBitVector results;
  DenseSet<Operation *> operations;
  SmallVector<Operation *> worklist;
};

struct DropDeadResults : fusion::impl::DropDeadResultsBase<DropDeadResults> {
  using DropDeadResultsBase::DropDeadResultsBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        generics.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // Users first, so that what only dead code used is dead too.
    for (linalg::GenericOp op : llvm::reverse(generics)) {
      if (isOpTriviallyDead(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      op = dropResults(rewriter, op);
      dropOperands(rewriter, op);
    }
  }

private:
  /// Users first.
  static void eraseIf(IRRewriter &rewriter, Block *body, llvm::function_ref<bool(Operation *)> isDead) {
    SmallVector<Operation *> operations =
        llvm::map_to_vector(body->without_terminator(), [](Operation &inner) { return &inner; });
    for (Operation *inner : llvm::reverse(operations))
      if (isDead(inner))
        rewriter.eraseOp(inner);
  }

  linalg::GenericOp dropResults(IRRewriter &rewriter, linalg::GenericOp op) {
    BodyLiveness liveness(op);
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    for (OpResult result : op->getResults())
      if (liveness.isLiveResult(result.getResultNumber()))
        maps.push_back(op.getIndexingMapMatchingResult(result));
    bool dropsResults = !liveness.allResultsLive() && fusion::boundsAllLoops(maps) && maps.size() > 0;

    Block *body = op.getBody();
    if (!dropsResults)
      return op;

    SmallVector<Value> inits, yielded;
    SmallVector<Type> types;
    for (auto [index, init] : llvm::enumerate(op.getOutputs())) {
      if (!liveness.isLiveResult(index))
        continue;
      inits.push_back(init);
      types.push_back(op->getResultTypes()[index]);
      yielded.push_back(body->getTerminator()->getOperand(index));
    }
    // A generic needs an init; one that only asserts keeps its first.
    if (inits.empty())
      return op;
    rewriter.setInsertionPoint(op);
    auto result = linalg::GenericOp::create(rewriter, op.getLoc(), types, op.getInputs(), inits,
                                            rewriter.getAffineMapArrayAttr(maps), op.getIteratorTypes(),
                                            op.getDocAttr(), op.getLibraryCallAttr());
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      result->setDiscardableAttr(attribute.getName(), attribute.getValue());
    rewriter.modifyOpInPlace(body->getTerminator(), [&] { body->getTerminator()->setOperands(yielded); });
    eraseIf(rewriter, body, [&](Operation *inner) { return !liveness.isLive(inner); });
    for (unsigned index = op.getNumDpsInits(); index-- > 0;)
      if (!liveness.isLiveResult(index))
        body->eraseArgument(op.getNumDpsInputs() + index);
    rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());

    unsigned next = 0;
    for (OpResult old : op->getResults()) {
      if (liveness.isLiveResult(old.getResultNumber()))
        rewriter.replaceAllUsesWith(old, result.getResult(next++));
      else
        ++numResults;
    }
    rewriter.eraseOp(op);
    return result;
  }

  /// Drops inputs that the body does not read or reads through another input too, as long as all loops stay bounded.
  void dropOperands(IRRewriter &rewriter, linalg::GenericOp op) {
    Block *body = op.getBody();
    eraseIf(rewriter, body, [](Operation *inner) { return isOpTriviallyDead(inner); });
    llvm::SmallBitVector dropped(op.getNumDpsInputs());
    for (OpOperand *input : op.getDpsInputOperands()) {
      unsigned index = input->getOperandNumber();
      for (unsigned earlier = 0; earlier < index; ++earlier) {
        OpOperand *other = op.getDpsInputOperand(earlier);
        if (!dropped.test(earlier) && other->get() == input->get() &&
            op.getMatchingIndexingMap(other) == op.getMatchingIndexingMap(input)) {
          rewriter.replaceAllUsesWith(body->getArgument(index), body->getArgument(earlier));
          break;
        }
      }
      if (!body->getArgument(index).use_empty())
        continue;
      dropped.set(index);
      if (!fusion::boundsAllLoops(fusion::mapsWithout(op, dropped)))
        dropped.reset(index);
    }
    if (dropped.none())
      return;
    numInputs += dropped.count();
    fusion::dropInputs(rewriter, op, dropped);
  }
};

} // namespace
