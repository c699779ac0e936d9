//===- Translate.cpp - From the NVVM dialect to LLVM bitcode ----------------===//

#include "fusion/Emulator/Emulator.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace fusion {

/// Only these dialects are device code. Told here, with the op's name and place: the translation itself would speak of a
/// missing interface.
static llvm::Error checkDialects(Operation *module) {
  std::string problem;
  module->walk([&](Operation *op) {
    if (op == module || isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    llvm::raw_string_ostream os(problem);
    if (auto location = op->getLoc()->findInstanceOf<FileLineColLoc>())
      os << location.getFilename().getValue() << ':' << location.getLine() << ':' << location.getColumn() << ": ";
    os << "'" << op->getName() << "' is no device code; operations of the llvm and nvvm dialects are accepted";
    return WalkResult::interrupt();
  });
  return problem.empty() ? llvm::Error::success() : llvm::createStringError(problem);
}

llvm::Expected<std::string> translateDeviceModule(Operation *module) {
  if (!isa<gpu::GPUModuleOp, ModuleOp>(module))
    return llvm::createStringError("'" + module->getName().getStringRef() + "' is no module of device code");
  if (llvm::Error error = checkDialects(module))
    return std::move(error);
  MLIRContext *context = module->getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerConvertNVVMToLLVMInterface(registry);
  context->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> copy(ModuleOp::create(module->getLoc()));
  IRMapping mapping;
  for (Operation &op : module->getRegion(0).front())
    copy->getBody()->push_back(op.clone(mapping));

  std::string text;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty())
      text = diagnostic.str();
    return success();
  });
  PassManager passes(context);
  // Ops that have no intrinsic become inline assembly.
  passes.addPass(createConvertNVVMToLLVMPass());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(passes.run(*copy)))
    return llvm::createStringError("device code cannot be lowered: " + text);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*copy, llvmContext, "device");
  if (!translated)
    return llvm::createStringError("device code cannot be translated to LLVM IR: " + text);
  translated->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  std::string bitcode;
  llvm::raw_string_ostream os(bitcode);
  llvm::WriteBitcodeToFile(*translated, os);
  return bitcode;
}

} // namespace fusion
