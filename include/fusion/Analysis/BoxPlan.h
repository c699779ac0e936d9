//===- BoxPlan.h - Which rank sends which boxes to whom -----------*- C++ -*-===//
//
// Box arithmetic of exchanges, without MPI and without MLIR: the run-time, the planning passes' cost report, and the
// interpreter of simulated ranks all compute the same message lists from the same description. An exchange is described
// independently of the number of ranks; fusion/Runtime/Mpi.h has its meaning and its encoding in words.
//
// Diffuse (ASPLOS '25), Fig. 3e: bounds of a tile. Plain values; any number of threads may call these functions.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_BOXPLAN_H
#define FUSION_ANALYSIS_BOXPLAN_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fusion::boxes {

/// The half-open box [lower, upper) of a store's indices. Rank 0: one element, never empty.
struct Box {
  std::vector<int64_t> lower, upper;

  bool isEmpty() const;
  int64_t getVolume() const;
  bool operator==(const Box &other) const { return lower == other.lower && upper == other.upper; }
};

/// Writes "[0:4, 2:8]".
std::string toString(const Box &box);

/// May be empty. Boxes of one rank.
Box intersect(const Box &left, const Box &right);

/// `box` without `hole`, as disjoint boxes: at most two per dimension, in a fixed order.
std::vector<Box> subtract(const Box &box, const Box &hole);

/// Which sub-box each point of a launch domain has.
struct Partition {
  enum class Kind : int64_t { None = 0, Tiled = 1, Boxes = 2 };
  Kind kind = Kind::None;
  /// Tiled; of the store's rank. Point p has [f(p)*stride + offset, f(p)*stride + offset + size), clamped.
  std::vector<int64_t> stride, size, offset;
  /// Tiled; [store rank][domain rank + 1], row-major: the last column is the constant.
  std::vector<int64_t> projection;
  /// Boxes; one per point, in row-major order of points.
  std::vector<Box> boxes;
};

/// Diffuse's Tiling(tile, offset, identity) for a domain of the store's rank.
Partition makeTiling(std::vector<int64_t> tile, std::vector<int64_t> offset);

/// A partition, its launch domain, and the ranks that run the points.
struct Placement {
  enum class Mapping : int64_t { Block = 0, Root = 1, Everywhere = 2 };
  Mapping mapping = Mapping::Block;
  int64_t root = 0;
  /// Extents. Empty: one point.
  std::vector<int64_t> domain;
  Partition partition;
};

/// The points [first, second) of `points` that `rank` runs if they are dealt out in blocks.
std::pair<int64_t, int64_t> getBlock(int64_t points, int64_t rank, int64_t ranks);

/// The sub-box of a point (coordinates), clamped to the store.
Box getBounds(const std::vector<int64_t> &shape, const Placement &placement, const std::vector<int64_t> &point);

/// The boxes of all points that `rank` runs, in the order of points, without empty ones and without repetitions.
std::vector<Box> getBoxes(const std::vector<int64_t> &shape, const Placement &placement, int64_t rank, int64_t ranks);

struct Exchange {
  /// 0: copy; otherwise a reduction operator of fusion/Runtime/Mpi.h.
  int64_t operation = 0;
  /// Reductions: the old value of the target comes first.
  bool fold = false;
  /// Copies: elements that nobody holds are left alone.
  bool partial = false;
  int64_t elementType = 0;
  std::vector<int64_t> shape;
  /// Who holds what; layers, the newest first.
  std::vector<Placement> sources;
  /// Who needs what; all of them together.
  std::vector<Placement> targets;
};

/// The words of fusion_mpi_plan.
std::vector<int64_t> encode(const Exchange &exchange);

/// The inverse. On ill-formed words returns false and says in `error` what is wrong with which word.
bool decode(const int64_t *words, int64_t count, Exchange &exchange, std::string &error);

/// What goes between this rank and one other in one message: the boxes follow each other, each in row-major order. Both
/// ends compute the same list.
struct Message {
  int64_t peer = 0;
  std::vector<Box> boxes;

  int64_t getVolume() const;
};

/// Reductions: a box whose elements are held by the same ranks, ascending.
struct Combination {
  Box box;
  std::vector<int64_t> holders;
};

struct RankPlan {
  /// One per peer, ascending; never to or from the rank itself.
  std::vector<Message> sends, receives;
  /// Elements that the rank takes from itself.
  std::vector<Box> copies;
  /// Needed, held by nobody. A reduction leaves them alone.
  std::vector<Box> missing;
  /// Reductions: what the rank needs and somebody holds. Each holder's message, or `copies`, has the boxes in this
  /// order.
  std::vector<Combination> combinations;
};

/// The message lists of `rank`. For a copy the received boxes, the copied and the missing ones are disjoint and make up
/// what the rank needs; for a reduction so do the combined and the missing ones.
RankPlan planRank(const Exchange &exchange, int64_t rank, int64_t ranks);

struct Traffic {
  uint64_t messages = 0;
  uint64_t elements = 0;
};

/// Over all ranks.
Traffic countTraffic(const Exchange &exchange, int64_t ranks);

/// A part of a store in memory: the address of the element at index `origin`, and strides in elements.
struct Window {
  char *data = nullptr;
  std::vector<int64_t> origin, sizes, strides;

  Box getBox() const;
};

/// Copies the elements of a box that is inside of both windows. The memory must not overlap, or be the same.
void copyBox(const Box &box, const Window &from, const Window &to, int64_t elementBytes);

/// The box, row-major without gaps, to or from memory.
void packBox(const Box &box, const Window &from, char *to, int64_t elementBytes);
void unpackBox(const Box &box, const char *from, const Window &to, int64_t elementBytes);

/// The address of the box if its elements follow each other in row-major order without gaps; null otherwise.
char *getContiguous(const Box &box, const Window &window, int64_t elementBytes);

} // namespace fusion::boxes

#endif // FUSION_ANALYSIS_BOXPLAN_H
