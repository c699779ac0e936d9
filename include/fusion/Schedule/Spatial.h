//===- Spatial.h - Which dimensions a graph can be sliced along in space --===//
//
// SpaceFusion (EuroSys 2025), section 4.2: a dimension can be cut into independent blocks if no mapping along it makes
// one block depend on another.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_SPATIAL_H
#define FUSION_SCHEDULE_SPATIAL_H

#include "fusion/SpaceMap/SpaceMap.h"

#include "llvm/ADT/DenseSet.h"

namespace fusion {

/// The spaces that every block can have from the graph's inputs without a reduction: sources, coordinates, constants,
/// and scalar functions of such. Slicing a One-to-All mapping from one costs reading it again (and computing the
/// function again), but makes no block depend on another.
llvm::DenseSet<mlir::Value> getInputLikeSpaces(spacemap::GraphOp graph);

/// The legal spatial dimensions of `graph`, in its order: those along which no All-to-One mapping runs, no One-to-All
/// mapping runs from an intermediate space, and which every intermediate and output space has.
llvm::SmallVector<mlir::StringAttr> getLegalSpatialDims(spacemap::GraphOp graph);

/// The dimensions along which `graph` can be cut although it reduces along them: every such reduction is a result of the
/// graph that nothing in it reads, so each block makes a partial result, and the partial results are combined afterwards.
/// In all other respects the dimension is legal. The first one is that of the outermost axis in memory.
llvm::SmallVector<mlir::StringAttr> getSplitDims(spacemap::GraphOp graph);

/// Counts of the mappings of a graph by type, as the paper draws it: a map has a One-to-One edge from each operand that
/// is no One-to-All mapping, unless it is the iteration space of a contraction.
struct MappingCounts {
  unsigned oneToOne = 0, oneToAll = 0, allToOne = 0;
};
MappingCounts countMappings(spacemap::GraphOp graph);

/// The contraction that `op` is the reduction of: its source is a product of two spaces that each lack a dimension of
/// the product. Null otherwise.
spacemap::MapOp getContractionProduct(spacemap::AllToOneOp op);

} // namespace fusion

#endif // FUSION_SCHEDULE_SPATIAL_H
