//===- TaskReport.h - Which tasks were fused, and what kept them apart ------===//
//
// Made by the passes of the Tasks stage, which keep it as the attribute `dist.task_report` of the module while it is
// compiled; fusion-run --json and --report read it from there. The same facts are remarks of category `dist`.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_REPORT_TASKREPORT_H
#define FUSION_REPORT_TASKREPORT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace fusion {

struct TaskReport {
  /// A launch, alone or fused, or the part of a program that vanished.
  struct Group {
    /// The names of its tasks in program order, fills and copies among them, and where the last of them stands.
    std::vector<std::string> tasks;
    std::string place;
    /// The task that is launched instead; empty if all of it was dead.
    std::string name;
    /// Stores that became values of its body, by type and place, and their bytes.
    std::vector<std::string> eliminated;
    int64_t bytesSaved = 0;
    /// Temporaries that stay, since nothing else has their extents.
    std::vector<std::string> kept;
    /// Executions per step; 0 outside of steps.
    int64_t perStep = 0;
  };
  /// Why a group ends before the next one.
  struct Boundary {
    /// The name of the constraint, as in fusion/Analysis/TaskStream.h.
    std::string constraint;
    /// The operation that could not join, what it conflicts with, and the store in question. May be empty but the
    /// first.
    std::string at, with, store;
    int64_t perStep = 0;
  };

  /// A step is one iteration of the outermost loop that holds launches (of that with most, if there are several), or
  /// all of the program if there is none. Fills and copies are no tasks, and what is under a condition is not part of
  /// every step. Inner loops count as often as they are known to run.
  int64_t tasksPerStep = 0, groupsPerStep = 0;
  /// Stores that need no memory any more, and bytes that they had.
  int64_t storesEliminated = 0, bytesEliminated = 0;
  std::vector<Group> groups;
  std::vector<Boundary> boundaries;

  /// Sets the attribute of `module`, and gets it; none if no pass has made it.
  void write(mlir::ModuleOp module) const;
  static std::optional<TaskReport> read(mlir::ModuleOp module);

  /// In words, several lines.
  void print(llvm::raw_ostream &os) const;
};

} // namespace fusion

#endif // FUSION_REPORT_TASKREPORT_H
