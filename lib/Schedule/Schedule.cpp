//===- Schedule.cpp - Candidates and the choice between them --------------===//

#include "fusion/Schedule/Schedule.h"

#include "TileShape.h"
#include "fusion/Schedule/Spatial.h"

#include <limits>

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

class Search {
public:
  Search(GraphOp graph, const Target &target, const ScheduleOptions &options, TemporalLegality isLegalTemporal)
      : graph(graph), target(target), options(options), isLegalTemporal(isLegalTemporal),
        whole(graph, Schedule()) {
    graph.getBody().walk([&](AllToOneOp reduce) { hasContraction |= bool(getContractionProduct(reduce)); });
  }

  FailureOr<Schedule> run(std::string *reason) {
    SmallVector<StringAttr> legal;
    if (options.spatial)
      legal = getLegalSpatialDims(graph);
    tryTemporal(StringAttr(), legal);
    if (options.temporal && !(found && !options.rank))
      for (StringAttr dim : getTemporalCandidates(legal)) {
        // A loop over slices pays off only where something along it is worth cutting.
        if (whole.getWhole(dim) <= 64)
          continue;
        if (unsigned passes = isLegalTemporal(graph, dim))
          tryTemporal(dim, legal, passes);
        if (found && !options.rank)
          break;
      }
    if (found)
      return best;
    if (reason) {
      llvm::raw_string_ostream os(*reason);
      os << "its smallest block needs " << least.shared << " bytes on chip";
      if (least.registers)
        os << " and " << least.registers << " bytes of registers";
      os << ", but " << target.name << " has " << target.blockBytes;
      if (least.registers)
        os << " and " << target.nearBytes;
    }
    return failure();
  }

private:
  /// Dimensions that are not spatially sliced and along which something is reduced, largest first.
  SmallVector<StringAttr> getTemporalCandidates(ArrayRef<StringAttr> legal) {
    SmallVector<StringAttr> result;
    graph.getBody().walk([&](AllToOneOp reduce) {
      for (Attribute attr : reduce.getAlong()) {
        auto dim = cast<StringAttr>(attr);
        if (!llvm::is_contained(legal, dim) && !llvm::is_contained(result, dim))
          result.push_back(dim);
      }
    });
    llvm::stable_sort(result,
                      [&](StringAttr a, StringAttr b) { return whole.getWhole(a) > whole.getWhole(b); });
    return result;
  }

  void tryTemporal(StringAttr temporal, ArrayRef<StringAttr> legal, unsigned passes = 1) {
    Schedule schedule;
    schedule.blocks.assign(graph.getNumDims(), 0);
    schedule.temporal = temporal;
    schedule.passes = passes;
    if (!temporal) {
      tryBlocks(schedule, legal);
      return;
    }
    for (int64_t step : {512, 256, 128, 64}) {
      if (step >= whole.getWhole(temporal))
        continue;
      schedule.step = step;
      tryBlocks(schedule, legal);
    }
  }

  /// Blocks of the legal dimensions. The innermost ones of the outputs are tiled, what lies further out is cut to 1
  /// first: a block is a contiguous piece as far as possible.
  void tryBlocks(Schedule schedule, ArrayRef<StringAttr> legal) {
    if (legal.empty()) {
      consider(schedule);
      return;
    }
    SmallVector<StringAttr> order = getLayoutOrder(legal);
    size_t numTiled = std::min<size_t>(order.size(), hasContraction ? 2 : order.size());
    ArrayRef<StringAttr> outer = ArrayRef<StringAttr>(order).drop_back(numTiled);
    ArrayRef<StringAttr> tiled = ArrayRef<StringAttr>(order).take_back(numTiled);
    for (StringAttr dim : outer)
      schedule.blocks[graph.getDimIndex(dim)] = 1;
    if (hasContraction)
      enumerate(schedule, tiled);
    else
      shrink(schedule, tiled);
  }

  /// Every combination of powers of two, and of extents that share the dimension out evenly.
  void enumerate(Schedule &schedule, ArrayRef<StringAttr> dims) {
    if (dims.empty()) {
      consider(schedule);
      return;
    }
    int64_t extent = whole.getWhole(dims.front());
    int64_t &block = schedule.blocks[graph.getDimIndex(dims.front())];
    SmallVector<int64_t> sizes = {16, 32, 64, 128, 256, 512};
    for (int64_t share : {target.units, 2 * target.units})
      sizes.push_back(llvm::alignTo(llvm::divideCeil(std::max<int64_t>(extent, 1), share), 4));
    for (int64_t size : sizes) {
      if (size >= extent || size < 4 || size > 512)
        continue;
      block = size;
      enumerate(schedule, dims.drop_front());
    }
    block = extent <= 512 ? std::max<int64_t>(extent, 1) : 0;
    if (block > 0)
      enumerate(schedule, dims.drop_front());
  }

  /// Halves the outermost dimension that is not 1 yet, and considers each state.
  void shrink(Schedule &schedule, ArrayRef<StringAttr> dims) {
    for (StringAttr dim : dims)
      schedule.blocks[graph.getDimIndex(dim)] = std::max<int64_t>(whole.getWhole(dim), 1);
    while (true) {
      consider(schedule);
      auto next = llvm::find_if(dims, [&](StringAttr dim) { return schedule.blocks[graph.getDimIndex(dim)] > 1; });
      if (next == dims.end())
        return;
      int64_t &block = schedule.blocks[graph.getDimIndex(*next)];
      block = llvm::divideCeil(block, 2);
    }
  }

  /// `dims` from the outermost to the innermost axis of the first output.
  SmallVector<StringAttr> getLayoutOrder(ArrayRef<StringAttr> dims) {
    SmallVector<StringAttr> result;
    auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
    if (!output.getAxes().empty())
      for (StringAttr axis : getNames(cast<ArrayAttr>(output.getAxes()[0])))
        if (llvm::is_contained(dims, axis))
          result.push_back(axis);
    return result;
  }

  void consider(const Schedule &candidate) {
    if (found && !options.rank)
      return;
    Footprint footprint = getFootprint(graph, candidate, target);
    if (!fits(footprint, target)) {
      if (least.shared == 0 || footprint.shared < least.shared)
        least = footprint;
      return;
    }
    double seconds = predictSeconds(graph, candidate, target);
    if (found && seconds >= best.seconds)
      return;
    best = candidate;
    best.seconds = seconds;
    found = true;
  }

  GraphOp graph;
  const Target &target;
  const ScheduleOptions &options;
  TemporalLegality isLegalTemporal;
  TileShape whole;
  bool hasContraction = false;
  bool found = false;
  Schedule best;
  Footprint least;
};

} // namespace

FailureOr<Schedule> fusion::findSchedule(GraphOp graph, const Target &target, const ScheduleOptions &options,
                                         TemporalLegality isLegalTemporal, std::string *reason) {
  return Search(graph, target, options, isLegalTemporal).run(reason);
}
