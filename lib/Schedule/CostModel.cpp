//===- CostModel.cpp - Predicted time of a sliced graph -------------------===//
//
// A block computes, reads its inputs from the shared cache (again in every slice of every block), and moves its
// intermediates through its own memory where they outgrow the nearest level. Blocks run in waves over the target's
// units; the memory has to deliver the kernel's tensors once.
//
//===------------------------------------------------------------------------===//

#include "GraphModel.h"

#include <cmath>

using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// How many elements a core rearranges per second.
constexpr double packedPerSecond = 4e9;
/// What it costs a core to start the innermost loop of an elementwise operation.
constexpr double rowSeconds = 5e-9;

/// Fraction of the peak that a contraction's tile reaches: columns are padded to vectors, rows share what is loaded of
/// the other operand, and the accumulators are loaded and stored once per slice of the reduction.
double getContractionEfficiency(const GraphModel::Op &op, llvm::ArrayRef<int64_t> tile, const Target &target) {
  bool isGPU = target.kind == Target::Kind::GPU;
  int64_t columns = 1, depth = 1;
  if (!op.result.dims.empty())
    columns = tile[op.result.dims.back()];
  double rows = double(op.result.getElements(tile)) / std::max<int64_t>(columns, 1);
  for (unsigned dim : op.along)
    depth *= tile[dim];
  int64_t width = isGPU ? 16 : target.lanes, height = isGPU ? 16 : 8;
  double padding = double(columns) / (llvm::divideCeil(std::max<int64_t>(columns, 1), width) * width);
  return std::max(0.75 * padding * rows / (rows + height) * depth / (depth + 8.0), 1e-3);
}

} // namespace

double GraphModel::predictSeconds(const Schedule &schedule, const Target &target) const {
  TileExtents tile = getTile(schedule);
  int64_t temporal = getTemporal(schedule);
  double blocks = 1;
  for (auto [dim, block] : llvm::enumerate(schedule.blocks))
    if (block > 0)
      blocks *= getCount(dim, tile[dim]);
  double slices = temporal >= 0 ? double(getCount(temporal, tile[temporal])) * schedule.passes : 1;

  double compute = 0, packed = 0, numRows = 0, sharedBytes = 0, blockBytes = 0;
  for (const Op &op : ops) {
    double elements = op.result.getElements(tile), bytes = op.result.getBytes(tile);
    double repeats = op.result.hasDim(temporal) || op.reduced.hasDim(temporal) ? slices : 1;
    switch (op.kind) {
    case Kind::Source:
      sharedBytes += bytes * repeats;
      break;
    case Kind::Contraction:
      compute += 2.0 * op.reduced.getElements(tile) * repeats / getContractionEfficiency(op, tile, target);
      packed += op.packed.dims.empty() ? 0 : op.packed.getElements(tile) * repeats;
      break;
    case Kind::Reduction:
      compute += 2.0 * op.reduced.getElements(tile) * repeats;
      break;
    case Kind::Map:
      compute += elements * op.bodyCost * repeats;
      if (!op.result.dims.empty())
        numRows += elements / std::max<int64_t>(tile[op.result.dims.back()], 1) * repeats;
      if (bytes > target.nearBytes / 2)
        blockBytes += 2 * bytes * repeats;
      break;
    case Kind::Other:
      break;
    }
  }
  for (const Space &output : outputs)
    sharedBytes += output.getBytes(tile);

  double perBlock = compute / target.flops + sharedBytes / target.sharedRate + blockBytes / target.blockRate +
                    target.blockSeconds * (1 + 0.2 * (slices - 1));
  double waves = std::ceil(blocks / target.units);
  double memory = tensorBytes / target.memoryRate;
  // A GPU hides one behind the other, if there are other blocks to work on while one waits: a block that fills the
  // registers is alone. A core waits for what no prefetcher brings in time.
  if (target.kind == Target::Kind::GPU) {
    // Outputs along the temporal dimension are computed in a loop of their own, from the sources.
    if (temporal >= 0 && llvm::any_of(outputs, [&](const Space &output) { return output.hasDim(temporal); }))
      memory *= 2;
    double filled = double(getFootprint(schedule, target, /*stages=*/2).registers) / target.nearBytes;
    return target.launchSeconds + std::max(waves * perBlock, memory * (1 + filled));
  }
  perBlock += packed / packedPerSecond + numRows * rowSeconds;
  return target.launchSeconds + waves * perBlock + memory;
}

double fusion::predictSeconds(GraphOp graph, const Schedule &schedule, const Target &target) {
  return GraphModel(graph).predictSeconds(schedule, target);
}
