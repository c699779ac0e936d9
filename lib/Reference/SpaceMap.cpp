//===- SpaceMap.cpp - Space-mapping graphs at every stage -------------------===//
//
// A space is a tensor whose axes are the space's dimensions in their order, each of the extent of the current range:
// the whole dimension, the current block or the current slice.
//
//===------------------------------------------------------------------------===//

#include "Machine.h"

#include "fusion/SpaceMap/SpaceMap.h"
#include "llvm/ADT/ScopeExit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace fusion;
using namespace fusion::reference;
using namespace fusion::spacemap;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::StringAttr;
using mlir::success;

static GraphOp getGraph(mlir::Operation *op) { return op->getParentOfType<GraphOp>(); }

/// The range of a dimension; the verifier has seen that there is one of that name.
static Machine::Range &getRange(Machine &machine, mlir::Operation *op, StringAttr dim) {
  return machine.ranges[getGraph(op).getDimIndex(dim)];
}

static Shape getShape(Machine &machine, mlir::Operation *op, llvm::ArrayRef<StringAttr> dims) {
  Shape shape;
  for (StringAttr dim : dims)
    shape.push_back(getRange(machine, op, dim).size);
  return shape;
}

/// An operand's space, which must have the extents of the current ranges: a value from outside of a temporal loop must
/// not have the sliced dimension.
static FailureOr<TensorValue> getSpace(Machine &machine, mlir::Operation *op, mlir::Value value) {
  FailureOr<TensorValue> space = machine.getTensor(op, value);
  if (failed(space))
    return failure();
  if (space->shape != getShape(machine, op, llvm::cast<SpaceType>(value.getType()).getDims()))
    return op->emitOpError("has an operand whose extents are not those of the current block and slice");
  return space;
}

/// The axis in `dims` of each dimension in `order`.
static FailureOr<llvm::SmallVector<int64_t>> getPermutation(mlir::Operation *op, llvm::ArrayRef<StringAttr> dims,
                                                            llvm::ArrayRef<StringAttr> order) {
  llvm::SmallVector<int64_t> permutation;
  for (StringAttr dim : order) {
    auto found = llvm::find(dims, dim);
    if (found == dims.end() || dims.size() != order.size())
      return op->emitOpError("names dimensions that are not those of its space");
    permutation.push_back(found - dims.begin());
  }
  return permutation;
}

static FailureOr<ScalarType> getElementType(mlir::Operation *op, mlir::Type type) {
  if (std::optional<ScalarType> element = ScalarType::get(type))
    return *element;
  return op->emitOpError() << "has element type " << type << ", which the reference interpreter cannot hold";
}

static mlir::AffineMap getMap(mlir::MLIRContext *context, llvm::ArrayRef<StringAttr> loops,
                              llvm::ArrayRef<StringAttr> axes) {
  llvm::SmallVector<mlir::AffineExpr> results;
  for (StringAttr axis : axes)
    results.push_back(mlir::getAffineDimExpr(llvm::find(loops, axis) - loops.begin(), context));
  return mlir::AffineMap::get(loops.size(), 0, results, context);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// The reduction along a dimension that is cut into blocks whose result is `output`; null if it is none.
static AllToOneOp getSplitReduction(GraphOp graph, mlir::Value output) {
  auto reduce = output.getDefiningOp<AllToOneOp>();
  bool isSplit = reduce && llvm::any_of(reduce.getAlong().getAsRange<StringAttr>(),
                                        [&](StringAttr dim) { return graph.getBlockSize(dim) > 0; });
  return isSplit ? reduce : AllToOneOp();
}

/// Copies the outputs of the current block to their places in the results; what is partial is combined.
static LogicalResult placeOutputs(Machine &machine, OutputOp output, Values &spaces,
                                  llvm::ArrayRef<TensorValue> results) {
  for (auto [number, value] : llvm::enumerate(spaces)) {
    const TensorValue *space = value.getTensor();
    if (!space)
      return output.emitOpError("has an operand that is no space");
    llvm::SmallVector<StringAttr> axes = getNames(llvm::cast<mlir::ArrayAttr>(output.getAxes()[number]));
    auto type = llvm::cast<SpaceType>(output.getValues()[number].getType());
    FailureOr<llvm::SmallVector<int64_t>> permutation = getPermutation(output, type.getDims(), axes);
    if (failed(permutation))
      return failure();
    Shape offsets;
    for (StringAttr axis : axes)
      offsets.push_back(getRange(machine, output, axis).offset);
    TensorValue piece = space->transpose(*permutation);
    if (piece.shape != getShape(machine, output, axes))
      return output.emitOpError("has a space whose extents are not those of the current block");
    TensorValue place = results[number].slice(offsets, piece.shape, Shape(axes.size(), 1));
    AllToOneOp reduction = getSplitReduction(getGraph(output), output.getValues()[number]);
    if (!reduction) {
      copyElements(piece, place);
      continue;
    }
    LoopNest nest;
    nest.op = output;
    nest.extents = piece.shape;
    nest.parallel.assign(axes.size(), true);
    auto identity = mlir::AffineMap::getMultiDimIdentityMap(axes.size(), output->getContext());
    nest.inputs.push_back({piece, identity});
    nest.outputs.push_back({place, identity});
    mlir::Region &combiner = machine.getCombiner(output, unsigned(reduction.getReducer()), type.getElementType());
    if (failed(runLoopNest(machine, nest, combiner)))
      return failure();
    copyElements(nest.outputs[0].tensor, place);
  }
  return success();
}

static LogicalResult run(Machine &machine, GraphOp graph) {
  llvm::SmallVector<Machine::Range> whole;
  unsigned nextDynamic = 0;
  for (int64_t extent : graph.getStaticExtents()) {
    if (mlir::ShapedType::isDynamic(extent)) {
      FailureOr<int64_t> value = machine.getInteger(graph, graph.getDynamicExtents()[nextDynamic++]);
      if (failed(value))
        return failure();
      extent = *value;
    }
    if (extent < 0)
      return graph.emitOpError() << "has a dimension of extent " << extent;
    whole.push_back({0, extent, 0});
  }
  Values inputs;
  for (mlir::Value input : graph.getInputs()) {
    const RuntimeValue *value = machine.lookup(graph, input);
    if (!value)
      return failure();
    inputs.push_back(*value);
  }
  auto saved = std::exchange(machine.ranges, whole);
  llvm::scope_exit restore([&] { machine.ranges = std::move(saved); });

  auto output = llvm::dyn_cast<OutputOp>(graph.getBody().front().getTerminator());
  if (!output || output.getAxes().size() != graph.getNumResults())
    return graph.emitOpError("has a wrong number of outputs");
  llvm::SmallVector<TensorValue> results;
  for (auto [result, axes] : llvm::zip(graph.getResults(), output.getAxes())) {
    FailureOr<ScalarType> element = getElementType(graph, mlir::getElementTypeOrSelf(result.getType()));
    if (failed(element))
      return failure();
    Shape shape = getShape(machine, output, getNames(llvm::cast<mlir::ArrayAttr>(axes)));
    Scalar start = Scalar::makePoison(*element);
    if (AllToOneOp reduction = getSplitReduction(graph, output.getValues()[results.size()]))
      if (std::optional<Scalar> identity =
              Scalar::get(getIdentity(reduction.getReducer(), reduction.getType().getElementType())))
        start = *identity;
    FailureOr<TensorValue> tensor = machine.makeSplat(graph, start, shape);
    if (mlir::succeeded(tensor))
      tensor = machine.makeWritable(graph, std::move(*tensor));
    if (failed(tensor))
      return failure();
    results.push_back(std::move(*tensor));
  }

  // The grid of blocks, each on its own ranges.
  auto getBlockSize = [&](unsigned dim) { return graph.getBlockSize(graph.getDimName(dim)); };
  bool isEmpty = false;
  for (unsigned dim = 0; dim < whole.size(); ++dim)
    isEmpty |= getBlockSize(dim) > 0 && whole[dim].size == 0;
  Shape block(whole.size(), 0);
  while (!isEmpty) {
    for (unsigned dim = 0; dim < whole.size(); ++dim)
      if (int64_t size = getBlockSize(dim); size > 0)
        machine.ranges[dim] = {block[dim], std::min(size, whole[dim].size - block[dim]), block[dim]};
    Values spaces;
    if (failed(machine.runRegion(graph.getBody(), inputs, spaces)) ||
        failed(placeOutputs(machine, output, spaces, results)))
      return failure();
    int64_t dim = int64_t(whole.size()) - 1;
    for (; dim >= 0; --dim) {
      int64_t size = getBlockSize(dim);
      if (size > 0 && size < whole[dim].size - block[dim]) {
        block[dim] += size;
        break;
      }
      block[dim] = 0;
    }
    if (dim < 0)
      break;
  }
  for (auto [result, tensor] : llvm::zip(graph.getResults(), results))
    if (failed(machine.set(graph, result, std::move(tensor))))
      return failure();
  return success();
}

static LogicalResult run(Machine &machine, TemporalOp loop) {
  Values states;
  if (failed(machine.takeAll(loop.getInitsMutable(), states)))
    return failure();
  // A copy: a nested graph cannot occur, but the reference would not survive one.
  int64_t dimIndex = getGraph(loop).getDimIndex(loop.getDimAttr());
  Machine::Range range = machine.ranges[dimIndex];
  int64_t step = loop.getStep();
  if (step <= 0)
    return loop.emitOpError() << "has step " << step << ", which is not positive";
  llvm::SmallVector<TensorValue> collected;
  for (mlir::Value result : loop.getCollected()) {
    auto type = llvm::cast<SpaceType>(result.getType());
    FailureOr<ScalarType> element = getElementType(loop, type.getElementType());
    if (failed(element))
      return failure();
    FailureOr<TensorValue> tensor = machine.allocate(loop, *element, getShape(machine, loop, type.getDims()));
    if (failed(tensor))
      return failure();
    collected.push_back(std::move(*tensor));
  }
  llvm::scope_exit restore([&] { machine.ranges[dimIndex] = range; });
  for (int64_t done = 0; done < range.size; done += std::min(step, range.size - done)) {
    int64_t size = std::min(step, range.size - done);
    machine.ranges[dimIndex] = {range.offset + done, size, range.blockOffset};
    Values results;
    if (failed(machine.runRegion(loop.getBody(), std::move(states), results)))
      return failure();
    if (results.size() != loop.getNumResults())
      return loop.emitOpError("gets a wrong number of values");
    for (auto [number, target] : llvm::enumerate(collected)) {
      const TensorValue *slice = results[loop.getInits().size() + number].getTensor();
      llvm::ArrayRef<StringAttr> dims = llvm::cast<SpaceType>(loop.getCollected()[number].getType()).getDims();
      Shape offsets(dims.size(), 0), shape = target.shape;
      for (auto [axis, dim] : llvm::enumerate(dims))
        if (dim == loop.getDimAttr()) {
          offsets[axis] = done;
          shape[axis] = size;
        }
      if (!slice || slice->shape != shape)
        return loop.emitOpError("collects a space whose extents are not those of the slice");
      copyElements(*slice, target.slice(offsets, shape, Shape(dims.size(), 1)));
    }
    results.resize(loop.getInits().size());
    states = std::move(results);
  }
  for (TensorValue &tensor : collected)
    states.push_back(std::move(tensor));
  for (auto [result, value] : llvm::zip(loop.getResults(), states))
    if (failed(machine.set(loop, result, std::move(value))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

static LogicalResult run(Machine &machine, SourceOp op) {
  const RuntimeValue *input = machine.lookup(op, op.getInput());
  if (!input)
    return failure();
  SpaceType type = op.getResult().getType();
  if (const Scalar *scalar = input->getScalar()) {
    FailureOr<TensorValue> space = machine.makeSplat(op, *scalar, {});
    return failed(space) ? failure() : machine.set(op, op.getResult(), std::move(*space));
  }
  TensorValue tensor = *input->getTensor();
  llvm::SmallVector<StringAttr> axes = getNames(op.getAxes());
  FailureOr<llvm::SmallVector<int64_t>> permutation = getPermutation(op, axes, type.getDims());
  if (failed(permutation) || axes.size() != tensor.shape.size())
    return failed(permutation) ? failure() : op.emitOpError("names a wrong number of axes");
  GraphOp graph = getGraph(op);
  Shape offsets;
  for (auto [axis, dim] : llvm::enumerate(axes)) {
    int64_t extent = graph.getStaticExtent(dim);
    const Machine::Range &range = getRange(machine, op, dim);
    offsets.push_back(range.offset);
    bool isDynamic = mlir::ShapedType::isDynamic(extent);
    if ((!isDynamic && extent != tensor.shape[axis]) || range.offset + range.size > tensor.shape[axis])
      return op.emitOpError() << "reads axis " << axis << " of extent " << tensor.shape[axis] << " as dimension '"
                              << dim.getValue() << "', whose range ends at " << range.offset + range.size;
  }
  TensorValue space = tensor.slice(offsets, getShape(machine, op, axes), Shape(axes.size(), 1)).transpose(*permutation);
  return machine.set(op, op.getResult(), std::move(space));
}

static LogicalResult run(Machine &machine, IndexOp op) {
  const Machine::Range &range = getRange(machine, op, op.getDimAttr());
  FailureOr<TensorValue> space = machine.allocate(op, ScalarType::index(), {range.size});
  if (failed(space))
    return failure();
  for (int64_t i = 0; i < range.size; ++i)
    space->store(i, Scalar::makeIndex(range.offset + i));
  return machine.set(op, op.getResult(), std::move(*space));
}

static LogicalResult run(Machine &machine, SeenOp op) {
  const Machine::Range &range = getRange(machine, op, op.getDimAttr());
  int64_t seen = range.offset + range.size - range.blockOffset;
  FailureOr<TensorValue> space = machine.makeSplat(op, Scalar::makeIndex(seen), {});
  return failed(space) ? failure() : machine.set(op, op.getResult(), std::move(*space));
}

static LogicalResult run(Machine &machine, OneToAllOp op) {
  FailureOr<TensorValue> source = getSpace(machine, op, op.getSource());
  if (failed(source))
    return failure();
  llvm::ArrayRef<StringAttr> from = op.getSource().getType().getDims(), to = op.getResult().getType().getDims();
  TensorValue space = *source;
  space.shape = getShape(machine, op, to);
  space.strides.clear();
  for (StringAttr dim : to) {
    auto found = llvm::find(from, dim);
    space.strides.push_back(found == from.end() ? 0 : source->strides[found - from.begin()]);
  }
  return machine.set(op, op.getResult(), std::move(space));
}

static LogicalResult run(Machine &machine, AllToOneOp op) {
  FailureOr<TensorValue> source = getSpace(machine, op, op.getSource());
  if (failed(source))
    return failure();
  SpaceType from = op.getSource().getType(), to = op.getResult().getType();
  std::optional<Scalar> identity;
  if (mlir::TypedAttr attribute = getIdentity(op.getReducer(), from.getElementType()))
    identity = Scalar::get(attribute);
  if (!identity)
    return op.emitOpError() << "reduces elements of type " << from.getElementType()
                            << ", which the reference interpreter cannot hold";
  LoopNest nest;
  nest.op = op;
  nest.extents = source->shape;
  for (StringAttr dim : from.getDims())
    nest.parallel.push_back(to.hasDim(dim));
  mlir::MLIRContext *context = op->getContext();
  nest.inputs.push_back({std::move(*source), getMap(context, from.getDims(), from.getDims())});
  FailureOr<TensorValue> initial = machine.makeSplat(op, *identity, getShape(machine, op, to.getDims()));
  if (failed(initial))
    return failure();
  nest.outputs.push_back({std::move(*initial), getMap(context, from.getDims(), to.getDims())});
  mlir::Region &combiner = machine.getCombiner(op, unsigned(op.getReducer()), from.getElementType());
  if (failed(runLoopNest(machine, nest, combiner)))
    return failure();
  return machine.set(op, op.getResult(), std::move(nest.outputs[0].tensor));
}

static LogicalResult run(Machine &machine, MapOp op) {
  SpaceType type = op.getResult().getType();
  FailureOr<ScalarType> element = getElementType(op, type.getElementType());
  if (failed(element))
    return failure();
  LoopNest nest;
  nest.op = op;
  nest.extents = getShape(machine, op, type.getDims());
  nest.parallel.assign(nest.extents.size(), true);
  auto identity = mlir::AffineMap::getMultiDimIdentityMap(nest.extents.size(), op->getContext());
  for (mlir::Value operand : op.getOperands()) {
    FailureOr<TensorValue> space = getSpace(machine, op, operand);
    if (failed(space))
      return failure();
    nest.inputs.push_back({std::move(*space), identity});
  }
  FailureOr<TensorValue> result = machine.allocate(op, *element, nest.extents);
  if (failed(result))
    return failure();
  nest.outputs.push_back({std::move(*result), identity});
  if (failed(runLoopNest(machine, nest, op.getBody())))
    return failure();
  return machine.set(op, op.getResult(), std::move(nest.outputs[0].tensor));
}

mlir::Region &Machine::getCombiner(mlir::Operation *op, unsigned reducer, mlir::Type type) {
  std::unique_ptr<mlir::Region> &region = combiners[{reducer, type}];
  if (region)
    return *region;
  region = std::make_unique<mlir::Region>();
  // A program of another dialect may have loaded neither.
  op->getContext()->loadDialect<mlir::arith::ArithDialect, SpaceMapDialect>();
  mlir::OpBuilder builder(op->getContext());
  mlir::Block *block = builder.createBlock(region.get(), {}, {type, type}, {op->getLoc(), op->getLoc()});
  mlir::Value combined =
      createCombine(builder, op->getLoc(), Reducer(reducer), block->getArgument(1), block->getArgument(0));
  YieldOp::create(builder, op->getLoc(), combined);
  return *region;
}

Handled reference::runSpaceMapOp(Machine &machine, mlir::Operation *op) {
  if (!llvm::isa<GraphOp>(op) && !getGraph(op))
    return std::nullopt;
  return llvm::TypeSwitch<mlir::Operation *, Handled>(op)
      .Case<GraphOp, TemporalOp, SourceOp, IndexOp, SeenOp, OneToAllOp, AllToOneOp, MapOp>(
          [&](auto known) { return run(machine, known); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}
