//===- Footprint.cpp - On-chip memory of a block --------------------------===//

#include "GraphModel.h"

using namespace fusion;
using namespace fusion::spacemap;

/// The largest sum of tiles that are live at one point of the block.
static int64_t getLiveBytes(const GraphModel &model, llvm::ArrayRef<int64_t> tile, bool inRegisters) {
  std::vector<int64_t> freed(model.ops.size(), 0);
  int64_t live = 0, most = 0;
  for (auto [now, op] : llvm::enumerate(model.ops)) {
    if (!op.takesRoom)
      continue;
    // Operands that end here give their room to the result.
    live -= freed[now];
    freed[now] = 0;
    int64_t bytes = inRegisters ? 4 * op.result.getElements(tile) : op.result.getBytes(tile);
    live += bytes;
    most = std::max(most, live);
    if (op.freedAt)
      freed[*op.freedAt] += bytes;
  }
  return most;
}

Footprint GraphModel::getFootprint(const Schedule &schedule, const Target &target, int64_t stages) const {
  TileExtents tile = getTile(schedule);
  int64_t temporal = getTemporal(schedule);
  bool isGPU = target.kind == Target::Kind::GPU;
  Footprint result;
  for (const Op &op : ops) {
    if (!op.feedsContraction)
      continue;
    int64_t bytes = op.result.getBytes(tile) * (isGPU && op.result.hasDim(temporal) ? stages : 1);
    // A CPU's cache holds what one contraction after the other reads; shared memory holds all of it.
    result.shared = isGPU ? result.shared + bytes : std::max(result.shared, bytes);
  }
  if (isGPU)
    result.registers = getLiveBytes(*this, tile, /*inRegisters=*/true);
  else
    result.shared += getLiveBytes(*this, tile, /*inRegisters=*/false);
  return result;
}

Footprint fusion::getFootprint(GraphOp graph, const Schedule &schedule, const Target &target, int64_t stages) {
  return GraphModel(graph).getFootprint(schedule, target, stages);
}

bool fusion::fits(const Footprint &footprint, const Target &target) {
  return footprint.shared <= target.blockBytes &&
         (target.kind == Target::Kind::CPU || footprint.registers <= target.nearBytes);
}

int64_t fusion::getTensorBytes(GraphOp graph) { return GraphModel(graph).tensorBytes; }
