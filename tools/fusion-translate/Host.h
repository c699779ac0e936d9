//===- Host.h - Programs to object files and headers ----------------------===//

#ifndef FUSION_TOOLS_FUSION_TRANSLATE_HOST_H
#define FUSION_TOOLS_FUSION_TRANSLATE_HOST_H

#include "Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

/// Compiles the program for a CPU and writes what `options` ask for. An error without text has been reported.
llvm::Error translateForHost(const TranslateOptions &options, mlir::ModuleOp program);

/// The C header of the public functions of the program: their descriptors and calls. `name` is made its include guard.
/// An error names the function whose types C has no place for.
llvm::Expected<std::string> makeHeader(mlir::ModuleOp program, llvm::StringRef name);

#endif // FUSION_TOOLS_FUSION_TRANSLATE_HOST_H
