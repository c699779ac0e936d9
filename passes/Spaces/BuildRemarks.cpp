//===- BuildRemarks.cpp - Why neighbouring ops are not in one graph -------===//

#include "Build.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

/// Whether `op` computes with the elements of tensors. Reshapes, extents, destinations and constants do not.
bool isComputation(Operation *op) {
  if (isReshape(op) || op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<tensor::EmptyOp, tensor::DimOp, tensor::RankOp, linalg::FillOp, tensor::SplatOp>(op))
    return false;
  if (isa<linalg::LinalgOp>(op) || llvm::any_of(op->getOperands(), isTensor))
    return true;
  WalkResult walk = op->walk([&](Operation *nested) {
    return llvm::any_of(nested->getOperands(), isTensor) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

class Explanation {
public:
  Explanation(Block &block, BlockAlignment &alignment) : block(block), alignment(alignment) {}

  void run() {
    for (Operation &op : block)
      if (isComputation(&op))
        for (Operation *producer : getProducers(&op))
          explain(producer, &op);
  }

private:
  const Operator *getOperator(Operation *op) {
    auto it = alignment.operators.find(op);
    return it == alignment.operators.end() ? nullptr : &it->second;
  }

  /// The computations of the block that `op` reads from, seen through reshapes.
  llvm::SetVector<Operation *> getProducers(Operation *op) {
    llvm::SetVector<Operation *> producers;
    auto add = [&](Value value) {
      Operation *producer = value.getDefiningOp();
      while (producer && producer->getBlock() == &block && isReshape(producer))
        producer = getReshaped(producer).getDefiningOp();
      if (producer && producer->getBlock() == &block && isComputation(producer))
        producers.insert(producer);
    };
    if (const Operator *inGraph = getOperator(op)) {
      for (auto [operand, traced] : llvm::zip(op->getOperands(), inGraph->operands))
        if (traced.root)
          add(operand);
    } else {
      op->walk([&](Operation *nested) { llvm::for_each(nested->getOperands(), add); });
    }
    return producers;
  }

  /// Why `op` is in no graph.
  Refusal getRefusal(Operation *op) {
    if (auto it = alignment.refusals.find(op); it != alignment.refusals.end())
      return it->second;
    std::string name = op->getName().getStringRef().str();
    if (isa<CallOpInterface>(op))
      return {Reason::NotAMapping, name + " calls another function"};
    if (isa<RegionBranchOpInterface>(op) && !isa<linalg::LinalgOp>(op))
      return {Reason::NotAMapping, name + " is control flow"};
    if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp, tensor::PadOp>(op))
      return {Reason::NotAMapping, name + " covers a part of a dimension only"};
    return {Reason::NotAMapping, name + " is no linalg.generic over whole dimensions"};
  }

  void explain(Operation *producer, Operation *consumer) {
    const Operator *from = getOperator(producer), *to = getOperator(consumer);
    if (!to || !from) {
      Operation *outside = to ? producer : consumer;
      Refusal refusal = getRefusal(outside);
      refusal.text = (to ? "the operand stays outside of kernels: " : "it stays outside of kernels: ") + refusal.text;
      remarkApart(producer, consumer, refusal);
    } else if (from->stage != to->stage) {
      explainStages(*from, *to);
    }
  }

  /// Both are in graphs, but the consumer's is a later one.
  void explainStages(const Operator &from, const Operator &to) {
    Operation *producer = from.op, *consumer = to.op;
    if (auto it = alignment.refusals.find(consumer); it != alignment.refusals.end() && from.stage + 1 == to.stage)
      return remarkApart(producer, consumer, it->second);
    for (Operation *other : getProducers(consumer)) {
      const Operator *inGraph = getOperator(other);
      if (other == producer || (inGraph && inGraph->stage != to.stage))
        continue;
      if (!inGraph && !dependsOnGraph(other))
        continue;
      const char *why = inGraph ? ", which is of a later graph itself" : ", which stays outside and waits for a graph";
      return remarkApart(
          producer, consumer,
          {Reason::LaterStage, "it also reads " + describe(other) + " at " + getShortPlace(other->getLoc()) + why});
    }
    if (Operation *effect = alignment.barriers.lookup(consumer))
      return remarkApart(producer, consumer,
                         {Reason::LaterStage, describe(effect) + " at " + getShortPlace(effect->getLoc()) +
                                                  " stands between them, has side effects and reads a graph's result"});
    remarkApart(producer, consumer, {Reason::LaterStage, "it is computed where it is read, in a later graph"});
  }

  /// Whether a graph has to be computed before `op`.
  bool dependsOnGraph(Operation *op) {
    llvm::SetVector<Operation *> worklist;
    worklist.insert(op);
    for (unsigned next = 0; next < worklist.size(); ++next)
      for (Operation *producer : getProducers(worklist[next])) {
        if (getOperator(producer))
          return true;
        worklist.insert(producer);
      }
    return false;
  }

  Block &block;
  BlockAlignment &alignment;
};

} // namespace

void fusion::spacemap::explainBuild(Block &block, BlockAlignment &alignment) { Explanation(block, alignment).run(); }
