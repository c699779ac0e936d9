//===- Partition.cpp - spacemap-partition ---------------------------------===//

#include "SplitGraph.h"
#include "fusion/Spaces/TemporalSlice.h"

#include "fusion/Report/Remarks.h"
#include "fusion/Schedule/Schedule.h"
#include "fusion/Schedule/Spatial.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPPARTITION
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// What is known of one part.
struct Evaluation {
  bool isFeasible = false;
  double seconds = std::numeric_limits<double>::infinity();
  /// Why the part cannot be one kernel.
  Refusal refusal;
};

/// A part that no schedule fits runs all the same, in one block and off chip; that is the last resort.
constexpr double penaltySeconds = 10;

class Partitioner {
public:
  Partitioner(GraphOp graph, const Target &target, const ScheduleOptions &options, bool byProfit,
              llvm::StringMap<Evaluation> &known)
      : graph(graph), target(target), options(options), byProfit(byProfit), known(known), units(getUnits(graph)) {}

  /// The parts, in an order that respects their dependences.
  std::vector<SmallVector<unsigned>> run() {
    unsigned numUnits = units.size();
    std::vector<double> best(numUnits + 1, std::numeric_limits<double>::infinity());
    std::vector<unsigned> start(numUnits + 1, 0);
    best[0] = 0;
    for (unsigned begin = 0; begin < numUnits; ++begin) {
      unsigned failures = 0, useless = 0;
      for (unsigned end = begin + 1; end <= numUnits && failures < maxFailures && useless < maxUseless; ++end) {
        auto [seconds, isFeasible] = evaluateSegment(begin, end);
        bool isHopeless = !isFeasible || seconds > 1.5 * (best[end] - best[begin]);
        failures = isHopeless ? failures + 1 : 0;
        ++useless;
        if (best[begin] + seconds < best[end]) {
          best[end] = best[begin] + seconds;
          start[end] = begin;
          useless = 0;
        }
      }
    }
    SmallVector<std::pair<unsigned, unsigned>> segments;
    for (unsigned end = numUnits; end > 0; end = start[end])
      segments.emplace_back(start[end], end);
    std::vector<SmallVector<unsigned>> parts;
    for (auto [begin, end] : llvm::reverse(segments))
      llvm::append_range(parts, getComponents(units, getRange(begin, end)));
    return parts;
  }

  /// Says why mappings between different parts were cut.
  void explain(ArrayRef<SmallVector<unsigned>> parts) {
    llvm::DenseMap<Operation *, unsigned> partOf;
    for (auto [index, part] : llvm::enumerate(parts))
      for (unsigned unit : part)
        for (Operation *op : units[unit])
          partOf[op] = index;
    llvm::SetVector<std::pair<Operation *, Operation *>> cut;
    std::vector<llvm::SmallBitVector> reads(parts.size(), llvm::SmallBitVector(parts.size()));
    graph.getBody().walk([&](Operation *op) {
      auto consumer = partOf.find(op);
      if (consumer == partOf.end())
        return;
      for (Value operand : op->getOperands()) {
        while (auto broadcast = operand.getDefiningOp<OneToAllOp>())
          operand = broadcast.getSource();
        auto producer = partOf.find(operand.getDefiningOp());
        if (producer == partOf.end() || producer->second == consumer->second)
          continue;
        cut.insert({producer->first, op});
        reads[consumer->second].set(producer->second);
      }
    });
    // Parts are in topological order: what each depends on, directly or not.
    std::vector<llvm::SmallBitVector> depends = reads;
    for (auto [part, direct] : llvm::zip_equal(depends, reads))
      for (unsigned producer : direct.set_bits())
        part |= depends[producer];
    for (auto [producer, consumer] : cut) {
      // One kernel of the two would hold all that lies between them as well.
      unsigned first = partOf.lookup(producer), last = partOf.lookup(consumer);
      SmallVector<unsigned> merged;
      double apart = 0;
      for (unsigned part = first; part <= last; ++part)
        if (part == first || part == last || (depends[last].test(part) && depends[part].test(first))) {
          llvm::append_range(merged, parts[part]);
          apart += evaluate(parts[part]).seconds;
        }
      llvm::sort(merged);
      remarkApart(producer, consumer, compare(merged, apart));
    }
  }

  ArrayRef<Unit> getUnitList() const { return units; }

private:
  /// So many extensions in a row that do not fit, or are far slower than cutting, end a part: what comes later would not
  /// make it smaller.
  static constexpr unsigned maxFailures = 6;
  /// So do so many extensions in a row that fit, but are no better than parts which begin earlier. Without an end the time
  /// for a chain of n units in which every part fits would grow with n^3.
  static constexpr unsigned maxUseless = 32;

  static SmallVector<unsigned> getRange(unsigned begin, unsigned end) { return llvm::to_vector(llvm::seq(begin, end)); }

  std::pair<double, bool> evaluateSegment(unsigned begin, unsigned end) {
    double seconds = 0;
    bool isFeasible = true;
    for (const SmallVector<unsigned> &component : getComponents(units, getRange(begin, end))) {
      const Evaluation &evaluation = evaluate(component);
      isFeasible &= evaluation.isFeasible;
      // Without profit, the fewest kernels win.
      seconds += !evaluation.isFeasible ? penaltySeconds + component.size() : byProfit ? evaluation.seconds : 1;
    }
    // A single unit has to run in any case.
    return {isFeasible || end - begin == 1 ? seconds : std::numeric_limits<double>::infinity(), isFeasible};
  }

  const Evaluation &evaluate(const SmallVector<unsigned> &part) {
    auto [it, isNew] = evaluations.try_emplace(part);
    if (!isNew)
      return it->second;
    Evaluation &evaluation = it->second;

    // A trial graph, with stand-ins for the tensors that other parts would supply.
    OpBuilder builder(graph);
    SmallVector<Operation *> standIns;
    SmallVector<SubgraphResult> results;
    GraphOp trial = extractSubgraph(
        builder, graph, units, part,
        [&](Value space) {
          auto type = cast<SpaceType>(space.getType());
          SmallVector<OpFoldResult> shape;
          for (StringAttr dim : type.getDims())
            shape.push_back(graph.getExtent(dim));
          OpBuilder outside(graph);
          auto empty = tensor::EmptyOp::create(outside, graph.getLoc(), shape, type.getElementType());
          standIns.push_back(empty);
          return SubgraphInput{empty, SmallVector<StringAttr>(type.getDims())};
        },
        results);
    trial->moveBefore(graph);

    // A repeated subgraph is scheduled once.
    auto [same, isFirst] = known.try_emplace(getCanonicalKey(trial));
    if (isFirst)
      same->second = schedule(trial);
    evaluation = same->second;
    trial.erase();
    for (Operation *op : standIns)
      op->erase();
    return evaluation;
  }

  Evaluation schedule(GraphOp trial) {
    Evaluation evaluation;
    SmallVector<StringAttr> legal = getLegalSpatialDims(trial);
    std::string reason, notTemporal;
    FailureOr<Schedule> best = findSchedule(
        trial, target, options,
        [&](GraphOp graph, StringAttr dim) {
          // Asked of many trial graphs: the check of the updates is left to the one that is sliced.
          TemporalOptions unchecked;
          unchecked.verify = false;
          FailureOr<TemporalPlan> plan = planTemporal(graph, dim, &notTemporal, unchecked);
          return succeeded(plan) ? plan->numPasses : 0;
        },
        &reason);
    if (failed(best)) {
      if (!notTemporal.empty())
        reason += "; it cannot be sliced temporally: " + notTemporal;
      if (legal.empty())
        evaluation.refusal = {Reason::NoParallelDim, "no dimension can be cut into independent blocks, and " + reason};
      else
        evaluation.refusal = {notTemporal.empty() ? Reason::Footprint : Reason::NoUpdateFunction, reason};
    } else {
      evaluation.isFeasible = true;
      evaluation.seconds = best->seconds;
    }
    return evaluation;
  }

  Refusal compare(const SmallVector<unsigned> &merged, double secondsApart) {
    const Evaluation &together = evaluate(merged);
    if (!together.isFeasible)
      return together.refusal;
    std::string text =
        llvm::formatv("predicted {0:F1} us in one kernel, {1:F1} us apart", together.seconds * 1e6, secondsApart * 1e6);
    if (together.seconds < secondsApart)
      text += "; with their other neighbours each is predicted to be faster apart";
    return {Reason::NotProfitable, text};
  }

  GraphOp graph;
  const Target &target;
  const ScheduleOptions &options;
  bool byProfit;
  /// What is known of trial graphs, by canonical key; shared between the graphs of a function.
  llvm::StringMap<Evaluation> &known;
  std::vector<Unit> units;
  std::map<SmallVector<unsigned>, Evaluation> evaluations;
};

struct PartitionPass : fusion::impl::SpaceMapPartitionBase<PartitionPass> {
  using SpaceMapPartitionBase::SpaceMapPartitionBase;

  void runOnOperation() override {
    llvm::Expected<Target> machine = getTarget(target, threads);
    if (!machine) {
      emitError(getOperation().getLoc()) << llvm::toString(machine.takeError());
      return signalPassFailure();
    }
    ScheduleOptions options;
    options.temporal = temporal;
    llvm::StringMap<Evaluation> known;
    SmallVector<GraphOp> graphs;
    getOperation().walk([&](GraphOp graph) { graphs.push_back(graph); });
    for (GraphOp graph : graphs) {
      if (graph.getBlockSizes() || !graph.getBody().getOps<TemporalOp>().empty())
        continue; // sliced already
      materializeOutputs(graph);
      Partitioner partitioner(graph, *machine, options, byProfit, known);
      std::vector<SmallVector<unsigned>> parts = partitioner.run();
      numKernels += parts.size();
      if (parts.size() <= 1)
        continue;
      ++numCuts;
      if (wantsRemarks(graph))
        partitioner.explain(parts);
      splitGraph(graph, partitioner.getUnitList(), parts);
    }
  }
};

} // namespace
