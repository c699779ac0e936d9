//===- FuseReport.h - What is said about groups of tasks ------------------===//

#ifndef FUSION_PASSES_TASKS_FUSEREPORT_H
#define FUSION_PASSES_TASKS_FUSEREPORT_H

#include "ComposeTask.h"

#include "fusion/Report/TaskReport.h"

namespace fusion::dist {

/// Where a step is: the outermost loop that holds launches, of those the one with most. Without such a loop,
/// everything. Valid until the program changes.
class Steps {
public:
  explicit Steps(mlir::ModuleOp module);
  /// How often what is in `block` runs in every step, as far as trip counts are known; 0 outside, and under a condition.
  int64_t getTimes(mlir::Block *block) const;
  /// Launches of a step.
  int64_t countTasks(mlir::ModuleOp module) const;

private:
  mlir::Operation *step = nullptr;
};

/// Notes a group before its members are gone, and its end.
class GroupRecorder {
public:
  explicit GroupRecorder(mlir::ModuleOp module);
  TaskReport::Group describe(const TaskGroup &group) const;
  /// Adds what has become of the group, with a remark at the launch.
  void add(TaskReport::Group described, const Composition &composition, mlir::Location loc);
  /// A group of one task that stays as it is.
  void addSingle(const TaskGroup &group);
  /// Adds why the group ends, with a remark.
  void addBoundary(const TaskGroup &group);

  TaskReport report;

private:
  Steps steps;
};

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_FUSEREPORT_H
