//===- Elementwise.cpp - Operations on scalars, and lane by lane on tensors -===//

#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace fusion;
using namespace fusion::reference;

mlir::LogicalResult reference::runScalarOp(Machine &machine, mlir::Operation *op, const Program &program) {
  Registers registers(program.numRegisters, 1);
  for (auto [operand, reg] : llvm::zip(op->getOperands(), program.arguments)) {
    mlir::FailureOr<Scalar> value = machine.getScalar(op, operand);
    if (mlir::failed(value))
      return mlir::failure();
    registers.write(reg, 0, *value);
  }
  if (mlir::failed(machine.prepare(op, program, registers)))
    return mlir::failure();
  for (const Instruction &instruction : program.body)
    instruction.run(instruction, registers, 1);
  if (registers.failedOp)
    return op->emitOpError() << registers.failure;
  for (auto [result, reg, type] : llvm::zip(op->getResults(), program.results, program.resultTypes))
    if (mlir::failed(machine.set(op, result, registers.read(reg, type, 0))))
      return mlir::failure();
  return mlir::success();
}

/// Operands are tensors of one shape, or scalars.
static mlir::LogicalResult runOnTensors(Machine &machine, mlir::Operation *op, const Program &program) {
  LoopNest nest;
  nest.op = op;
  bool hasShape = false;
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    mlir::FailureOr<RuntimeValue> value = machine.take(operand);
    if (mlir::failed(value))
      return mlir::failure();
    if (const TensorValue *tensor = value->getTensor()) {
      if (hasShape && llvm::ArrayRef<int64_t>(nest.extents) != llvm::ArrayRef<int64_t>(tensor->shape))
        return op->emitOpError() << "has operands of different shapes: " << getTypeText(tensor->type.kind, nest.extents)
                                 << " and " << getTypeText(tensor->type.kind, tensor->shape);
      nest.extents = tensor->shape;
      hasShape = true;
    }
    nest.inputs.push_back({std::move(*value), {}});
  }
  auto identity = mlir::AffineMap::getMultiDimIdentityMap(nest.extents.size(), op->getContext());
  for (LoopInput &input : nest.inputs)
    input.map = identity;
  nest.parallel.assign(nest.extents.size(), true);
  for (ScalarType type : program.resultTypes) {
    mlir::FailureOr<TensorValue> tensor = machine.allocate(op, type, nest.extents);
    if (mlir::failed(tensor))
      return mlir::failure();
    nest.outputs.push_back({std::move(*tensor), identity});
  }
  if (mlir::failed(runLoopNest(machine, nest, program)))
    return mlir::failure();
  for (auto [result, output] : llvm::zip(op->getResults(), nest.outputs))
    if (mlir::failed(machine.set(op, result, std::move(output.tensor))))
      return mlir::failure();
  return mlir::success();
}

Handled reference::runArithOp(Machine &machine, mlir::Operation *op) {
  if (op->getNumResults() == 0)
    return std::nullopt;
  mlir::Type type = op->getResult(0).getType();
  bool isTensor = llvm::isa<mlir::RankedTensorType>(type);
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) {
    if (isTensor) {
      mlir::FailureOr<TensorValue> tensor = machine.getConstant(op, constant.getValue());
      return mlir::failed(tensor) ? mlir::failure() : machine.set(op, constant.getResult(), std::move(*tensor));
    }
    std::optional<Scalar> value = Scalar::get(constant.getValue());
    if (!value)
      return op->emitOpError() << "is a constant of type " << type << ", which the reference interpreter cannot hold";
    return machine.set(op, constant.getResult(), *value);
  }
  if (auto poison = llvm::dyn_cast<mlir::ub::PoisonOp>(op)) {
    std::optional<ScalarType> element = ScalarType::get(mlir::getElementTypeOrSelf(type));
    auto tensorType = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!element || (tensorType && !tensorType.hasStaticShape()))
      return op->emitOpError() << "has type " << type << ", which the reference interpreter cannot hold";
    if (!tensorType)
      return machine.set(op, poison.getResult(), Scalar::makePoison(*element));
    mlir::FailureOr<TensorValue> tensor = machine.makeSplat(op, Scalar::makePoison(*element), tensorType.getShape());
    return mlir::failed(tensor) ? mlir::failure() : machine.set(op, poison.getResult(), std::move(*tensor));
  }
  const Program *program = machine.getElementwiseProgram(op);
  if (!program)
    return std::nullopt;
  // A choice between whole tensors by one condition needs no loop.
  if (auto select = llvm::dyn_cast<mlir::arith::SelectOp>(op); select && isTensor) {
    if (!llvm::isa<mlir::ShapedType>(select.getCondition().getType())) {
      mlir::FailureOr<Scalar> condition = machine.getScalar(op, select.getCondition());
      if (mlir::failed(condition))
        return mlir::failure();
      mlir::FailureOr<TensorValue> chosen =
          machine.getTensor(op, condition->integer ? select.getTrueValue() : select.getFalseValue());
      return mlir::failed(chosen) ? mlir::failure() : machine.set(op, select.getResult(), std::move(*chosen));
    }
  }
  if (isTensor)
    return runOnTensors(machine, op, *program);
  if (llvm::isa<mlir::ShapedType>(type))
    return std::nullopt;
  return runScalarOp(machine, op, *program);
}
