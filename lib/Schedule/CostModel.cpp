//===- CostModel.cpp - Predicted time of a sliced graph -------------------===//
//
// A block computes, reads its inputs from the shared cache (again in every slice of every block), and moves its
// intermediates through its own memory where they outgrow the nearest level. Blocks run in waves over the target's
// units; the memory has to deliver the kernel's tensors once.
//
//===------------------------------------------------------------------------===//

#include "TileShape.h"
#include "fusion/Schedule/Spatial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// f32 operations that one element of a scalar body is worth.
double getBodyCost(MapOp map) {
  double cost = 0;
  map.getBody().walk([&](Operation *op) {
    if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SinOp, math::CosOp>(op))
      cost += 16;
    else if (isa<math::TanhOp, math::ErfOp, math::PowFOp>(op))
      cost += 32;
    else if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op))
      cost += 8;
    else if (!isa<arith::ConstantOp, YieldOp>(op) && op->getNumResults() == 1)
      cost += 1;
  });
  return cost;
}

/// Fraction of the peak that a contraction's tile reaches: rows and columns are padded to register tiles, and the
/// accumulators are loaded and stored once per slice of the reduction.
double getContractionEfficiency(AllToOneOp reduce, MapOp product, const TileShape &shape, const Target &target) {
  SpaceType result = reduce.getType();
  int64_t columns = 1, rows = 1;
  if (!result.getDims().empty()) {
    columns = shape.getTile(result.getDims().back());
    for (StringAttr dim : result.getDims().drop_back())
      rows *= shape.getTile(dim);
  }
  int64_t depth = 1;
  for (Attribute dim : reduce.getAlong())
    depth *= shape.getTile(cast<StringAttr>(dim));
  int64_t width = target.kind == Target::Kind::GPU ? 16 : target.lanes;
  int64_t height = target.kind == Target::Kind::GPU ? 16 : 8;
  auto padding = [](int64_t size, int64_t unit) { return double(size) / (llvm::divideCeil(size, unit) * unit); };
  double reuse = double(rows) / (rows + height);
  return 0.75 * padding(columns, width) * padding(rows, rows < height ? std::max<int64_t>(rows, 1) : 1) * reuse *
         (depth / (depth + 8.0));
}

/// Elements of the operand of a contraction that has the columns of the result: a core rearranges its tile, so that
/// columns are next to each other, before it computes.
double getPackedElements(AllToOneOp reduce, MapOp product, const TileShape &shape) {
  if (reduce.getType().getDims().empty())
    return 0;
  StringAttr columns = reduce.getType().getDims().back();
  for (Value operand : product.getOperands())
    if (auto broadcast = operand.getDefiningOp<OneToAllOp>())
      if (broadcast.getSource().getType().hasDim(columns))
        return shape.getTileElements(broadcast.getSource().getType());
  return 0;
}

/// How many elements a core rearranges per second.
constexpr double packedPerSecond = 4e9;
/// What it costs a core to start the innermost loop of an elementwise operation.
constexpr double rowSeconds = 5e-9;

} // namespace

double fusion::predictSeconds(GraphOp graph, const Schedule &schedule, const Target &target) {
  TileShape shape(graph, schedule);
  double blocks = 1;
  for (auto [index, size] : llvm::enumerate(schedule.blocks))
    if (size > 0)
      blocks *= shape.getCount(graph.getDimName(index));
  double slices = schedule.temporal ? shape.getCount(schedule.temporal) : 1;

  double compute = 0, packed = 0, numRows = 0, sharedBytes = 0, blockBytes = 0;
  for (Operation &op : graph.getBody().front()) {
    if (op.getNumResults() == 0)
      continue;
    auto type = cast<SpaceType>(op.getResult(0).getType());
    double repeats = schedule.temporal ? slices * schedule.passes : 1;
    double elements = shape.getTileElements(type);
    double rows = type.getDims().empty() ? 1 : elements / std::max<int64_t>(shape.getTile(type.getDims().back()), 1);
    int64_t bytes = getElementBytes(type.getElementType());
    if (auto source = dyn_cast<SourceOp>(op)) {
      bool inLoop = schedule.temporal && type.hasDim(schedule.temporal);
      sharedBytes += elements * bytes * (inLoop ? repeats : 1);
    } else if (auto reduce = dyn_cast<AllToOneOp>(op)) {
      auto operand = cast<SpaceType>(reduce.getSource().getType());
      bool inLoop = schedule.temporal && operand.hasDim(schedule.temporal);
      double operations = shape.getTileElements(operand) * (inLoop ? repeats : 1);
      if (MapOp product = getContractionProduct(reduce)) {
        compute += 2 * operations / getContractionEfficiency(reduce, product, shape, target);
        packed += getPackedElements(reduce, product, shape) * (inLoop ? repeats : 1);
      } else {
        compute += 2 * operations;
      }
    } else if (auto map = dyn_cast<MapOp>(op)) {
      bool isProduct = llvm::any_of(map->getUsers(), [&](Operation *user) {
        auto reduce = dyn_cast<AllToOneOp>(user);
        return reduce && getContractionProduct(reduce) == map;
      });
      if (isProduct)
        continue;
      bool inLoop = schedule.temporal && type.hasDim(schedule.temporal);
      compute += elements * getBodyCost(map) * (inLoop ? repeats : 1);
      numRows += rows * (inLoop ? repeats : 1);
      if (elements * bytes > target.nearBytes / 2)
        blockBytes += 2 * elements * bytes * (inLoop ? repeats : 1);
    }
  }
  for (Value value : cast<OutputOp>(graph.getBody().front().getTerminator()).getValues()) {
    auto type = cast<SpaceType>(value.getType());
    sharedBytes += double(shape.getTileElements(type)) * getElementBytes(type.getElementType());
  }

  double perBlock = compute / target.flops + sharedBytes / target.sharedRate + blockBytes / target.blockRate +
                    target.blockSeconds * (1 + 0.2 * (slices * schedule.passes - 1));
  double waves = std::ceil(blocks / target.units);
  double memory = getTensorBytes(graph) / target.memoryRate;
  // A GPU hides one behind the other; a core waits for what no prefetcher brings in time.
  if (target.kind == Target::Kind::GPU)
    return target.launchSeconds + std::max(waves * perBlock, memory);
  perBlock += packed / packedPerSecond + numRows * rowSeconds;
  return target.launchSeconds + waves * perBlock + memory;
}
