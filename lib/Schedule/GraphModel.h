//===- GraphModel.h - What the scheduler reads of a graph -----------------===//
//
// A graph flattened to what footprints and costs depend on, made once and evaluated for hundreds of candidates.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULE_GRAPHMODEL_H
#define FUSION_LIB_SCHEDULE_GRAPHMODEL_H

#include "fusion/Schedule/Schedule.h"

namespace fusion {

/// Extents of a graph's dimensions within one slice of one block, by position.
using TileExtents = llvm::SmallVector<int64_t, 8>;

struct GraphModel {
  explicit GraphModel(spacemap::GraphOp graph);

  /// A space: positions of its dimensions, and bytes of an element in memory.
  struct Space {
    llvm::SmallVector<unsigned, 4> dims;
    int64_t elementBytes = 0;

    bool hasDim(int64_t dim) const { return dim >= 0 && llvm::is_contained(dims, static_cast<unsigned>(dim)); }
    int64_t getElements(llvm::ArrayRef<int64_t> tile) const {
      int64_t elements = 1;
      for (unsigned dim : dims)
        elements *= tile[dim];
      return elements;
    }
    int64_t getBytes(llvm::ArrayRef<int64_t> tile) const { return getElements(tile) * elementBytes; }
  };

  enum class Kind {
    Source,
    Map,
    Reduction,
    Contraction,
    Other, ///< moves and computes nothing: coordinates, One-to-All mappings, iteration spaces of contractions
  };

  struct Op {
    Kind kind = Kind::Other;
    Space result;
    /// Reductions and contractions: the space that is reduced, and along what.
    Space reduced;
    llvm::SmallVector<unsigned, 2> along;
    /// Contractions: the operand that has the columns of the result, which a core rearranges; else no dimensions.
    Space packed;
    /// Maps: f32 operations that one element is worth.
    double bodyCost = 0;
    /// Sources: whether a contraction reads it, directly or through scalar functions.
    bool feedsContraction = false;
    /// Whether the result is a tile of its own on chip, and the position of the op behind which its room is free, if
    /// it is before the end of the block.
    bool takesRoom = false;
    std::optional<unsigned> freedAt;
  };

  TileExtents getTile(const Schedule &schedule) const;
  /// How many tiles of extent `tile` cover dimension `dim`.
  int64_t getCount(unsigned dim, int64_t tile) const { return tile == 0 ? 0 : llvm::divideCeil(extents[dim], tile); }
  /// Position of the temporal dimension of `schedule`, or -1.
  int64_t getTemporal(const Schedule &schedule) const;

  Footprint getFootprint(const Schedule &schedule, const Target &target, int64_t stages) const;
  double predictSeconds(const Schedule &schedule, const Target &target) const;

  spacemap::GraphOp graph;
  /// Whole extents; an assumed one where it is known only at run time.
  TileExtents extents;
  std::vector<Op> ops;
  llvm::SmallVector<Space> outputs;
  /// Bytes of all inputs and outputs, each once.
  int64_t tensorBytes = 0;
};

} // namespace fusion

#endif // FUSION_LIB_SCHEDULE_GRAPHMODEL_H
