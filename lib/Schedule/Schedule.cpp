//===- Schedule.cpp - Candidates and the choice between them --------------===//

#include "fusion/Schedule/Schedule.h"

#include "GraphModel.h"
#include "fusion/Schedule/Spatial.h"

#include <limits>

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

class Search {
public:
  Search(GraphOp graph, const Target &target, const ScheduleOptions &options, TemporalLegality isLegalTemporal)
      : graph(graph), target(target), options(options), isLegalTemporal(isLegalTemporal), model(graph) {
    collectBatchDims();
  }

  FailureOr<Schedule> run(std::string *reason) {
    SmallVector<StringAttr> legal;
    if (options.spatial)
      legal = getLegalSpatialDims(graph);
    if (options.spatial && legal.empty() && target.kind == Target::Kind::CPU)
      trySplit();
    tryTemporal(StringAttr(), legal);
    if (options.temporal && !(found && !options.rank))
      for (StringAttr dim : getTemporalCandidates(legal)) {
        // A loop over slices pays off only where something along it is worth cutting.
        if (getWhole(dim) <= 64)
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
  int64_t getWhole(StringAttr dim) { return model.extents[graph.getDimIndex(dim)]; }

  /// Cuts a reduction along which nothing is parallel. The blocks do not follow the number of threads, so that neither
  /// do the sums.
  void trySplit() {
    constexpr int64_t kElements = 16384, kMostBlocks = 256;
    for (StringAttr dim : getSplitDims(graph)) {
      unsigned position = graph.getDimIndex(dim);
      int64_t extent = model.extents[position], others = 1;
      for (auto [index, other] : llvm::enumerate(model.extents))
        others *= index == position ? 1 : std::max<int64_t>(other, 1);
      int64_t size = std::max(llvm::divideCeil(kElements, others), llvm::divideCeil(extent, kMostBlocks));
      // How many elements there are is not known: blocks of the usual size.
      if (size >= extent && !ShapedType::isDynamic(graph.getStaticExtent(dim)))
        continue;
      Schedule schedule;
      schedule.blocks.assign(graph.getNumDims(), 0);
      schedule.blocks[position] = llvm::alignTo(size, others == 1 ? 64 : 1);
      consider(schedule);
      return;
    }
  }

  /// Dimensions that every operand of every contraction has: each element of them is a contraction of its own.
  void collectBatchDims() {
    for (Attribute dim : graph.getDimNames())
      batch.push_back(cast<StringAttr>(dim));
    graph.getBody().walk([&](AllToOneOp reduce) {
      MapOp product = getContractionProduct(reduce);
      if (!product)
        return;
      hasContraction = true;
      collectColumns(product);
      for (Value operand : product.getOperands()) {
        if (auto broadcast = operand.getDefiningOp<OneToAllOp>())
          operand = broadcast.getSource();
        auto type = cast<SpaceType>(operand.getType());
        // A scalar factor belongs to every element.
        if (!type.getDims().empty())
          llvm::erase_if(batch, [&](StringAttr dim) { return !type.hasDim(dim); });
      }
    });
    if (!hasContraction)
      batch.clear();
  }

  void collectColumns(MapOp product) {
    int64_t size = 1;
    for (StringAttr dim : product.getType().getDims())
      size *= getWhole(dim);
    if (size <= largest)
      return;
    largest = size;
    columns.clear();
    auto getDims = [](Value operand) {
      if (auto broadcast = operand.getDefiningOp<OneToAllOp>())
        operand = broadcast.getSource();
      return cast<SpaceType>(operand.getType()).getDims();
    };
    ArrayRef<StringAttr> rows = getDims(product.getOperand(0));
    for (StringAttr dim : getDims(product.getOperand(1)))
      if (!llvm::is_contained(rows, dim))
        columns.insert(dim);
  }

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
    llvm::stable_sort(result, [&](StringAttr a, StringAttr b) { return getWhole(a) > getWhole(b); });
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
      if (step >= getWhole(temporal))
        continue;
      schedule.step = step;
      tryBlocks(schedule, legal);
    }
  }

  /// Blocks of the legal dimensions. With contractions, batch dimensions are cut to 1, rows and columns are tiled;
  /// without, the outermost dimensions are cut first, so that a block is a contiguous piece.
  void tryBlocks(Schedule schedule, ArrayRef<StringAttr> legal) {
    if (legal.empty()) {
      consider(schedule);
      return;
    }
    SmallVector<StringAttr> order = getLayoutOrder(legal);
    if (!hasContraction)
      return shrink(schedule, order);
    // The innermost row and the innermost column dimension are tiled; the next one of each is whole or cut to 1.
    SmallVector<StringAttr> tiled, nextOuter;
    unsigned numRows = 0, numColumns = 0;
    for (StringAttr dim : llvm::reverse(order)) {
      unsigned position = llvm::is_contained(batch, dim) ? 2 : columns.contains(dim) ? numColumns++ : numRows++;
      if (position == 0)
        tiled.push_back(dim);
      else if (position == 1)
        nextOuter.push_back(dim);
      else
        schedule.blocks[graph.getDimIndex(dim)] = 1;
    }
    enumerateOuter(schedule, nextOuter, tiled);
  }

  void enumerateOuter(Schedule &schedule, ArrayRef<StringAttr> outer, ArrayRef<StringAttr> tiled) {
    if (outer.empty())
      return enumerate(schedule, tiled);
    for (int64_t size : {int64_t(1), getWhole(outer.front())}) {
      schedule.blocks[graph.getDimIndex(outer.front())] = std::max<int64_t>(size, 1);
      enumerateOuter(schedule, outer.drop_front(), tiled);
    }
  }

  /// Every combination of powers of two and, where tiles may have any extent, of even shares of the dimension.
  void enumerate(Schedule &schedule, ArrayRef<StringAttr> dims) {
    if (dims.empty()) {
      consider(schedule);
      return;
    }
    int64_t extent = getWhole(dims.front());
    int64_t &block = schedule.blocks[graph.getDimIndex(dims.front())];
    SmallVector<int64_t> sizes = {16, 32, 64, 128, 256, 512};
    if (target.kind == Target::Kind::CPU)
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
      schedule.blocks[graph.getDimIndex(dim)] = std::max<int64_t>(getWhole(dim), 1);
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
    Footprint footprint = model.getFootprint(candidate, target, /*stages=*/2);
    if (!fits(footprint, target)) {
      if (least.shared == 0 || footprint.shared < least.shared)
        least = footprint;
      return;
    }
    double seconds = model.predictSeconds(candidate, target);
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
  GraphModel model;
  bool hasContraction = false;
  int64_t largest = 0;
  SmallVector<StringAttr> batch;
  /// Dimensions of the second factor of the largest contraction that the first one lacks.
  llvm::SmallDenseSet<StringAttr> columns;
  bool found = false;
  Schedule best;
  Footprint least;
};

} // namespace

FailureOr<Schedule> fusion::findSchedule(GraphOp graph, const Target &target, const ScheduleOptions &options,
                                         TemporalLegality isLegalTemporal, std::string *reason) {
  return Search(graph, target, options, isLegalTemporal).run(reason);
}
