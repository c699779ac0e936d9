//===- Variables.cpp - Where variables of device code are -------------------===//

#include "Instrument.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/Alignment.h"

#include <cstddef>

using namespace llvm;

namespace fusion::emulator {

static bool isShared(const GlobalVariable &variable) { return variable.getAddressSpace() == unsigned(Space::Shared); }

/// The address of shared memory at `offset`, in the entry block of the function.
static Value *makeAddress(Function &function, uint64_t offset) {
  LLVMContext &context = function.getContext();
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  Type *pointer = PointerType::get(context, 0);
  FunctionCallee self = function.getParent()->getOrInsertFunction("fusion_emu_self", pointer);
  Value *thread = builder.CreateCall(self);
  Value *field = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread, offsetof(ThreadHeader, shared));
  Value *base = builder.CreateLoad(pointer, field);
  // Marked: this load is the emulator's own.
  cast<Instruction>(base)->setMetadata("fusion.own", MDNode::get(context, {}));
  Value *address = builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset);
  return builder.CreateAddrSpaceCast(address, PointerType::get(context, unsigned(Space::Shared)));
}

llvm::Error placeVariables(Module &module, KernelModule &result) {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<GlobalVariable *> dynamic, fixed, others;
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getName().starts_with("llvm."))
      continue;
    uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    if (!isShared(variable)) {
      if (variable.isDeclaration())
        return createStringError("variable '" + variable.getName() + "' of the device code is declared, not defined");
      if (!variable.use_empty())
        others.push_back(&variable);
      continue;
    }
    if (variable.hasInitializer() && !isa<UndefValue>(variable.getInitializer()))
      return createStringError("shared variable '" + variable.getName() + "' has an initial value; that is impossible");
    (bytes == 0 ? dynamic : fixed).push_back(&variable);
  }

  SmallVector<Constant *> shared;
  DenseMap<GlobalVariable *, uint64_t> offsets;
  uint64_t end = 0;
  for (GlobalVariable *variable : fixed) {
    end = alignTo(end, layout.getValueOrABITypeAlignment(variable->getAlign(), variable->getValueType()));
    offsets[variable] = end;
    end += layout.getTypeAllocSize(variable->getValueType());
    shared.push_back(variable);
  }
  for (GlobalVariable *variable : dynamic)
    end = alignTo(end, variable->getAlign().valueOrOne());
  for (GlobalVariable *variable : dynamic) {
    offsets[variable] = end;
    shared.push_back(variable);
  }
  if (end > 1 << 20)
    return createStringError("the device code has " + Twine(end) + " bytes of static shared memory; no chip has as much");
  result.staticShared = uint32_t(end);

  convertUsersOfConstantsToInstructions(shared);
  for (Constant *constant : shared) {
    auto *variable = cast<GlobalVariable>(constant);
    DenseMap<Function *, Value *> addresses;
    for (Use &use : make_early_inc_range(variable->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        return createStringError("shared variable '" + variable->getName() + "' is used by another variable");
      Function *function = user->getFunction();
      Value *&address = addresses[function];
      if (!address)
        address = makeAddress(*function, offsets[variable]);
      use.set(address);
    }
  }
  for (Constant *constant : shared)
    cast<GlobalVariable>(constant)->eraseFromParent();

  for (auto [number, variable] : enumerate(others)) {
    GlobalVariable::LinkageTypes linkage = GlobalValue::ExternalLinkage;
    result.globals.push_back({("variable '" + variable->getName() + "'").str(), nullptr,
                              layout.getTypeAllocSize(variable->getValueType()), variable->isConstant()});
    variable->setName("fusion_emu_variable." + Twine(number));
    variable->setLinkage(linkage);
    variable->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    variable->setVisibility(GlobalValue::DefaultVisibility);
  }
  return Error::success();
}

} // namespace fusion::emulator
