//===- Slice.cpp - spacemap-slice -----------------------------------------===//

#include "fusion/Spaces/TemporalSlice.h"

#include "fusion/Report/Remarks.h"
#include "fusion/Schedule/Schedule.h"
#include "fusion/Schedule/Spatial.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPSLICE
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// "d0 = 2, d1 = ?", and which of them are blocks.
KernelRemark describeKernel(GraphOp graph) {
  KernelRemark remark;
  remark.ops = listOps(graph);
  llvm::raw_string_ostream dims(remark.dims);
  llvm::interleaveComma(getNames(graph.getDimNames()), dims, [&](StringAttr dim) {
    dims << dim.getValue() << " = ";
    int64_t extent = graph.getStaticExtent(dim);
    if (ShapedType::isDynamic(extent))
      dims << '?';
    else
      dims << extent;
  });
  return remark;
}

void describeSchedule(KernelRemark &remark, GraphOp graph, const Schedule &schedule, const Target &machine) {
  llvm::raw_string_ostream blocks(remark.blocks);
  for (auto [dim, block] : llvm::zip_equal(getNames(graph.getDimNames()), schedule.blocks))
    if (block > 0)
      blocks << (remark.blocks.empty() ? "" : ", ") << dim.getValue() << " by " << block;
  if (remark.blocks.empty())
    blocks << "one block";
  remark.predicted = llvm::formatv("{0:F1} us on {1}, {2} bytes from and to memory",
                                   predictSeconds(graph, schedule, machine) * 1e6, machine.name, getTensorBytes(graph));
  if (llvm::is_contained(graph.getStaticExtents(), ShapedType::kDynamic))
    remark.predicted += llvm::formatv(", if an extent known at run time is {0}", assumedExtent);
}

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
    llvm::DenseMap<StringAttr, FailureOr<TemporalPlan>> plans;
    KernelRemark remark;
    if (wantsRemarks(graph))
      remark = describeKernel(graph);
    if (!blockSizes.empty() || !temporalDim.empty()) {
      schedule = getUserSchedule(graph);
      if (failed(schedule))
        return failure();
    } else {
      std::string reason;
      ScheduleOptions options;
      options.spatial = spatial;
      options.temporal = temporal;
      options.rank = rank;
      schedule = findSchedule(
          graph, machine, options,
          [&](GraphOp graph, StringAttr dim) {
            // A plan is checked once, and kept for the dimension that is chosen: block sizes do not invalidate it.
            FailureOr<TemporalPlan> &plan = plans[dim] = planTemporal(graph, dim);
            return succeeded(plan) ? plan->numPasses : 0;
          },
          &reason);
      // What no schedule fits is one block that spills to memory.
      if (failed(schedule)) {
        remark.blocks = "one block that spills to memory: " + reason;
        remarkKernel(graph, remark);
        return success();
      }
    }
    if (wantsRemarks(graph))
      describeSchedule(remark, graph, *schedule, machine);
    if (llvm::any_of(schedule->blocks, [](int64_t size) { return size > 0; })) {
      graph.setBlockSizes(schedule->blocks);
      ++numSpatial;
    }
    if (!schedule->temporal) {
      remarkKernel(graph, remark);
      return success();
    }
    auto known = plans.find(schedule->temporal);
    FailureOr<TemporalPlan> plan =
        known != plans.end() ? std::move(known->second) : planTemporal(graph, schedule->temporal);
    if (succeeded(plan))
      remark.temporal = llvm::formatv("{0} at a time, {1}", schedule->step, plan->describe());
    if (failed(plan) || failed(applyTemporal(graph, *plan, schedule->step)))
      return graph.emitOpError() << "cannot be sliced along '" << schedule->temporal.getValue() << "'";
    ++numTemporal;
    remarkKernel(graph, remark);
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
