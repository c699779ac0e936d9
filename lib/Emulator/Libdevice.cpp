//===- Libdevice.cpp - CUDA's library of device functions -------------------===//

#include "Libdevice.h"

#include "fusion/Target/Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace fusion::emulator {

static std::optional<uint64_t> answer(StringRef question, unsigned version, bool flushes) {
  if (question == "__CUDA_FTZ")
    return flushes;
  if (question == "__CUDA_ARCH")
    return version * 10;
  // Precise division and square roots.
  if (question == "__CUDA_PREC_DIV" || question == "__CUDA_PREC_SQRT")
    return 1;
  return std::nullopt;
}

static Error settleReflections(Module &module, StringRef chip) {
  Function *reflect = module.getFunction("__nvvm_reflect");
  if (!reflect)
    return Error::success();
  unsigned version = 0;
  chip.consume_front("sm_");
  (void)chip.consumeInteger(10, version);
  for (User *user : make_early_inc_range(reflect->users())) {
    auto *call = dyn_cast<CallInst>(user);
    if (!call)
      return createStringError("__nvvm_reflect is used otherwise than by a call");
    auto *text = dyn_cast<GlobalVariable>(getUnderlyingObject(call->getArgOperand(0)));
    auto *data = text && text->hasInitializer() ? dyn_cast<ConstantDataSequential>(text->getInitializer()) : nullptr;
    bool flushes =
        call->getFunction()->getFnAttribute("denormal-fp-math-f32").getValueAsString().contains("preserve-sign");
    std::optional<uint64_t> value =
        data && data->isCString() ? answer(data->getAsCString(), version, flushes) : std::nullopt;
    if (!value)
      return createStringError("__nvvm_reflect asks something that the emulator does not know");
    call->replaceAllUsesWith(ConstantInt::get(call->getType(), *value));
    call->eraseFromParent();
  }
  reflect->eraseFromParent();
  return Error::success();
}

Error linkLibdevice(Module &module, StringRef chip) {
  bool isNeeded = any_of(module, [](const Function &function) {
    return function.isDeclaration() && !function.use_empty() && function.getName().starts_with("__nv_");
  });
  if (!isNeeded)
    return settleReflections(module, chip);
  Expected<std::string> file = CudaToolkit::find().getLibDevice();
  if (!file)
    return file.takeError();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> library = parseIRFile(*file, diagnostic, module.getContext());
  if (!library)
    return createStringError(*file + ": " + diagnostic.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded))
    return createStringError(*file + ": cannot be linked to the device code");
  return settleReflections(module, chip);
}

} // namespace fusion::emulator
