//===- FuseOptions.h - What the passes that fuse tasks have in common -----===//

#ifndef FUSION_PASSES_TASKS_FUSEOPTIONS_H
#define FUSION_PASSES_TASKS_FUSEOPTIONS_H

#include "TaskGroups.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace fusion::dist {

/// The options of a pass. None, after an error at `module`, if `fills` is not all, views or none.
std::optional<GroupOptions> getGroupOptions(mlir::ModuleOp module, llvm::StringRef fills, unsigned window,
                                            bool promoteScalars);

/// Makes views offsets of partitions wherever that is possible.
llvm::LogicalResult moveViewsToRoots(mlir::ModuleOp module);

/// Erases those of `tasks` that no launch refers to any more.
void eraseUnusedTasks(mlir::ModuleOp module, const llvm::SetVector<mlir::Operation *> &tasks);

/// Bytes of a whole store.
int64_t getBytes(mlir::Value store);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_FUSEOPTIONS_H
