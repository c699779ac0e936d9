//===- BroadcastGuard.h - Run-time broadcasts written as gathers --------------===//

#ifndef FUSION_PASSES_NORMALIZE_BROADCASTGUARD_H
#define FUSION_PASSES_NORMALIZE_BROADCASTGUARD_H

#include "ExtentFacts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {

/// A generic that reads one tensor at its own position, or at position 0 of an axis if the tensor's extent there is 1.
/// Exporters write a broadcast so whose extents are known only at run time.
struct BroadcastGuard {
  /// How an axis of the source is read.
  struct Axis {
    /// The loop that is the position; none where it is always 0.
    std::optional<unsigned> loop;
    /// Whether the position is 0 if the source's extent is 1.
    bool isGuarded = false;
  };

  mlir::linalg::GenericOp op;
  /// What is read, above transposes in front of the generic, and how its axes are read.
  mlir::Value source;
  llvm::SmallVector<Axis> axes;

  /// The axis of the generic's result that the loop of source axis `axis` runs over.
  unsigned getResultAxis(unsigned axis) const;

  /// The extent of that loop.
  Polynomial getLoopExtent(ExtentFacts &facts, unsigned axis) const;
};

/// Recognises such a generic.
std::optional<BroadcastGuard> matchBroadcastGuard(mlir::linalg::GenericOp op, ExtentFacts &facts);

/// Replaces the generic's result. A guarded axis whose extent is provably the loop's is read as it is. If there are
/// axes where that cannot be proven, the source first goes through an `scf.if` that broadcasts it only if extents
/// differ; the number of these axes is returned. None if nothing can be done. The generic is left without uses.
std::optional<unsigned> removeBroadcastGuard(mlir::OpBuilder &builder, const BroadcastGuard &guard, ExtentFacts &facts);

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_BROADCASTGUARD_H
