//===- TileBodies.cpp - Expressions to linalg operations -----------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

Tile KernelLowering::getTile(Value leaf, unsigned level) {
  auto it = tiles.find(leaf);
  if (it != tiles.end())
    return it->second;
  auto source = leaf.getDefiningOp<SourceOp>();
  if (!source || !isa<RankedTensorType>(source.getInput().getType()))
    return Tile{};
  return build.getSource(source, plan.getLevel(leaf));
}

namespace fusion::tiles {

/// Emits the scalars of an expression for one point of the iteration space.
struct BodyBuilder {
  KernelLowering &kernel;
  OpBuilder &builder;
  unsigned level;
  /// Dimensions of the iteration, in its order.
  ArrayRef<StringAttr> dims;
  /// Known values of spaces and of scalars in the bodies of maps.
  llvm::DenseMap<Value, Value> values;

  BodyBuilder(KernelLowering &kernel, OpBuilder &builder, unsigned level, ArrayRef<StringAttr> dims)
      : kernel(kernel), builder(builder), level(level), dims(dims) {}

  Value getSpace(Value space) {
    auto it = values.find(space);
    if (it != values.end())
      return it->second;
    Value value = makeSpace(space);
    values[space] = value;
    return value;
  }

  Value makeSpace(Value space) {
    Operation *op = space.getDefiningOp();
    if (auto map = dyn_cast_or_null<MapOp>(op))
      return getScalar(cast<YieldOp>(map.getBody().front().getTerminator()).getValue());
    if (auto broadcast = dyn_cast_or_null<OneToAllOp>(op))
      return getSpace(broadcast.getSource());
    if (auto reduction = dyn_cast_or_null<AllToOneOp>(op))
      return getSpace(reduction.getSource());
    if (auto seen = dyn_cast_or_null<SeenOp>(op))
      return kernel.getSeen(seen.getLoc());
    if (auto source = dyn_cast_or_null<SourceOp>(op))
      return kernel.graph.getInputs()[cast<BlockArgument>(source.getInput()).getArgNumber()];
    auto index = dyn_cast_or_null<IndexOp>(op);
    if (!index) {
      kernel.isBroken = true;
      emitError(space.getLoc()) << "is read on tiles before it is computed";
      Type type = getElementTypeOrSelf(cast<SpaceType>(space.getType()).getElementType());
      return arith::ConstantOp::create(builder, space.getLoc(), builder.getZeroAttr(type));
    }
    const DimRange &range = kernel.build.getRange(index.getDimAttr(), level);
    const auto *position = llvm::find(dims, index.getDimAttr());
    Location loc = index.getLoc();
    if (position == dims.end())
      return getValueOrCreateConstantIndexOp(builder, loc, range.offset);
    Value local = linalg::IndexOp::create(builder, loc, position - dims.begin());
    if (isZeroInteger(range.offset))
      return local;
    Value offset = getValueOrCreateConstantIndexOp(builder, loc, range.offset);
    return arith::AddIOp::create(builder, loc, local, offset);
  }

  Value getScalar(Value scalar) {
    auto it = values.find(scalar);
    if (it != values.end())
      return it->second;
    if (Value operand = getMapOperand(scalar))
      return values[scalar] = getSpace(operand);
    Operation *op = scalar.getDefiningOp();
    IRMapping mapping;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && !mapping.contains(operand))
          mapping.map(operand, getScalar(operand));
    });
    Operation *clone = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
      values[from] = to;
    return values[scalar];
  }

  Value get(const Expression &expression) {
    return expression.scalar ? getScalar(expression.scalar) : getSpace(expression.space);
  }
};

} // namespace fusion::tiles

Tile KernelLowering::fill(unsigned level, Location loc, Value scalar, const Tile &tile) {
  Tile result = tile;
  result.level = level;
  result.tensor = linalg::FillOp::create(build.at(level), loc, scalar, tile.tensor).getResult(0);
  return result;
}

/// Whether `expression` has the same value at every point: it reads no tile (the caller's check) and no coordinate.
static bool readsCoordinates(Value space, llvm::SmallPtrSetImpl<Value> &seen) {
  if (!seen.insert(space).second)
    return false;
  Operation *op = space.getDefiningOp();
  if (!op || isa<SourceOp>(op))
    return false;
  return isa<IndexOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return readsCoordinates(operand, seen); });
}

SmallVector<Tile> KernelLowering::emitGeneric(unsigned level, Location loc, ArrayRef<StringAttr> iterationDims,
                                              ArrayRef<Output> outputs, ArrayRef<Value> inlined) {
  OpBuilder &builder = build.at(level);
  // Parallel dimensions in the order of the destination, then those that are reduced.
  SmallVector<StringAttr> dims(outputs.front().destination.axes);
  for (StringAttr dim : plan.dropUnits(iterationDims, level))
    if (!llvm::is_contained(dims, dim))
      dims.push_back(dim);

  SmallVector<std::pair<Value, Tile>> leaves;
  for (const Output &output : outputs)
    plan.visitLeaves(output.expression, inlined, [&](Value leaf) {
      Tile tile = getTile(leaf, level);
      bool isKnown = llvm::any_of(leaves, [&](auto &other) { return other.first == leaf; });
      if (tile.tensor && !isKnown)
        leaves.push_back({leaf, tile});
    });

  const Output &first = outputs.front();
  llvm::SmallPtrSet<Value, 16> visited;
  if (outputs.size() == 1 && !first.reduction && leaves.empty() && !readsCoordinates(first.expression.space, visited)) {
    BodyBuilder body(*this, builder, level, dims);
    return {fill(level, loc, body.get(first.expression), first.destination)};
  }
  if (outputs.size() == 1 && first.reduction)
    packOperands(leaves, first, level);

  auto getMap = [&](ArrayRef<StringAttr> axes) {
    SmallVector<AffineExpr> exprs;
    for (StringAttr axis : axes)
      exprs.push_back(builder.getAffineDimExpr(llvm::find(dims, axis) - dims.begin()));
    return AffineMap::get(dims.size(), 0, exprs, builder.getContext());
  };
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  // Position of each leaf among the inputs, or (counted from -1 down) among the outputs: a tile that is overwritten
  // element by element is read through the destination.
  SmallVector<int> positions;
  for (auto &[leaf, tile] : leaves) {
    int position = inputs.size();
    // The old state is in the tile that is overwritten, also where others now read a saved copy.
    auto state = dyn_cast<BlockArgument>(leaf);
    Value old = state ? stateTiles[state.getArgNumber()].tensor : tile.tensor;
    for (auto [index, output] : llvm::enumerate(outputs))
      if (!output.reduction && (output.destination.tensor == tile.tensor || output.destination.tensor == old) &&
          output.destination.axes == tile.axes)
        position = -1 - static_cast<int>(index);
    AffineMap map = getMap(tile.axes);
    for (auto [index, input] : llvm::enumerate(inputs))
      if (input == tile.tensor && maps[index] == map)
        position = index;
    positions.push_back(position);
    if (position != static_cast<int>(inputs.size()))
      continue;
    inputs.push_back(tile.tensor);
    maps.push_back(map);
  }
  // Coordinates alone give no shape: what is reduced over them needs an operand that is not read.
  SmallVector<StringAttr> shapeless = llvm::to_vector(llvm::make_filter_range(dims, [&](StringAttr dim) {
    return llvm::none_of(outputs,
                         [&](const Output &output) { return llvm::is_contained(output.destination.axes, dim); }) &&
           llvm::none_of(leaves, [&](auto &leaf) { return llvm::is_contained(leaf.second.axes, dim); });
  }));
  if (!shapeless.empty()) {
    inputs.push_back(build.makeScratch(level, loc, shapeless, builder.getI8Type()).tensor);
    maps.push_back(getMap(shapeless));
  }
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  SmallVector<Type> types;
  for (const Output &output : outputs) {
    inits.push_back(output.destination.tensor);
    types.push_back(output.destination.tensor.getType());
    maps.push_back(getMap(output.destination.axes));
    if (AllToOneOp reduction = output.reduction)
      for (auto [index, dim] : llvm::enumerate(dims))
        if (llvm::is_contained(reduction.getAlong(), dim))
          iterators[index] = utils::IteratorType::reduction;
  }
  // A running count is made before the operation, not in its body.
  if (currentLoop && level == 1)
    currentLoop.getBody().walk([&](SeenOp op) { (void)getSeen(op.getLoc()); });

  auto generic = linalg::GenericOp::create(
      builder, loc, types, inputs, inits, maps, iterators, [&](OpBuilder &inner, Location, ValueRange arguments) {
        BodyBuilder body(*this, inner, level, dims);
        for (auto [entry, position] : llvm::zip_equal(leaves, positions))
          body.values[entry.first] = position >= 0 ? arguments[position] : arguments[inputs.size() + (-1 - position)];
        SmallVector<Value> results;
        for (auto [index, output] : llvm::enumerate(outputs)) {
          Value value = body.get(output.expression);
          if (AllToOneOp reduction = output.reduction)
            value = createCombine(inner, reduction.getLoc(), reduction.getReducer(), arguments[inputs.size() + index],
                                  value);
          results.push_back(value);
        }
        linalg::YieldOp::create(inner, loc, results);
      });
  // Whoever makes vector code of it can start from the identity if that is written just before.
  for (const Output &output : outputs)
    if (auto identity = output.destination.tensor.getDefiningOp<linalg::FillOp>();
        identity && output.reduction && identity->getBlock() == generic->getBlock())
      identity->moveBefore(generic);
  SmallVector<Tile> results;
  for (auto [output, result] : llvm::zip_equal(outputs, generic.getResults())) {
    Tile tile = output.destination;
    tile.tensor = result;
    tile.level = level;
    results.push_back(tile);
  }
  return results;
}
