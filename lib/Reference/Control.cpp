//===- Control.cpp - Functions, loops, conditions ---------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace fusion;
using namespace fusion::reference;
namespace scf = mlir::scf;

static mlir::LogicalResult setResults(Machine &machine, mlir::Operation *op, Values &values) {
  if (values.size() != op->getNumResults())
    return op->emitOpError("gets a wrong number of values");
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    if (mlir::failed(machine.set(op, result, std::move(value))))
      return mlir::failure();
  return mlir::success();
}

/// Runs a region without arguments, if it is there, and makes its values the op's results.
static mlir::LogicalResult runBranch(Machine &machine, mlir::Operation *op, mlir::Region &region) {
  Values results;
  if (!region.empty() && mlir::failed(machine.runRegion(region, {}, results)))
    return mlir::failure();
  return setResults(machine, op, results);
}

static mlir::LogicalResult run(Machine &machine, mlir::func::CallOp call) {
  auto function = machine.symbolTables.lookupNearestSymbolFrom<mlir::FunctionOpInterface>(call, call.getCalleeAttr());
  if (!function)
    return call.emitOpError() << "calls '" << call.getCallee() << "', which is not a function";
  Values arguments, results;
  if (mlir::failed(machine.takeAll(call->getOpOperands(), arguments)) ||
      mlir::failed(machine.call(call, function, std::move(arguments), results)))
    return mlir::failure();
  return setResults(machine, call, results);
}

static mlir::LogicalResult run(Machine &machine, scf::ForOp loop) {
  mlir::FailureOr<Scalar> lower = machine.getScalar(loop, loop.getLowerBound());
  mlir::FailureOr<Scalar> upper = machine.getScalar(loop, loop.getUpperBound());
  mlir::FailureOr<Scalar> step = machine.getScalar(loop, loop.getStep());
  if (mlir::failed(lower) || mlir::failed(upper) || mlir::failed(step))
    return mlir::failure();
  ScalarType type = lower->type;
  bool isUnsigned = loop.getUnsignedCmp();
  auto extend = [&](int64_t value) -> __int128 {
    return isUnsigned ? __int128(zeroExtend(value, type.width)) : __int128(value);
  };
  if (extend(step->integer) <= 0)
    return loop.emitOpError() << "has step " << step->integer << ", which is not positive";
  Values carried;
  if (mlir::failed(machine.takeAll(loop.getInitArgsMutable(), carried)))
    return mlir::failure();
  for (__int128 i = extend(lower->integer), end = extend(upper->integer); i < end; i += extend(step->integer)) {
    Values arguments{Scalar::makeInteger(type, wrapInteger(int64_t(i), type.width))}, results;
    for (RuntimeValue &value : carried)
      arguments.push_back(std::move(value));
    if (mlir::failed(machine.runRegion(loop.getRegion(), std::move(arguments), results)))
      return mlir::failure();
    carried = std::move(results);
  }
  return setResults(machine, loop, carried);
}

static mlir::LogicalResult run(Machine &machine, scf::WhileOp loop) {
  Values carried;
  if (mlir::failed(machine.takeAll(loop->getOpOperands(), carried)))
    return mlir::failure();
  while (true) {
    Values condition, results;
    if (mlir::failed(machine.runRegion(loop.getBefore(), std::move(carried), condition)))
      return mlir::failure();
    const Scalar *flag = condition.empty() ? nullptr : condition.front().getScalar();
    if (!flag)
      return loop.emitOpError("has a condition that is no scalar");
    bool goesOn = flag->integer != 0;
    condition.erase(condition.begin());
    if (!goesOn)
      return setResults(machine, loop, condition);
    if (mlir::failed(machine.runRegion(loop.getAfter(), std::move(condition), results)))
      return mlir::failure();
    carried = std::move(results);
  }
}

/// Calls `body` with the coordinates of every point of a box, in C order.
static mlir::LogicalResult forEachPoint(mlir::Operation *op, llvm::ArrayRef<int64_t> lower,
                                        llvm::ArrayRef<int64_t> upper, llvm::ArrayRef<int64_t> step,
                                        llvm::function_ref<mlir::LogicalResult(const Shape &)> body) {
  for (int64_t s : step)
    if (s <= 0)
      return op->emitOpError() << "has step " << s << ", which is not positive";
  for (auto [l, u] : llvm::zip(lower, upper))
    if (l >= u)
      return mlir::success();
  Shape point(lower.begin(), lower.end());
  while (true) {
    if (mlir::failed(body(point)))
      return mlir::failure();
    int64_t axis = int64_t(point.size()) - 1;
    for (; axis >= 0; --axis) {
      if (!__builtin_add_overflow(point[axis], step[axis], &point[axis]) && point[axis] < upper[axis])
        break;
      point[axis] = lower[axis];
    }
    if (axis < 0)
      return mlir::success();
  }
}

/// Every thread reads what the shared tensors held before the loop; what it inserts goes to a copy.
static mlir::LogicalResult run(Machine &machine, scf::ForallOp loop) {
  mlir::FailureOr<Shape> lower = machine.getIntegers(loop, loop.getMixedLowerBound());
  mlir::FailureOr<Shape> upper = machine.getIntegers(loop, loop.getMixedUpperBound());
  mlir::FailureOr<Shape> step = machine.getIntegers(loop, loop.getMixedStep());
  if (mlir::failed(lower) || mlir::failed(upper) || mlir::failed(step))
    return mlir::failure();
  llvm::SmallVector<TensorValue> before;
  llvm::DenseMap<mlir::Value, TensorValue> outer = std::move(machine.sharedOutputs);
  machine.sharedOutputs.clear();
  for (auto [operand, argument] : llvm::zip(loop.getOutputsMutable(), loop.getRegionIterArgs())) {
    mlir::FailureOr<TensorValue> tensor = machine.takeTensor(operand);
    if (mlir::failed(tensor))
      return mlir::failure();
    before.push_back(*tensor);
    mlir::FailureOr<TensorValue> copy = machine.makeWritable(loop, std::move(*tensor));
    if (mlir::failed(copy))
      return mlir::failure();
    machine.sharedOutputs[argument] = std::move(*copy);
  }
  mlir::LogicalResult ran = forEachPoint(loop, *lower, *upper, *step, [&](const Shape &point) {
    Values arguments, results;
    for (int64_t i : point)
      arguments.push_back(Scalar::makeIndex(i));
    for (const TensorValue &tensor : before)
      arguments.push_back(tensor);
    return machine.runRegion(loop.getRegion(), std::move(arguments), results);
  });
  Values results;
  if (mlir::succeeded(ran))
    for (mlir::BlockArgument argument : loop.getRegionIterArgs())
      results.push_back(machine.sharedOutputs.lookup(argument));
  machine.sharedOutputs = std::move(outer);
  return mlir::failed(ran) ? ran : setResults(machine, loop, results);
}

static mlir::LogicalResult run(Machine &machine, scf::InParallelOp op) {
  for (mlir::Operation &yielding : op.getYieldingOps()) {
    auto insert = llvm::dyn_cast<mlir::tensor::ParallelInsertSliceOp>(yielding);
    if (!insert)
      return yielding.emitOpError("is not known to the reference interpreter");
    auto target = machine.sharedOutputs.find(insert.getDest());
    if (target == machine.sharedOutputs.end())
      return insert.emitOpError("does not insert into a shared output of the loop");
    mlir::FailureOr<TensorValue> source = machine.getTensor(insert, insert.getSource());
    if (mlir::failed(source) ||
        mlir::failed(insertSlice(machine, insert, *source, target->second, insert.getMixedOffsets(),
                                 insert.getMixedSizes(), insert.getMixedStrides(), insert.getDroppedDims())))
      return mlir::failure();
  }
  return mlir::success();
}

static mlir::LogicalResult run(Machine &machine, scf::ParallelOp loop) {
  mlir::FailureOr<Shape> lower = machine.getIntegers(loop, loop.getLowerBound());
  mlir::FailureOr<Shape> upper = machine.getIntegers(loop, loop.getUpperBound());
  mlir::FailureOr<Shape> step = machine.getIntegers(loop, loop.getStep());
  Values carried;
  if (mlir::failed(lower) || mlir::failed(upper) || mlir::failed(step) ||
      mlir::failed(machine.takeAll(loop.getInitValsMutable(), carried)))
    return mlir::failure();
  mlir::LogicalResult ran = forEachPoint(loop, *lower, *upper, *step, [&](const Shape &point) -> mlir::LogicalResult {
    Values arguments, operands;
    for (int64_t i : point)
      arguments.push_back(Scalar::makeIndex(i));
    mlir::Operation *terminator = nullptr;
    if (mlir::failed(machine.runRegion(loop.getRegion(), std::move(arguments), operands, &terminator)))
      return mlir::failure();
    if (terminator->getNumRegions() != carried.size() || operands.size() != carried.size())
      return loop.emitOpError("has a wrong number of reductions");
    for (unsigned i = 0; i < carried.size(); ++i) {
      Values results;
      if (mlir::failed(machine.runRegion(terminator->getRegion(i), {carried[i], operands[i]}, results)))
        return mlir::failure();
      if (results.size() != 1)
        return loop.emitOpError("has a reduction without a result");
      carried[i] = std::move(results[0]);
    }
    return mlir::success();
  });
  return mlir::failed(ran) ? ran : setResults(machine, loop, carried);
}

Handled reference::runControlOp(Machine &machine, mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, Handled>(op)
      .Case<mlir::func::CallOp, scf::ForOp, scf::WhileOp, scf::ForallOp, scf::InParallelOp, scf::ParallelOp>(
          [&](auto known) { return run(machine, known); })
      .Case([&](scf::IfOp branch) -> mlir::LogicalResult {
        mlir::FailureOr<int64_t> condition = machine.getInteger(op, branch.getCondition());
        if (mlir::failed(condition))
          return mlir::failure();
        return runBranch(machine, op, *condition ? branch.getThenRegion() : branch.getElseRegion());
      })
      .Case([&](scf::IndexSwitchOp branch) -> mlir::LogicalResult {
        mlir::FailureOr<int64_t> value = machine.getInteger(op, branch.getArg());
        if (mlir::failed(value))
          return mlir::failure();
        for (auto [number, label] : llvm::enumerate(branch.getCases()))
          if (label == *value)
            return runBranch(machine, op, branch.getCaseRegions()[number]);
        return runBranch(machine, op, branch.getDefaultRegion());
      })
      .Case([&](scf::ExecuteRegionOp region) { return runBranch(machine, op, region.getRegion()); })
      .Case<mlir::cf::AssertOp, mlir::affine::AffineApplyOp, mlir::affine::AffineMinOp, mlir::affine::AffineMaxOp>(
          [&](mlir::Operation *scalar) -> Handled {
            const Program *program = machine.getElementwiseProgram(scalar);
            return program ? Handled(runScalarOp(machine, scalar, *program)) : std::nullopt;
          })
      .Default([](mlir::Operation *) { return std::nullopt; });
}
