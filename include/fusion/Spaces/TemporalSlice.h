//===- TemporalSlice.h - Temporal slicing and update-then-aggregate -*- C++ -*-===//

#ifndef FUSION_SPACES_TEMPORALSLICE_H
#define FUSION_SPACES_TEMPORALSLICE_H

#include "fusion/Algebra/Update.h"
#include "fusion/SpaceMap/SpaceMap.h"

#include <memory>

namespace fusion::spacemap {

class SpaceExprs;

/// A reduction along the sliced dimension.
struct TemporalReduction {
  AllToOneOp op;
  AllToOneOp getOp() const { return op; }
  /// The loop that computes it, from 0.
  unsigned pass = 0;
  /// How it is kept right. The first state is the reduction, in f32 where 16-bit floats are summed.
  algebra::UpdatePlan update;
  /// Earlier reductions of the same loop that the update and the elements depend on (positions in the plan).
  llvm::SmallVector<unsigned> dependencies;
};

/// How to slice a graph along a dimension (SpaceFusion, section 4). Valid as long as the graph is not changed.
struct TemporalPlan {
  mlir::StringAttr dim;
  /// Reductions along the dimension in topological order.
  llvm::SmallVector<TemporalReduction, 4> reductions;
  /// Number of loops. The last may be there only for outputs that keep the dimension.
  unsigned numPasses = 1;
  /// Number of loops that hold reductions.
  unsigned numReductionPasses = 0;
  /// Values of `spacemap.output` that keep the dimension, with the loop that collects them.
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> collected;

  /// Whether any reduction is updated before it is aggregated.
  bool hasUpdates() const;
  /// In words, for reports: "2 loops; sum: y * exp(d - d')".
  std::string describe() const;

  /// Owners of the expressions.
  std::shared_ptr<algebra::ExprContext> context;
  llvm::SmallVector<std::shared_ptr<SpaceExprs>> exprs; ///< one per loop
};

struct TemporalOptions {
  /// How many loops may hold reductions. With 1, a dependent reduction without an update function makes the dimension
  /// unsliceable.
  unsigned maxReductionPasses = 1;
  /// How many values one polynomial update may accumulate (counts excluded).
  unsigned maxStates = 4;
  /// Whether update functions are checked by evaluation. Off only to ask whether a plan exists; a plan that is applied
  /// has to be checked.
  bool verify = true;
};

/// Decides whether and how `graph` can be sliced along `dim`; changes nothing. Every update function in the plan has
/// passed its check (unless `options` say otherwise). On failure, `reason` (if given) says why in one line; a
/// diagnostic is not emitted.
mlir::FailureOr<TemporalPlan> planTemporal(GraphOp graph, mlir::StringAttr dim, std::string *reason = nullptr,
                                           const TemporalOptions &options = {});

/// Slices `graph` by `step` elements as `plan` says. Fails, with a located error, only if a step is not positive or an
/// operation cannot be made.
mlir::LogicalResult applyTemporal(GraphOp graph, const TemporalPlan &plan, int64_t step);

} // namespace fusion::spacemap

#endif // FUSION_SPACES_TEMPORALSLICE_H
