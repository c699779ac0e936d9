//===- EliminateDeadStores.cpp - What nobody reads is not computed --------===//

#include "ComposeTask.h"
#include "FuseOptions.h"
#include "FuseReport.h"
#include "StoreLiveness.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {
#define GEN_PASS_DEF_DISTELIMINATEDEADSTORES
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

class EliminateDeadStores : public fusion::impl::DistEliminateDeadStoresBase<EliminateDeadStores> {
public:
  using DistEliminateDeadStoresBase::DistEliminateDeadStoresBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(moveViewsToRoots(module)))
      return signalPassFailure();
    TaskReport report = TaskReport::read(module).value_or(TaskReport());
    TaskComposer composer;
    llvm::SetVector<Operation *> formerTasks;
    // What a dead launch reads may be dead without it, also around a loop.
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<AccessOpInterface> accesses;
      module.walk([&](AccessOpInterface access) { accesses.push_back(access); });
      Steps steps(module);
      for (AccessOpInterface access : llvm::reverse(accesses))
        changed |= simplify(access, composer, formerTasks, steps, report);
    }
    SmallVector<Operation *> stores;
    module.walk([&](Operation *op) {
      if (isa<CreateOp, FromTensorOp, ViewOp>(op))
        stores.push_back(op);
    });
    // Views before what they are views of.
    for (Operation *op : llvm::reverse(stores)) {
      if (!op->use_empty())
        continue;
      if (!isa<ViewOp>(op)) {
        ++report.storesEliminated;
        report.bytesEliminated += getBytes(op->getResult(0));
        ++numStores;
      }
      op->erase();
    }
    eraseUnusedTasks(module, formerTasks);
    if (TaskReport::read(module))
      report.write(module);
  }

private:
  /// Whether something of `access` was dead, and is gone.
  bool simplify(AccessOpInterface access, TaskComposer &composer, llvm::SetVector<Operation *> &formerTasks,
                const Steps &steps, TaskReport &report) {
    bool anyLive = false, anyDead = false;
    for (const Access &part : access.getAccesses()) {
      if (part.privilege.getKind() == PrivilegeKind::Read)
        continue;
      bool live = isLiveAfter(access, part.store);
      anyLive |= live;
      anyDead |= !live && part.privilege.getKind() == PrivilegeKind::Write;
    }
    auto launch = dyn_cast<LaunchOp>(access.getOperation());
    auto task = launch ? SymbolTable::lookupNearestSymbolFrom<TaskOp>(launch, launch.getTaskAttr()) : TaskOp();
    if (!anyLive) {
      if (launch) {
        formerTasks.insert(task);
        report.groupsPerStep -= steps.getTimes(launch->getBlock());
      }
      access->erase();
      ++numLaunches;
      return true;
    }
    if (!anyDead || !task || task.isOpaque())
      return false;
    TaskStreamBuilder stream;
    if (stream.get(access).barrier)
      return false;
    Operation *member = access;
    Composition result = composer.composeIfSmaller(member, stream);
    if (!result.launch)
      return false;
    formerTasks.insert(task);
    numArguments += result.eliminated.size();
    return true;
  }
};

} // namespace
