//===- Compile.cpp - Device modules into kernels for the emulator -----------===//

#include "Instrument.h"
#include "Libdevice.h"

#include "fusion/Emulator/Emulator.h"
#include "fusion/Runtime/HalfFloat.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"

using namespace llvm;

namespace fusion::emulator {
namespace {

struct CompiledModule : KernelModule {
  std::unique_ptr<orc::LLJIT> jit;
};

/// Collects what the verifier and the reader say; the first line is enough.
std::string firstLine(StringRef text) { return text.trim().split('\n').first.str(); }

/// Instructions from which on a module is large: what optimisation and the code generator gain there is little beside the
/// calls of the run-time, and some of it takes time that is quadratic in the size of a block.
constexpr unsigned manyInstructions = 4000;

void optimise(Module &module, TargetMachine &machine, bool isLarge) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  if (!isLarge) {
    builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(module, modules);
    return;
  }
  FunctionPassManager cheap;
  cheap.addPass(EarlyCSEPass());
  cheap.addPass(DCEPass());
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(cheap)));
  passes.run(module, modules);
}

orc::SymbolMap getSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, void *address) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  size_t count = 0;
  const RuntimeFunction *functions = getRuntimeFunctions(count);
  for (size_t i = 0; i < count; ++i)
    add(functions[i].name, functions[i].address);
  const FusionSupportFunction *support = fusion_rt_support_functions(&count);
  for (size_t i = 0; i < count; ++i)
    add(support[i].name, support[i].address);
  return symbols;
}

Expected<std::unique_ptr<KernelModule>> compile(StringRef image, StringRef chip) {
  static const bool initialised = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(MemoryBufferRef(image, "device module"), diagnostic, *context);
  if (!module)
    return createStringError("the device module is no LLVM IR: " + diagnostic.getMessage());
  std::string text;
  raw_string_ostream os(text);
  if (verifyModule(*module, &os))
    return createStringError("the device module is malformed: " + firstLine(text));
  if (Error error = linkLibdevice(*module, chip))
    return std::move(error);

  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  unsigned instructions = 0;
  for (Function &function : *module)
    instructions += function.getInstructionCount();
  bool isLarge = instructions > manyInstructions;
  builder->setCodeGenOptLevel(isLarge ? CodeGenOptLevel::None : CodeGenOptLevel::Less);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto result = std::make_unique<CompiledModule>();
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  if (Error error = placeVariables(*module, *result))
    return std::move(error);
  if (Error error = instrument(*module, chip, *result))
    return std::move(error);
  StripDebugInfo(*module);
  if (verifyModule(*module, &os))
    return createStringError("the emulator has made malformed code (its own fault): " + firstLine(text));
  optimise(*module, **machine, isLarge);

  auto jit = orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*builder))
                 .setDataLayout(module->getDataLayout())
                 .setPlatformSetUp(orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  orc::JITDylib &main = (*jit)->getMainJITDylib();
  if (Error error = main.define(orc::absoluteSymbols(getSymbols(**jit))))
    return std::move(error);
  // memcpy, exp2f and their like, which the code generator calls.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  main.addGenerator(std::move(*process));
  if (Error error = (*jit)->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
    return std::move(error);
  for (Kernel &kernel : result->kernels) {
    auto address = (*jit)->lookup("fusion_emu_entry." + kernel.name);
    if (!address)
      return address.takeError();
    kernel.entry = address->toPtr<void (*)(void **)>();
  }
  for (auto [number, global] : enumerate(result->globals)) {
    auto address = (*jit)->lookup("fusion_emu_variable." + std::to_string(number));
    if (!address)
      return address.takeError();
    global.address = address->toPtr<char *>();
  }
  result->jit = std::move(*jit);
  return std::unique_ptr<KernelModule>(std::move(result));
}

std::unique_ptr<KernelModule> compileForRuntime(const void *image, uint64_t bytes, const char *chip,
                                                std::string &error) {
  auto result = compile(StringRef(static_cast<const char *>(image), bytes), chip);
  if (result)
    return std::move(*result);
  error = toString(result.takeError());
  return nullptr;
}

} // namespace
} // namespace fusion::emulator

void fusion::registerEmulatorCompiler() { emulator::setCompiler(emulator::compileForRuntime); }
