//===- Machine.cpp - The reference interpreter's inside ---------------------===//

#include "Machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <cstring>

using namespace fusion;
using namespace fusion::reference;

//===----------------------------------------------------------------------===//
// Liveness
//===----------------------------------------------------------------------===//

const Machine::BlockInfo &Machine::getBlockInfo(mlir::Block *block) {
  std::unique_ptr<BlockInfo> &info = blockInfos[block];
  if (info)
    return *info;
  info = std::make_unique<BlockInfo>();
  auto analyse = [&](mlir::Value value, mlir::Operation *definition) {
    mlir::Operation *last = definition;
    for (mlir::OpOperand &use : value.getUses()) {
      mlir::Operation *user = block->findAncestorOpInBlock(*use.getOwner());
      if (!user)
        return; // another block uses it
      if (!last || last->isBeforeInBlock(user))
        last = user;
    }
    if (!last)
      return;
    info->dying[last].push_back(value);
    mlir::OpOperand *onlyUse = nullptr;
    for (mlir::OpOperand &use : value.getUses()) {
      if (block->findAncestorOpInBlock(*use.getOwner()) != last)
        continue;
      if (onlyUse || use.getOwner() != last)
        return; // used twice, or inside of a region
      onlyUse = &use;
    }
    if (onlyUse)
      info->lastUses.insert(onlyUse);
  };
  for (mlir::BlockArgument argument : block->getArguments())
    analyse(argument, nullptr);
  for (mlir::Operation &op : *block)
    for (mlir::Value result : op.getResults())
      analyse(result, &op);
  return *info;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

mlir::LogicalResult Machine::runOperation(mlir::Operation &op) {
  if (options.maxOperations && ++numOperations > options.maxOperations)
    return op.emitOpError() << "is one operation too many: " << options.maxOperations << " have been executed";
  llvm::StringRef dialect = op.getName().getDialectNamespace();
  Handled handled;
  if (dialect == "arith" || dialect == "math" || dialect == "ub")
    handled = runArithOp(*this, &op);
  else if (dialect == "tensor" || dialect == "bufferization")
    handled = runTensorOp(*this, &op);
  else if (dialect == "linalg")
    handled = runLinalgOp(*this, &op);
  else if (dialect == "spacemap")
    handled = runSpaceMapOp(*this, &op);
  else if (dialect == "dist")
    handled = runDistOp(*this, &op);
  else
    handled = runControlOp(*this, &op);
  if (!handled)
    return op.emitOpError("is not known to the reference interpreter");
  return *handled;
}

mlir::LogicalResult Machine::runRegion(mlir::Region &region, Values arguments, Values &results,
                                       mlir::Operation **terminator) {
  mlir::Block *block = &region.front();
  while (true) {
    if (arguments.size() != block->getNumArguments())
      return region.getParentOp()->emitOpError("passes a wrong number of values to a block");
    for (auto [argument, value] : llvm::zip(block->getArguments(), arguments))
      (*frame)[argument] = std::move(value);
    arguments.clear();
    const BlockInfo &info = getBlockInfo(block);
    auto drop = [&](mlir::Operation *op) {
      auto dying = info.dying.find(op);
      if (dying != info.dying.end())
        for (mlir::Value value : dying->second)
          frame->erase(value);
    };
    if (block->empty() || !block->back().hasTrait<mlir::OpTrait::IsTerminator>())
      return region.getParentOp()->emitOpError("has a block without a terminator");
    mlir::Operation *last = block->getTerminator();
    for (mlir::Operation &op : block->without_terminator()) {
      if (mlir::failed(runOperation(op)))
        return mlir::failure();
      drop(&op);
    }
    if (last->getNumSuccessors() == 0) {
      if (llvm::isa<mlir::scf::InParallelOp>(last) && mlir::failed(runOperation(*last)))
        return mlir::failure();
      if (terminator)
        *terminator = last;
      if (mlir::failed(takeAll(last->getOpOperands(), results)))
        return mlir::failure();
      drop(last);
      return mlir::success();
    }
    auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(last);
    if (!branch)
      return last->emitOpError("is not known to the reference interpreter");
    if (options.maxOperations && ++numOperations > options.maxOperations)
      return last->emitOpError() << "is one operation too many: " << options.maxOperations << " have been executed";
    // Conditions are constants for `getSuccessorForOperands`.
    llvm::SmallVector<mlir::Attribute> operands;
    mlir::Builder builder(last->getContext());
    for (mlir::Value operand : last->getOperands()) {
      mlir::Attribute attribute;
      if (operand.getType().isSignlessInteger() || operand.getType().isIndex()) {
        mlir::FailureOr<Scalar> value = getScalar(last, operand);
        if (mlir::failed(value))
          return mlir::failure();
        attribute = builder.getIntegerAttr(operand.getType(), value->integer);
      }
      operands.push_back(attribute);
    }
    mlir::Block *next =
        last->getNumSuccessors() == 1 ? last->getSuccessor(0) : branch.getSuccessorForOperands(operands);
    if (!next)
      return last->emitOpError("branches to a block that the reference interpreter cannot determine");
    unsigned number = llvm::find(last->getSuccessors(), next) - last->getSuccessors().begin();
    // Two edges may lead to one block with different operands: the interface only names the block.
    if (llvm::count(last->getSuccessors(), next) > 1 && last->getNumSuccessors() == 2) {
      auto condition = llvm::dyn_cast_if_present<mlir::IntegerAttr>(operands[0]);
      number = condition && condition.getValue().isZero() ? 1 : 0;
    }
    mlir::SuccessorOperands passed = branch.getSuccessorOperands(number);
    for (unsigned i = 0, e = passed.size(); i < e; ++i) {
      if (passed.isOperandProduced(i))
        return last->emitOpError("is not known to the reference interpreter");
      const RuntimeValue *value = lookup(last, passed[i]);
      if (!value)
        return mlir::failure();
      arguments.push_back(*value);
    }
    drop(last);
    block = next;
  }
}

mlir::LogicalResult Machine::call(mlir::Operation *caller, mlir::FunctionOpInterface function, Values arguments,
                                  Values &results) {
  if (function.isExternal())
    return caller->emitOpError() << "calls '" << function.getName() << "', which has no body";
  if (callDepth >= options.maxCallDepth)
    return caller->emitOpError() << "calls '" << function.getName() << "' when " << callDepth
                                 << " calls are open, which is the limit: does the recursion end?";
  return runIsolated(function.getFunctionBody(), std::move(arguments), results);
}

mlir::LogicalResult Machine::runIsolated(mlir::Region &region, Values arguments, Values &results) {
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
  llvm::DenseMap<mlir::Value, RuntimeValue> *saved = std::exchange(frame, &values);
  ++callDepth;
  mlir::LogicalResult result = runRegion(region, std::move(arguments), results);
  --callDepth;
  frame = saved;
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const RuntimeValue *Machine::lookup(mlir::Operation *user, mlir::Value value) {
  auto found = frame->find(value);
  if (found != frame->end() && found->second)
    return &found->second;
  user->emitOpError("uses a value that has not been computed");
  return nullptr;
}

mlir::FailureOr<TensorValue> Machine::getTensor(mlir::Operation *user, mlir::Value value) {
  const RuntimeValue *found = lookup(user, value);
  if (!found)
    return mlir::failure();
  if (const TensorValue *tensor = found->getTensor())
    return *tensor;
  return user->emitOpError() << "has an operand of type " << value.getType()
                             << ", which the reference interpreter cannot use as a tensor";
}

mlir::FailureOr<Scalar> Machine::getScalar(mlir::Operation *user, mlir::Value value) {
  const RuntimeValue *found = lookup(user, value);
  if (!found)
    return mlir::failure();
  if (const Scalar *scalar = found->getScalar())
    return *scalar;
  return user->emitOpError() << "has an operand of type " << value.getType()
                             << ", which the reference interpreter cannot use as a scalar";
}

mlir::FailureOr<int64_t> Machine::getInteger(mlir::Operation *user, mlir::Value value) {
  mlir::FailureOr<Scalar> scalar = getScalar(user, value);
  if (mlir::failed(scalar))
    return mlir::failure();
  return scalar->integer;
}

mlir::FailureOr<Shape> Machine::getIntegers(mlir::Operation *user, mlir::ValueRange values) {
  Shape result;
  for (mlir::Value value : values) {
    mlir::FailureOr<int64_t> integer = getInteger(user, value);
    if (mlir::failed(integer))
      return mlir::failure();
    result.push_back(*integer);
  }
  return result;
}

mlir::FailureOr<Shape> Machine::getIntegers(mlir::Operation *user, llvm::ArrayRef<mlir::OpFoldResult> values) {
  Shape result;
  for (mlir::OpFoldResult value : values) {
    if (auto attribute = llvm::dyn_cast<mlir::Attribute>(value)) {
      auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
      if (!integer)
        return user->emitOpError("has an extent that is not an integer");
      result.push_back(integer.getInt());
      continue;
    }
    mlir::FailureOr<int64_t> integer = getInteger(user, llvm::cast<mlir::Value>(value));
    if (mlir::failed(integer))
      return mlir::failure();
    result.push_back(*integer);
  }
  return result;
}

mlir::FailureOr<RuntimeValue> Machine::take(mlir::OpOperand &operand) {
  const RuntimeValue *value = lookup(operand.getOwner(), operand.get());
  if (!value)
    return mlir::failure();
  if (!getBlockInfo(operand.getOwner()->getBlock()).lastUses.contains(&operand))
    return *value;
  RuntimeValue taken = std::move(*const_cast<RuntimeValue *>(value));
  frame->erase(operand.get());
  return taken;
}

mlir::LogicalResult Machine::takeAll(llvm::MutableArrayRef<mlir::OpOperand> operands, Values &values) {
  for (mlir::OpOperand &operand : operands) {
    mlir::FailureOr<RuntimeValue> value = take(operand);
    if (mlir::failed(value))
      return mlir::failure();
    values.push_back(std::move(*value));
  }
  return mlir::success();
}

mlir::FailureOr<TensorValue> Machine::takeTensor(mlir::OpOperand &operand) {
  mlir::FailureOr<RuntimeValue> value = take(operand);
  if (mlir::failed(value))
    return mlir::failure();
  if (TensorValue *tensor = value->getTensor())
    return std::move(*tensor);
  return operand.getOwner()->emitOpError() << "has an operand of type " << operand.get().getType()
                                           << ", which the reference interpreter cannot use as a tensor";
}

mlir::LogicalResult Machine::set(mlir::Operation *op, mlir::Value result, RuntimeValue value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
  const TensorValue *tensor = value.getTensor();
  if (type && tensor) {
    bool fits = type.getRank() == tensor->getRank();
    for (int64_t axis = 0; fits && axis < type.getRank(); ++axis)
      fits = type.isDynamicDim(axis) || type.getDimSize(axis) == tensor->shape[axis];
    if (!fits)
      return op->emitOpError() << "computes a tensor of " << getTypeText(tensor->type.kind, tensor->shape)
                               << " where the type says " << type;
  }
  (*frame)[result] = std::move(value);
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

mlir::FailureOr<TensorValue> Machine::allocate(mlir::Operation *op, ScalarType type, llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = getNumElements(shape);
  std::shared_ptr<HostBuffer> buffer;
  if (count)
    buffer = HostBuffer::allocate(uint64_t(*count) * getByteWidth(type.kind));
  if (!buffer) {
    bool negative = llvm::any_of(shape, [](int64_t extent) { return extent < 0; });
    return op->emitOpError() << "makes a tensor of " << getTypeText(type.kind, shape)
                             << (negative ? ": an extent is negative" : ", which does not fit into memory");
  }
  TensorValue tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.strides = getContiguousStrides(shape);
  tensor.buffer = std::move(buffer);
  return tensor;
}

mlir::FailureOr<TensorValue> Machine::makeSplat(mlir::Operation *op, Scalar value, llvm::ArrayRef<int64_t> shape) {
  if (!getNumElements(shape))
    return allocate(op, value.type, shape);
  mlir::FailureOr<TensorValue> tensor = allocate(op, value.type, {});
  if (mlir::failed(tensor))
    return mlir::failure();
  tensor->store(0, value);
  tensor->shape.assign(shape.begin(), shape.end());
  tensor->strides.assign(shape.size(), 0);
  return tensor;
}

mlir::FailureOr<TensorValue> Machine::makeWritable(mlir::Operation *op, TensorValue tensor) {
  if (tensor.isExclusive())
    return std::move(tensor);
  mlir::FailureOr<TensorValue> copy = allocate(op, tensor.type, tensor.shape);
  if (mlir::succeeded(copy))
    copyElements(tensor, *copy);
  return copy;
}

mlir::FailureOr<TensorValue> Machine::makeContiguous(mlir::Operation *op, TensorValue tensor) {
  if (tensor.isContiguous())
    return std::move(tensor);
  mlir::FailureOr<TensorValue> copy = allocate(op, tensor.type, tensor.shape);
  if (mlir::succeeded(copy))
    copyElements(tensor, *copy);
  return copy;
}

mlir::LogicalResult Machine::checkSlice(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                                        llvm::ArrayRef<int64_t> steps) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t offset = offsets[axis], size = sizes[axis], step = steps[axis];
    // Sizes are at most extents: no product below overflows unless the step is absurd.
    int64_t distance = 0, last = 0;
    bool inside = size >= 0 && offset >= 0 && offset <= shape[axis];
    if (inside && size > 0)
      inside = !__builtin_mul_overflow(size - 1, step, &distance) && !__builtin_add_overflow(offset, distance, &last) &&
               offset < shape[axis] && last >= 0 && last < shape[axis];
    if (!inside)
      return op->emitOpError() << "slices axis " << axis << " at offset " << offset << ", size " << size << ", stride "
                               << step << ", which is out of bounds: the extent is " << shape[axis];
  }
  return mlir::success();
}

/// Copies the elements of an array attribute. False if its storage is not what we know.
static bool copyConstant(mlir::ElementsAttr elements, const TensorValue &tensor) {
  int64_t count = tensor.getNumElements();
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    unsigned width = getByteWidth(tensor.type.kind);
    if (!blob || blob->getData().size() != uint64_t(count) * width)
      return false;
    std::memcpy(tensor.buffer->getData(), blob->getData().data(), blob->getData().size());
    return true;
  }
  if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(elements)) {
    llvm::ArrayRef<char> raw = dense.getRawData();
    bool plain = tensor.type.isFloat() || tensor.type.width == 8 * getByteWidth(tensor.type.kind);
    if (plain && !dense.isSplat() && raw.size() == uint64_t(count) * getByteWidth(tensor.type.kind)) {
      std::memcpy(tensor.buffer->getData(), raw.data(), raw.size());
      return true;
    }
  }
  if (tensor.type.isFloat()) {
    auto values = elements.tryGetValues<mlir::Attribute>();
    if (!values)
      return false;
    int64_t at = 0;
    for (mlir::Attribute value : *values) {
      std::optional<Scalar> scalar = Scalar::get(value);
      if (!scalar)
        return false;
      tensor.store(at++, *scalar);
    }
    return true;
  }
  auto values = elements.tryGetValues<llvm::APInt>();
  if (!values)
    return false;
  int64_t at = 0;
  for (const llvm::APInt &value : *values)
    tensor.store(at++, Scalar::makeInteger(tensor.type, value.getSExtValue()));
  return true;
}

mlir::FailureOr<TensorValue> Machine::getConstant(mlir::Operation *op, mlir::Attribute attribute) {
  auto known = constants.find(attribute);
  if (known != constants.end())
    return known->second;
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(attribute);
  std::optional<ScalarType> type = elements ? ScalarType::get(elements.getElementType()) : std::nullopt;
  if (!type)
    return op->emitOpError() << "is a constant of a type that the reference interpreter cannot hold";
  llvm::ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  mlir::FailureOr<TensorValue> tensor = mlir::failure();
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(attribute);
  if (dense && dense.isSplat()) {
    std::optional<Scalar> value = Scalar::get(dense.getSplatValue<mlir::Attribute>());
    if (!value)
      return op->emitOpError() << "is a constant of a type that the reference interpreter cannot hold";
    tensor = makeSplat(op, *value, shape);
  } else {
    tensor = allocate(op, *type, shape);
    if (mlir::succeeded(tensor) && !copyConstant(elements, *tensor))
      return op->emitOpError() << "is a constant whose data is missing or has the wrong size";
  }
  if (mlir::succeeded(tensor))
    constants[attribute] = *tensor;
  return tensor;
}

void Machine::count(mlir::Operation *op, uint64_t messages, uint64_t bytes) {
  if (!options.traffic)
    return;
  auto [entry, isNew] = trafficOf.try_emplace(op, options.traffic->size());
  if (isNew)
    options.traffic->push_back({op->getLoc(), op->getName().getStringRef().str(), 0, 0, 0});
  ReferenceTraffic &traffic = (*options.traffic)[entry->second];
  ++traffic.executions;
  traffic.messages += messages;
  traffic.bytes += bytes;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

const Program *Machine::getProgram(mlir::Region &region) {
  auto [entry, isNew] = programs.try_emplace(&region);
  if (isNew && region.hasOneBlock()) {
    auto program = std::make_unique<Program>();
    if (ProgramBuilder::compile(region.front(), *program))
      entry->second = std::move(program);
  }
  return entry->second.get();
}

const Program *Machine::getElementwiseProgram(mlir::Operation *op) {
  auto [entry, isNew] = elementwisePrograms.try_emplace(op);
  if (isNew) {
    auto program = std::make_unique<Program>();
    if (ProgramBuilder::compileElementwise(op, *program))
      entry->second = std::move(program);
  }
  return entry->second.get();
}

mlir::LogicalResult Machine::prepare(mlir::Operation *op, const Program &program, Registers &registers) {
  int64_t lanes = registers.getNumLanes();
  for (auto [value, reg] : program.capturedScalars) {
    mlir::FailureOr<Scalar> scalar = getScalar(op, value);
    if (mlir::failed(scalar))
      return mlir::failure();
    registers.fill(reg, *scalar, lanes);
  }
  for (mlir::Value value : program.capturedTensors) {
    mlir::FailureOr<TensorValue> tensor = getTensor(op, value);
    if (mlir::failed(tensor))
      return mlir::failure();
    registers.tensors.push_back(std::move(*tensor));
  }
  for (const Instruction &instruction : program.uniform)
    instruction.run(instruction, registers, lanes);
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

mlir::LogicalResult fusion::interpret(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> arguments,
                                      llvm::SmallVectorImpl<HostArray> &results, const ReferenceOptions &options) {
  auto function = module.lookupSymbol<mlir::FunctionOpInterface>(entry);
  if (!function)
    return module.emitError() << "there is no function '" << entry << "'";
  llvm::ArrayRef<mlir::Type> types = function.getArgumentTypes();
  if (types.size() != arguments.size())
    return function.emitOpError() << "'" << entry << "' takes " << types.size() << " arguments, " << arguments.size()
                                  << " are given";
  Machine machine(module, options);
  Values inputs, outputs;
  for (auto [number, argument, type] : llvm::enumerate(arguments, types)) {
    auto tensorType = llvm::dyn_cast<mlir::RankedTensorType>(type);
    std::optional<ScalarType> elementType = ScalarType::get(mlir::getElementTypeOrSelf(type));
    if (!elementType || (!tensorType && elementType != ScalarType::get(type)))
      return function.emitOpError() << "argument " << number << " of '" << entry << "' has type " << type
                                    << ", which the reference interpreter cannot hold";
    bool fits =
        argument.getKind() == elementType->kind && argument.getRank() == (tensorType ? tensorType.getRank() : 0);
    for (int64_t axis = 0; fits && tensorType && axis < tensorType.getRank(); ++axis)
      fits = tensorType.isDynamicDim(axis) || tensorType.getDimSize(axis) == argument.getShape()[axis];
    if (!fits)
      return function.emitOpError() << "argument " << number << " of '" << entry << "' has type " << type << ", "
                                    << argument.getTypeText() << " is given";
    TensorValue tensor;
    tensor.type = *elementType;
    tensor.shape.assign(argument.getShape().begin(), argument.getShape().end());
    tensor.strides = getContiguousStrides(tensor.shape);
    tensor.offset = argument.getByteOffset() / getByteWidth(argument.getKind());
    tensor.buffer = argument.getBuffer();
    if (tensorType)
      inputs.push_back(std::move(tensor));
    else
      inputs.push_back(tensor.load(tensor.offset));
  }
  if (mlir::failed(machine.call(function, function, std::move(inputs), outputs)))
    return mlir::failure();
  for (auto [number, output] : llvm::enumerate(outputs)) {
    if (const Scalar *scalar = output.getScalar()) {
      if (scalar->type.isFloat())
        results.push_back(HostArray::scalar(scalar->type.kind, scalar->real));
      else
        results.push_back(HostArray::scalar(scalar->type.kind, scalar->integer));
      continue;
    }
    TensorValue *tensor = output.getTensor();
    if (!tensor)
      return function.emitOpError() << "result " << number << " of '" << entry << "' is no scalar and no tensor";
    // A result that shares its buffer with an argument is copied on the first write to either.
    mlir::FailureOr<TensorValue> contiguous = machine.makeContiguous(function, std::move(*tensor));
    if (mlir::failed(contiguous))
      return mlir::failure();
    results.push_back(HostArray::fromBuffer(contiguous->type.kind, contiguous->shape, contiguous->buffer,
                                            contiguous->offset * getByteWidth(contiguous->type.kind)));
  }
  return mlir::success();
}
