//===- Reorder.h - Independent tasks move past what blocks a group --------===//

#ifndef FUSION_PASSES_TASKS_REORDER_H
#define FUSION_PASSES_TASKS_REORDER_H

#include "TaskGroups.h"

namespace fusion::dist {

/// Moves launches, fills and copies of `block` forward, past others that they do not depend on, where that makes fewer
/// groups. Reads by the host program and control flow are not passed. The number of groups that it saves.
unsigned reorderForFusion(mlir::Block &block, const GroupOptions &options);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_REORDER_H
