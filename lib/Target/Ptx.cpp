//===- Ptx.cpp - From device code to PTX ----------------------------------===//

#include "fusion/Target/Ptx.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

namespace fusion {
namespace {

constexpr llvm::StringRef tripleName = "nvptx64-nvidia-cuda";

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const GpuChip &chip, unsigned optLevel) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  std::string text;
  llvm::Triple triple(tripleName);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, text);
  if (!backend)
    return llvm::createStringError(text);
  llvm::TargetOptions options;
  // a * b + c in one instruction, as on the CPU; nothing else is reordered.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  llvm::CodeGenOptLevel level = optLevel == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, chip.name, "+ptx" + std::to_string(chip.ptxVersion), options, std::nullopt, std::nullopt, level));
  if (!machine)
    return llvm::createStringError("LLVM has no code generator for " + tripleName);
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::Module>> translate(gpu::GPUModuleOp module, llvm::LLVMContext &llvmContext) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module->getContext()->appendDialectRegistry(registry);
  std::string text;
  std::unique_ptr<llvm::Module> result;
  {
    ScopedDiagnosticHandler handler(module->getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty())
        text = diagnostic.str();
      return success();
    });
    result = translateModuleToLLVMIR(module, llvmContext, module.getName());
  }
  if (!result)
    return llvm::createStringError("device code cannot be translated to LLVM IR: " + text);
  return result;
}

bool callsLibDevice(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
}

llvm::Error linkLibDevice(llvm::Module &module, const CudaToolkit &toolkit) {
  llvm::Expected<std::string> path = toolkit.getLibDevice();
  if (!path)
    return path.takeError();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(*path, diagnostic, module.getContext());
  if (!library)
    return llvm::createStringError("cannot read " + *path + ": " + diagnostic.getMessage());
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  // The linker takes over only what is called; it must not be visible outside.
  bool failed = llvm::Linker::linkModules(module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded,
                                          [](llvm::Module &linked, const llvm::StringSet<> &names) {
                                            llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
                                              return !value.hasName() || !names.contains(value.getName());
                                            });
                                          });
  if (failed)
    return llvm::createStringError("cannot link " + *path);
  return llvm::Error::success();
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  // Among them the one that resolves what libdevice asks about the target.
  machine.registerPassBuilderCallbacks(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes = level == 0 ? builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0)
                                              : builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  passes.run(module, modules);
}

} // namespace

llvm::Expected<std::string> translateToPtx(gpu::GPUModuleOp module, const GpuChip &chip, const PtxOptions &options) {
  auto machine = createTargetMachine(chip, options.optLevel);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext llvmContext;
  auto translated = translate(module, llvmContext);
  if (!translated)
    return translated.takeError();
  llvm::Module &code = **translated;
  code.setTargetTriple(llvm::Triple(tripleName));
  code.setDataLayout((*machine)->createDataLayout());
  if (callsLibDevice(code))
    if (llvm::Error error = linkLibDevice(code, options.toolkit))
      return std::move(error);
  optimise(code, **machine, options.optLevel);
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream os(ptx);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createTargetTransformInfoWrapperPass((*machine)->getTargetIRAnalysis()));
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("the code generator of LLVM cannot write PTX");
  passes.run(code);
  return std::string(ptx);
}

} // namespace fusion
