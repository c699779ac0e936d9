//===- HostValues.cpp - What only the first rank knows ----------------------===//

#include "HostValues.h"
#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fusion::dist;

namespace {

/// Values that follow from tensors of the first rank, found by walking over uses.
class FirstRankValues {
public:
  void add(Value value) {
    if (known.insert(value).second)
      open.push_back(value);
  }

  void propagate() {
    while (!open.empty())
      for (OpOperand &use : open.pop_back_val().getUses())
        visit(use);
  }

  bool contains(Value value) const { return known.contains(value); }

private:
  void visit(OpOperand &use) {
    Operation *user = use.getOwner();
    // Extents are the same everywhere, and a store has the content of the first rank's tensor on all.
    if (isa<tensor::DimOp, FromTensorOp>(user))
      return;
    for (Value result : user->getResults())
      if (!isa<StoreType>(result.getType()))
        add(result);
    for (Region &region : user->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(argument);
    // What a region yields is a result of its operation, or comes back to its arguments.
    Operation *parent = user->getParentOp();
    if (!user->hasTrait<OpTrait::IsTerminator>() || !parent || isa<FunctionOpInterface>(parent))
      return;
    for (Value result : parent->getResults())
      add(result);
    if (isa<LoopLikeOpInterface>(parent))
      for (Region &region : parent->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            add(argument);
  }

  llvm::DenseSet<Value> known;
  SmallVector<Value> open;
};

} // namespace

static bool hasStores(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa_and_nonnull<DistDialect>(inner->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult fusion::dist::verifyHostValues(FunctionOpInterface function) {
  FirstRankValues values;
  function->walk([&](ToTensorOp op) {
    if (cast<StoreType>(op.getStore().getType()).getRank() > 0)
      values.add(op.getTensor());
  });
  values.propagate();
  WalkResult found = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto depends = [&](Value value) { return values.contains(value); };
    if (auto fill = dyn_cast<FillOp>(op); fill && depends(fill.getValue())) {
      fill.emitOpError(
          "fills with a value that only the first rank knows, since it comes from the tensor of a store; a "
          "'dist.launch' can bring it to a scalar store, which every rank has");
      return WalkResult::interrupt();
    }
    bool decides = false;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      decides = depends(loop.getLowerBound()) || depends(loop.getUpperBound()) || depends(loop.getStep());
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      decides = depends(branch.getCondition());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      decides = depends(loop.getConditionOp().getCondition());
    if (decides && hasStores(op)) {
      op->emitOpError(
          "has operations on stores inside, but depends on a value that only the first rank knows, since it "
          "comes from the tensor of a store; the tensor of a scalar store every rank knows");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return success(!found.wasInterrupted());
}
