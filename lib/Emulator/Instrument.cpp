//===- Instrument.cpp - Device code into calls of the run-time --------------===//
//
// Each access, device operation and loop becomes a site or a counter. Flags that make a result poison are dropped, so that
// arithmetic wraps as it does on the device; where the device's result would be undefined, a check is made.
//
//===------------------------------------------------------------------------===//

#include "Instrument.h"

#include "Operations.h"
#include "Undefined.h"
#include "WgmmaCheck.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cstddef>

using namespace llvm;

namespace fusion::emulator {

std::string describeLocation(const DebugLoc &location) {
  if (!location || location.getLine() == 0)
    return "";
  DILocation *at = location.get();
  return (at->getFilename() + ":" + Twine(at->getLine()) + ":" + Twine(at->getColumn())).str();
}

namespace {

class FunctionInstrumenter {
public:
  FunctionInstrumenter(Function &function, StringRef chip, KernelModule &result)
      : function(function), chip(chip), module(*function.getParent()), context(function.getContext()),
        layout(module.getDataLayout()), result(result), pointer(PointerType::get(context, 0)),
        word(Type::getInt64Ty(context)) {}

  Error run();

private:
  /// A place where an undefined value would matter.
  struct Sink {
    Instruction *at;
    Value *isUndefined;
  };

  void numberLoops();
  void collectSinks();
  void countLoops();
  Error rewrite(Instruction &instruction);
  void rewriteAccess(Instruction &instruction, Value *address, Type *type, Align align, bool isLoad, bool isVolatile);
  void rewriteAtomic(Instruction &instruction, Value *address, Type *type);
  Error rewriteCall(CallBase &call);
  Error rewriteOperation(CallBase &call, const Operation &operation, StringRef name);
  Error rewriteMemoryIntrinsic(MemIntrinsic &intrinsic);
  void checkDivision(BinaryOperator &division);
  void checkShift(BinaryOperator &shift);
  void rewriteVariable(AllocaInst &variable);
  void rewriteSharedCast(CastInst &cast);

  Site &makeSite(Instruction &at, OpKind kind, StringRef name);
  Constant *getConstant(const Site &site) {
    return ConstantExpr::getIntToPtr(ConstantInt::get(word, reinterpret_cast<uint64_t>(&site)), pointer);
  }
  Value *getField(IRBuilder<> &builder, size_t offset, Type *type) {
    Value *address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), self, offset);
    return builder.CreateLoad(type, address);
  }
  void count(IRBuilder<> &builder, const Site &site);
  FunctionCallee getRuntime(StringRef name, Type *type, ArrayRef<Type *> parameters) {
    return module.getOrInsertFunction(name, FunctionType::get(type, parameters, false));
  }
  void require(IRBuilder<> &builder, Instruction &at, StringRef function, Value *condition, StringRef text);
  /// A pointer in any address space as one of the host.
  Value *toHost(IRBuilder<> &builder, Value *address) { return builder.CreateAddrSpaceCast(address, pointer); }
  Value *toSlot(IRBuilder<> &builder, Value *value);
  Value *fromSlot(IRBuilder<> &builder, Value *slot, Type *type);
  Type *toScalarInteger(Type *type);

  Function &function;
  StringRef chip;
  Module &module;
  LLVMContext &context;
  const DataLayout &layout;
  KernelModule &result;
  PointerType *pointer;
  Type *word;
  Value *self = nullptr, *laneCounts = nullptr, *loopTrips = nullptr;
  AllocaInst *in = nullptr, *out = nullptr;
  uint64_t maxIn = 0, maxOut = 0;
  uint32_t rootLoop = 0;
  DenseMap<BasicBlock *, uint32_t> loopOfBlock;
  SmallVector<std::pair<BasicBlock *, uint32_t>> headers;
  std::vector<Sink> sinks;
};

} // namespace

void FunctionInstrumenter::numberLoops() {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  rootLoop = uint32_t(result.loops.size());
  result.loops.push_back({rootLoop, 0, function.getName().str(), ""});
  DenseMap<llvm::Loop *, uint32_t> numbers;
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    uint32_t number = uint32_t(result.loops.size());
    numbers[loop] = number;
    uint32_t parent = loop->getParentLoop() ? numbers[loop->getParentLoop()] : rootLoop;
    // The first instruction of the header that has a place.
    std::string location = describeLocation(loop->getStartLoc());
    for (Instruction &instruction : *loop->getHeader())
      if (location.empty())
        location = describeLocation(instruction.getDebugLoc());
    result.loops.push_back({parent, loop->getLoopDepth(), function.getName().str(), location});
    headers.push_back({loop->getHeader(), number});
  }
  for (BasicBlock &block : function) {
    llvm::Loop *loop = loops.getLoopFor(&block);
    loopOfBlock[&block] = loop ? numbers[loop] : rootLoop;
  }
}

void FunctionInstrumenter::collectSinks() {
  UndefinedValues undefined(function);
  SmallVector<std::pair<Instruction *, Value *>> uses;
  for (Instruction &instruction : instructions(function)) {
    if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      uses.push_back({store, store->getValueOperand()});
      uses.push_back({store, store->getPointerOperand()});
    } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      uses.push_back({load, load->getPointerOperand()});
    } else if (auto *branch = dyn_cast<BranchInst>(&instruction); branch && branch->isConditional()) {
      uses.push_back({branch, branch->getCondition()});
    } else if (auto *choice = dyn_cast<SwitchInst>(&instruction)) {
      uses.push_back({choice, choice->getCondition()});
    } else if (auto *ret = dyn_cast<ReturnInst>(&instruction); ret && ret->getReturnValue()) {
      uses.push_back({ret, ret->getReturnValue()});
    } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(call);
      bool computes = intrinsic && !intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.");
      if (!computes)
        for (Use &argument : call->args())
          if (argument->getType()->isSized())
            uses.push_back({call, argument.get()});
    }
  }
  for (auto [at, value] : uses)
    if (Value *isUndefined = undefined.getAny(value, *at))
      sinks.push_back({at, isUndefined});
}

Site &FunctionInstrumenter::makeSite(Instruction &at, OpKind kind, StringRef name) {
  auto site = std::make_unique<Site>();
  site->id = uint32_t(result.sites.size());
  auto it = loopOfBlock.find(at.getParent());
  site->loop = it == loopOfBlock.end() ? rootLoop : it->second;
  site->kind = kind;
  site->name = name.str();
  site->location = describeLocation(at.getDebugLoc());
  result.sites.push_back(std::move(site));
  return *result.sites.back();
}

void FunctionInstrumenter::count(IRBuilder<> &builder, const Site &site) {
  Value *counter = builder.CreateConstInBoundsGEP1_64(word, laneCounts, site.id);
  builder.CreateStore(builder.CreateAdd(builder.CreateLoad(word, counter), builder.getInt64(1)), counter);
}

void FunctionInstrumenter::countLoops() {
  headers.push_back({&function.getEntryBlock(), rootLoop});
  for (auto [block, number] : headers) {
    BasicBlock::iterator at = number == rootLoop ? std::next(cast<Instruction>(loopTrips)->getIterator())
                                                 : block->getFirstInsertionPt();
    IRBuilder<> builder(block, at);
    Value *counter = builder.CreateConstInBoundsGEP1_64(word, loopTrips, number);
    builder.CreateStore(builder.CreateAdd(builder.CreateLoad(word, counter), builder.getInt64(1)), counter);
  }
}

void FunctionInstrumenter::require(IRBuilder<> &builder, Instruction &at, StringRef callee, Value *condition,
                                   StringRef text) {
  Site &site = makeSite(at, OpKind::Fence, at.getOpcodeName());
  builder.CreateCall(getRuntime(callee, builder.getVoidTy(), {pointer, pointer, builder.getInt8Ty(), pointer}),
                     {self, getConstant(site), builder.CreateZExt(condition, builder.getInt8Ty()),
                      builder.CreateGlobalString(text, "fusion_emu_text")});
}

//===-- Memory --------------------------------------------------------------===//

void FunctionInstrumenter::rewriteAccess(Instruction &instruction, Value *address, Type *type, Align align, bool isLoad,
                                         bool isVolatile) {
  IRBuilder<> builder(&instruction);
  Space space = Space(address->getType()->getPointerAddressSpace());
  Value *base = toHost(builder, address), *host = nullptr;
  StringRef callee = !isLoad ? "fusion_emu_store" : isVolatile ? "fusion_emu_volatile_load" : "fusion_emu_load";
  // The device moves at most 16 bytes at a time, and no more than the alignment that is promised.
  uint64_t bytes = layout.getTypeStoreSize(type);
  for (uint64_t offset = 0; offset < bytes;) {
    uint64_t part = std::min<uint64_t>({16, align.value(), uint64_t(1) << Log2_64(bytes - offset)});
    if (offset)
      part = std::min(part, uint64_t(1) << countr_zero(offset));
    Site &site = makeSite(instruction, isLoad ? OpKind::Load : OpKind::Store, isLoad ? "load" : "store");
    site.space = space;
    site.bytes = uint32_t(part);
    site.align = uint32_t(part);
    count(builder, site);
    Value *partAddress = offset ? builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset) : base;
    Value *checked = builder.CreateCall(getRuntime(callee, pointer, {pointer, pointer, pointer}),
                                        {self, getConstant(site), partAddress});
    if (!host)
      host = checked;
    offset += part;
  }
  if (!host)
    return;
  if (isLoad) {
    auto *load = builder.CreateAlignedLoad(type, host, Align(1));
    instruction.replaceAllUsesWith(load);
  } else {
    builder.CreateAlignedStore(cast<StoreInst>(instruction).getValueOperand(), host, Align(1));
  }
  instruction.eraseFromParent();
}

void FunctionInstrumenter::rewriteAtomic(Instruction &instruction, Value *address, Type *type) {
  IRBuilder<> builder(&instruction);
  Site &site = makeSite(instruction, OpKind::Atomic, instruction.getOpcodeName());
  site.space = Space(address->getType()->getPointerAddressSpace());
  site.bytes = site.align = uint32_t(layout.getTypeStoreSize(type));
  count(builder, site);
  Value *host = builder.CreateCall(getRuntime("fusion_emu_atomic", pointer, {pointer, pointer, pointer}),
                                   {self, getConstant(site), toHost(builder, address)});
  // Threads take turns; between the check and this nobody else runs.
  Instruction *replacement = nullptr;
  if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction))
    replacement = builder.CreateAtomicRMW(rmw->getOperation(), host, rmw->getValOperand(), Align(site.bytes),
                                          AtomicOrdering::Monotonic);
  else {
    auto *exchange = cast<AtomicCmpXchgInst>(&instruction);
    replacement = builder.CreateAtomicCmpXchg(host, exchange->getCompareOperand(), exchange->getNewValOperand(),
                                              Align(site.bytes), AtomicOrdering::Monotonic, AtomicOrdering::Monotonic);
  }
  instruction.replaceAllUsesWith(replacement);
  instruction.eraseFromParent();
}

Error FunctionInstrumenter::rewriteMemoryIntrinsic(MemIntrinsic &intrinsic) {
  IRBuilder<> builder(&intrinsic);
  auto makeByteSite = [&](OpKind kind, unsigned space) -> Site & {
    Site &site = makeSite(intrinsic, kind, intrinsic.getCalledFunction()->getName());
    site.space = Space(space);
    site.bytes = 1;
    return site;
  };
  Value *length = builder.CreateZExtOrTrunc(intrinsic.getLength(), word);
  Site &store = makeByteSite(OpKind::Store, intrinsic.getDestAddressSpace());
  if (auto *fill = dyn_cast<MemSetInst>(&intrinsic)) {
    builder.CreateCall(
        getRuntime("fusion_emu_fill", builder.getVoidTy(), {pointer, pointer, pointer, builder.getInt8Ty(), word}),
        {self, getConstant(store), toHost(builder, fill->getRawDest()), fill->getValue(), length});
  } else {
    auto &move = cast<MemTransferInst>(intrinsic);
    Site &load = makeByteSite(OpKind::Load, move.getSourceAddressSpace());
    builder.CreateCall(getRuntime("fusion_emu_move", builder.getVoidTy(), {pointer, pointer, pointer, pointer, pointer, word}),
                       {self, getConstant(load), getConstant(store), toHost(builder, move.getRawDest()),
                        toHost(builder, move.getRawSource()), length});
  }
  intrinsic.eraseFromParent();
  return Error::success();
}

void FunctionInstrumenter::rewriteVariable(AllocaInst &variable) {
  IRBuilder<> builder(&*std::next(variable.getIterator()));
  Value *bytes = builder.CreateMul(builder.CreateZExtOrTrunc(variable.getArraySize(), word),
                                   builder.getInt64(layout.getTypeAllocSize(variable.getAllocatedType())));
  builder.CreateCall(getRuntime("fusion_emu_local", builder.getVoidTy(), {pointer, pointer, word}),
                     {self, toHost(builder, &variable), bytes});
}

/// Shared addresses have 32 bits on the device; here they are either such an offset or an address in the window.
void FunctionInstrumenter::rewriteSharedCast(CastInst &cast) {
  IRBuilder<> builder(&cast);
  Value *bits = builder.CreatePtrToInt(cast.getOperand(0), word);
  bits = builder.CreateAnd(bits, builder.getInt64(0xffffffff));
  Value *replacement = nullptr;
  if (isa<PtrToIntInst>(cast)) {
    replacement = builder.CreateZExtOrTrunc(bits, cast.getType());
  } else {
    Value *window = getField(builder, offsetof(ThreadHeader, shared), pointer);
    replacement = builder.CreateAddrSpaceCast(builder.CreateGEP(builder.getInt8Ty(), window, bits), cast.getType());
  }
  cast.replaceAllUsesWith(replacement);
  cast.eraseFromParent();
}

//===-- Arithmetic ------------------------------------------------------------===//

void FunctionInstrumenter::checkDivision(BinaryOperator &division) {
  if (isa<Constant>(division.getOperand(1)) && !cast<Constant>(division.getOperand(1))->containsUndefOrPoisonElement() &&
      !division.getType()->isVectorTy()) {
    auto *divisor = dyn_cast<ConstantInt>(division.getOperand(1));
    if (divisor && !divisor->isZero() && !divisor->isMinusOne())
      return;
  }
  IRBuilder<> builder(&division);
  Type *type = division.getType();
  Value *divisor = division.getOperand(1);
  Value *isWrong = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  bool isSigned = division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
  if (isSigned) {
    Constant *least = ConstantInt::get(type, APInt::getSignedMinValue(type->getScalarSizeInBits()));
    Value *overflows = builder.CreateAnd(builder.CreateICmpEQ(division.getOperand(0), least),
                                         builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)));
    isWrong = builder.CreateOr(isWrong, overflows);
  }
  if (isWrong->getType()->isVectorTy())
    isWrong = builder.CreateOrReduce(isWrong);
  require(builder, division, "fusion_emu_require", builder.CreateNot(isWrong), "divides by zero, or overflows");
}

void FunctionInstrumenter::checkShift(BinaryOperator &shift) {
  if (isa<Constant>(shift.getOperand(1)))
    return;
  IRBuilder<> builder(&shift);
  Type *type = shift.getType();
  Value *isRight = builder.CreateICmpULT(shift.getOperand(1), ConstantInt::get(type, type->getScalarSizeInBits()));
  if (isRight->getType()->isVectorTy())
    isRight = builder.CreateAndReduce(isRight);
  require(builder, shift, "fusion_emu_require", isRight, "shifts by as many bits as there are, or more");
}

//===-- Calls -------------------------------------------------------------------===//

Type *FunctionInstrumenter::toScalarInteger(Type *type) {
  return IntegerType::get(context, unsigned(layout.getTypeSizeInBits(type)));
}

Value *FunctionInstrumenter::toSlot(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  if (type->isPointerTy())
    return builder.CreatePtrToInt(value, word);
  return builder.CreateZExtOrTrunc(builder.CreateBitCast(value, toScalarInteger(type)), word);
}

Value *FunctionInstrumenter::fromSlot(IRBuilder<> &builder, Value *slot, Type *type) {
  if (type->isPointerTy())
    return builder.CreateIntToPtr(slot, type);
  return builder.CreateBitCast(builder.CreateZExtOrTrunc(slot, toScalarInteger(type)), type);
}

Error FunctionInstrumenter::rewriteOperation(CallBase &call, const Operation &operation, StringRef name) {
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands;
  if (operation.operands.empty() && !operation.passesNoOperands)
    operands.assign(call.arg_begin(), call.arg_end());
  for (unsigned number : operation.operands)
    operands.push_back(call.getArgOperand(number));

  if (operation.specialFunctions) {
    Site &site = makeSite(call, OpKind::SpecialFunction, name);
    site.params[0] = operation.specialFunctions;
    count(builder, site);
  }
  Value *replacement = nullptr;
  switch (operation.form) {
  case Operation::Form::Host:
    return Error::success();
  case Operation::Form::Nothing:
    break;
  case Operation::Form::WideMultiplyAdd: {
    auto extend = [&](unsigned i) { return builder.CreateZExt(operands[i], word); };
    Value *wide = builder.CreateAdd(builder.CreateMul(extend(0), extend(1)), extend(2));
    replacement = PoisonValue::get(call.getType());
    for (unsigned i = 0; i < 2; ++i)
      replacement = builder.CreateInsertValue(
          replacement, builder.CreateTrunc(builder.CreateLShr(wide, builder.getInt64(32 * i)), builder.getInt32Ty()), i);
    break;
  }
  case Operation::Form::Constant:
    replacement = ConstantInt::get(call.getType(), operation.value);
    break;
  case Operation::Form::ThreadField:
    replacement = builder.CreateZExtOrTrunc(getField(builder, operation.value, builder.getInt32Ty()), call.getType());
    break;
  case Operation::Form::Math: {
    // Halves and short vectors travel as integers.
    auto pass = [&](Type *type) { return type->isVectorTy() || type->is16bitFPTy() ? toScalarInteger(type) : type; };
    SmallVector<Type *> types;
    for (Value *&operand : operands) {
      types.push_back(pass(operand->getType()));
      operand = builder.CreateBitCast(operand, types.back());
    }
    FunctionCallee callee = getRuntime(operation.function, pass(call.getType()), types);
    replacement = builder.CreateBitCast(builder.CreateCall(callee, operands), call.getType());
    break;
  }
  case Operation::Form::Runtime: {
    Site &site = makeSite(call, operation.kind, name);
    for (auto [number, value] : enumerate(operation.params))
      site.params[number] = value;
    site.bytes = operation.bytes;
    count(builder, site);
    if (operation.kind == OpKind::CpAsync) {
      // The other side of the copy has its own traffic.
      Site &target = makeSite(call, OpKind::Store, name);
      target.space = Space::Shared;
      target.bytes = operation.bytes;
      site.params[2] = target.id;
    }
    maxIn = std::max<uint64_t>(maxIn, operands.size());
    for (auto [number, operand] : enumerate(operands))
      builder.CreateStore(toSlot(builder, operand), builder.CreateConstInBoundsGEP1_64(word, in, number));
    builder.CreateCall(getRuntime("fusion_emu_operation", builder.getVoidTy(), {pointer, pointer, pointer, pointer}),
                       {self, getConstant(site), in, out});
    auto getResult = [&](unsigned number, Type *type) {
      maxOut = std::max<uint64_t>(maxOut, number + 1);
      return fromSlot(builder, builder.CreateLoad(word, builder.CreateConstInBoundsGEP1_64(word, out, number)), type);
    };
    if (auto *structure = dyn_cast<StructType>(call.getType())) {
      replacement = PoisonValue::get(structure);
      for (unsigned i = 0; i < structure->getNumElements(); ++i)
        replacement = builder.CreateInsertValue(replacement, getResult(i, structure->getElementType(i)), i);
    } else if (!call.getType()->isVoidTy()) {
      replacement = getResult(0, call.getType());
    }
    break;
  }
  }
  if (replacement)
    call.replaceAllUsesWith(replacement);
  call.eraseFromParent();
  return Error::success();
}

Error FunctionInstrumenter::rewriteCall(CallBase &call) {
  std::string where = describeLocation(call.getDebugLoc());
  auto fail = [&](const Twine &text) {
    return createStringError((where.empty() ? "" : where + ": ") + text + " (in '" + function.getName() + "')");
  };
  auto rewriteKnown = [&](const Operation &operation, StringRef name) {
    unsigned version = 0, required = getRequiredVersion(operation);
    StringRef number = chip;
    if (number.consume_front("sm_") && !number.consumeInteger(10, version) && version < required)
      return fail("'" + name + "' needs sm_" + Twine(required) + "; the emulated chip is " + chip);
    return rewriteOperation(call, operation, name);
  };
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
    std::string error;
    std::optional<Operation> operation = getInlineAsm(call, error);
    return operation ? rewriteKnown(*operation, assembly->getAsmString()) : fail(error);
  }
  Function *callee = call.getCalledFunction();
  if (!callee)
    return fail("a call of a function that is not named, which the emulator does not execute");
  if (auto *intrinsic = dyn_cast<MemIntrinsic>(&call))
    return rewriteMemoryIntrinsic(*intrinsic);
  StringRef name = callee->getName();
  if (name == "llvm.trap" || name == "llvm.debugtrap") {
    IRBuilder<> builder(&call);
    require(builder, call, "fusion_emu_require", builder.getFalse(), "meets a trap");
    call.eraseFromParent();
    return Error::success();
  }
  if (callee->isIntrinsic()) {
    std::optional<Operation> operation = getOperation(call, name);
    return operation ? rewriteKnown(*operation, name)
                     : fail("'" + name + "' is an operation that the emulator does not know");
  }
  if (name.starts_with("fusion_emu_"))
    return Error::success();
  if (callee->isDeclaration())
    return fail("'" + name + "' is called, but has no body");
  call.setCallingConv(callee->getCallingConv());
  return Error::success();
}

Error FunctionInstrumenter::rewrite(Instruction &instruction) {
  instruction.dropPoisonGeneratingFlags();
  instruction.dropPoisonGeneratingMetadata();
  if (instruction.hasMetadata("fusion.own"))
    return Error::success();
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    rewriteAccess(*load, load->getPointerOperand(), load->getType(), load->getAlign(), true,
                  load->isVolatile() || load->isAtomic());
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    rewriteAccess(*store, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(), false, false);
  } else if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction)) {
    rewriteAtomic(*rmw, rmw->getPointerOperand(), rmw->getType());
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    rewriteAtomic(*exchange, exchange->getPointerOperand(), exchange->getCompareOperand()->getType());
  } else if (auto *variable = dyn_cast<AllocaInst>(&instruction)) {
    rewriteVariable(*variable);
  } else if (auto *fence = dyn_cast<FenceInst>(&instruction)) {
    // Threads take turns and see each other's writes at once; a fence orders nothing that a race check relies on.
    fence->eraseFromParent();
  } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
    return rewriteCall(*call);
  } else if (auto *cast = dyn_cast<CastInst>(&instruction);
             cast && isa<AddrSpaceCastInst, PtrToIntInst>(cast) && !isa<VectorType>(cast->getType())) {
    unsigned from = cast->getSrcTy()->getPointerAddressSpace();
    bool leaves = isa<PtrToIntInst>(cast) || cast->getDestTy()->getPointerAddressSpace() == 0;
    if ((from == unsigned(Space::Shared) || from == unsigned(Space::Cluster)) && leaves)
      rewriteSharedCast(*cast);
  } else if (auto *binary = dyn_cast<BinaryOperator>(&instruction)) {
    if (binary->isIntDivRem())
      checkDivision(*binary);
    else if (binary->isShift())
      checkShift(*binary);
  } else if (isa<UnreachableInst>(instruction)) {
    IRBuilder<> builder(&instruction);
    require(builder, instruction, "fusion_emu_require", builder.getFalse(), "comes to a place that is unreachable");
  } else if (isa<IndirectBrInst, InvokeInst, CallBrInst, VAArgInst>(instruction)) {
    return createStringError(Twine("'") + instruction.getOpcodeName() + "' is an instruction that the emulator does not know");
  }
  return Error::success();
}

Error FunctionInstrumenter::run() {
  numberLoops();
  collectSinks();
  SmallVector<Instruction *> earlyReads = findEarlyReads(function);
  std::vector<Instruction *> all;
  for (Instruction &instruction : instructions(function))
    all.push_back(&instruction);

  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  in = builder.CreateAlloca(word, builder.getInt64(0));
  out = builder.CreateAlloca(word, builder.getInt64(0));
  self = builder.CreateCall(getRuntime("fusion_emu_self", pointer, {}));
  laneCounts = getField(builder, offsetof(ThreadHeader, laneCounts), pointer);
  loopTrips = getField(builder, offsetof(ThreadHeader, loopTrips), pointer);
  for (const Sink &sink : sinks) {
    IRBuilder<> at(sink.at);
    require(at, *sink.at, "fusion_emu_defined", at.CreateNot(sink.isUndefined), "uses a value that nobody has computed");
  }
  for (Instruction *read : earlyReads) {
    IRBuilder<> at(read);
    require(at, *read, "fusion_emu_require", at.getFalse(), "reads accumulators of a wgmma that has not been waited for");
  }
  countLoops();
  for (Instruction *instruction : all)
    if (Error error = rewrite(*instruction))
      return error;
  in->setOperand(0, builder.getInt64(maxIn + 1));
  out->setOperand(0, builder.getInt64(maxOut + 1));
  return Error::success();
}

//===-- The module ----------------------------------------------------------------===//

static bool isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel || function.hasFnAttribute("nvvm.kernel");
}

/// Three numbers "256,1,1" of an attribute.
static void parseThreads(const Function &function, StringRef attribute, uint32_t (&threads)[3]) {
  SmallVector<StringRef, 3> parts;
  function.getFnAttribute(attribute).getValueAsString().split(parts, ',');
  for (auto [number, part] : enumerate(parts))
    if (number < 3 && !part.empty())
      (void)part.getAsInteger(10, threads[number]);
}

static void makeEntry(Function &kernel, KernelModule &result) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  const DataLayout &layout = module.getDataLayout();
  Kernel description;
  description.name = kernel.getName().str();
  if (kernel.hasFnAttribute("nvvm.reqntid")) {
    parseThreads(kernel, "nvvm.reqntid", description.requiredThreads);
    for (uint32_t &threads : description.requiredThreads)
      threads = std::max(threads, 1u);
  }
  uint32_t most[3] = {0, 0, 0};
  if (kernel.hasFnAttribute("nvvm.maxntid")) {
    parseThreads(kernel, "nvvm.maxntid", most);
    description.maxThreads = std::max(most[0], 1u) * std::max(most[1], 1u) * std::max(most[2], 1u);
  }

  auto *pointer = PointerType::get(context, 0);
  auto *entry = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer}, false),
                                 GlobalValue::ExternalLinkage, "fusion_emu_entry." + kernel.getName(), module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Value *slot = builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), argument.getArgNo());
    Value *address = builder.CreateLoad(pointer, slot);
    Type *byValue = argument.getParamByValType();
    description.parameters.push_back({uint32_t(layout.getTypeAllocSize(byValue ? byValue : argument.getType())),
                                      !byValue && argument.getType()->isPointerTy(), byValue != nullptr});
    arguments.push_back(byValue ? builder.CreateAddrSpaceCast(address, argument.getType())
                                : builder.CreateLoad(argument.getType(), address));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  result.kernels.push_back(std::move(description));
}

llvm::Error instrument(Module &module, StringRef chip, KernelModule &result) {
  SmallVector<Function *> bodies, kernels;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    bodies.push_back(&function);
    if (isKernel(function))
      kernels.push_back(&function);
  }
  for (Function *function : bodies)
    if (Error error = FunctionInstrumenter(*function, chip, result).run())
      return error;
  for (Function *kernel : kernels)
    makeEntry(*kernel, result);
  // NVPTX's conventions and features mean nothing here.
  for (Function *function : bodies) {
    function->setCallingConv(CallingConv::C);
    function->setAttributes(AttributeList());
    function->setLinkage(GlobalValue::InternalLinkage);
  }
  for (Function *function : bodies)
    for (User *user : function->users())
      if (auto *call = dyn_cast<CallBase>(user)) {
        call->setCallingConv(CallingConv::C);
        call->setAttributes(AttributeList());
      }
  return Error::success();
}

} // namespace fusion::emulator
