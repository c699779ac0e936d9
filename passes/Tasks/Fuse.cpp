//===- Fuse.cpp - The longest fusible prefixes become one task ------------===//

#include "ComposeTask.h"
#include "FuseOptions.h"
#include "FuseReport.h"
#include "Reorder.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {
#define GEN_PASS_DEF_DISTFUSE
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

/// What fused launches may have left without use.
struct Touched {
  llvm::SetVector<Operation *> stores, tasks;
};

class Fuse : public fusion::impl::DistFuseBase<Fuse> {
public:
  using DistFuseBase::DistFuseBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<GroupOptions> options = getGroupOptions(module, fills, window, promoteScalars);
    if (!options || failed(moveViewsToRoots(module)))
      return signalPassFailure();
    GroupRecorder recorder(module);
    SmallVector<Block *> blocks;
    module.walk<WalkOrder::PreOrder>([&](Block *block) {
      if (llvm::any_of(*block, [](Operation &op) { return isa<AccessOpInterface>(op); }))
        blocks.push_back(block);
    });
    if (reorder)
      for (Block *block : blocks)
        numSaved += reorderForFusion(*block, *options);
    TaskComposer composer;
    Touched touched;
    recorder.report.groupsPerStep = 0;
    for (Block *block : blocks)
      recorder.report.groupsPerStep += fuseBlock(*block, *options, composer, recorder, touched);
    for (Operation *store : touched.stores)
      if (store->use_empty()) {
        recorder.report.storesEliminated += 1;
        recorder.report.bytesEliminated += getBytes(cast<CreateOp>(store).getStore());
        ++numStores;
        store->erase();
      }
    eraseUnusedTasks(module, touched.tasks);
    numFused += composer.getNumTasks();
    recorder.report.write(module);
  }

private:
  /// While all operations are there to be talked about.
  static void recordBoundaries(ArrayRef<TaskGroup> plan, GroupRecorder &recorder) {
    const TaskGroup *last = nullptr;
    for (const TaskGroup &group : plan) {
      if (group.getNumTasks() == 0)
        continue;
      if (last)
        recorder.addBoundary(*last);
      last = &group;
    }
  }

  /// The number of groups, as often as they run in a step.
  int64_t fuseBlock(Block &block, const GroupOptions &options, TaskComposer &composer, GroupRecorder &recorder,
                    Touched &touched) {
    TaskStreamBuilder stream;
    SmallVector<Operation *> operations = llvm::map_to_vector(block, [](Operation &op) { return &op; });
    int64_t groups = 0;
    std::vector<TaskGroup> plan = planGroups(operations, options, stream);
    recordBoundaries(plan, recorder);
    for (const TaskGroup &group : plan) {
      if (group.getNumTasks() == 0)
        continue;
      ++numGroups;
      TaskReport::Group described = recorder.describe(group);
      groups += described.perStep;
      if (group.members.size() == 1) {
        recorder.addSingle(group);
        continue;
      }
      for (Operation *member : group.members) {
        if (auto launch = dyn_cast<LaunchOp>(member))
          touched.tasks.insert(SymbolTable::lookupNearestSymbolFrom(launch, launch.getTaskAttr()));
        for (const Access &access : cast<AccessOpInterface>(member).getAccesses())
          if (auto create = access.store.getDefiningOp<CreateOp>())
            touched.stores.insert(create);
      }
      for (Operation *late : llvm::reverse(group.deferred))
        if (late->isBeforeInBlock(group.members.back()))
          late->moveAfter(group.members.back());
      Location loc = group.members.back()->getLoc();
      recorder.add(std::move(described), composer.compose(group.members, stream), loc);
    }
    return groups;
  }
};

} // namespace
