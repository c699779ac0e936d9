//===- Tensor.cpp - Operations of the tensor dialect ------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace fusion;
using namespace fusion::reference;
namespace tensor = mlir::tensor;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

/// The shape of a type whose dynamic extents are operands.
static mlir::FailureOr<Shape> getShape(Machine &machine, mlir::Operation *op, mlir::RankedTensorType type,
                                       mlir::ValueRange dynamic) {
  Shape shape(type.getShape().begin(), type.getShape().end());
  if (dynamic.size() != size_t(type.getNumDynamicDims()))
    return op->emitOpError("has a wrong number of dynamic extents");
  unsigned next = 0;
  for (int64_t &extent : shape) {
    if (!mlir::ShapedType::isDynamic(extent))
      continue;
    mlir::FailureOr<int64_t> value = machine.getInteger(op, dynamic[next++]);
    if (failed(value))
      return failure();
    extent = *value;
  }
  return shape;
}

static mlir::FailureOr<ScalarType> getElementType(mlir::Operation *op, mlir::Type type) {
  if (std::optional<ScalarType> element = ScalarType::get(mlir::getElementTypeOrSelf(type)))
    return *element;
  return op->emitOpError() << "has type " << type << ", which the reference interpreter cannot hold";
}

static LogicalResult setResult(Machine &machine, mlir::Operation *op, mlir::FailureOr<TensorValue> tensor) {
  return failed(tensor) ? failure() : machine.set(op, op->getResult(0), std::move(*tensor));
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static LogicalResult makeUninitialized(Machine &machine, mlir::Operation *op, mlir::ValueRange dynamic) {
  auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  mlir::FailureOr<Shape> shape = getShape(machine, op, type, dynamic);
  mlir::FailureOr<ScalarType> element = getElementType(op, type);
  if (failed(shape) || failed(element))
    return failure();
  return setResult(machine, op, machine.makeSplat(op, Scalar::makePoison(*element), *shape));
}

static LogicalResult run(Machine &machine, tensor::EmptyOp op) {
  return makeUninitialized(machine, op, op.getDynamicSizes());
}

static LogicalResult run(Machine &machine, mlir::bufferization::AllocTensorOp op) {
  if (op.getCopy())
    return setResult(machine, op, machine.getTensor(op, op.getCopy()));
  return makeUninitialized(machine, op, op.getDynamicSizes());
}

static LogicalResult run(Machine &machine, mlir::bufferization::MaterializeInDestinationOp op) {
  if (op->getNumResults() != 1)
    return op.emitOpError("writes to a buffer, which is not known to the reference interpreter");
  return setResult(machine, op, machine.getTensor(op, op.getSource()));
}

static LogicalResult run(Machine &machine, tensor::SplatOp op) {
  mlir::FailureOr<Shape> shape = getShape(machine, op, op.getType(), op.getDynamicSizes());
  mlir::FailureOr<Scalar> value = machine.getScalar(op, op.getInput());
  if (failed(shape) || failed(value))
    return failure();
  return setResult(machine, op, machine.makeSplat(op, *value, *shape));
}

static LogicalResult run(Machine &machine, tensor::FromElementsOp op) {
  mlir::FailureOr<ScalarType> element = getElementType(op, op.getType());
  if (failed(element))
    return failure();
  mlir::FailureOr<TensorValue> result = machine.allocate(op, *element, op.getType().getShape());
  if (failed(result))
    return failure();
  for (auto [at, operand] : llvm::enumerate(op.getElements())) {
    mlir::FailureOr<Scalar> value = machine.getScalar(op, operand);
    if (failed(value))
      return failure();
    result->store(at, *value);
  }
  return setResult(machine, op, std::move(result));
}

/// Fills a tensor by a body whose arguments are the indices.
static LogicalResult generate(Machine &machine, mlir::Operation *op, mlir::Region &body, TensorValue &target) {
  LoopNest nest;
  nest.op = op;
  nest.extents = target.shape;
  nest.parallel.assign(target.shape.size(), true);
  mlir::MLIRContext *context = op->getContext();
  unsigned rank = target.shape.size();
  for (unsigned axis = 0; axis < rank; ++axis) {
    mlir::FailureOr<TensorValue> indices = machine.allocate(op, ScalarType::index(), {target.shape[axis]});
    if (failed(indices))
      return failure();
    for (int64_t i = 0; i < target.shape[axis]; ++i)
      indices->store(i, Scalar::makeIndex(i));
    nest.inputs.push_back(
        {std::move(*indices), mlir::AffineMap::get(rank, 0, mlir::getAffineDimExpr(axis, context), context)});
  }
  nest.outputs.push_back({std::move(target), mlir::AffineMap::getMultiDimIdentityMap(rank, context)});
  LogicalResult result = runLoopNest(machine, nest, body);
  target = std::move(nest.outputs[0].tensor);
  return result;
}

static LogicalResult run(Machine &machine, tensor::GenerateOp op) {
  auto type = llvm::cast<mlir::RankedTensorType>(op.getType());
  mlir::FailureOr<Shape> shape = getShape(machine, op, type, op.getDynamicExtents());
  mlir::FailureOr<ScalarType> element = getElementType(op, type);
  if (failed(shape) || failed(element))
    return failure();
  mlir::FailureOr<TensorValue> result = machine.allocate(op, *element, *shape);
  if (failed(result) || failed(generate(machine, op, op.getBody(), *result)))
    return failure();
  return setResult(machine, op, std::move(result));
}

//===----------------------------------------------------------------------===//
// Extents and elements
//===----------------------------------------------------------------------===//

static LogicalResult run(Machine &machine, tensor::DimOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<int64_t> axis = machine.getInteger(op, op.getIndex());
  if (failed(source) || failed(axis))
    return failure();
  if (*axis < 0 || *axis >= source->getRank())
    return op.emitOpError() << "asks for axis " << *axis << ", which is out of bounds: the rank is "
                            << source->getRank();
  return machine.set(op, op.getResult(), Scalar::makeIndex(source->shape[*axis]));
}

static LogicalResult run(Machine &machine, tensor::RankOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getTensor());
  return failed(source) ? failure() : machine.set(op, op.getResult(), Scalar::makeIndex(source->getRank()));
}

/// The offset of an element in the buffer.
static mlir::FailureOr<int64_t> locate(mlir::Operation *op, const TensorValue &tensor, llvm::ArrayRef<int64_t> index) {
  for (auto [axis, i] : llvm::enumerate(index))
    if (i < 0 || i >= tensor.shape[axis])
      return op->emitOpError() << "index " << i << " of axis " << axis << " is out of bounds: the extent is "
                               << tensor.shape[axis];
  return tensor.getOffset(index);
}

static LogicalResult run(Machine &machine, tensor::ExtractOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getTensor());
  mlir::FailureOr<Shape> index = machine.getIntegers(op, op.getIndices());
  if (failed(source) || failed(index))
    return failure();
  mlir::FailureOr<int64_t> at = locate(op, *source, *index);
  return failed(at) ? failure() : machine.set(op, op.getResult(), source->load(*at));
}

static LogicalResult run(Machine &machine, tensor::InsertOp op) {
  mlir::FailureOr<Scalar> value = machine.getScalar(op, op.getScalar());
  mlir::FailureOr<Shape> index = machine.getIntegers(op, op.getIndices());
  mlir::FailureOr<TensorValue> target = machine.takeTensor(op.getDestMutable());
  if (failed(value) || failed(index) || failed(target))
    return failure();
  target = machine.makeWritable(op, std::move(*target));
  if (failed(target))
    return failure();
  mlir::FailureOr<int64_t> at = locate(op, *target, *index);
  if (failed(at))
    return failure();
  target->store(*at, *value);
  return setResult(machine, op, std::move(target));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The view without the axes that are marked.
static TensorValue dropAxes(TensorValue tensor, const llvm::SmallBitVector &dropped) {
  Shape shape, strides;
  for (unsigned axis = 0; axis < tensor.shape.size(); ++axis)
    if (axis >= dropped.size() || !dropped[axis]) {
      shape.push_back(tensor.shape[axis]);
      strides.push_back(tensor.strides[axis]);
    }
  tensor.shape = shape;
  tensor.strides = strides;
  return tensor;
}

static mlir::FailureOr<TensorValue> makeSlice(Machine &machine, mlir::Operation *op, const TensorValue &tensor,
                                              llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                              llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                              llvm::ArrayRef<mlir::OpFoldResult> strides,
                                              const llvm::SmallBitVector &dropped) {
  mlir::FailureOr<Shape> first = machine.getIntegers(op, offsets);
  mlir::FailureOr<Shape> count = machine.getIntegers(op, sizes);
  mlir::FailureOr<Shape> step = machine.getIntegers(op, strides);
  if (failed(first) || failed(count) || failed(step) ||
      failed(machine.checkSlice(op, tensor.shape, *first, *count, *step)))
    return failure();
  return dropAxes(tensor.slice(*first, *count, *step), dropped);
}

LogicalResult reference::insertSlice(Machine &machine, mlir::Operation *op, const TensorValue &source,
                                     const TensorValue &target, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                     llvm::ArrayRef<mlir::OpFoldResult> strides, const llvm::SmallBitVector &dropped) {
  mlir::FailureOr<TensorValue> slice = makeSlice(machine, op, target, offsets, sizes, strides, dropped);
  if (failed(slice))
    return failure();
  if (slice->shape != source.shape)
    return op->emitOpError() << "inserts a tensor of " << getTypeText(source.type.kind, source.shape)
                             << " into a slice of " << getTypeText(slice->type.kind, slice->shape);
  copyElements(source, *slice);
  return success();
}

static LogicalResult run(Machine &machine, tensor::ExtractSliceOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  if (failed(source))
    return failure();
  return setResult(machine, op,
                   makeSlice(machine, op, *source, op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides(),
                             op.getDroppedDims()));
}

static LogicalResult run(Machine &machine, tensor::InsertSliceOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<TensorValue> target = machine.takeTensor(op.getDestMutable());
  if (failed(source) || failed(target))
    return failure();
  target = machine.makeWritable(op, std::move(*target));
  if (failed(target) || failed(insertSlice(machine, op, *source, *target, op.getMixedOffsets(), op.getMixedSizes(),
                                           op.getMixedStrides(), op.getDroppedDims())))
    return failure();
  return setResult(machine, op, std::move(target));
}

static LogicalResult run(Machine &machine, tensor::ConcatOp op) {
  llvm::SmallVector<TensorValue> parts;
  Shape shape;
  uint64_t dim = op.getDim();
  for (mlir::Value operand : op.getInputs()) {
    mlir::FailureOr<TensorValue> part = machine.getTensor(op, operand);
    if (failed(part))
      return failure();
    if (parts.empty()) {
      shape = part->shape;
    } else {
      Shape other = part->shape;
      shape[dim] += std::exchange(other[dim], 0);
      Shape common = shape;
      common[dim] = 0;
      if (common != other)
        return op.emitOpError("joins tensors whose other extents differ");
    }
    parts.push_back(std::move(*part));
  }
  mlir::FailureOr<TensorValue> result = machine.allocate(op, parts[0].type, shape);
  if (failed(result))
    return failure();
  Shape offsets(shape.size(), 0), ones(shape.size(), 1);
  for (const TensorValue &part : parts) {
    copyElements(part, result->slice(offsets, part.shape, ones));
    offsets[dim] += part.shape[dim];
  }
  return setResult(machine, op, std::move(result));
}

static LogicalResult run(Machine &machine, tensor::PadOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<Shape> low = machine.getIntegers(op, op.getMixedLowPad());
  mlir::FailureOr<Shape> high = machine.getIntegers(op, op.getMixedHighPad());
  if (failed(source) || failed(low) || failed(high))
    return failure();
  Shape shape = source->shape;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if ((*low)[axis] < 0 || (*high)[axis] < 0)
      return op.emitOpError() << "pads axis " << axis << " by a negative number";
    if (__builtin_add_overflow(shape[axis], (*low)[axis], &shape[axis]) ||
        __builtin_add_overflow(shape[axis], (*high)[axis], &shape[axis]))
      return op.emitOpError() << "pads axis " << axis << " beyond what an index can count";
  }
  mlir::FailureOr<TensorValue> result = failure();
  mlir::Value constant = op.getConstantPaddingValue();
  if (constant) {
    // The value may stand in the body: it is a constant then.
    mlir::Attribute attribute;
    mlir::FailureOr<Scalar> value = failure();
    if (mlir::matchPattern(constant, mlir::m_Constant(&attribute)) && Scalar::get(attribute))
      value = *Scalar::get(attribute);
    else
      value = machine.getScalar(op, constant);
    if (failed(value))
      return failure();
    result = machine.makeSplat(op, *value, shape);
    if (mlir::succeeded(result))
      result = machine.makeWritable(op, std::move(*result));
  } else {
    result = machine.allocate(op, source->type, shape);
    if (mlir::succeeded(result) && failed(generate(machine, op, op.getRegion(), *result)))
      return failure();
  }
  if (failed(result))
    return failure();
  copyElements(*source, result->slice(*low, source->shape, Shape(shape.size(), 1)));
  return setResult(machine, op, std::move(result));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult run(Machine &machine, tensor::CastOp op) {
  // `set` checks the shape against the type.
  return setResult(machine, op, machine.takeTensor(op->getOpOperand(0)));
}

static LogicalResult run(Machine &machine, tensor::BitcastOp op) {
  mlir::FailureOr<TensorValue> tensor = machine.takeTensor(op->getOpOperand(0));
  mlir::FailureOr<ScalarType> element = getElementType(op, op.getType());
  if (failed(tensor) || failed(element))
    return failure();
  tensor->type = *element;
  return setResult(machine, op, std::move(tensor));
}

static LogicalResult run(Machine &machine, tensor::ExpandShapeOp op) {
  mlir::FailureOr<TensorValue> source = machine.takeTensor(op->getOpOperand(0));
  mlir::FailureOr<Shape> shape = machine.getIntegers(op, op.getMixedOutputShape());
  if (failed(source) || failed(shape))
    return failure();
  TensorValue result = *source;
  result.shape = *shape;
  result.strides.assign(shape->size(), 1);
  if (!getNumElements(*shape))
    return op.emitOpError("expands to extents that are negative or too large");
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = source->strides[axis], product = 1;
    for (int64_t to : llvm::reverse(group)) {
      result.strides[to] = stride * product;
      product *= (*shape)[to];
    }
    if (product != source->shape[axis])
      return op.emitOpError() << "expands axis " << axis << " of extent " << source->shape[axis] << " to " << product
                              << " elements";
  }
  return machine.set(op, op.getResult(), std::move(result));
}

static LogicalResult run(Machine &machine, tensor::CollapseShapeOp op) {
  mlir::FailureOr<TensorValue> source = machine.takeTensor(op->getOpOperand(0));
  if (failed(source))
    return failure();
  // A group may stay a view if its axes follow one another in memory.
  auto collapse = [&](const TensorValue &from, TensorValue &to) {
    to = from;
    to.shape.clear();
    to.strides.clear();
    for (const auto &group : op.getReassociationIndices()) {
      int64_t extent = 1, stride = 1;
      for (int64_t axis : llvm::reverse(group)) {
        if (from.shape[axis] != 1) {
          if (extent == 1)
            stride = from.strides[axis];
          else if (from.strides[axis] != stride * extent)
            return false;
        }
        extent *= from.shape[axis];
      }
      to.shape.push_back(extent);
      to.strides.push_back(stride);
    }
    return true;
  };
  TensorValue result;
  if (!collapse(*source, result)) {
    source = machine.makeContiguous(op, std::move(*source));
    if (failed(source) || !collapse(*source, result))
      return failure();
  }
  return machine.set(op, op.getResult(), std::move(result));
}

static LogicalResult run(Machine &machine, tensor::ReshapeOp op) {
  mlir::FailureOr<TensorValue> source = machine.takeTensor(op->getOpOperand(0));
  mlir::FailureOr<TensorValue> extents = machine.getTensor(op, op.getShape());
  if (failed(source) || failed(extents))
    return failure();
  Shape shape;
  for (int64_t i = 0; i < extents->getNumElements(); ++i)
    shape.push_back(extents->load(extents->getOffset({i})).integer);
  if (getNumElements(shape) != source->getNumElements())
    return op.emitOpError() << "reshapes a tensor of " << getTypeText(source->type.kind, source->shape) << " to "
                            << getTypeText(source->type.kind, shape);
  source = machine.makeContiguous(op, std::move(*source));
  return failed(source) ? failure() : machine.set(op, op.getResult(), source->withShape(shape));
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// For each tuple of coordinates calls `copy` with the slice of `indexed` that it names and the slice of `listed` that
/// belongs to it. The coordinates are of the axes `dims`; `listed` may lack these.
static LogicalResult forEachTuple(Machine &machine, mlir::Operation *op, const TensorValue &indexed,
                                  const TensorValue &indices, const TensorValue &listed, llvm::ArrayRef<int64_t> dims,
                                  llvm::function_ref<void(const TensorValue &, const TensorValue &)> copy) {
  int64_t batchRank = indices.getRank() - 1;
  Shape batch(indices.shape.begin(), indices.shape.begin() + batchRank);
  bool reduced = listed.getRank() != batchRank + indexed.getRank();
  llvm::SmallBitVector dropped(indexed.getRank());
  Shape sizes = indexed.shape;
  for (int64_t dim : dims) {
    sizes[dim] = 1;
    if (reduced)
      dropped.set(dim);
  }
  int64_t count = 1;
  for (int64_t extent : batch)
    count *= extent;
  Shape ones(indexed.getRank(), 1), tuple(indices.getRank(), 0);
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (int64_t axis = batchRank - 1; axis >= 0; --axis) {
      tuple[axis] = rest % batch[axis];
      rest /= batch[axis];
    }
    Shape offsets(indexed.getRank(), 0);
    for (auto [position, dim] : llvm::enumerate(dims)) {
      tuple[batchRank] = position;
      offsets[dim] = indices.load(indices.getOffset(tuple)).integer;
    }
    if (failed(machine.checkSlice(op, indexed.shape, offsets, sizes, ones)))
      return failure();
    Shape listedOffsets(listed.getRank(), 0), listedSizes(listed.shape), listedOnes(listed.getRank(), 1);
    llvm::SmallBitVector listedDropped(listed.getRank());
    for (int64_t axis = 0; axis < batchRank; ++axis) {
      listedOffsets[axis] = tuple[axis];
      listedSizes[axis] = 1;
      listedDropped.set(axis);
    }
    TensorValue one = dropAxes(indexed.slice(offsets, sizes, ones), dropped);
    TensorValue other = dropAxes(listed.slice(listedOffsets, listedSizes, listedOnes), listedDropped);
    if (one.shape != other.shape)
      return op->emitOpError("has operands whose extents do not fit");
    copy(one, other);
  }
  return success();
}

static LogicalResult run(Machine &machine, tensor::GatherOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<TensorValue> indices = machine.getTensor(op, op.getIndices());
  if (failed(source) || failed(indices))
    return failure();
  bool reduced = op.getResultType().getRank() != indices->getRank() - 1 + source->getRank();
  Shape shape(indices->shape.begin(), indices->shape.end() - 1);
  for (int64_t axis = 0; axis < source->getRank(); ++axis) {
    bool gathered = llvm::is_contained(op.getGatherDims(), axis);
    if (!gathered || !reduced)
      shape.push_back(gathered ? 1 : source->shape[axis]);
  }
  mlir::FailureOr<TensorValue> result = machine.allocate(op, source->type, shape);
  if (failed(result) ||
      failed(forEachTuple(machine, op, *source, *indices, *result, op.getGatherDims(),
                          [](const TensorValue &one, const TensorValue &other) { copyElements(one, other); })))
    return failure();
  return setResult(machine, op, std::move(result));
}

static LogicalResult run(Machine &machine, tensor::ScatterOp op) {
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<TensorValue> indices = machine.getTensor(op, op.getIndices());
  mlir::FailureOr<TensorValue> target = machine.getTensor(op, op.getDest());
  if (failed(source) || failed(indices) || failed(target))
    return failure();
  target = machine.makeWritable(op, std::move(*target));
  if (failed(target) ||
      failed(forEachTuple(machine, op, *target, *indices, *source, op.getScatterDims(),
                          [](const TensorValue &one, const TensorValue &other) { copyElements(other, one); })))
    return failure();
  return setResult(machine, op, std::move(target));
}

Handled reference::runTensorOp(Machine &machine, mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, Handled>(op)
      .Case<tensor::EmptyOp, tensor::SplatOp, tensor::FromElementsOp, tensor::GenerateOp, tensor::DimOp, tensor::RankOp,
            tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
            tensor::PadOp, tensor::CastOp, tensor::BitcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ReshapeOp, tensor::GatherOp, tensor::ScatterOp, mlir::bufferization::AllocTensorOp,
            mlir::bufferization::MaterializeInDestinationOp>([&](auto known) { return run(machine, known); })
      .Case([](mlir::bufferization::DeallocTensorOp) { return success(); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}
