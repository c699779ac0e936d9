//===- Operations.cpp - The device operations that are known ----------------===//

#include "Operations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include <cstddef>
#include <set>

using namespace llvm;

namespace fusion::emulator {

static Operation makeRuntime(OpKind kind, std::initializer_list<uint32_t> params = {}) {
  Operation operation;
  operation.kind = kind;
  operation.params.assign(params);
  return operation;
}

static Operation makeForm(Operation::Form form, uint64_t value = 0) {
  Operation operation;
  operation.form = form;
  operation.value = value;
  return operation;
}

/// The value of an operand that must be an immediate.
static std::optional<uint64_t> getImmediate(const CallBase &call, unsigned operand) {
  auto *constant = operand < call.arg_size() ? dyn_cast<ConstantInt>(call.getArgOperand(operand)) : nullptr;
  return constant ? std::optional<uint64_t>(constant->getZExtValue()) : std::nullopt;
}

std::optional<MatrixType> parseMatrixType(StringRef name) {
  return StringSwitch<std::optional<MatrixType>>(name)
      .Case("f16", MatrixType::F16)
      .Case("bf16", MatrixType::BF16)
      .Case("tf32", MatrixType::TF32)
      .Case("f32", MatrixType::F32)
      .Case("f64", MatrixType::F64)
      .Case("s8", MatrixType::S8)
      .Case("u8", MatrixType::U8)
      .Case("s32", MatrixType::S32)
      .Case("e4m3", MatrixType::E4M3)
      .Case("e5m2", MatrixType::E5M2)
      .Default(std::nullopt);
}

static std::optional<Operation> getThreadRegister(StringRef name) {
  static_assert(sizeof(ThreadHeader::tid) == 12, "three words");
  if (name == "laneid")
    return makeForm(Operation::Form::ThreadField, offsetof(ThreadHeader, lane));
  if (name == "warpid")
    return makeForm(Operation::Form::ThreadField, offsetof(ThreadHeader, warp));
  if (name == "warpsize")
    return makeForm(Operation::Form::Constant, 32);
  auto [base, axis] = name.split('.');
  size_t offset = StringSwitch<size_t>(base)
                      .Case("tid", offsetof(ThreadHeader, tid))
                      .Case("ntid", offsetof(ThreadHeader, ntid))
                      .Case("ctaid", offsetof(ThreadHeader, ctaid))
                      .Case("nctaid", offsetof(ThreadHeader, nctaid))
                      .Default(~size_t(0));
  if (offset == ~size_t(0) || axis.size() != 1 || axis[0] < 'x' || axis[0] > 'z')
    return std::nullopt;
  return makeForm(Operation::Form::ThreadField, offset + 4 * size_t(axis[0] - 'x'));
}

static std::optional<Operation> getShuffle(StringRef name) {
  auto [mode, type] = name.split('.');
  uint32_t number = StringSwitch<uint32_t>(mode).Case("idx", 0).Case("up", 1).Case("down", 2).Case("bfly", 3).Default(4);
  bool hasPredicate = type.consume_back("p");
  if (number == 4 || (type != "i32" && type != "f32"))
    return std::nullopt;
  return makeRuntime(OpKind::Shuffle, {number, hasPredicate});
}

static std::optional<Operation> getRedux(StringRef name) {
  std::optional<ReduxOp> op = StringSwitch<std::optional<ReduxOp>>(name)
                                  .Case("add", ReduxOp::Add)
                                  .Case("umin", ReduxOp::UMin)
                                  .Case("umax", ReduxOp::UMax)
                                  .Case("min", ReduxOp::SMin)
                                  .Case("max", ReduxOp::SMax)
                                  .Case("and", ReduxOp::And)
                                  .Case("or", ReduxOp::Or)
                                  .Case("xor", ReduxOp::Xor)
                                  .Default(std::nullopt);
  return op ? std::optional<Operation>(makeRuntime(OpKind::Redux, {uint32_t(*op)})) : std::nullopt;
}

/// "x4.trans.b16.p3" of ldmatrix and stmatrix.
static std::optional<Operation> getMatrixMove(OpKind kind, StringRef name) {
  if (!name.consume_front("x"))
    return std::nullopt;
  unsigned count = 0;
  if (name.consumeInteger(10, count) || (count != 1 && count != 2 && count != 4))
    return std::nullopt;
  bool isTransposed = name.consume_front(".trans");
  if (!name.consume_front(".b16") || !(name.empty() || name == ".p3" || name == ".p0"))
    return std::nullopt;
  Operation operation = makeRuntime(kind, {count, isTransposed});
  operation.bytes = 16;
  return operation;
}

/// "m16n8k16.row.col.f32.f32" and so on.
static std::optional<Operation> getMma(StringRef name) {
  SmallVector<StringRef, 8> parts;
  name.split(parts, '.');
  unsigned m = 0, n = 0, k = 0;
  StringRef shape = parts[0];
  if (!shape.consume_front("m") || shape.consumeInteger(10, m) || !shape.consume_front("n") ||
      shape.consumeInteger(10, n) || !shape.consume_front("k") || shape.consumeInteger(10, k) || !shape.empty())
    return std::nullopt;
  if (parts.size() < 4 || parts[1] != "row" || parts[2] != "col")
    return std::nullopt;
  SmallVector<MatrixType, 4> types;
  for (StringRef part : ArrayRef(parts).drop_front(3)) {
    std::optional<MatrixType> type = parseMatrixType(part);
    if (!type)
      return std::nullopt;
    types.push_back(*type);
  }
  MatrixType a = types[0], b = types.back(), c = MatrixType::F32, d = MatrixType::F32;
  bool isInteger = a == MatrixType::S8 || a == MatrixType::U8;
  bool isF8 = types.size() == 4;
  if (isF8) {
    d = types[0], a = types[1], b = types[2], c = types[3];
  } else if (isInteger && types.size() <= 2) {
    c = d = MatrixType::S32;
  } else if (types.size() == 2) {
    // Two accumulator types: the operands are f16.
    d = types[0], c = types[1], a = b = MatrixType::F16;
  } else if (types.size() == 1 && a == MatrixType::F64) {
    c = d = MatrixType::F64;
  } else if (types.size() != 1 || (a != MatrixType::BF16 && a != MatrixType::TF32)) {
    return std::nullopt;
  }
  // Shapes that the formula of the run-time covers.
  static const std::set<std::tuple<unsigned, unsigned, unsigned, unsigned>> shapes = {
      {16, 8, 8, 16}, {16, 8, 16, 16}, {16, 8, 4, 32}, {16, 8, 8, 32}, {16, 8, 16, 8},
      {16, 8, 32, 8}, {8, 8, 4, 64},   {16, 8, 4, 64}, {16, 8, 8, 64}, {16, 8, 16, 64}};
  unsigned bits = a == MatrixType::F16 || a == MatrixType::BF16 ? 16
                  : a == MatrixType::TF32                       ? 32
                  : a == MatrixType::F64                        ? 64
                                                                : 8;
  if (!shapes.count({m, n, k, bits}))
    return std::nullopt;
  return makeRuntime(OpKind::Mma, {m, n, k, uint32_t(a), uint32_t(b), uint32_t(c), uint32_t(d)});
}

static std::optional<Operation> getBarrier(const CallBase &call, StringRef name) {
  OpKind kind = OpKind::Barrier;
  uint32_t reduction = 0;
  if (name.consume_front("arrive.")) {
    kind = OpKind::BarrierArrive;
  } else if (name.consume_front("red.")) {
    kind = OpKind::BarrierReduce;
    auto [op, rest] = name.split('.');
    reduction = StringSwitch<uint32_t>(op).Case("popc", 0).Case("and", 1).Case("or", 2).Default(3);
    name = rest;
    if (reduction == 3)
      return std::nullopt;
  } else if (!name.consume_front("sync.")) {
    return std::nullopt;
  }
  name.consume_front("aligned.");
  if (name == "all")
    return makeRuntime(kind, {reduction});
  if (name == "count" && kind != OpKind::BarrierReduce)
    return makeRuntime(kind, {1});
  return std::nullopt;
}

/// "ca.shared.global.16.s" of cp.async.
static std::optional<Operation> getAsyncCopy(const CallBase &call, StringRef name) {
  if (name == "commit.group")
    return makeRuntime(OpKind::CpAsyncCommit);
  if (name == "wait.all")
    return makeRuntime(OpKind::CpAsyncWait, {~0u});
  if (name == "wait.group") {
    std::optional<uint64_t> count = getImmediate(call, 0);
    return count ? std::optional<Operation>(makeRuntime(OpKind::CpAsyncWait, {uint32_t(*count)})) : std::nullopt;
  }
  if (!name.consume_front("ca.shared.global.") && !name.consume_front("cg.shared.global."))
    return std::nullopt;
  unsigned bytes = 0;
  if (name.consumeInteger(10, bytes) || (bytes != 4 && bytes != 8 && bytes != 16) || !(name.empty() || name == ".s"))
    return std::nullopt;
  Operation operation = makeRuntime(OpKind::CpAsync, {bytes, name == ".s"});
  operation.bytes = bytes;
  return operation;
}

static std::optional<Operation> getMbarrier(StringRef name) {
  // Scopes and spaces wider than the block need clusters, which are not emulated; within a block they make no difference.
  bool isRemote = name.contains("space.cluster");
  bool isPlain = !name.contains("scope");
  name = name.substr(0, name.find(".relaxed"));
  name = name.substr(0, name.find(".scope"));
  name.consume_back(".shared");
  if (isRemote)
    return std::nullopt;
  if (name == "init")
    return makeRuntime(OpKind::MbarrierInit);
  if (name == "inval")
    return makeRuntime(OpKind::MbarrierInval);
  if (name == "arrive" || name == "arrive.drop")
    return makeRuntime(OpKind::MbarrierArrive, {!isPlain, name == "arrive.drop"});
  if (name == "arrive.noComplete" || name == "arrive.drop.noComplete")
    return makeRuntime(OpKind::MbarrierArrive, {1, name.contains("drop")});
  if (name == "arrive.expect.tx")
    return makeRuntime(OpKind::MbarrierExpectTx, {1});
  if (name == "expect.tx")
    return makeRuntime(OpKind::MbarrierExpectTx, {0});
  // The time limit of a wait that may suspend is the hardware's business.
  name.consume_back(".tl");
  if (name == "test.wait" || name == "test.wait.parity")
    return makeRuntime(OpKind::MbarrierTest, {name.ends_with("parity"), 0});
  if (name == "try.wait" || name == "try.wait.parity")
    return makeRuntime(OpKind::MbarrierTest, {name.ends_with("parity"), 1});
  return std::nullopt;
}

/// "g2s.tile.2d" and so on of cp.async.bulk.tensor.
static std::optional<Operation> getTensorCopy(const CallBase &call, StringRef name) {
  bool isLoad = name.consume_front("g2s.tile."), isStore = !isLoad && name.consume_front("s2g.tile.");
  bool isPrefetch = !isLoad && !isStore && name.consume_front("prefetch.tile.");
  unsigned rank = 0;
  if (name.consumeInteger(10, rank) || name != "d" || rank < 1 || rank > 5)
    return std::nullopt;
  Operation operation = makeRuntime(isLoad ? OpKind::TmaLoad : isStore ? OpKind::TmaStore : OpKind::TmaPrefetch, {rank});
  unsigned fixed = isLoad ? 3 : isStore ? 2 : 1;
  for (unsigned i = 0; i < fixed + rank; ++i)
    operation.operands.push_back(i);
  // Behind the coordinates: mask, cache hint, whether there is a mask, a hint, and the group of blocks. A hint changes no
  // result; several blocks are not emulated.
  if (isLoad && (getImmediate(call, 3 + rank + 2) != 0 || getImmediate(call, 3 + rank + 4) != 0))
    return std::nullopt;
  return isLoad || isStore || isPrefetch ? std::optional<Operation>(operation) : std::nullopt;
}

static std::optional<Operation> getFence(StringRef name) {
  FenceKind kind = FenceKind::Memory;
  if (name.starts_with("proxy.async") && !name.contains("generic"))
    kind = FenceKind::ProxyAsync;
  else if (name.starts_with("proxy.tensormap_generic"))
    kind = FenceKind::ProxyTensorMap;
  else if (name.starts_with("mbarrier_init"))
    kind = FenceKind::MbarrierInit;
  else if (name != "sc.cluster")
    return std::nullopt;
  Operation operation = makeRuntime(OpKind::Fence, {uint32_t(kind)});
  operation.passesNoOperands = true;
  return operation;
}

static std::optional<Operation> getMath(const CallBase &call, StringRef name) {
  static const std::set<std::string> known = [] {
    std::set<std::string> names;
    size_t count = 0;
    const RuntimeFunction *functions = getRuntimeFunctions(count);
    for (size_t i = 0; i < count; ++i)
      names.insert(functions[i].name);
    return names;
  }();
  std::string function = ("fusion_emu_math." + name).str();
  if (!known.count(function))
    return std::nullopt;
  Operation operation = makeForm(Operation::Form::Math);
  operation.function = function;
  operation.specialFunctions = name.contains(".approx") || name.starts_with("div.full");
  return operation;
}

/// Intrinsics of LLVM that NVPTX has instructions for. Others (exp, pow, ...) would be calls of a library that a device
/// does not have.
static std::optional<Operation> getGeneric(const CallBase &call) {
  Operation host = makeForm(Operation::Form::Host);
  switch (call.getIntrinsicID()) {
  case Intrinsic::exp2:
  case Intrinsic::log2:
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::tanh: {
    Type *type = call.getType();
    auto *vector = dyn_cast<FixedVectorType>(type);
    host.specialFunctions = vector ? vector->getNumElements() : 1;
    bool isDouble = type->getScalarType()->isDoubleTy();
    // ex2.approx is always there; the others need leave to approximate.
    if (isDouble || (call.getIntrinsicID() != Intrinsic::exp2 && !call.hasApproxFunc() &&
                     call.getIntrinsicID() != Intrinsic::log2))
      return std::nullopt;
    return host;
  }
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::fabs:
  case Intrinsic::sqrt:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::minimumnum:
  case Intrinsic::maximumnum:
  case Intrinsic::copysign:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
  case Intrinsic::round:
  case Intrinsic::canonicalize:
  case Intrinsic::is_fpclass:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::convert_from_fp16:
  case Intrinsic::convert_to_fp16:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::ctpop:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::abs:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::sadd_sat:
  case Intrinsic::uadd_sat:
  case Intrinsic::ssub_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::vector_reduce_add:
  case Intrinsic::vector_reduce_mul:
  case Intrinsic::vector_reduce_and:
  case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_xor:
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
  case Intrinsic::vector_reduce_smax:
  case Intrinsic::vector_reduce_smin:
  case Intrinsic::vector_reduce_umax:
  case Intrinsic::vector_reduce_umin:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_extract:
  case Intrinsic::expect:
    return host;
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_label:
  case Intrinsic::prefetch:
  case Intrinsic::donothing:
    return makeForm(Operation::Form::Nothing);
  default:
    return std::nullopt;
  }
}

unsigned getRequiredVersion(const Operation &operation) {
  if (operation.form == Operation::Form::Math) {
    StringRef name = operation.function;
    return name.contains("f16x2") || name.contains("bf16") || name.contains("tf32") ? 80
           : name.contains("tanh.approx")                                          ? 75
                                                                                    : 70;
  }
  if (operation.form != Operation::Form::Runtime)
    return 70;
  switch (operation.kind) {
  case OpKind::Ldmatrix:
    return 75;
  case OpKind::Mma: {
    MatrixType a = MatrixType(operation.params[3]);
    bool isF8 = a == MatrixType::E4M3 || a == MatrixType::E5M2;
    bool isDoubleOf90 = a == MatrixType::F64 && operation.params[0] == 16;
    return isF8 ? 89 : isDoubleOf90 ? 90 : a == MatrixType::F16 && operation.params[2] == 8 ? 75 : 80;
  }
  case OpKind::Redux:
  case OpKind::CpAsync:
  case OpKind::CpAsyncCommit:
  case OpKind::CpAsyncWait:
  case OpKind::MbarrierInit:
  case OpKind::MbarrierInval:
  case OpKind::MbarrierArrive:
  case OpKind::MbarrierTest:
    return 80;
  case OpKind::Elect:
  case OpKind::Stmatrix:
  case OpKind::MbarrierExpectTx:
  case OpKind::MbarrierWait:
  case OpKind::TmaLoad:
  case OpKind::TmaStore:
  case OpKind::TmaPrefetch:
  case OpKind::BulkCommit:
  case OpKind::BulkWait:
  case OpKind::Wgmma:
  case OpKind::WgmmaFence:
  case OpKind::WgmmaCommit:
  case OpKind::WgmmaWait:
  case OpKind::SetMaxRegisters:
    return 90;
  case OpKind::Fence:
    return FenceKind(operation.params[0]) == FenceKind::Memory ? 70 : 90;
  default:
    return 70;
  }
}

std::optional<Operation> getOperation(const CallBase &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm."))
    return getGeneric(call);
  if (std::optional<Operation> math = getMath(call, name))
    return math;
  if (name.consume_front("read.ptx.sreg."))
    return getThreadRegister(name);
  if (name.consume_front("shfl.sync."))
    return getShuffle(name);
  if (name.consume_front("redux.sync."))
    return getRedux(name);
  if (name.consume_front("ldmatrix.sync.aligned.m8n8."))
    return getMatrixMove(OpKind::Ldmatrix, name);
  if (name.consume_front("stmatrix.sync.aligned.m8n8."))
    return getMatrixMove(OpKind::Stmatrix, name);
  if (name.consume_front("mma."))
    return getMma(name);
  if (name.consume_front("barrier.cta."))
    return getBarrier(call, name);
  if (name.consume_front("mbarrier."))
    return getMbarrier(name);
  if (name.consume_front("cp.async.bulk.tensor."))
    return getTensorCopy(call, name);
  if (name.consume_front("cp.async.bulk.")) {
    std::optional<uint64_t> count = getImmediate(call, 0);
    if (name == "commit.group")
      return makeRuntime(OpKind::BulkCommit);
    if ((name == "wait.group" || name == "wait.group.read") && count)
      return makeRuntime(OpKind::BulkWait, {uint32_t(*count), name.ends_with("read")});
    return std::nullopt;
  }
  if (name.consume_front("cp.async."))
    return getAsyncCopy(call, name);
  if (name.consume_front("fence."))
    return getFence(name);
  if (name.starts_with("setmaxnreg."))
    return makeRuntime(OpKind::SetMaxRegisters);
  std::optional<uint64_t> first = getImmediate(call, 0);
  if (name == "wgmma.wait_group.sync.aligned" && first)
    return makeRuntime(OpKind::WgmmaWait, {uint32_t(*first)});
  return StringSwitch<std::optional<Operation>>(name)
      .Case("vote.all.sync", makeRuntime(OpKind::Vote, {0}))
      .Case("vote.any.sync", makeRuntime(OpKind::Vote, {1}))
      .Case("vote.uni.sync", makeRuntime(OpKind::Vote, {2}))
      .Case("vote.ballot.sync", makeRuntime(OpKind::Vote, {3}))
      .Cases({"match.any.sync.i32", "match.any.sync.i64"}, makeRuntime(OpKind::Match, {0}))
      .Cases({"match.all.sync.i32p", "match.all.sync.i64p"}, makeRuntime(OpKind::Match, {1}))
      .Case("elect.sync", makeRuntime(OpKind::Elect))
      .Case("bar.warp.sync", makeRuntime(OpKind::WarpSync))
      .Cases({"membar.cta", "membar.gl", "membar.sys"}, makeRuntime(OpKind::Fence, {uint32_t(FenceKind::Memory)}))
      .Case("wgmma.fence.sync.aligned", makeRuntime(OpKind::WgmmaFence))
      .Case("wgmma.commit_group.sync.aligned", makeRuntime(OpKind::WgmmaCommit))
      .Case("nanosleep", makeRuntime(OpKind::NanoSleep))
      .Default(std::nullopt);
}

} // namespace fusion::emulator
