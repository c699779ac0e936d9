//===- Core.h - What a session knows ------------------------------*- C++ -*-===//
//
// Plain data and the functions on it, without exceptions: errors are texts, empty for none. Session.cpp turns them into
// exceptions.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_SESSION_CORE_H
#define FUSION_LIB_SESSION_CORE_H

#include "fusion/Session/Session.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fusion::session {

/// Empty if all went well.
using Error = std::string;

/// Shape and element type of stores, interned.
struct StoreClass {
  std::vector<int64_t> shape;
  ElementType type;
  int64_t elements = 1, bytes = 0;
  /// Of the run-time's context: where it keeps the layout.
  int64_t slot = 0;
};

/// As in the tables of fusion/Runtime/Dist.h, which `words` are.
struct PartitionRecord {
  enum Kind { Whole, Tiled, ImageOfPoints, ImageOfRange } kind = Whole;
  std::vector<int64_t> tile, offset, extent, color;
  std::vector<int64_t> words{0};
  bool isImage() const { return kind == ImageOfPoints || kind == ImageOfRange; }
};

struct DomainRecord {
  std::vector<int64_t> extents;
  /// Of scalar tasks, which may be computed by every point of another domain.
  bool isScalar = false;
  int64_t points = 1;
};

struct KindRecord {
  std::string name;
  std::vector<TaskPrivilege> privileges;
  std::string text;
  std::function<std::string()> generator;
  FusionTask function = nullptr;
  bool isFill = false;
};

/// Where elements of a store are: a partition on a domain.
struct Placement {
  uint32_t partition, domain;
  bool operator==(const Placement &other) const { return partition == other.partition && domain == other.domain; }
};

struct StoreRecord {
  Core *core = nullptr;
  uint32_t storeClass = 0;
  /// Handles of the application, and tasks in the window (Diffuse, section 5.1).
  uint32_t handles = 0, waiting = 0;
  /// Number in the run-time's context.
  uint32_t number = 0;
  void *data = nullptr;
  /// What the elements are when memory is taken.
  bool isFilled = false;
  uint64_t fillBits = 0;
  /// Numbering in the window.
  uint64_t stamp = 0;
  uint32_t index = 0;
  /// With several ranks: who has the elements, the newest last, and where copies are. Empty: everybody has all.
  std::vector<Placement> holders, copies;
  std::vector<int64_t> words;
};

struct TaskArgument {
  StoreRecord *store;
  uint32_t partition;
};

struct TaskRecord {
  uint32_t kind, domain;
  /// In Window::arguments.
  uint32_t begin, count;
};

/// How a group is run: made once for each different group, replayed for all that are equal but for their stores.
struct Plan {
  unsigned numTasks = 0, numCounted = 0, numFills = 0;
  /// One of these; both null if nothing is to be done.
  void (*body)(void **) = nullptr;
  FusionTask function = nullptr;
  std::string name;
  /// The code that `body` is in.
  std::shared_ptr<void> code;
  struct Argument {
    /// Position among the arguments of the group's tasks.
    uint32_t position;
    uint32_t partition;
    TaskPrivilege privilege;
    /// Where the number of the store stands in `words`.
    uint32_t word;
    /// Slot of contributions with several ranks.
    int64_t slot = -1;
    bool coversStore = false;
  };
  std::vector<Argument> arguments;
  uint32_t domain = 0;
  bool everywhere = false, replicated = false;
  /// For fusion_dist_launch.
  std::vector<int64_t> words;
  uint64_t movedBytes = 0;
  unsigned numEliminated = 0;
};

using Key = std::vector<uint32_t>;
struct KeyHash {
  size_t operator()(const Key &key) const;
};

/// A known window: the length of its prefix and what that becomes.
struct KnownWindow {
  unsigned length;
  const Plan *plan;
};

/// Compiles groups. Lives in Compiler.cpp, with all that needs MLIR.
class Compiler;
struct CompilerDeleter {
  void operator()(Compiler *compiler) const;
};

struct Core {
  SessionOptions options;
  bool isClosed = false;
  /// Handles that are alive after the session.
  uint64_t numRecords = 0;
  int32_t ranks = 1, rank = 0;
  int64_t points = 1;
  Domain rowDomain;

  // Interned.
  std::vector<StoreClass> classes;
  std::vector<PartitionRecord> partitions;
  std::vector<DomainRecord> domains;
  std::vector<KindRecord> kinds;
  std::unordered_map<std::string, uint32_t> classNumbers, partitionNumbers, domainNumbers;
  std::unordered_map<Key, std::vector<int64_t>, KeyHash> exchangeTables;

  // The window.
  std::vector<TaskRecord> tasks;
  std::vector<TaskArgument> arguments;
  unsigned window = 5;
  uint64_t stamp = 0;
  Key key;
  std::vector<StoreRecord *> stores;
  // Outlives the code of the plans.
  std::unique_ptr<Compiler, CompilerDeleter> compiler;
  std::unordered_map<Key, KnownWindow, KeyHash> windows;
  std::unordered_map<Key, std::unique_ptr<Plan>, KeyHash> plans;

  // The run-time.
  FusionDistContext *context = nullptr;
  int64_t numStores = 0, numSlots = 0, roomForStores = 0, roomForSlots = 0;
  std::vector<uint32_t> freeNumbers;
  std::vector<StoreRecord *> freeRecords;
  /// Of the group that runs; kept for its memory.
  std::vector<TaskArgument> taken;

  SessionStatistics statistics;
  std::function<void(const std::string &)> log;

  ~Core();
};

//===--- Records.cpp ----------------------------------------------------------------===//

uint32_t internClass(Core &core, std::vector<int64_t> shape, ElementType type);
uint32_t internPartition(Core &core, PartitionRecord partition);
uint32_t internDomain(Core &core, std::vector<int64_t> extents, bool isScalar);
/// Whether the argument's box is the whole store, over all points.
bool covers(const Core &core, uint32_t storeClass, uint32_t partition, uint32_t domain);
/// Whether no two points have a common element.
bool isDisjoint(const Core &core, uint32_t storeClass, uint32_t partition, uint32_t domain);
/// Elements that all points together touch.
int64_t countElements(const Core &core, uint32_t storeClass, uint32_t partition);
/// Why the arguments are not those of a valid launch.
Error checkLaunch(const Core &core, uint32_t kind, uint32_t domain, const TaskArgument *arguments, size_t count);

//===--- Memory.cpp -----------------------------------------------------------------===//

Error openContext(Core &core);
StoreRecord *createRecord(Core &core, uint32_t storeClass);
/// Gives memory to a store that has none, filled if `needsContent`.
Error allocateStore(Core &core, StoreRecord &store, bool needsContent);
/// Frees the record if nothing refers to it.
void releaseStore(StoreRecord *store);
int64_t takeSlot(Core &core);
/// Room in the context for all numbers that were given out.
Error reserveNumbers(Core &core);
uint64_t getBits(ElementType type, double value);

//===--- Execute.cpp ----------------------------------------------------------------===//

/// Runs a plan; `arguments` are those of the group's tasks, in order.
Error runPlan(Core &core, const Plan &plan, const TaskArgument *arguments);
/// Everything that a rank lacks of the store is brought to it. Collective.
Error gatherStore(Core &core, StoreRecord &store);

//===--- Window.cpp -----------------------------------------------------------------===//

/// Runs one group from the start of the window.
Error step(Core &core, bool isFull);
Error flush(Core &core);

//===--- Compiler.cpp ---------------------------------------------------------------===//

struct GroupRequest {
  const TaskRecord *tasks;
  unsigned numTasks;
  const TaskArgument *arguments;
  /// By StoreRecord::index; those of the group come first.
  const std::vector<StoreRecord *> *stores;
  unsigned numStores;
  /// By the same index: whether the store is needed after the group.
  std::vector<bool> isNeeded;
};

Error createCompiler(Core &core);
/// Fuses and compiles a group. Everything of `plan` is set.
Error compileGroup(Core &core, const GroupRequest &request, Plan &plan);

} // namespace fusion::session

#endif // FUSION_LIB_SESSION_CORE_H
