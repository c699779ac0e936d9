//===- TaskGroups.h - Which operations of a block run as one task ---------===//
//
// The dist dialect as a stream for fusion/Analysis/TaskStream.h.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PASSES_TASKS_TASKGROUPS_H
#define FUSION_PASSES_TASKS_TASKGROUPS_H

#include "fusion/Analysis/TaskStream.h"
#include "fusion/Dist/Dist.h"

#include <deque>

namespace fusion::dist {

/// Which fills may be part of a fused task (those of constants; others never).
enum class FusibleFills { All, Views, None };

struct GroupOptions {
  tasks::CheckerOptions checker;
  FusibleFills fills = FusibleFills::All;
  /// Members of a group at most; 0: any number.
  unsigned window = 0;
};

/// Why a group ended where it did.
struct Boundary {
  tasks::Constraint constraint;
  /// The operation that is not in the group.
  mlir::Operation *at = nullptr;
  /// The member that it conflicts with, and the store that it is about, if known.
  mlir::Operation *with = nullptr;
  mlir::Value store;
};

/// Launches, fills and copies that run as one, in program order. Everything between them can stay before them, but for
/// what is deferred.
struct TaskGroup {
  llvm::SmallVector<mlir::Operation *> members;
  /// Fills and copies of scalars that must run after the group, though they stand before its last member. They are members
  /// of the next group, or of none.
  llvm::SmallVector<mlir::Operation *> deferred;
  /// What ended it; none at the end of the block.
  std::optional<Boundary> end;

  /// Number of launches: fills and copies are no tasks.
  unsigned getNumTasks() const;
};

/// Gives stores, partitions and domains their numbers, and keeps the argument lists.
class TaskStreamBuilder {
public:
  /// The operation as the analysis sees it. Valid as long as this object.
  const tasks::Task &get(AccessOpInterface op);
  /// The number of the store's root.
  uint32_t getNumber(mlir::Value store);
  /// The root store with that number.
  mlir::Value getStore(uint32_t number) const { return stores[number]; }

private:
  llvm::DenseMap<mlir::Value, uint32_t> storeNumbers;
  llvm::DenseMap<mlir::Attribute, uint32_t> attributeNumbers;
  llvm::SmallVector<mlir::Value> stores;
  llvm::DenseMap<mlir::Operation *, tasks::Task> known;
  std::deque<llvm::SmallVector<tasks::Argument>> arguments;
  mlir::SymbolTableCollection symbols;
};

/// The longest fusible prefixes of a sequence of operations, one after the other, as they stand.
std::vector<TaskGroup> planGroups(llvm::ArrayRef<mlir::Operation *> operations, const GroupOptions &options,
                                  TaskStreamBuilder &stream);

/// Number of groups that hold a task.
unsigned countGroups(llvm::ArrayRef<TaskGroup> groups);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_TASKGROUPS_H
