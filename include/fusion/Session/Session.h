//===- Session.h - Tasks that are issued while a program runs -----*- C++ -*-===//
//
// A session takes a stream of index tasks over partitioned stores (Diffuse, ASPLOS 2025), buffers them in a window, and
// runs the longest prefix that needs no communication between its points as one task: the bodies are fused, compiled
// for this CPU, and kept; stores that lived only inside of the prefix are never made. Libraries that know nothing of
// each other compose by issuing tasks to one session.
//
// Ownership: a Session owns all memory. A Store is a counted handle; elements live as long as a handle or a task that
// waits in the window refers to them. Handles may outlive their session, but then only be destroyed or assigned.
// Threads: a session and its handles belong to one thread at a time. Kernels use the threads of fusion/Runtime/Runtime.h.
// Errors: SessionError with a text. A launch that is refused changes nothing. A task that fails when it runs is reported
// by the call that made it run (launch, flush or read); it and what was fused with it are dropped, later tasks stay.
// Ranks: under an MPI launcher every process issues the same tasks in the same order (fusion/Runtime/Mpi.h). Every call
// that may run tasks is then collective.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_SESSION_SESSION_H
#define FUSION_SESSION_SESSION_H

#include "fusion/Runtime/Dist.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fusion {

namespace session {
struct Core;
struct StoreRecord;
} // namespace session

class SessionError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

enum class ElementType : uint8_t { F64, F32, I64, I32, Bool };

/// Bytes of an element. Booleans are bytes that are 0 or 1.
size_t getElementBytes(ElementType type);
/// "f64", "f32", "i64", "i32", "i1", as in the text of tasks.
const char *getElementName(ElementType type);

enum class TaskPrivilege : uint8_t {
  Read,
  /// Defines every element of its box and reads none.
  Write,
  ReadWrite,
  /// Combine contributions into the elements; associative and commutative.
  ReduceSum,
  ReduceMax,
  ReduceMin
};

struct SessionOptions {
  /// Off runs every task by itself, compiled by itself.
  bool fuse = true;
  /// Tasks that are buffered at first, what is added whenever a full window was fused whole, and the most (0: no limit; 70 is what the paper reaches).
  unsigned windowStart = 5, windowStep = 5, windowCap = 70;
  /// Whether tasks of scalars join groups on domains of several points.
  bool promoteScalars = true;
  /// Points of the domains that `Session::getRows` gives; 0 for the number of ranks.
  int64_t points = 0;
  /// As in CompileOptions: "host", "avx2", ...
  std::string target = "host";
};

struct SessionStatistics {
  /// Tasks that were launched, fills not counted, and launches that they became.
  uint64_t tasks = 0, groups = 0;
  uint64_t fills = 0;
  /// Present size of the window, and the most tasks of one group.
  unsigned window = 0, longestGroup = 0;
  /// Prefixes that were known, and those that had to be analysed.
  uint64_t cacheHits = 0, cacheMisses = 0;
  /// Groups that were compiled, and the time it took.
  uint64_t compiles = 0;
  double compileSeconds = 0;
  /// Stores that vanished in groups.
  uint64_t storesEliminated = 0;
  /// Bytes of arguments that tasks read and wrote; updates count twice.
  uint64_t movedBytes = 0;
  /// Memory of stores: now, and at most since the start or resetPeak.
  uint64_t liveBytes = 0, peakBytes = 0;
};

/// A kind of task, a partition and a launch domain: numbers of a session, cheap to copy and compare.
struct TaskKind {
  uint32_t number = ~0u;
};
struct Partition {
  uint32_t number = 0;
};
struct Domain {
  uint32_t number = 0;
};

/// A handle of an array of a fixed shape.
class Store {
public:
  Store() = default;
  Store(const Store &other);
  Store(Store &&other) noexcept : record(other.record) { other.record = nullptr; }
  Store &operator=(Store other) noexcept {
    std::swap(record, other.record);
    return *this;
  }
  ~Store();

  explicit operator bool() const { return record; }
  bool operator==(const Store &other) const { return record == other.record; }
  const std::vector<int64_t> &getShape() const;
  ElementType getElementType() const;

private:
  friend class Session;
  explicit Store(session::StoreRecord *record);
  session::StoreRecord *record = nullptr;
};

/// An argument of a launch.
struct StoreAccess {
  const Store &store;
  Partition partition;
};

class Session {
public:
  /// Throws if the options are not valid (unknown target, a window of 0).
  explicit Session(SessionOptions options = {});
  /// Runs what is buffered, if it can; errors are printed to stderr.
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  //===--- Stores ---------------------------------------------------------------===//

  /// Elements are undefined until a task writes them. No memory is taken before. A store of rank 0 is a scalar: every
  /// point and every rank has it.
  Store createStore(std::vector<int64_t> shape, ElementType type);
  /// All elements are `value` (rounded to the type).
  Store createFilled(std::vector<int64_t> shape, ElementType type, double value);
  /// A copy of the elements at `data`, in C order; the same on all ranks.
  Store createFrom(std::vector<int64_t> shape, ElementType type, const void *data);
  /// Runs what is buffered and copies all elements to `data`, in C order, on all ranks.
  void read(const Store &store, void *data);
  double readScalar(const Store &store);

  //===--- Partitions and domains -------------------------------------------------===//

  /// Every point has the whole store; the partition of all scalars.
  Partition getWhole() const { return {}; }
  /// The box [offset, offset + extent) in tiles; the tile of a point has, along dimension d, the coordinate
  /// point[color[d]], or -1 - color[d] if that is not negative. As dist.tiled.
  Partition getTiled(const std::vector<int64_t> &tile, const std::vector<int64_t> &offset,
                     const std::vector<int64_t> &extent, const std::vector<int64_t> &color);
  /// What the values of other arguments of the launch point at: coordinates (`points`), or ranges [a, b). As dist.image.
  Partition getImageOfPoints(unsigned argument);
  Partition getImageOfRange(unsigned begin, unsigned end);
  /// The domain of scalar tasks: one point.
  Domain getScalarDomain() const { return {}; }
  Domain getDomain(const std::vector<int64_t> &extents);
  /// The domain of getPoints() points, and the partition of a box into as many blocks along `dim`.
  Domain getRowDomain() const;
  Partition getRows(const std::vector<int64_t> &offset, const std::vector<int64_t> &extent, unsigned dim);
  int64_t getPoints() const;

  //===--- Tasks --------------------------------------------------------------------===//

  /// A task with a body. `text` is a `dist.task` without its name: "(%x: tensor<?xf64> read, %y: tensor<?xf64> write) { ... }".
  /// Throws at the first launch that has to be compiled if the text is wrong. Fills are not counted as tasks.
  TaskKind registerTask(std::string name, std::vector<TaskPrivilege> privileges, std::string text, bool isFill = false);
  /// The same with a text that is made when it is first needed. An exception of the generator ends the call that needed
  /// it; the generator is asked again next time.
  TaskKind registerGenerator(std::string name, std::vector<TaskPrivilege> privileges,
                             std::function<std::string()> generator);
  /// A C function, called once at every point; it is never fused.
  TaskKind registerOpaque(std::string name, std::vector<TaskPrivilege> privileges, FusionTask function);

  /// Adds a task to the stream. Partitions that are written must be disjoint over the domain; two arguments that are
  /// parts of one store, one of them written, must lie apart.
  void launch(TaskKind kind, Domain domain, const StoreAccess *accesses, size_t count);
  void launch(TaskKind kind, Domain domain, std::initializer_list<StoreAccess> accesses) {
    launch(kind, domain, accesses.begin(), accesses.size());
  }

  /// Runs everything that is buffered.
  void flush();

  //===--- What happened ---------------------------------------------------------------===//

  SessionStatistics getStatistics() const;
  void resetPeak();
  /// Called with a line for each group that was analysed, what ended it and what vanished. By default the lines go to
  /// stderr if the environment variable FUSION_LOG is "groups", and nowhere otherwise.
  void setLog(std::function<void(const std::string &)> log);

private:
  session::Core *core;
};

} // namespace fusion

#endif // FUSION_SESSION_SESSION_H
