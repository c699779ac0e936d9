//===- Context.h - The stores of one call of a dist function ------*- C++ -*-===//
//
// Everything lies in blocks of fusion_rt_alloc and has no destructors: a failure anywhere below leaves by a longjmp,
// and the guard of the call frees the blocks.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_DIST_CONTEXT_H
#define FUSION_RUNTIME_DIST_CONTEXT_H

#include "fusion/Runtime/Dist.h"

namespace fusion::runtime::dist {

/// Along one dimension.
struct Range {
  int64_t lower;
  int64_t size;
};

/// A partition of a table. `coded` points behind the kind: for each dimension tile, offset, extent and color; of an image
/// FUSION_DIST_POINTS or FUSION_DIST_RANGE and two numbers of stores.
struct Partition {
  enum Kind : int64_t { None = 0, Tiled = 1, Image = 2 };
  int64_t kind;
  const int64_t *coded;
};

/// Points of a launch domain.
struct Domain {
  int64_t rank;
  const int64_t *extents;

  int64_t getNumPoints() const;
};

struct Placement {
  Domain domain;
  Partition partition;
};

/// Reads a table from the front.
class Reader {
public:
  explicit Reader(const int64_t *words) : words(words) {}
  int64_t take() { return *words++; }
  const int64_t *takeMany(int64_t count) {
    const int64_t *first = words;
    words += count;
    return first;
  }
  Domain takeDomain() {
    int64_t rank = take();
    return {rank, takeMany(rank)};
  }
  /// Of a store of that rank.
  Partition takePartition(int64_t rank) {
    int64_t kind = take();
    return {kind, takeMany(kind == Partition::Tiled ? 4 * rank : kind == Partition::Image ? 3 : 0)};
  }
  Placement takePlacement(int64_t rank) {
    Domain domain = takeDomain();
    return {domain, takePartition(rank)};
  }

private:
  const int64_t *words;
};

/// A part of a store in memory, row-major. `data` is the element at the lower end.
struct Window {
  char *data = nullptr;
  const Range *box = nullptr;
  const int64_t *strides = nullptr;
};

/// The box that a rank holds of a store; kept in a slot.
struct Layout {
  int64_t elements;
  bool isWhole;
  /// Followed by the extents and strides.
  Range *box;
  int64_t *strides;
};

struct Store {
  bool isLive;
  int32_t type;
  int64_t elementBytes;
  int64_t rank;
  const int64_t *shape;
  const Layout *layout;
  Window window;
  /// Null if the memory belongs to somebody else.
  void *owned;
  /// Another number after each change of the content on any rank; different for all stores of the process.
  uint64_t version;
};

struct KeptExchange;

/// Contributions that wait for all_reduce, in a window like that of the store; kept in a slot.
struct Partial {
  int64_t store;
  /// Kept when the contributions have been combined, for the next ones.
  char *data;
  bool isPending;
  /// What the data of a scalar points to.
  uint64_t scalar;
  Partial *next;
};

} // namespace fusion::runtime::dist

/// The C interface's name of it.
struct FusionDistContext {
  int32_t rank;
  int32_t ranks;
  int64_t numStores;
  int64_t numSlots;
  fusion::runtime::dist::Store *stores;
  void **slots;
  fusion::runtime::dist::Partial *partials;
  /// Those that own memory beside their slot.
  fusion::runtime::dist::KeptExchange *exchanges;
};

namespace fusion::runtime::dist {

/// The points of the domain that this rank runs.
struct Points {
  int64_t begin, end;
};
Points getPoints(const FusionDistContext &context, Domain domain, bool everywhere);

/// Coordinates of the point with a row-major number.
void getCoordinates(Domain domain, int64_t number, int64_t *coordinates);

/// The box of a point of a store of that shape. That of an image is the whole store.
void getBox(Partition partition, int64_t rank, const int64_t *shape, const int64_t *point, Range *box);

/// The smallest box that holds the boxes of the points [begin, end) (maybe a little more). False if there are none.
bool getHull(const Placement &placement, int64_t rank, const int64_t *shape, Points points, Range *box);

bool isEmpty(const Range *box, int64_t rank);

/// The live store of that number.
Store &getStore(FusionDistContext *context, int64_t number);

/// The content changes, on one rank or another.
void touch(Store &store);

/// A block of the guard, or a failure.
template <typename T>
T *allocate(int64_t count) {
  return static_cast<T *>(fusion_rt_alloc(size_t(count) * sizeof(T)));
}

/// Address in a window of the first element of a box; that of the window for an empty box.
char *getAddress(const Window &window, int64_t rank, int64_t elementBytes, const Range *box);

/// Calls function(context, source, target, elements) for each row of a box that lies in both windows; large boxes by
/// several threads. The box in the target starts at `targetBox`.
using RowFunction = void (*)(const void *context, const char *source, char *target, int64_t elements);
void forEachRow(int64_t rank, int64_t elementBytes, const Window &source, const Range *sourceBox, const Window &target,
                const Range *targetBox, RowFunction function, const void *context);

void copyBox(int64_t rank, int64_t elementBytes, const Window &source, const Range *sourceBox, const Window &target,
             const Range *targetBox);
void fillBox(int64_t rank, int64_t elementBytes, const Window &target, const Range *box, uint64_t bits);
/// target = target op source.
void combineBox(int32_t op, int32_t type, int64_t rank, int64_t elementBytes, const Window &source,
                const Range *sourceBox, const Window &target, const Range *targetBox);

/// MLIR's descriptor of a box in a window: 3 + 2 * rank words.
void writeDescriptor(int64_t *words, const Window &window, int64_t rank, int64_t elementBytes, const Range *box);

/// The contributions of a slot, made if there are none.
Partial &getPartial(FusionDistContext *context, int64_t slot, Store &store);

/// Their window, filled with the identity if none is pending; afterwards one is.
Window openPartial(Partial &partial, Store &store, uint64_t identity);

/// The first rank's scalar for everybody. Collective.
void broadcastScalar(FusionDistContext *context, Store &store);

} // namespace fusion::runtime::dist

#endif // FUSION_RUNTIME_DIST_CONTEXT_H
