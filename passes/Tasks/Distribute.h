//===- Distribute.h - How the loops of an operation become points ---------===//

#ifndef FUSION_PASSES_TASKS_DISTRIBUTE_H
#define FUSION_PASSES_TASKS_DISTRIBUTE_H

#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace fusion::dist {

/// A tensor of the function: a box of a store.
struct StoredTensor {
  mlir::Value store;
  llvm::SmallVector<int64_t> offsets;
};

/// Which loops of a linalg op with static extents are cut, and so what each point touches.
struct LoopCut {
  /// The launch domain; [1] if the op is not cut.
  llvm::SmallVector<int64_t> domain;
  /// For each loop the dimension of the domain that cuts it, or -1.
  llvm::SmallVector<int64_t> pointDims;
  /// Extents of the loops.
  llvm::SmallVector<int64_t> extents;

  bool isCut(unsigned loop) const { return pointDims[loop] >= 0; }
  /// Elements along a loop that a point has, the last ones perhaps fewer.
  int64_t getTile(unsigned loop) const;
};

/// Cuts the loops that `dims` names, one for each dimension of the domain (-1: none). Without `dims`: the parallel
/// loops in order, then the reduction loops. An op that cannot be cut runs at one point: too few loops, subscripts that
/// are no loops, parallel loops that not all results have, or reductions that are none of the known operators. An error
/// only if `dims` asks for something that cannot be.
llvm::FailureOr<LoopCut> cutLoops(mlir::linalg::LinalgOp op, llvm::ArrayRef<int64_t> domain,
                                  std::optional<llvm::ArrayRef<int64_t>> dims);

/// What each point has of an operand with that indexing map.
PartitionInterface getPartition(const LoopCut &cut, mlir::AffineMap map, const StoredTensor &tensor,
                                mlir::RankedTensorType type);

/// The type of the box: dynamic where it is cut.
mlir::RankedTensorType getBoxType(const LoopCut &cut, mlir::AffineMap map, mlir::RankedTensorType type);

/// The operator that combines the old element of result `index` with new ones, if it is known.
std::optional<spacemap::Reducer> getCombiner(mlir::linalg::LinalgOp op, unsigned index);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_DISTRIBUTE_H
