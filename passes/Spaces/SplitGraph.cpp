//===- SplitGraph.cpp - Parts of a graph as graphs of their own -----------===//

#include "SplitGraph.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fusion::spacemap;

/// Maps that depend on nothing but constants and coordinates.
static llvm::SmallPtrSet<Operation *, 16> getGenerators(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 16> result;
  for (Operation &op : graph.getBody().front())
    if (isa<IndexOp>(op) || (isa<MapOp, OneToAllOp>(op) && llvm::all_of(op.getOperands(), [&](Value operand) {
                               return operand.getDefiningOp() && result.contains(operand.getDefiningOp());
                             })))
      result.insert(&op);
  return result;
}

void fusion::spacemap::materializeOutputs(GraphOp graph) {
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  OpBuilder builder(output);
  for (OpOperand &operand : output->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    if (isa<AllToOneOp>(op) || (isa<MapOp>(op) && op->getNumOperands() > 0))
      continue;
    Value value = operand.get();
    auto copy = MapOp::create(builder, op->getLoc(), cast<SpaceType>(value.getType()), ValueRange(value));
    Block &body = copy.getBody().emplaceBlock();
    Value element = body.addArgument(cast<SpaceType>(value.getType()).getElementType(), op->getLoc());
    OpBuilder inner = OpBuilder::atBlockBegin(&body);
    YieldOp::create(inner, op->getLoc(), element);
    operand.set(copy);
  }
}

std::vector<Unit> fusion::spacemap::getUnits(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 16> generators = getGenerators(graph);
  llvm::EquivalenceClasses<Operation *> classes;
  llvm::DenseMap<Operation *, unsigned> order;
  for (Operation &op : graph.getBody().front()) {
    order[&op] = order.size();
    bool isOutput = llvm::any_of(op.getUsers(), llvm::IsaPred<OutputOp>);
    if (!isa<MapOp, AllToOneOp>(op))
      continue;
    // A generator that is a result has to be computed by someone.
    if (generators.contains(&op) && !isOutput)
      continue;
    classes.insert(&op);
    for (Value operand : op.getOperands()) {
      auto producer = operand.getDefiningOp<MapOp>();
      if (producer && producer->hasOneUse() && !generators.contains(producer))
        classes.unionSets(&op, producer);
    }
  }
  llvm::MapVector<Operation *, Unit> byLeader;
  for (Operation &op : graph.getBody().front())
    if (classes.contains(&op))
      byLeader[classes.getLeaderValue(&op)].push_back(&op);
  std::vector<Unit> units;
  for (auto &[leader, unit] : byLeader)
    units.push_back(std::move(unit));
  llvm::sort(units, [&](const Unit &a, const Unit &b) { return order[a.back()] < order[b.back()]; });
  return units;
}

/// The space that `value` feeds from, seen through One-to-All mappings.
static Value getFeed(Value value) {
  while (auto broadcast = value.getDefiningOp<OneToAllOp>())
    value = broadcast.getSource();
  return value;
}

std::vector<SmallVector<unsigned>> fusion::spacemap::getComponents(ArrayRef<Unit> all, ArrayRef<unsigned> units) {
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::DenseMap<Operation *, unsigned> unitOf;
  for (unsigned unit : units) {
    classes.insert(unit);
    for (Operation *op : all[unit])
      unitOf[op] = unit;
  }
  for (unsigned unit : units)
    for (Operation *op : all[unit])
      for (Value operand : op->getOperands())
        if (auto it = unitOf.find(getFeed(operand).getDefiningOp()); it != unitOf.end())
          classes.unionSets(unit, it->second);
  llvm::MapVector<unsigned, SmallVector<unsigned>> byLeader;
  for (unsigned unit : units)
    byLeader[classes.getLeaderValue(unit)].push_back(unit);
  std::vector<SmallVector<unsigned>> result;
  for (auto &[leader, list] : byLeader)
    result.push_back(std::move(list));
  return result;
}

namespace {

/// Copies the ops of a part into a new graph.
class Extraction {
public:
  Extraction(OpBuilder &builder, GraphOp graph, ArrayRef<Unit> all, ArrayRef<unsigned> units,
             function_ref<SubgraphInput(Value)> getTensor)
      : builder(builder), graph(graph), getTensor(getTensor), body(builder.getContext()) {
    for (unsigned unit : units)
      for (Operation *op : all[unit]) {
        ops.push_back(op);
        members.insert(op);
      }
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  GraphOp run(SmallVectorImpl<SubgraphResult> &results) {
    collectResults(results);
    collectDims(results);
    create(results);
    for (Operation *op : ops)
      copy(op);
    SmallVector<Value> values;
    SmallVector<Attribute> axes;
    for (SubgraphResult &result : results) {
      values.push_back(mapping.lookup(result.space));
      axes.push_back(body.getArrayAttr(SmallVector<Attribute>(result.axes.begin(), result.axes.end())));
    }
    OutputOp::create(body, graph.getLoc(), values, body.getArrayAttr(axes));
    return part;
  }

private:
  void collectResults(SmallVectorImpl<SubgraphResult> &results) {
    auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
    for (Operation *op : ops) {
      Value value = op->getResult(0);
      bool isRead = false;
      SmallVector<Value> feeds = {value};
      while (!feeds.empty())
        for (Operation *user : feeds.pop_back_val().getUsers()) {
          if (isa<OneToAllOp>(user))
            feeds.push_back(user->getResult(0));
          else
            isRead |= !isa<OutputOp>(user) && !members.contains(user);
        }
      // As many results as the graph's output has layouts of the space; else the graph's own order.
      bool isOutput = false;
      for (auto [space, axes] : llvm::zip_equal(output.getValues(), output.getAxes()))
        if (space == value) {
          results.push_back({value, getNames(cast<ArrayAttr>(axes))});
          isOutput = true;
        }
      if (isRead && !isOutput) {
        auto dims = cast<SpaceType>(value.getType()).getDims();
        results.push_back({value, SmallVector<StringAttr>(dims.begin(), dims.end())});
      }
    }
  }

  /// Only the dimensions that occur in the part.
  void collectDims(ArrayRef<SubgraphResult> results) {
    llvm::SmallPtrSet<Attribute, 16> used;
    auto use = [&](Value value) { used.insert_range(cast<SpaceType>(value.getType()).getDims()); };
    for (Operation *op : ops) {
      use(op->getResult(0));
      for (Value operand : op->getOperands())
        use(operand);
    }
    for (Attribute name : graph.getDimNames())
      if (used.contains(name))
        dims.push_back(cast<StringAttr>(name));
  }

  void create(ArrayRef<SubgraphResult> results) {
    SmallVector<int64_t> extents;
    SmallVector<Value> dynamicExtents;
    for (StringAttr dim : dims) {
      extents.push_back(graph.getStaticExtent(dim));
      if (auto extent = dyn_cast<Value>(graph.getExtent(dim)))
        dynamicExtents.push_back(extent);
    }
    SmallVector<Type> types;
    for (const SubgraphResult &result : results) {
      SmallVector<int64_t> shape;
      for (StringAttr axis : result.axes)
        shape.push_back(graph.getStaticExtent(axis));
      types.push_back(RankedTensorType::get(shape, cast<SpaceType>(result.space.getType()).getElementType()));
    }
    SmallVector<Location> locs;
    for (Operation *op : ops)
      locs.push_back(op->getLoc());
    part = GraphOp::create(builder, FusedLoc::get(builder.getContext(), locs), types, ValueRange(), dynamicExtents,
                           builder.getArrayAttr(SmallVector<Attribute>(dims.begin(), dims.end())), extents,
                           DenseI64ArrayAttr());
    body.setInsertionPointToStart(&part.getBody().emplaceBlock());
  }

  Value addSource(Value tensor, ArrayRef<StringAttr> axes, SpaceType type, Location loc) {
    Value &argument = arguments[tensor];
    if (!argument) {
      argument = part.getBody().addArgument(tensor.getType(), loc);
      part.getInputsMutable().append(tensor);
    }
    return SourceOp::create(body, loc, type, argument,
                            body.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())));
  }

  void copy(Operation *op) {
    for (Value operand : op->getOperands())
      provide(operand);
    body.clone(*op, mapping);
  }

  /// Makes `value` available in the part.
  void provide(Value value) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (auto source = dyn_cast<SourceOp>(op)) {
      Value tensor = graph.getInputs()[cast<BlockArgument>(source.getInput()).getArgNumber()];
      mapping.map(value, addSource(tensor, getNames(source.getAxes()), source.getType(), op->getLoc()));
      return;
    }
    bool isCopied = isa<IndexOp, OneToAllOp>(op) || (isa<MapOp>(op) && op->getNumOperands() == 0);
    if (isCopied || isGenerator(value)) {
      copy(op);
      return;
    }
    SubgraphInput input = getTensor(value);
    mapping.map(value, addSource(input.tensor, input.axes, cast<SpaceType>(value.getType()), op->getLoc()));
  }

  bool isGenerator(Value value) {
    if (!generators)
      generators = getGenerators(graph);
    return generators->contains(value.getDefiningOp());
  }

  OpBuilder &builder;
  GraphOp graph, part;
  function_ref<SubgraphInput(Value)> getTensor;
  OpBuilder body;
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> members;
  std::optional<llvm::SmallPtrSet<Operation *, 16>> generators;
  SmallVector<StringAttr> dims;
  IRMapping mapping;
  llvm::SmallDenseMap<Value, Value> arguments;
};

} // namespace

GraphOp fusion::spacemap::extractSubgraph(OpBuilder &builder, GraphOp graph, ArrayRef<Unit> all,
                                          ArrayRef<unsigned> units, function_ref<SubgraphInput(Value)> getTensor,
                                          SmallVectorImpl<SubgraphResult> &results) {
  return Extraction(builder, graph, all, units, getTensor).run(results);
}

void fusion::spacemap::splitGraph(GraphOp graph, ArrayRef<Unit> all, ArrayRef<SmallVector<unsigned>> parts) {
  OpBuilder builder(graph);
  llvm::DenseMap<Value, SubgraphInput> tensors;
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  SmallVector<Value> replacements(graph.getNumResults());
  for (const SmallVector<unsigned> &units : parts) {
    SmallVector<SubgraphResult> results;
    GraphOp part = extractSubgraph(
        builder, graph, all, units, [&](Value space) { return tensors.lookup(space); }, results);
    for (auto [result, tensor] : llvm::zip_equal(results, part.getResults())) {
      tensors.try_emplace(result.space, SubgraphInput{tensor, result.axes});
      for (auto [index, space, axes] : llvm::enumerate(output.getValues(), output.getAxes()))
        if (space == result.space && getNames(cast<ArrayAttr>(axes)) == result.axes && !replacements[index])
          replacements[index] = tensor;
    }
  }
  graph.replaceAllUsesWith(replacements);
  graph.erase();
}
