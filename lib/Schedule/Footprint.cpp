//===- Footprint.cpp - On-chip memory of a block --------------------------===//

#include "TileShape.h"
#include "fusion/Schedule/Spatial.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

/// Sources that a contraction reads, directly or through scalar functions of inputs.
llvm::DenseSet<Value> getContractionSources(GraphOp graph) {
  llvm::DenseSet<Value> result;
  graph.getBody().walk([&](AllToOneOp reduce) {
    MapOp product = getContractionProduct(reduce);
    if (!product)
      return;
    SmallVector<Value> worklist(product.getOperands());
    llvm::DenseSet<Value> seen;
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value).second)
        continue;
      if (isa<SourceOp>(op))
        result.insert(value);
      else if (isa<OneToAllOp, MapOp>(op))
        llvm::append_range(worklist, op->getOperands());
    }
  });
  return result;
}

/// The largest sum of tiles that are live at one point of the block, `bytes(type)` per element.
///
/// A reduction's result stays for the whole block (it is a state, or is fed to all), unless the last thing that reads it
/// is a map of its own dimensions, which takes its place; and so does a map the place of its last operand.
int64_t getLiveBytes(GraphOp graph, const TileShape &shape, const llvm::DenseSet<Value> &inputLike,
                     function_ref<int64_t(Type)> bytes) {
  auto takesRoom = [&](Value value) {
    if (llvm::any_of(value.getUsers(), llvm::IsaPred<OutputOp>))
      return true;
    if (inputLike.contains(value) || isa<OneToAllOp>(value.getDefiningOp()))
      return false;
    if (auto map = value.getDefiningOp<MapOp>())
      for (Operation *user : map->getUsers())
        if (auto reduce = dyn_cast<AllToOneOp>(user); reduce && getContractionProduct(reduce) == map)
          return false;
    return true;
  };
  llvm::DenseMap<Operation *, unsigned> order;
  unsigned position = 0;
  for (Operation &op : graph.getBody().front())
    order[&op] = position++;

  // Where each tile is freed: behind its last reader. A broadcast reads for all of its own readers.
  std::function<unsigned(Value, bool &)> getLastUse = [&](Value value, bool &isInPlace) -> unsigned {
    unsigned last = 0;
    for (Operation *user : value.getUsers()) {
      bool ignored;
      unsigned at = isa<OneToAllOp>(user) ? getLastUse(user->getResult(0), ignored) : order.lookup(user);
      if (at >= last) {
        last = at;
        isInPlace = isa<MapOp>(user);
      }
    }
    return last;
  };
  std::vector<SmallVector<int64_t, 2>> freed(position);
  int64_t live = 0, most = 0;
  for (Operation &op : graph.getBody().front()) {
    unsigned now = order.lookup(&op);
    if (op.getNumResults() == 0 || !takesRoom(op.getResult(0)))
      continue;
    // Operands that end here give their room to the result.
    for (int64_t size : freed[now])
      live -= size;
    freed[now].clear();
    Value value = op.getResult(0);
    auto type = cast<SpaceType>(value.getType());
    int64_t size = shape.getTileElements(type) * bytes(type.getElementType());
    live += size;
    most = std::max(most, live);
    bool isInPlace = false;
    unsigned last = getLastUse(value, isInPlace);
    if (isInPlace || (isa<MapOp>(op) && last + 1 < position))
      freed[last].push_back(size);
  }
  return most;
}

} // namespace

Footprint fusion::getFootprint(GraphOp graph, const Schedule &schedule, const Target &target, int64_t stages) {
  TileShape shape(graph, schedule);
  llvm::DenseSet<Value> inputLike = getInputLikeSpaces(graph);
  bool isGPU = target.kind == Target::Kind::GPU;
  Footprint result;
  for (Value source : getContractionSources(graph)) {
    auto type = cast<SpaceType>(source.getType());
    bool isStaged = isGPU && schedule.temporal && type.hasDim(schedule.temporal);
    int64_t bytes = (isStaged ? stages : 1) * shape.getTileElements(type) * getElementBytes(type.getElementType());
    // A CPU's cache holds what one contraction after the other reads; shared memory holds all of it.
    result.shared = isGPU ? result.shared + bytes : std::max(result.shared, bytes);
  }
  if (isGPU)
    result.registers = getLiveBytes(graph, shape, inputLike, [](Type) { return 4; });
  else
    result.shared += getLiveBytes(graph, shape, inputLike, getElementBytes);
  return result;
}

bool fusion::fits(const Footprint &footprint, const Target &target) {
  return footprint.shared <= target.blockBytes &&
         (target.kind == Target::Kind::CPU || footprint.registers <= target.nearBytes);
}

int64_t fusion::getTensorBytes(GraphOp graph) {
  TileShape shape(graph, Schedule());
  int64_t bytes = 0;
  llvm::DenseSet<Value> seen;
  auto add = [&](Value value) {
    auto type = cast<SpaceType>(value.getType());
    bytes += shape.getTileElements(type) * getElementBytes(type.getElementType());
  };
  graph.getBody().walk([&](SourceOp source) {
    if (seen.insert(source.getInput()).second)
      add(source);
  });
  for (Value value : cast<OutputOp>(graph.getBody().front().getTerminator()).getValues())
    add(value);
  return bytes;
}
