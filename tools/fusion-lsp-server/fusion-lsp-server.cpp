//===- fusion-lsp-server.cpp - Language server ----------------------------===//
//
// Diagnostics, definitions and hover text for .mlir files in an editor, with Fusion's dialects.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  fusion::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
