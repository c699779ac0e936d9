//===- TaskStream.h - Which index tasks may run as one ------------*- C++ -*-===//
//
// The fusion constraints of Diffuse (ASPLOS '25, section 4, Fig. 5) as an incremental checker, the arguments of a fused
// task (section 4.3) and the stores that only live inside of it (section 5.1, Def. 4). All on plain numbers: the passes
// on the `dist` dialect and sessions that see tasks while a program runs call the same code.
//
// Time per argument is constant: it depends neither on the number of points of a domain nor on the number of tasks
// before. Partitions are compared by number, so the caller interns them: equal numbers exactly for equal partitions.
//
// No object here is thread-safe; distinct objects may be used by distinct threads.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_TASKSTREAM_H
#define FUSION_ANALYSIS_TASKSTREAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace fusion::tasks {

enum class Privilege : uint8_t { Read, Write, ReadWrite, Reduce };

inline bool reads(Privilege privilege) { return privilege == Privilege::Read || privilege == Privilege::ReadWrite; }
inline bool writes(Privilege privilege) { return privilege == Privilege::Write || privilege == Privilege::ReadWrite; }

/// One argument of an index task: at point `p` it touches `partition(p)` of `store`.
struct Argument {
  /// Number of the *root* store: a view is part of the partition. Small and dense, they index tables.
  uint32_t store = 0;
  uint32_t partition = 0;
  Privilege privilege = Privilege::Read;
  /// The operator, if the privilege is Reduce.
  uint8_t reducer = 0;
  /// A store of one element that every point has a copy of. Its partition does not matter.
  bool isScalar = false;
};

/// Why a group of tasks ends.
enum class Constraint : uint8_t {
  // The four of the paper.
  LaunchDomain,
  TrueDependence,
  AntiDependence,
  Reduction,
  // Those of practice.
  /// Two operators reduce to one store.
  ReductionOperator,
  /// Two partitions reduce to one store: a fused body would have two buffers for it.
  ReductionView,
  /// A store is two arguments of one task, and one of them is written or reduced.
  Aliasing,
  /// A scalar is read and then written: points of a domain that share a copy of it would see the new value.
  ScalarReuse,
  /// A task without body.
  Opaque,
  /// An argument whose partition depends on data.
  Image,
  /// The tasks run on different kinds of processors.
  Machine,
  /// The window is full.
  Window,
  // What stands between tasks in a program.
  HostRead,
  ControlFlow,
  /// A fill or copy that cannot be part of the group.
  Fill
};

/// "true-dependence", ... as in remarks and reports.
llvm::StringRef getName(Constraint constraint);

struct Task {
  /// Number of the launch domain: equal numbers exactly for equal extents.
  uint32_t domain = 0;
  /// Whether the domain has one point only.
  bool onePoint = false;
  /// What keeps this task from being part of any group, if anything.
  std::optional<Constraint> barrier;
  /// Number of the set of processors it runs on.
  uint32_t machine = 0;
  llvm::ArrayRef<Argument> arguments;
};

/// Whether every point of any domain may compute the task for itself: all of it is scalars, on one point, and nothing
/// is reduced (each point would contribute again).
bool isPromotable(const Task &task);

/// Why a task may not join a group.
struct Conflict {
  Constraint constraint = Constraint::LaunchDomain;
  /// The argument of the rejected task, if it is about one.
  std::optional<unsigned> argument;
  /// The member of the group that it conflicts with, in the order of admission, if it is about one.
  std::optional<unsigned> member;
};

struct CheckerOptions {
  /// Whether scalar tasks on one point join groups on other domains.
  bool promoteScalars = true;
  /// Whether all reductions to one store must have the same partition; the paper does not ask for it.
  bool sameReductionView = true;
};

/// Decides task by task whether a stream's prefix can run without communication between points (2.4 of our notes is
/// the pseudo-code). A task that is rejected leaves the state as it was.
class PrefixChecker {
public:
  explicit PrefixChecker(CheckerOptions options = {}) : options(options) {}

  /// Admits `task` as the next member of the group, or says what forbids it.
  std::optional<Conflict> admit(const Task &task);

  /// Starts a new group. Constant time.
  void reset();

  unsigned getNumMembers() const { return numMembers; }

  /// The domain of the group's tasks that are not promoted; none if all may be.
  std::optional<uint32_t> getDomain() const { return domain; }

  /// Whether a store was touched by the group, or written or reduced by it.
  bool touches(uint32_t store) const { return getState(store) != nullptr; }
  bool changes(uint32_t store) const;

private:
  static constexpr uint32_t none = ~0u;
  /// A partition and the first member that used it so.
  struct Use {
    uint32_t partition = none, member = none;
    explicit operator bool() const { return member != none; }
  };
  /// What the task that is looked at does with a store.
  struct TaskState {
    uint64_t task = 0;
    bool changes = false;
  };
  struct State {
    uint64_t group = 0;
    /// The one partition that is written, and the first two different ones that are read.
    Use written, read, readOtherwise, reduced;
    uint8_t reducer = 0;
    /// A scalar that was read before the group wrote it.
    bool readFirst = false;
    TaskState own;
  };

  const State *getState(uint32_t store) const;
  State &getEntry(uint32_t store);
  State &getFreshState(uint32_t store);
  std::optional<Conflict> checkDomain(const Task &task, bool promoted) const;
  std::optional<Conflict> checkAliasing(const Task &task);
  std::optional<Conflict> checkArgument(const Argument &argument, unsigned index, bool severalPoints) const;
  void record(const Task &task);

  CheckerOptions options;
  std::vector<State> states;
  /// Stamps that make old states invalid.
  uint64_t group = 1, task = 0;
  unsigned numMembers = 0;
  std::optional<uint32_t> domain, machine;
  unsigned domainMember = 0;
  bool severalPoints = false;
  /// The member that wrote a scalar that had been read before.
  std::optional<unsigned> reuseMember;
};

/// Number of tasks at the start of `stream` that can run as one; 0 if already the first cannot be part of a group.
/// `conflict`, if given, is what ended the prefix, if anything did.
unsigned getFusiblePrefix(llvm::ArrayRef<Task> stream, CheckerOptions options = {},
                          std::optional<Conflict> *conflict = nullptr);

/// The arguments of a fused task, one for each part of a store, in order of first use.
struct FusedArguments {
  std::vector<Argument> arguments;
  /// slots[t][a] is the number of the fused argument that argument `a` of member `t` became.
  std::vector<llvm::SmallVector<unsigned, 4>> slots;
};

/// Diffuse, section 4.3, with de-escalation: what is only read after the group has written it, is not read.
FusedArguments buildArguments(llvm::ArrayRef<Task> members);

/// Which of the fused arguments are temporaries (Diffuse, Def. 4): their stores are written in the group, read there
/// only where it has written before, and not observed afterwards (`isLiveAfter`, called once for each candidate store).
/// A store that is written and not read at all is one, too; a store that is reduced is not.
///
/// Unlike the definition this does not ask that the written partition covers the store: within a group only the
/// partition that was written is read, and at each point that is what the point has written.
llvm::SmallVector<unsigned> findTemporaries(const FusedArguments &fused,
                                            llvm::function_ref<bool(uint32_t store)> isLiveAfter);

/// Whether a stream reads or reduces a store before it has overwritten all of it. `covers` tells whether an argument is
/// written and is the whole store.
bool isObservedBy(llvm::ArrayRef<Task> pending, uint32_t store,
                  llvm::function_ref<bool(const Task &, const Argument &)> covers);

} // namespace fusion::tasks

#endif // FUSION_ANALYSIS_TASKSTREAM_H
