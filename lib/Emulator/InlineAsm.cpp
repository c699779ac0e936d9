//===- InlineAsm.cpp - The inline assembly that is known --------------------===//
//
// Statements of PTX are taken apart as far as the known ones need it. Everything else is refused with its text.
//
//===------------------------------------------------------------------------===//

#include "Operations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace fusion::emulator {
namespace {

struct Statement {
  StringRef text, opcode;
  /// "@p", empty for none.
  StringRef guard;
  SmallVector<StringRef, 8> operands;
};

/// The text cut into statements, without blocks, labels and declarations of registers.
class Program {
public:
  explicit Program(StringRef text) {
    SmallVector<StringRef, 16> pieces;
    text.split(pieces, ';');
    for (StringRef piece : pieces) {
      piece = piece.trim(" \t\n\r");
      // Braces in front of a statement open and close blocks; those of operands stand behind an opcode.
      while (piece.consume_front("{") || piece.consume_front("}"))
        piece = piece.trim(" \t\n\r");
      // A label in front of a statement.
      size_t colon = piece.find(':');
      if (colon != StringRef::npos && piece.substr(colon, 2) != "::" &&
          piece.substr(0, colon).find_first_of(" \t.$%[") == StringRef::npos) {
        labels.push_back(piece.substr(0, colon));
        piece = piece.substr(colon + 1).trim(" \t\n\r");
        while (piece.consume_front("}"))
          piece = piece.trim(" \t\n\r");
      }
      if (piece.empty() || piece.starts_with(".reg"))
        continue;
      statements.push_back(parse(piece));
    }
  }

  SmallVector<Statement, 4> statements;
  SmallVector<StringRef, 2> labels;

private:
  static Statement parse(StringRef text) {
    Statement statement;
    statement.text = text;
    if (text.starts_with("@")) {
      auto [guard, rest] = text.split(' ');
      statement.guard = guard;
      text = rest.trim();
    }
    size_t end = text.find_first_of(" \t");
    statement.opcode = text.substr(0, end);
    StringRef rest = end == StringRef::npos ? StringRef() : text.substr(end).trim();
    // Commas inside of braces and brackets do not separate operands.
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i <= rest.size(); ++i) {
      if (i == rest.size() || (rest[i] == ',' && depth == 0)) {
        StringRef operand = rest.substr(start, i - start).trim();
        if (!operand.empty())
          statement.operands.push_back(operand);
        start = i + 1;
      } else if (rest[i] == '{' || rest[i] == '[') {
        ++depth;
      } else if (rest[i] == '}' || rest[i] == ']') {
        --depth;
      }
    }
    return statement;
  }
};

/// What `$n` stands for.
class OperandMap {
public:
  explicit OperandMap(const CallBase &call) : call(call) {
    auto *assembly = cast<InlineAsm>(call.getCalledOperand());
    for (const InlineAsm::ConstraintInfo &constraint : assembly->ParseConstraints()) {
      if (constraint.Type == InlineAsm::isOutput)
        ++numOutputs;
      else if (constraint.Type == InlineAsm::isInput) {
        StringRef code = constraint.Codes.empty() ? StringRef() : StringRef(constraint.Codes.front());
        unsigned output = 0;
        if (!code.getAsInteger(10, output))
          tied[output] = numInputs;
        ++numInputs;
      }
    }
  }

  /// The argument of the call that an operand names; for an output the one that is tied to it.
  std::optional<unsigned> getArgument(StringRef operand) const {
    unsigned number = 0;
    if (!operand.consume_front("$") || operand.getAsInteger(10, number))
      return std::nullopt;
    if (number >= numOutputs)
      return number - numOutputs < numInputs ? std::optional<unsigned>(number - numOutputs) : std::nullopt;
    auto it = tied.find(number);
    return it == tied.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }
  /// The number of an output.
  std::optional<unsigned> getOutput(StringRef operand) const {
    unsigned number = 0;
    if (!operand.consume_front("$") || operand.getAsInteger(10, number) || number >= numOutputs)
      return std::nullopt;
    return number;
  }
  /// A literal, or an argument that is a constant.
  std::optional<int64_t> getConstant(StringRef operand) const {
    int64_t value = 0;
    if (!operand.getAsInteger(10, value))
      return value;
    std::optional<unsigned> argument = getArgument(operand);
    auto *constant = argument ? dyn_cast<ConstantInt>(call.getArgOperand(*argument)) : nullptr;
    return constant ? std::optional<int64_t>(constant->getSExtValue()) : std::nullopt;
  }
  unsigned getNumOutputs() const { return numOutputs; }

private:
  const CallBase &call;
  unsigned numOutputs = 0, numInputs = 0;
  DenseMap<unsigned, unsigned> tied;
};

SmallVector<StringRef, 64> getList(StringRef operand) {
  SmallVector<StringRef, 64> items;
  if (operand.consume_front("{") && operand.consume_back("}"))
    operand.split(items, ',');
  for (StringRef &item : items)
    item = item.trim();
  return items;
}
} // namespace

/// wgmma.mma_async.sync.aligned.m64nNkK.D.A.B {d}, a, b, p, scale-a, scale-b[, trans-a, trans-b]
static std::optional<Operation> getWgmma(const Statement &statement, const OperandMap &map,
                                         const StringMap<StringRef> &predicates) {
  StringRef name = statement.opcode;
  SmallVector<StringRef, 8> parts;
  if (!name.consume_front("wgmma.mma_async.sync.aligned.m64n"))
    return std::nullopt;
  name.split(parts, '.');
  unsigned n = 0, k = 0;
  StringRef shape = parts[0];
  if (parts.size() != 4 || shape.consumeInteger(10, n) || !shape.consume_front("k") || shape.getAsInteger(10, k))
    return std::nullopt;
  std::optional<MatrixType> d = parseMatrixType(parts[1]), a = parseMatrixType(parts[2]), b = parseMatrixType(parts[3]);
  if (!d || !a || !b || n % 8 != 0 || n < 8 || n > 256 || statement.operands.size() < 4)
    return std::nullopt;
  unsigned bits = *a == MatrixType::TF32 ? 32 : *a == MatrixType::F16 || *a == MatrixType::BF16 ? 16 : 8;
  if (k * bits != 256)
    return std::nullopt;

  Operation operation;
  operation.kind = OpKind::Wgmma;
  unsigned slotsD = 64 * n / 128 / (*d == MatrixType::F16 ? 2 : 1);
  SmallVector<StringRef, 64> accumulators = getList(statement.operands[0]);
  if (accumulators.size() != slotsD || map.getNumOutputs() != slotsD)
    return std::nullopt;
  for (auto [number, accumulator] : enumerate(accumulators)) {
    std::optional<unsigned> argument = map.getArgument(accumulator);
    if (!argument || map.getOutput(accumulator) != unsigned(number))
      return std::nullopt;
    operation.operands.push_back(*argument);
  }
  bool fromRegisters = statement.operands[1].starts_with("{");
  SmallVector<StringRef, 64> left =
      fromRegisters ? getList(statement.operands[1]) : SmallVector<StringRef, 64>{statement.operands[1]};
  if (left.size() != (fromRegisters ? 4u : 1u))
    return std::nullopt;
  left.push_back(statement.operands[2]);
  auto predicate = predicates.find(statement.operands[3]);
  if (predicate == predicates.end())
    return std::nullopt;
  left.push_back(predicate->second);
  for (StringRef operand : left) {
    std::optional<unsigned> argument = map.getArgument(operand);
    if (!argument)
      return std::nullopt;
    operation.operands.push_back(*argument);
  }
  // Immediates; integer types have none. With A in registers there is no trans-a.
  uint32_t flags = fromRegisters;
  SmallVector<int64_t, 4> immediates;
  for (StringRef operand : ArrayRef(statement.operands).drop_front(4)) {
    std::optional<int64_t> value = map.getConstant(operand);
    if (!value)
      return std::nullopt;
    immediates.push_back(*value);
  }
  if (immediates.size() > 0)
    flags |= immediates[0] == -1 ? 8 : 0;
  if (immediates.size() > 1)
    flags |= immediates[1] == -1 ? 16 : 0;
  if (immediates.size() == 4)
    flags |= (immediates[2] ? 2 : 0) | (immediates[3] ? 4 : 0);
  else if (immediates.size() == 3 && fromRegisters)
    flags |= immediates[2] ? 4 : 0;
  else if (immediates.size() != 2 && immediates.size() != 0)
    return std::nullopt;
  if ((flags & 6) && bits != 16)
    return std::nullopt;
  operation.params = {n, k, uint32_t(*a), uint32_t(*b), uint32_t(*d), flags};
  return operation;
}

/// A wait for an mbarrier: a try_wait, and branches that repeat it until it succeeds.
static std::optional<Operation> getWait(const Program &program, const OperandMap &map) {
  const Statement &first = program.statements[0];
  StringRef name = first.opcode;
  if (!name.consume_front("mbarrier.try_wait"))
    return std::nullopt;
  bool byParity = name.consume_front(".parity");
  if (name != ".shared.b64" && name != ".shared::cta.b64")
    return std::nullopt;
  if (program.statements.size() != 3 || program.labels.size() != 2 || first.operands.size() < 3)
    return std::nullopt;
  const Statement &leave = program.statements[1], &again = program.statements[2];
  bool isLoop = leave.guard == ("@" + first.operands[0]).str() && leave.opcode.starts_with("bra") &&
                leave.operands.size() == 1 && leave.operands[0] == program.labels[1] && again.guard.empty() &&
                again.opcode.starts_with("bra") && again.operands.size() == 1 && again.operands[0] == program.labels[0];
  std::optional<unsigned> address = map.getArgument(first.operands[1].trim("[]")),
                          state = map.getArgument(first.operands[2]);
  if (!isLoop || !address || !state)
    return std::nullopt;
  Operation operation;
  operation.kind = OpKind::MbarrierWait;
  operation.params = {byParity};
  operation.operands = {*address, *state};
  return operation;
}

/// What libdevice reduces large angles with: mad.lo.cc.u32 d, a, b, c; madc.hi.u32 e, a, b, 0.
static std::optional<Operation> getWideMultiplyAdd(const Program &program, const OperandMap &map) {
  const Statement &low = program.statements[0], &high = program.statements[1];
  if (program.statements.size() != 2 || low.opcode != "mad.lo.cc.u32" || high.opcode != "madc.hi.u32" ||
      low.operands.size() != 4 || high.operands.size() != 4 || map.getNumOutputs() != 2 ||
      map.getOutput(low.operands[0]) != 0u || map.getOutput(high.operands[0]) != 1u ||
      low.operands[1] != high.operands[1] || low.operands[2] != high.operands[2] || high.operands[3] != "0")
    return std::nullopt;
  Operation operation;
  operation.form = Operation::Form::WideMultiplyAdd;
  for (unsigned i = 1; i < 4; ++i) {
    std::optional<unsigned> argument = map.getArgument(low.operands[i]);
    if (!argument)
      return std::nullopt;
    operation.operands.push_back(*argument);
  }
  return operation;
}

/// One statement that computes a scalar.
static std::optional<Operation> getScalar(const Statement &statement, const OperandMap &map) {
  StringRef function = StringSwitch<StringRef>(statement.opcode)
                           .Case("ex2.approx.f32", "ex2.approx.f32")
                           .Case("ex2.approx.ftz.f32", "ex2.approx.ftz.f32")
                           .Case("lg2.approx.f32", "lg2.approx.f")
                           .Case("lg2.approx.ftz.f32", "lg2.approx.ftz.f")
                           .Case("rcp.approx.f32", "rcp.approx.f")
                           .Case("rcp.approx.ftz.f32", "rcp.approx.ftz.f")
                           .Case("rsqrt.approx.f32", "rsqrt.approx.f")
                           .Case("rsqrt.approx.ftz.f32", "rsqrt.approx.ftz.f")
                           .Case("sqrt.approx.f32", "sqrt.approx.f")
                           .Case("sqrt.approx.ftz.f32", "sqrt.approx.ftz.f")
                           .Case("tanh.approx.f32", "tanh.approx.f32")
                           .Case("div.full.f32", "div.full")
                           .Case("cvt.rn.f16x2.f32", "ff2f16x2.rn")
                           .Case("cvt.rn.bf16x2.f32", "ff2bf16x2.rn")
                           .Case("cvt.rna.tf32.f32", "f2tf32.rna")
                           .Default("");
  if (function.empty() || !statement.guard.empty() || map.getNumOutputs() != 1 || statement.operands.empty() ||
      map.getOutput(statement.operands[0]) != 0u)
    return std::nullopt;
  Operation operation;
  operation.form = Operation::Form::Math;
  operation.function = ("fusion_emu_math." + function).str();
  operation.specialFunctions = function.contains("approx") || function.starts_with("div.full");
  for (StringRef operand : ArrayRef(statement.operands).drop_front()) {
    std::optional<unsigned> argument = map.getArgument(operand);
    if (!argument)
      return std::nullopt;
    operation.operands.push_back(*argument);
  }
  return operation;
}

/// One statement without results.
static std::optional<Operation> getPlain(const Statement &statement, const OperandMap &map) {
  if (!statement.guard.empty())
    return std::nullopt;
  Operation operation;
  operation.passesNoOperands = true;
  StringRef name = statement.opcode;
  if (name == "fence.proxy.async" || name == "fence.proxy.async.shared::cta" ||
      name == "fence.proxy.async.shared::cluster") {
    operation.kind = OpKind::Fence;
    operation.params = {uint32_t(FenceKind::ProxyAsync)};
  } else if (name == "fence.mbarrier_init.release.cluster") {
    operation.kind = OpKind::Fence;
    operation.params = {uint32_t(FenceKind::MbarrierInit)};
  } else if (name == "wgmma.fence.sync.aligned") {
    operation.kind = OpKind::WgmmaFence;
  } else if (name == "wgmma.commit_group.sync.aligned") {
    operation.kind = OpKind::WgmmaCommit;
  } else if (name == "cp.async.commit_group") {
    operation.kind = OpKind::CpAsyncCommit;
  } else if (name == "cp.async.wait_all") {
    operation.kind = OpKind::CpAsyncWait;
    operation.params = {~0u};
  } else if (name == "cp.async.bulk.commit_group") {
    operation.kind = OpKind::BulkCommit;
  } else if (name == "wgmma.wait_group.sync.aligned" || name == "cp.async.wait_group" ||
             name == "cp.async.bulk.wait_group" || name == "cp.async.bulk.wait_group.read") {
    std::optional<int64_t> count = statement.operands.size() == 1 ? map.getConstant(statement.operands[0]) : std::nullopt;
    if (!count || *count < 0)
      return std::nullopt;
    operation.kind = name.starts_with("wgmma")            ? OpKind::WgmmaWait
                     : name.starts_with("cp.async.bulk") ? OpKind::BulkWait
                                                         : OpKind::CpAsyncWait;
    operation.params = {uint32_t(*count)};
  } else {
    return std::nullopt;
  }
  return operation;
}

std::optional<Operation> getInlineAsm(const CallBase &call, std::string &error) {
  auto *assembly = cast<InlineAsm>(call.getCalledOperand());
  std::string text(assembly->getAsmString());
  Program program(text);
  OperandMap map(call);
  std::optional<Operation> operation;
  // Predicates that are set at the start.
  StringMap<StringRef> predicates;
  ArrayRef<Statement> rest = program.statements;
  while (!rest.empty() && rest.front().opcode == "setp.ne.b32" && rest.front().operands.size() == 3 &&
         rest.front().operands[2] == "0" && rest.front().guard.empty()) {
    predicates[rest.front().operands[0]] = rest.front().operands[1];
    rest = rest.drop_front();
  }
  if (rest.size() == 1) {
    operation = getWgmma(rest.front(), map, predicates);
    if (!operation && predicates.empty())
      operation = getScalar(rest.front(), map);
    if (!operation && predicates.empty())
      operation = getPlain(rest.front(), map);
  } else if (rest.size() > 1 && predicates.empty()) {
    operation = getWait(program, map);
    if (!operation)
      operation = getWideMultiplyAdd(program, map);
  }
  if (!operation) {
    for (char &c : text)
      if (c == '\n' || c == '\t')
        c = ' ';
    error = "inline assembly that the emulator does not know: " + text;
  }
  return operation;
}

} // namespace fusion::emulator
