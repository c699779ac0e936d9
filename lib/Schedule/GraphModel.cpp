//===- GraphModel.cpp - What the scheduler reads of a graph ---------------===//

#include "GraphModel.h"

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
  for (Operation &op : map.getBody().front()) {
    if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SinOp, math::CosOp>(op))
      cost += 16;
    else if (isa<math::TanhOp, math::ErfOp, math::PowFOp>(op))
      cost += 32;
    else if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op))
      cost += 8;
    else if (!isa<arith::ConstantOp, YieldOp>(op))
      cost += 1;
  }
  return cost;
}

GraphModel::Space getSpace(GraphOp graph, Value value) {
  auto type = cast<SpaceType>(value.getType());
  GraphModel::Space space;
  for (StringAttr dim : type.getDims())
    space.dims.push_back(graph.getDimIndex(dim));
  Type element = type.getElementType();
  space.elementBytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return space;
}

/// The space that a One-to-All mapping feeds, or `value` itself.
Value getFeed(Value value) {
  auto broadcast = value.getDefiningOp<OneToAllOp>();
  return broadcast ? broadcast.getSource() : value;
}

/// Marks the sources that a contraction reads, directly or through scalar functions.
void markContractionSources(MapOp product, const llvm::DenseMap<Operation *, unsigned> &order,
                            std::vector<GraphModel::Op> &ops) {
  SmallVector<Value> worklist(product.getOperands());
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (isa<SourceOp>(op))
      ops[order.lookup(op)].feedsContraction = true;
    else if (isa<OneToAllOp, MapOp>(op))
      llvm::append_range(worklist, op->getOperands());
  }
}

} // namespace

GraphModel::GraphModel(GraphOp graph) : graph(graph) {
  for (int64_t extent : graph.getStaticExtents())
    extents.push_back(ShapedType::isDynamic(extent) ? assumedExtent : extent);
  llvm::DenseSet<Value> inputLike = getInputLikeSpaces(graph);
  llvm::DenseMap<Operation *, unsigned> order;
  llvm::SmallPtrSet<Operation *, 8> products;
  llvm::DenseSet<Value> tensors;
  Block &body = graph.getBody().front();
  for (Operation &op : body) {
    order[&op] = order.size();
    if (auto reduce = dyn_cast<AllToOneOp>(op))
      if (MapOp product = getContractionProduct(reduce))
        products.insert(product);
  }
  ops.resize(order.size());

  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() != 1)
      continue; // temporal loops: a graph that is sliced already is not scheduled again
    Op &model = ops[order.lookup(&op)];
    Value value = op.getResult(0);
    model.result = getSpace(graph, value);
    if (auto source = dyn_cast<SourceOp>(op)) {
      model.kind = Kind::Source;
      if (tensors.insert(source.getInput()).second)
        tensorBytes += model.result.getBytes(extents);
    } else if (auto reduce = dyn_cast<AllToOneOp>(op)) {
      MapOp product = getContractionProduct(reduce);
      model.kind = product ? Kind::Contraction : Kind::Reduction;
      model.reduced = getSpace(graph, reduce.getSource());
      for (Attribute dim : reduce.getAlong())
        model.along.push_back(graph.getDimIndex(cast<StringAttr>(dim)));
      if (product) {
        markContractionSources(product, order, ops);
        if (!model.result.dims.empty())
          for (Value operand : product.getOperands())
            if (Space feed = getSpace(graph, getFeed(operand)); feed.hasDim(model.result.dims.back()))
              model.packed = feed;
      }
    } else if (auto map = dyn_cast<MapOp>(op); map && !products.contains(map)) {
      model.kind = Kind::Map;
      model.bodyCost = getBodyCost(map);
    }
    bool isOutput = llvm::any_of(value.getUsers(), llvm::IsaPred<OutputOp>);
    model.takesRoom = isOutput || (!inputLike.contains(value) && !isa<OneToAllOp>(op) && !products.contains(&op));
  }

  // A reduction's result stays for the whole block (it is a state, or is fed to all), unless the last thing that reads
  // it is a map of its own dimensions, which takes its place; a map's result goes when it was last read.
  std::function<unsigned(Value, bool &)> getLastUse = [&](Value value, bool &isMap) -> unsigned {
    unsigned last = 0;
    for (Operation *user : value.getUsers()) {
      bool ignored;
      unsigned at = isa<OneToAllOp>(user) ? getLastUse(user->getResult(0), ignored) : order.lookup(user);
      if (at >= last) {
        last = at;
        isMap = isa<MapOp>(user);
      }
    }
    return last;
  };
  for (Operation &op : body.without_terminator()) {
    Op &model = ops[order.lookup(&op)];
    if (!model.takesRoom)
      continue;
    bool isInPlace = false;
    unsigned last = getLastUse(op.getResult(0), isInPlace);
    if (isInPlace || (isa<MapOp>(op) && last + 1 < ops.size()))
      model.freedAt = last;
  }

  for (Value value : cast<OutputOp>(body.getTerminator()).getValues()) {
    outputs.push_back(getSpace(graph, value));
    tensorBytes += outputs.back().getBytes(extents);
  }
}

int64_t GraphModel::getTemporal(const Schedule &schedule) const {
  return schedule.temporal ? GraphOp(graph).getDimIndex(schedule.temporal) : -1;
}

TileExtents GraphModel::getTile(const Schedule &schedule) const {
  TileExtents tile = extents;
  for (auto [extent, block] : llvm::zip(tile, schedule.blocks))
    if (block > 0)
      extent = std::min(extent, block);
  if (int64_t temporal = getTemporal(schedule); temporal >= 0)
    tile[temporal] = std::min(tile[temporal], schedule.step);
  return tile;
}
