//===- Linalg.cpp - Operations of the linalg dialect ------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace fusion;
using namespace fusion::reference;
namespace linalg = mlir::linalg;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;

/// The extents of the loops, from the operands' shapes. An extent that two operands give must be the same.
static LogicalResult computeExtents(linalg::LinalgOp op, LoopNest &nest) {
  constexpr int64_t unknown = -1;
  nest.extents.assign(op.getNumLoops(), unknown);
  auto visit = [&](mlir::AffineMap map, llvm::ArrayRef<int64_t> shape) -> LogicalResult {
    if (map.getNumResults() != shape.size())
      return op.emitOpError("has an indexing map that does not fit its operand");
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr);
      if (!dim)
        continue;
      int64_t &extent = nest.extents[dim.getPosition()];
      if (extent != unknown && extent != shape[axis])
        return op.emitOpError() << "has operands that do not fit: loop " << dim.getPosition() << " has extent "
                                << extent << " by one operand and " << shape[axis] << " by another";
      extent = shape[axis];
    }
    return mlir::success();
  };
  for (LoopInput &input : nest.inputs)
    if (const TensorValue *tensor = input.value.getTensor())
      if (failed(visit(input.map, tensor->shape)))
        return failure();
  for (LoopOutput &output : nest.outputs)
    if (failed(visit(output.map, output.tensor.shape)))
      return failure();
  if (llvm::is_contained(nest.extents, unknown))
    return op.emitOpError("has a loop whose extent no operand gives");
  return mlir::success();
}

static LogicalResult run(Machine &machine, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on buffers, which the reference interpreter does not know");
  LoopNest nest;
  nest.op = op;
  for (mlir::utils::IteratorType iterator : op.getIteratorTypesArray())
    nest.parallel.push_back(iterator == mlir::utils::IteratorType::parallel);
  mlir::Block &body = op->getRegion(0).front();
  for (mlir::OpOperand *operand : op.getDpsInputOperands()) {
    mlir::FailureOr<RuntimeValue> value = machine.take(*operand);
    if (failed(value))
      return failure();
    nest.inputs.push_back({std::move(*value), op.getMatchingIndexingMap(operand)});
  }
  for (mlir::OpOperand &operand : op.getDpsInitsMutable()) {
    mlir::FailureOr<TensorValue> tensor = machine.takeTensor(operand);
    if (failed(tensor))
      return failure();
    nest.outputs.push_back({std::move(*tensor), op.getMatchingIndexingMap(&operand)});
  }
  size_t all = nest.inputs.size() + nest.outputs.size();
  if (body.getNumArguments() != all && body.getNumArguments() != nest.inputs.size())
    return op.emitOpError("has a body whose arguments do not fit its operands");
  if (failed(computeExtents(op, nest)) || failed(runLoopNest(machine, nest, op->getRegion(0))))
    return failure();
  for (auto [result, output] : llvm::zip(op->getResults(), nest.outputs))
    if (failed(machine.set(op, result, std::move(output.tensor))))
      return failure();
  return mlir::success();
}

/// Calls `body` with every index of a box.
static void forEachIndex(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(const Shape &)> body) {
  if (llvm::is_contained(shape, 0))
    return;
  Shape index(shape.size(), 0);
  while (true) {
    body(index);
    int64_t axis = int64_t(shape.size()) - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

/// max, subtract, exp, sum, divide: each step rounds to the element type, as the decomposed op does.
static LogicalResult run(Machine &machine, linalg::SoftmaxOp op) {
  mlir::FailureOr<TensorValue> input = machine.getTensor(op, op.getInput());
  if (failed(input))
    return failure();
  int64_t dim = op.getDimension();
  if (dim < 0 || dim >= input->getRank() || !input->type.isFloat() || op->getNumResults() != 1)
    return op.emitOpError("is a form of softmax that the reference interpreter does not know");
  mlir::FailureOr<TensorValue> result = machine.allocate(op, input->type, input->shape);
  if (failed(result))
    return failure();
  ElementKind kind = input->type.kind;
  int64_t extent = input->shape[dim], fromStride = input->strides[dim], toStride = result->strides[dim];
  Shape rows = input->shape;
  rows[dim] = extent == 0 ? 0 : 1;
  forEachIndex(rows, [&](const Shape &row) {
    int64_t from = input->getOffset(row), to = result->getOffset(row);
    double max = -HUGE_VAL, sum = 0;
    for (int64_t i = 0; i < extent; ++i) {
      double x = input->load(from + i * fromStride).real;
      max = std::isnan(max) || x <= max ? max : x; // a NaN stays, as with a maximum that propagates it
      if (std::isnan(x))
        max = x;
    }
    for (int64_t i = 0; i < extent; ++i) {
      double x = input->load(from + i * fromStride).real;
      double e = roundToType(std::exp(roundToType(x - max, kind)), kind);
      result->store(to + i * toStride, Scalar::makeReal(input->type, e));
      sum = roundToType(sum + e, kind);
    }
    for (int64_t i = 0; i < extent; ++i) {
      double e = result->load(to + i * toStride).real;
      result->store(to + i * toStride, Scalar::makeReal(input->type, roundToType(e / sum, kind)));
    }
  });
  return machine.set(op, op->getResult(0), std::move(*result));
}

/// The element of the unpacked tensor that an index of the packed one names: the outer axes, permuted, count tiles, the
/// inner axes count within the tiles.
template <typename Op>
static Shape getUnpackedIndex(Op op, llvm::ArrayRef<int64_t> packed, llvm::ArrayRef<int64_t> tiles, int64_t rank) {
  Shape index(rank, 0);
  llvm::ArrayRef<int64_t> permutation = op.getOuterDimsPerm();
  for (int64_t axis = 0; axis < rank; ++axis)
    index[permutation.empty() ? axis : permutation[axis]] = packed[axis];
  for (auto [number, axis] : llvm::enumerate(op.getInnerDimsPos()))
    index[axis] = index[axis] * tiles[number] + packed[rank + number];
  return index;
}

static bool isInside(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(index, shape), [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
}

/// The operands of a pack or unpack, and its result, not yet written.
struct Packing {
  TensorValue source, target, result;
  Shape tiles;
};

template <typename Op>
static mlir::FailureOr<Packing> getPacking(Machine &machine, Op op) {
  constexpr bool isPack = std::is_same_v<Op, linalg::PackOp>;
  mlir::FailureOr<TensorValue> source = machine.getTensor(op, op.getSource());
  mlir::FailureOr<TensorValue> target = machine.getTensor(op, op.getDest());
  mlir::FailureOr<Shape> tiles = machine.getIntegers(op, op.getMixedTiles());
  if (failed(source) || failed(target) || failed(tiles))
    return failure();
  // The packed side is as long as it says, and holds all of the other.
  const Shape &plain = isPack ? source->shape : target->shape, &packed = isPack ? target->shape : source->shape;
  llvm::ArrayRef<int64_t> inner = llvm::ArrayRef<int64_t>(packed).drop_front(plain.size());
  llvm::ArrayRef<int64_t> permutation = op.getOuterDimsPerm();
  Shape held(plain.size(), 0);
  for (size_t axis = 0; axis < plain.size(); ++axis)
    held[permutation.empty() ? axis : permutation[axis]] = packed[axis];
  for (auto [number, axis] : llvm::enumerate(op.getInnerDimsPos()))
    held[axis] *= (*tiles)[number];
  if (inner != llvm::ArrayRef<int64_t>(*tiles) ||
      llvm::any_of(llvm::zip(plain, held), [](auto pair) { return std::get<0>(pair) > std::get<1>(pair); }))
    return op.emitOpError("has tiles that do not fit the extents of its operands");
  mlir::FailureOr<TensorValue> result = machine.allocate(op, source->type, target->shape);
  if (failed(result))
    return failure();
  return Packing{std::move(*source), std::move(*target), std::move(*result), std::move(*tiles)};
}

static LogicalResult run(Machine &machine, linalg::PackOp op) {
  mlir::FailureOr<Packing> packing = getPacking(machine, op);
  if (failed(packing))
    return failure();
  Scalar padding = Scalar::makePoison(packing->source.type);
  if (op.getPaddingValue()) {
    mlir::FailureOr<Scalar> value = machine.getScalar(op, op.getPaddingValue());
    if (failed(value))
      return failure();
    padding = *value;
  }
  forEachIndex(packing->result.shape, [&](const Shape &index) {
    Shape from = getUnpackedIndex(op, index, packing->tiles, packing->source.getRank());
    const TensorValue &source = packing->source;
    packing->result.store(packing->result.getOffset(index),
                          isInside(from, source.shape) ? source.load(source.getOffset(from)) : padding);
  });
  return machine.set(op, op->getResult(0), std::move(packing->result));
}

static LogicalResult run(Machine &machine, linalg::UnPackOp op) {
  mlir::FailureOr<Packing> packing = getPacking(machine, op);
  if (failed(packing))
    return failure();
  TensorValue &result = packing->result;
  copyElements(packing->target, result);
  forEachIndex(packing->source.shape, [&](const Shape &index) {
    Shape to = getUnpackedIndex(op, index, packing->tiles, result.getRank());
    if (isInside(to, result.shape))
      result.store(result.getOffset(to), packing->source.load(packing->source.getOffset(index)));
  });
  return machine.set(op, op->getResult(0), std::move(result));
}

Handled reference::runLinalgOp(Machine &machine, mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, Handled>(op)
      .Case<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp>([&](auto known) -> LogicalResult {
        if (known->getNumResults() != 1)
          return known.emitOpError("works on buffers, which the reference interpreter does not know");
        return run(machine, known);
      })
      .Case([&](linalg::IndexOp index) -> Handled {
        if (machine.walkedCoordinates.empty() || index.getDim() >= machine.walkedCoordinates.back().size())
          return std::nullopt;
        return machine.set(op, index.getResult(), Scalar::makeIndex(machine.walkedCoordinates.back()[index.getDim()]));
      })
      .Case([&](linalg::LinalgOp structured) { return run(machine, structured); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}
