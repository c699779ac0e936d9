//===- ComposeTask.h - One task of the bodies of several ------------------===//

#ifndef FUSION_PASSES_TASKS_COMPOSETASK_H
#define FUSION_PASSES_TASKS_COMPOSETASK_H

#include "TaskGroups.h"

#include "mlir/IR/SymbolTable.h"

namespace fusion::dist {

/// A store that a fused task needs no more.
struct Eliminated {
  mlir::Value store;
  int64_t bytes = 0;
};

struct Composition {
  LaunchOp launch;
  llvm::SmallVector<Eliminated> eliminated;
  /// Temporaries that stay arguments: no other argument has boxes of their extents.
  llvm::SmallVector<mlir::Value> kept;
};

/// Makes fused tasks; equal ones in one symbol table are one. New ones stand before the function that launches them.
class TaskComposer {
public:
  /// Replaces the members of a group, at the place of the last, by one launch of a task that has their bodies in
  /// program order. An argument is there for each part of a store, with the least privilege (Diffuse, section 4.3);
  /// temporaries (Def. 4) become values of the body. No launch if nothing that is written is still needed: the members
  /// vanish. Members' tasks have bodies. `stream` refers to erased operations afterwards: use it for later groups of
  /// the same plan only.
  Composition compose(llvm::ArrayRef<mlir::Operation *> members, TaskStreamBuilder &stream);

  /// The same for one launch, if it has arguments that are temporaries; no launch, and no change, if it has none.
  Composition composeIfSmaller(mlir::Operation *member, TaskStreamBuilder &stream);

  /// Number of different tasks made.
  unsigned getNumTasks() const { return numTasks; }

private:
  TaskOp insert(TaskOp task, mlir::Operation *user);

  mlir::SymbolTableCollection tables;
  unsigned numTasks = 0;
  /// By symbol table and a hash of what is cheap to hash.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, llvm::SmallVector<TaskOp, 1>> known;
};

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_COMPOSETASK_H
