//===- Schedule.h - Resource-aware slicing --------------------------------===//
//
// Which dimensions of a graph are cut into blocks and slices of which extents: SpaceFusion (EuroSys 2025), section 5.1.
// Candidates are bounded by the target's limits and ranked by an analytic cost model. Everything here only reads the
// graph, and is thread-safe as long as nobody changes it.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_SCHEDULE_H
#define FUSION_SCHEDULE_SCHEDULE_H

#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Target/Target.h"

namespace fusion {

/// How one graph is sliced.
struct Schedule {
  /// Extent of a block per dimension of the graph, in its order; 0 where the dimension is not spatially sliced.
  llvm::SmallVector<int64_t> blocks;
  /// The temporally sliced dimension, or null, and the extent of a slice.
  mlir::StringAttr temporal;
  int64_t step = 0;
  /// How often the temporal dimension is walked.
  unsigned passes = 1;
  /// What the cost model predicts.
  double seconds = 0;
};

/// On-chip memory of one block, in bytes (section 5.2 of the specification of the footprint model: inputs of
/// contractions are staged, iteration spaces cost nothing, reduction states stay for the whole block).
struct Footprint {
  /// GPU: staged operands of contractions, in shared memory. CPU: all tiles of the block.
  int64_t shared = 0;
  /// GPU: f32 tiles in registers. CPU: 0.
  int64_t registers = 0;
};

/// `stages` copies are counted of what is loaded inside the temporal loop.
Footprint getFootprint(spacemap::GraphOp graph, const Schedule &schedule, const Target &target, int64_t stages = 2);

/// Whether `footprint` is within the limits of `target`.
bool fits(const Footprint &footprint, const Target &target);

/// The predicted time of `graph` under `schedule`, in seconds.
double predictSeconds(spacemap::GraphOp graph, const Schedule &schedule, const Target &target);

/// Bytes that `graph` moves from and to memory at least: each input and output once.
int64_t getTensorBytes(spacemap::GraphOp graph);

struct ScheduleOptions {
  /// Switches for the ablation: without them the whole extent is one block, or no dimension is temporally sliced.
  bool spatial = true, temporal = true;
  /// Whether all candidates are ranked by the cost model, or the first that fits is taken.
  bool rank = true;
};

/// Says how often a dimension has to be walked if it is temporally sliced, or 0 where it cannot be; the scheduler asks
/// only about those it wants to slice.
using TemporalLegality = llvm::function_ref<unsigned(spacemap::GraphOp, mlir::StringAttr)>;

/// The best schedule of `graph` within the limits of `target`. On failure, `reason` (if not null) gets a phrase that
/// says which limit stands in the way.
mlir::FailureOr<Schedule> findSchedule(spacemap::GraphOp graph, const Target &target, const ScheduleOptions &options,
                                       TemporalLegality isLegalTemporal, std::string *reason = nullptr);

/// A text that two graphs of one context share exactly if they are the same problem: the same mappings and scalar functions over the
/// same extents and element types, whatever their dimensions, values and inputs are called. What has been decided for
/// one (a repeated layer, say) holds for the other. Dimensions correspond by position.
std::string getCanonicalKey(spacemap::GraphOp graph);

/// Extent that is assumed of a dimension whose extent is known only at run time.
inline constexpr int64_t assumedExtent = 1024;

} // namespace fusion

#endif // FUSION_SCHEDULE_SCHEDULE_H
