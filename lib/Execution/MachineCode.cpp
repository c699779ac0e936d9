//===- MachineCode.cpp - From the LLVM dialect to an object file ------------===//

#include "MachineCode.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace fusion {
namespace {

/// Collects what the translation says, to be told as one error.
class CollectDiagnostics : public ScopedDiagnosticHandler {
public:
  CollectDiagnostics(MLIRContext *context, std::string &text) : ScopedDiagnosticHandler(context) {
    setHandler([&text](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty())
        text = diagnostic.str();
      return success();
    });
  }
};

llvm::Expected<std::unique_ptr<llvm::Module>> translate(ModuleOp module, llvm::LLVMContext &llvmContext) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module->getContext()->appendDialectRegistry(registry);
  std::string text;
  std::unique_ptr<llvm::Module> result;
  {
    CollectDiagnostics handler(module->getContext(), text);
    result = translateModuleToLLVMIR(module, llvmContext);
  }
  if (!result)
    return llvm::createStringError("cannot be translated to LLVM IR: " + text);
  return result;
}

void setAttributes(llvm::Module &module, const CpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // A store loop over a tile is made for its size; a library call, with string instructions inside, is much slower on
    // some (virtual) machines.
    function.addFnAttr("no-builtin-memset");
    function.addFnAttr("no-builtin-memcpy");
  }
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::PipelineTuningOptions tuning;
  // Vectors are made where the structure is known; what is left here are scalar loops of ops outside of kernels.
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel chosen = levels[std::min(level, 3u)];
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(chosen) : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, modules);
}

llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                 llvm::raw_pwrite_stream &os) {
  llvm::legacy::PassManager passes;
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return llvm::createStringError("the code generator of LLVM cannot write this kind of file");
  passes.run(module);
  return llvm::Error::success();
}

llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write) {
  if (path.empty())
    return llvm::Error::success();
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::createStringError("cannot write '" + path + "': " + code.message());
  return write(os);
}

/// A module that is ready for the code generator, and what it needs to live.
struct Compiled {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

llvm::Expected<Compiled> compile(ModuleOp module, const CpuTarget &target, unsigned optLevel) {
  Compiled result;
  auto machine = createTargetMachine(target, optLevel);
  if (!machine)
    return machine.takeError();
  result.machine = std::move(*machine);
  result.context = std::make_unique<llvm::LLVMContext>();
  auto translated = translate(module, *result.context);
  if (!translated)
    return translated.takeError();
  result.module = std::move(*translated);
  result.module->setTargetTriple(llvm::Triple(target.triple));
  result.module->setDataLayout(result.machine->createDataLayout());
  result.module->setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(*result.module, target);
  optimise(*result.module, *result.machine, optLevel);
  return result;
}

} // namespace

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuTarget &target, unsigned optLevel) {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  std::string text;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, text);
  if (!backend)
    return llvm::createStringError(text);
  llvm::TargetOptions options;
  // a * b + c in one instruction where there is one; nothing else is reordered.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  llvm::CodeGenOptLevel levels[] = {llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less,
                                    llvm::CodeGenOptLevel::Default, llvm::CodeGenOptLevel::Aggressive};
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt, levels[std::min(optLevel, 3u)]));
  if (!machine)
    return llvm::createStringError("LLVM has no code generator for " + target.triple);
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compileToObject(ModuleOp module, const CpuTarget &target,
                                                                    const CompileOptions &options) {
  if (!options.dumpAssembly.empty())
    if (llvm::Error error = writeFile(options.dumpAssembly, [&](llvm::raw_pwrite_stream &os) {
          return emitMachineCode(module, options, MachineCode::Assembly, os);
        }))
      return std::move(error);
  auto compiled = compile(module, target, options.optLevel);
  if (!compiled)
    return compiled.takeError();
  if (llvm::Error error = writeFile(options.dumpLlvmIr, [&](llvm::raw_pwrite_stream &os) {
        compiled->module->print(os, nullptr);
        return llvm::Error::success();
      }))
    return std::move(error);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (llvm::Error error = emit(*compiled->module, *compiled->machine, llvm::CodeGenFileType::ObjectFile, os))
    return std::move(error);
  if (llvm::Error error = writeFile(options.dumpObject, [&](llvm::raw_pwrite_stream &file) {
        file.write(bytes.data(), bytes.size());
        return llvm::Error::success();
      }))
    return std::move(error);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "fusion", /*RequiresNullTerminator=*/false);
}

llvm::Error emitMachineCode(ModuleOp module, const CompileOptions &options, MachineCode kind,
                            llvm::raw_pwrite_stream &os) {
  llvm::Expected<CpuTarget> target = getCpuTarget(options.target);
  if (!target)
    return target.takeError();
  auto compiled = compile(module, *target, options.optLevel);
  if (!compiled)
    return compiled.takeError();
  if (kind == MachineCode::LlvmIr) {
    compiled->module->print(os, nullptr);
    return llvm::Error::success();
  }
  return emit(*compiled->module, *compiled->machine,
              kind == MachineCode::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile,
              os);
}

} // namespace fusion
