//===- Slice.cpp - spacemap-slice -----------------------------------------===//

#include "fusion/Spaces/TemporalSlice.h"

#include "fusion/Schedule/Schedule.h"
#include "fusion/Schedule/Spatial.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPSLICE
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

struct SlicePass : fusion::impl::SpaceMapSliceBase<SlicePass> {
  using SpaceMapSliceBase::SpaceMapSliceBase;

  void runOnOperation() override {
    llvm::Expected<Target> machine = getTarget(target, threads);
    if (!machine) {
      emitError(getOperation().getLoc()) << llvm::toString(machine.takeError());
      return signalPassFailure();
    }
    SmallVector<GraphOp> graphs;
    getOperation().walk([&](GraphOp graph) { graphs.push_back(graph); });
    for (GraphOp graph : graphs)
      if (!graph.getBlockSizes() && graph.getBody().getOps<TemporalOp>().empty() && failed(slice(graph, *machine)))
        return signalPassFailure();
  }

  LogicalResult slice(GraphOp graph, const Target &machine) {
    FailureOr<Schedule> schedule;
    if (!blockSizes.empty() || !temporalDim.empty()) {
      schedule = getUserSchedule(graph);
      if (failed(schedule))
        return failure();
    } else {
      ScheduleOptions options;
      options.spatial = spatial;
      options.temporal = temporal;
      options.rank = rank;
      schedule = findSchedule(graph, machine, options, [](GraphOp graph, StringAttr dim) {
        FailureOr<TemporalPlan> plan = planTemporal(graph, dim);
        return succeeded(plan) ? plan->numPasses : 0;
      });
      // What no schedule fits is one block that spills to memory.
      if (failed(schedule))
        return success();
    }
    if (llvm::any_of(schedule->blocks, [](int64_t size) { return size > 0; })) {
      graph.setBlockSizes(schedule->blocks);
      ++numSpatial;
    }
    if (!schedule->temporal)
      return success();
    FailureOr<TemporalPlan> plan = planTemporal(graph, schedule->temporal);
    if (failed(plan) || failed(applyTemporal(graph, *plan, schedule->step)))
      return graph.emitOpError() << "cannot be sliced along '" << schedule->temporal.getValue() << "'";
    ++numTemporal;
    return success();
  }

  /// `dim=extent`.
  FailureOr<std::pair<StringAttr, int64_t>> parse(GraphOp graph, StringRef text) {
    auto [name, number] = text.split('=');
    auto dim = StringAttr::get(graph.getContext(), name);
    int64_t extent;
    if (number.getAsInteger(10, extent) || extent < 1)
      return graph.emitOpError() << "cannot be sliced as '" << text << "': expected dim=extent with a positive extent";
    if (graph.getDimIndex(dim) < 0)
      return graph.emitOpError() << "cannot be sliced as '" << text << "': it has no dimension '" << name << "'";
    return std::make_pair(dim, extent);
  }

  FailureOr<Schedule> getUserSchedule(GraphOp graph) {
    Schedule schedule;
    schedule.blocks.assign(graph.getNumDims(), 0);
    SmallVector<StringAttr> legal = getLegalSpatialDims(graph);
    for (const std::string &text : blockSizes) {
      FailureOr<std::pair<StringAttr, int64_t>> block = parse(graph, text);
      if (failed(block))
        return failure();
      if (!llvm::is_contained(legal, block->first)) {
        InFlightDiagnostic diagnostic = graph.emitOpError() << "cannot be cut into independent blocks along '"
                                                            << block->first.getValue() << "'; legal are [";
        llvm::interleaveComma(legal, diagnostic, [&](StringAttr dim) { diagnostic << dim.getValue(); });
        return diagnostic << "]";
      }
      schedule.blocks[graph.getDimIndex(block->first)] = block->second;
    }
    if (temporalDim.empty())
      return schedule;
    FailureOr<std::pair<StringAttr, int64_t>> slice = parse(graph, temporalDim);
    if (failed(slice))
      return failure();
    if (schedule.blocks[graph.getDimIndex(slice->first)] > 0)
      return graph.emitOpError() << "cannot be sliced along '" << slice->first.getValue()
                                 << "' both spatially and temporally";
    std::tie(schedule.temporal, schedule.step) = *slice;
    return schedule;
  }
};

} // namespace
