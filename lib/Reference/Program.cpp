//===- Program.cpp - Scalar code as a flat list of instructions -------------===//

#include "Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace fusion;
using namespace fusion::reference;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void Registers::fill(unsigned index, Scalar value, int64_t n) {
  if (value.type.isDouble())
    std::fill_n(get<double>(index), n, value.real);
  else if (value.type.isFloat())
    std::fill_n(get<float>(index), n, float(value.real));
  else
    std::fill_n(get<int64_t>(index), n, value.integer);
}

void Registers::copy(unsigned from, unsigned to, ScalarType type, int64_t n) {
  if (type.isFloat() && !type.isDouble())
    std::copy_n(get<float>(from), n, get<float>(to));
  else
    std::copy_n(get<uint64_t>(from), n, get<uint64_t>(to));
}

Scalar Registers::read(unsigned index, ScalarType type, int64_t lane) {
  if (type.isDouble())
    return Scalar::makeReal(type, get<double>(index)[lane]);
  if (type.isFloat())
    return Scalar::makeReal(type, get<float>(index)[lane]);
  return Scalar::makeInteger(type, get<int64_t>(index)[lane]);
}

void Registers::write(unsigned index, int64_t lane, Scalar value) {
  if (value.type.isDouble())
    get<double>(index)[lane] = value.real;
  else if (value.type.isFloat())
    get<float>(index)[lane] = float(value.real);
  else
    get<int64_t>(index)[lane] = value.integer;
}

//===----------------------------------------------------------------------===//
// Lanes from and to memory
//===----------------------------------------------------------------------===//

namespace {
struct DecodeF16 {
  float operator()(uint16_t bits) const { return float(decodeF16(bits)); }
};
struct DecodeBF16 {
  float operator()(uint16_t bits) const { return float(decodeBF16(bits)); }
};
struct EncodeF16 {
  uint16_t operator()(float value) const { return encodeF16(value); }
};
struct EncodeBF16 {
  uint16_t operator()(float value) const { return encodeBF16(value); }
};
struct DecodeBool {
  int64_t operator()(uint8_t value) const { return value ? -1 : 0; }
};
struct EncodeBool {
  uint8_t operator()(int64_t value) const { return value & 1; }
};
template <typename T>
struct Convert {
  template <typename S>
  T operator()(S value) const {
    return T(value);
  }
};
} // namespace

/// Calls `action(storage pointer, register pointer, decode, encode)` with the types of the element kind.
template <typename Action>
static void dispatch(Registers &registers, unsigned reg, const TensorValue &tensor, Action action) {
  void *data = tensor.buffer->getData();
  switch (tensor.type.kind) {
  case ElementKind::F16:
    return action(static_cast<uint16_t *>(data), registers.get<float>(reg), DecodeF16(), EncodeF16());
  case ElementKind::BF16:
    return action(static_cast<uint16_t *>(data), registers.get<float>(reg), DecodeBF16(), EncodeBF16());
  case ElementKind::F32:
    return action(static_cast<float *>(data), registers.get<float>(reg), Convert<float>(), Convert<float>());
  case ElementKind::F64:
    return action(static_cast<double *>(data), registers.get<double>(reg), Convert<double>(), Convert<double>());
  case ElementKind::I1:
    return action(static_cast<uint8_t *>(data), registers.get<int64_t>(reg), DecodeBool(), EncodeBool());
  case ElementKind::I8:
    return action(static_cast<int8_t *>(data), registers.get<int64_t>(reg), Convert<int64_t>(), Convert<int8_t>());
  case ElementKind::I16:
    return action(static_cast<int16_t *>(data), registers.get<int64_t>(reg), Convert<int64_t>(), Convert<int16_t>());
  case ElementKind::I32:
    return action(static_cast<int32_t *>(data), registers.get<int64_t>(reg), Convert<int64_t>(), Convert<int32_t>());
  case ElementKind::I64:
  case ElementKind::Index:
    return action(static_cast<int64_t *>(data), registers.get<int64_t>(reg), Convert<int64_t>(), Convert<int64_t>());
  }
}

void reference::loadStrided(Registers &registers, unsigned target, const TensorValue &tensor, int64_t base,
                            int64_t stride, int64_t n) {
  dispatch(registers, target, tensor, [&](auto *data, auto *lanes, auto decode, auto) {
    const auto *source = data + base;
    if (stride == 0)
      std::fill_n(lanes, n, decode(source[0]));
    else if (stride == 1)
      for (int64_t lane = 0; lane < n; ++lane)
        lanes[lane] = decode(source[lane]);
    else
      for (int64_t lane = 0; lane < n; ++lane)
        lanes[lane] = decode(source[lane * stride]);
  });
}

void reference::loadGather(Registers &registers, unsigned target, const TensorValue &tensor, int64_t base,
                           const int64_t *offsets, int64_t n) {
  dispatch(registers, target, tensor, [&](auto *data, auto *lanes, auto decode, auto) {
    const auto *source = data + base;
    for (int64_t lane = 0; lane < n; ++lane)
      lanes[lane] = decode(source[offsets[lane]]);
  });
}

void reference::storeStrided(Registers &registers, unsigned source, const TensorValue &tensor, int64_t base,
                             int64_t stride, int64_t n) {
  dispatch(registers, source, tensor, [&](auto *data, auto *lanes, auto, auto encode) {
    auto *target = data + base;
    for (int64_t lane = 0; lane < n; ++lane)
      target[lane * stride] = encode(lanes[lane]);
  });
}

void reference::storeScatter(Registers &registers, unsigned source, const TensorValue &tensor, int64_t base,
                             const int64_t *offsets, int64_t n) {
  dispatch(registers, source, tensor, [&](auto *data, auto *lanes, auto, auto encode) {
    auto *target = data + base;
    for (int64_t lane = 0; lane < n; ++lane)
      target[offsets[lane]] = encode(lanes[lane]);
  });
}

//===----------------------------------------------------------------------===//
// ProgramBuilder
//===----------------------------------------------------------------------===//

unsigned ProgramBuilder::createRegister(bool uniform) {
  uniformRegister.push_back(uniform);
  return program.numRegisters++;
}

std::optional<unsigned> ProgramBuilder::getRegister(mlir::Value value) {
  auto known = registers.find(value);
  if (known != registers.end())
    return known->second;
  if (!ScalarType::get(value.getType()) || (block && value.getParentBlock() == block))
    return std::nullopt;
  unsigned reg = createRegister(/*uniform=*/true);
  program.capturedScalars.push_back({value, reg});
  registers[value] = reg;
  return reg;
}

std::optional<unsigned> ProgramBuilder::captureTensor(mlir::Value tensor) {
  if (!llvm::isa<mlir::RankedTensorType>(tensor.getType()) || (block && tensor.getParentBlock() == block))
    return std::nullopt;
  for (auto [number, known] : llvm::enumerate(program.capturedTensors))
    if (known == tensor)
      return number;
  program.capturedTensors.push_back(tensor);
  return program.capturedTensors.size() - 1;
}

void ProgramBuilder::append(Instruction instruction) {
  // What may fail stays in the body: it must not run when there are no elements.
  bool uniform = !instruction.mayFail;
  for (unsigned source : instruction.sources)
    uniform &= uniformRegister[source];
  for (unsigned target : instruction.targets)
    uniformRegister[target] = uniform;
  (uniform ? program.uniform : program.body).push_back(std::move(instruction));
}

bool ProgramBuilder::emit(mlir::Operation *op, Kernel kernel, bool mayFail, int64_t immediate) {
  if (!kernel)
    return false;
  Instruction instruction;
  instruction.run = kernel;
  instruction.op = op;
  instruction.mayFail = mayFail;
  instruction.immediate = immediate;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<unsigned> reg = getRegister(operand);
    std::optional<ScalarType> type = ScalarType::get(mlir::getElementTypeOrSelf(operand.getType()));
    if (!reg || !type)
      return false;
    instruction.sources.push_back(*reg);
    if (number == 0)
      instruction.sourceType = *type;
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    std::optional<ScalarType> type = ScalarType::get(mlir::getElementTypeOrSelf(result.getType()));
    if (!type)
      return false;
    unsigned reg = createRegister(false);
    registers[result] = reg;
    instruction.targets.push_back(reg);
    if (number == 0)
      instruction.targetType = *type;
  }
  append(std::move(instruction));
  return true;
}

unsigned ProgramBuilder::emit(mlir::Operation *op, Kernel kernel, llvm::ArrayRef<unsigned> sources, ScalarType type,
                              int64_t immediate, bool mayFail) {
  Instruction instruction;
  instruction.run = kernel;
  instruction.op = op;
  instruction.mayFail = mayFail;
  instruction.immediate = immediate;
  instruction.sources.assign(sources.begin(), sources.end());
  instruction.sourceType = instruction.targetType = type;
  unsigned reg = createRegister(false);
  instruction.targets.push_back(reg);
  append(std::move(instruction));
  return reg;
}

static void runConstant(const Instruction &instruction, Registers &registers, int64_t n) {
  Scalar value = Scalar::makeInteger(instruction.targetType, instruction.immediate);
  registers.fill(instruction.targets[0], value, n);
}

unsigned ProgramBuilder::emitConstant(Scalar value) {
  // The bits of a real number are the immediate, too: the two share their storage.
  return emit(nullptr, runConstant, {}, value.type, value.integer);
}

unsigned ProgramBuilder::getCoordinate(unsigned loop) {
  auto [entry, isNew] = coordinates.try_emplace(loop, 0);
  if (isNew) {
    entry->second = createRegister(/*uniform=*/false);
    program.coordinates.push_back({loop, entry->second});
  }
  return entry->second;
}

bool ProgramBuilder::compileOp(mlir::Operation *op) {
  llvm::StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith")
    return compileArith(op, *this);
  if (dialect == "math")
    return compileMath(op, *this);
  return compileMisc(op, *this);
}

bool ProgramBuilder::compile(mlir::Block &block, Program &program) {
  ProgramBuilder builder(program);
  builder.block = &block;
  for (mlir::BlockArgument argument : block.getArguments()) {
    std::optional<ScalarType> type = ScalarType::get(argument.getType());
    if (!type)
      return false;
    unsigned reg = builder.createRegister(/*uniform=*/false);
    builder.registers[argument] = reg;
    program.arguments.push_back(reg);
    program.argumentTypes.push_back(*type);
    program.argumentUsed.push_back(!argument.use_empty());
  }
  for (mlir::Operation &op : block.without_terminator())
    if (op.getNumRegions() != 0 || !builder.compileOp(&op))
      return false;
  mlir::Operation *terminator = block.getTerminator();
  if (terminator->getNumSuccessors() != 0)
    return false;
  for (mlir::Value operand : terminator->getOperands()) {
    std::optional<unsigned> reg = builder.getRegister(operand);
    if (!reg)
      return false;
    program.results.push_back(*reg);
    program.resultTypes.push_back(*ScalarType::get(operand.getType()));
  }
  return true;
}

bool ProgramBuilder::compileElementwise(mlir::Operation *op, Program &program) {
  ProgramBuilder builder(program);
  for (mlir::Value operand : op->getOperands()) {
    std::optional<ScalarType> type = ScalarType::get(mlir::getElementTypeOrSelf(operand.getType()));
    if (!type)
      return false;
    unsigned reg = builder.createRegister(/*uniform=*/false);
    builder.registers[operand] = reg;
    program.arguments.push_back(reg);
    program.argumentTypes.push_back(*type);
    program.argumentUsed.push_back(true);
  }
  if (!builder.compileOp(op))
    return false;
  for (mlir::Value result : op->getResults()) {
    program.results.push_back(builder.registers.lookup(result));
    program.resultTypes.push_back(*ScalarType::get(mlir::getElementTypeOrSelf(result.getType())));
  }
  return true;
}
