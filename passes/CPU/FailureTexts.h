//===- FailureTexts.h - Constant texts of run-time failures -----------------===//

#ifndef FUSION_PASSES_CPU_FAILURETEXTS_H
#define FUSION_PASSES_CPU_FAILURETEXTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace fusion {

/// "file:line:column: " of a location, of a part of it if it has several; empty if no part names a file.
std::string describePlace(mlir::Location loc);

/// Texts in the constant data of a module, each once.
class FailureTexts {
public:
  explicit FailureTexts(mlir::ModuleOp module) : module(module) {}

  /// The address of `text`, terminated by a zero.
  mlir::Value getAddress(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::LLVM::GlobalOp> globals;
  unsigned next = 0;
};

} // namespace fusion

#endif // FUSION_PASSES_CPU_FAILURETEXTS_H
