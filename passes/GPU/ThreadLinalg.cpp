//===- ThreadLinalg.cpp - Structured operations on fragments --------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace fusion {
namespace {

/// How the result of an operation comes about.
struct ResultPlan {
  llvm::SmallVector<unsigned> dims;
  bool isReduction = false;
  /// Of a reduction: the operation that takes the accumulator and one element.
  Operation *combiner = nullptr;
};

/// The operation of the body that takes the accumulator of result `number` and whose value is yielded, or null.
Operation *findCombiner(linalg::LinalgOp op, unsigned number) {
  BlockArgument accumulator = op.getRegionOutputArgs()[number];
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 || !accumulator.hasOneUse() ||
      *accumulator.getUsers().begin() != combiner)
    return nullptr;
  if (!isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
           arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
           arith::OrIOp, arith::XOrIOp>(combiner))
    return nullptr;
  return combiner;
}

FailureOr<SmallVector<ResultPlan>> planResults(linalg::LinalgOp op) {
  SmallVector<ResultPlan> plans;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    FailureOr<SmallVector<unsigned>> dims = getDims(op.getMatchingIndexingMap(&init));
    if (failed(dims))
      return op->emitOpError("writes a result through a map that is no permutation, for which there is no GPU code");
    ResultPlan plan;
    plan.dims = *dims;
    plan.isReduction = dims->size() < op.getNumLoops();
    if (plan.isReduction) {
      plan.combiner = findCombiner(op, number);
      if (!plan.combiner)
        return op->emitOpError("reduces by a function for which there is no GPU code: accepted are one addition, "
                               "multiplication, minimum, maximum or bitwise operation");
    }
    plans.push_back(plan);
  }
  return plans;
}

} // namespace

LogicalResult ThreadProgram::emitBodyAt(linalg::LinalgOp op, const Layout &layout, int64_t number,
                                        ArrayRef<Value> arguments, Operation *skipped, Value skippedBy,
                                        SmallVectorImpl<Value> &results) {
  IRMapping map;
  Block *body = op.getBlock();
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    map.map(argument, value);
  Layout::Point part = layout.getRegisterPart(number);
  for (Operation &inner : body->without_terminator()) {
    for (Value operand : inner.getOperands())
      if (!map.contains(operand) && !isa<TensorType>(operand.getType()))
        map.map(operand, getScalar(operand));
    if (&inner == skipped) {
      // The first element of a reduction is its partial result.
      map.map(inner.getResult(0), map.lookup(skippedBy));
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      OpFoldResult position = builder.getIndexAttr(part[index.getDim()]);
      if (Value thread = getThreadPart(layout, index.getDim()))
        position =
            add(arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), thread).getResult(), position);
      map.map(index.getResult(), getIndexValue(position));
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      if (failed(emitElement(extract, map)))
        return failure();
      continue;
    }
    WalkResult walk = inner.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        if (isa<TensorType>(operand.getType())) {
          nested->emitOpError("has no GPU code within the body of an operation");
          return WalkResult::interrupt();
        }
        if (!inner.isAncestor(operand.getParentRegion()->getParentOp()) && !map.contains(operand))
          map.map(operand, getScalar(operand));
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    builder.clone(inner, map);
  }
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(map.contains(value) ? map.lookup(value) : getScalar(value));
  return success();
}

LogicalResult ThreadProgram::emitLinalg(linalg::LinalgOp op) {
  auto copyState = [&](Value from, Value to) {
    FailureOr<TileState *> state = getState(from);
    if (failed(state))
      return failure();
    TileState copied = **state;
    OpFoldResults extents = getExtents(from);
    tiles[to] = std::move(copied);
    extentsOf[to] = std::move(extents);
    return success();
  };
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation())) {
    TileState state;
    state.splat = getScalar(fill.getInputs()[0]);
    OpFoldResults extents = getExtents(fill.getOutputs()[0]);
    tiles[fill.getResult(0)] = state;
    extentsOf[fill.getResult(0)] = extents;
    return success();
  }
  if (auto copy = dyn_cast<linalg::CopyOp>(op.getOperation()))
    return copyState(copy.getInputs()[0], copy->getResult(0));
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op.getOperation())) {
    if (failed(copyState(transpose.getInput(), transpose->getResult(0))))
      return failure();
    Value result = transpose->getResult(0);
    TileState &state = tiles[result];
    SmallVector<unsigned> from(transpose.getPermutation().begin(), transpose.getPermutation().end());
    OpFoldResults extents;
    for (unsigned dim : from)
      extents.push_back(extentsOf[result][dim]);
    extentsOf[result] = extents;
    if (state.global) {
      SmallVector<OpFoldResult> strides;
      for (unsigned dim : from)
        strides.push_back(state.global->strides[dim]);
      state.global->strides = strides;
      TileAccess access = getTileAccess(result);
      state.global->contiguous = access.contiguous;
      state.global->vector = access.vector;
    }
    for (Fragment &fragment : state.fragments) {
      // Another order of dimensions is another order of repetitions.
      Fragment moved{fragment.layout.project(from), {}};
      for (int64_t number = 0; number < moved.layout.getNumRegisters(); ++number) {
        Layout::Point part = moved.layout.getRegisterPart(number), original(part.size());
        for (auto [to, dim] : llvm::enumerate(from))
          original[dim] = part[to];
        moved.values.push_back(fragment.values[*fragment.layout.findRegister(original)]);
      }
      fragment = moved;
    }
    return success();
  }

  FailureOr<Layout> assigned = getAssignedLayout(op);
  if (failed(assigned))
    return failure();
  const Layout &layout = *assigned;
  if (layout.getNumWarps() != numWarps)
    return op->emitOpError() << "has a layout of " << layout.getNumWarps() << " warps in a kernel of " << numWarps;
  if (std::optional<Contraction> contraction = matchContraction(op))
    return emitContraction(op, *contraction, layout);
  FailureOr<SmallVector<ResultPlan>> plans = planResults(op);
  if (failed(plans))
    return failure();

  // Operands: the registers that go with each register of the loops.
  unsigned numInputs = op.getNumDpsInputs();
  SmallVector<std::pair<Fragment, SmallVector<unsigned>>, 1> operands;
  OpFoldResults loopExtents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto &[fragment, dims] = operands.emplace_back();
    if (!isa<RankedTensorType>(operand.get().getType())) {
      if (isa<ShapedType>(operand.get().getType()))
        return op->emitOpError("has an operand that is no ranked tensor, for which there is no GPU code");
      fragment.values.push_back(getScalar(operand.get()));
      continue;
    }
    FailureOr<SmallVector<unsigned>> operandDims = getDims(op.getMatchingIndexingMap(&operand));
    if (failed(operandDims))
      return op->emitOpError("reads an operand through a map that is no permutation, for which there is no GPU code");
    dims = *operandDims;
    OpFoldResults extents = getExtents(operand.get());
    for (auto [dim, extent] : llvm::zip(dims, extents))
      if (!loopExtents[dim] || isa<Attribute>(extent))
        loopExtents[dim] = extent;
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    FailureOr<Fragment> found = getFragment(operand.get(), layout.project(dims));
    if (failed(found))
      return failure();
    fragment = *found;
  }
  auto getPart = [&](ArrayRef<unsigned> dims, int64_t number) {
    Layout::Point part = layout.getRegisterPart(number), projected;
    for (unsigned dim : dims)
      projected.push_back(part[dim]);
    return projected;
  };

  SmallVector<unsigned> reducedDims;
  op.getReductionDims(reducedDims);
  SmallVector<Fragment, 1> results;
  for (ResultPlan &plan : *plans) {
    Fragment &result = results.emplace_back();
    result.layout = layout.project(plan.dims);
    result.values.resize(result.layout.getNumRegisters());
  }
  // The first element of a reduction needs no combination; that works for one reduction at a time.
  unsigned numReductions = llvm::count_if(*plans, [](ResultPlan &plan) { return plan.isReduction; });
  for (int64_t number = 0; number < layout.getNumRegisters(); ++number) {
    bool isNever = false;
    Value mask;
    if (numReductions > 0) {
      mask = getMask(layout, number, loopExtents, reducedDims, isNever);
      // Where nothing is reduced, elementwise results may still be needed; they are outside as well.
      if (isNever)
        continue;
    }
    SmallVector<Value> values;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      auto &[fragment, dims] = operand;
      bool isInit = index >= numInputs;
      if (isInit && (*plans)[index - numInputs].isReduction) {
        ResultPlan &plan = (*plans)[index - numInputs];
        Fragment &result = results[index - numInputs];
        Value &partial = result.values[*result.layout.findRegister(getPart(dims, number))];
        bool canSkip = numReductions == 1 && !mask;
        if (!partial && !canSkip) {
          std::optional<TypedAttr> neutral = arith::getNeutralElement(plan.combiner);
          if (!neutral)
            return op->emitOpError("reduces by a function without a neutral element");
          partial = arith::ConstantOp::create(builder, loc, *neutral);
        }
        values.push_back(partial);
        continue;
      }
      if (fragment.values.empty())
        values.push_back(ub::PoisonOp::create(builder, loc, op.getBlock()->getArgument(index).getType()));
      else if (fragment.layout.getRank() == 0 && dims.empty())
        values.push_back(fragment.values.front());
      else
        values.push_back(fragment.values[*fragment.layout.findRegister(getPart(dims, number))]);
    }
    Operation *skipped = nullptr;
    Value skippedBy;
    for (auto [index, plan] : llvm::enumerate(*plans))
      if (plan.isReduction && !values[numInputs + index]) {
        skipped = plan.combiner;
        BlockArgument accumulator = op.getRegionOutputArgs()[index];
        skippedBy = skipped->getOperand(skipped->getOperand(0) == accumulator ? 1 : 0);
        values[numInputs + index] = ub::PoisonOp::create(builder, loc, accumulator.getType());
      }
    SmallVector<Value> yielded;
    if (failed(emitBodyAt(op, layout, number, values, skipped, skippedBy, yielded)))
      return failure();
    for (auto [index, plan] : llvm::enumerate(*plans)) {
      Value value = yielded[index];
      if (plan.isReduction && mask)
        value = arith::SelectOp::create(builder, loc, mask, value, values[numInputs + index]);
      results[index].values[*results[index].layout.findRegister(getPart(plan.dims, number))] = value;
    }
  }
  for (auto [index, plan] : llvm::enumerate(*plans)) {
    Fragment &result = results[index];
    Value init = op.getDpsInits()[index];
    if (plan.isReduction) {
      for (Value &value : result.values)
        if (!value)
          value = arith::ConstantOp::create(builder, loc, *arith::getNeutralElement(plan.combiner));
      result = reduceAcross(result, layout, plan.dims, plan.combiner);
      FailureOr<Fragment> start = getFragment(init, result.layout);
      if (failed(start))
        return failure();
      for (auto [value, first] : llvm::zip(result.values, start->values))
        value = combine(plan.combiner, first, value);
    } else {
      for (Value &value : result.values)
        if (!value)
          value = ub::PoisonOp::create(builder, loc, cast<RankedTensorType>(init.getType()).getElementType());
    }
    OpFoldResults extents = getExtents(init);
    Value tile = op->getResult(index);
    setFragment(tile, std::move(result));
    extentsOf[tile] = std::move(extents);
  }
  return success();
}

} // namespace fusion
