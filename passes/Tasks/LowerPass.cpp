//===- LowerPass.cpp - The pass -----------------------------------------------===//

#include "Lower.h"

#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace fusion::dist;

namespace fusion {
#define GEN_PASS_DEF_DISTLOWER
#include "fusion/Tasks/Passes.h.inc"

namespace {

bool isDist(Operation *op) { return isa_and_nonnull<DistDialect>(op->getDialect()); }

struct Lower : impl::DistLowerBase<Lower> {
  /// Tasks make room for C functions of their names.
  LogicalResult renameTasks() {
    SymbolTable symbols(getOperation());
    for (auto task : getOperation().getOps<TaskOp>())
      if (failed(symbols.rename(task, StringAttr::get(&getContext(), taskPrefix + task.getSymName()))))
        return task.emitOpError("cannot be renamed");
    return success();
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.walk([](Operation *op) { return isDist(op) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted())
        functions.push_back(function);
    if (functions.empty())
      return;
    if (failed(renameTasks()))
      return signalPassFailure();
    BodyBuilder bodies(getOperation());
    LowerCounts counts;
    for (func::FuncOp function : functions)
      if (failed(lowerHost(function, bodies, counts)))
        return signalPassFailure();
    for (auto task : llvm::make_early_inc_range(getOperation().getOps<TaskOp>()))
      task.erase();
    WalkResult left = getOperation().walk([](Operation *op) {
      if (!isDist(op))
        return WalkResult::advance();
      op->emitOpError("stands outside of the functions of the module, which is not supported");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return signalPassFailure();
    numBodies += bodies.getNumBodies();
    numBorrowed += counts.borrowed;
    numPlaced += counts.placed;
    // All ranks must learn of a failure: entry points ask for it.
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        function->setAttr("fusion.ranks", UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace fusion
