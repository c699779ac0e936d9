//===- embed.cpp - A small compiler that embeds Fusion --------------------===//
//
// Reads a program in linalg on tensors, has Fusion turn it into tile programs, and prints them: upstream dialects, from
// which any other compiler can go on. A real embedder builds the module in memory instead of parsing it.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "fusion/Pipelines/Pipelines.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: embed <program.mlir>\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  fusion::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  // Fusion's part of the pipeline; passes of one's own go before and after it.
  mlir::PassManager passes(&context);
  fusion::CpuPipelineOptions options;
  fusion::buildToTilesPipeline(passes, options);
  if (mlir::failed(passes.run(*module)))
    return 1;

  unsigned numKernels = 0;
  module->walk([&](mlir::scf::ForallOp loop) { numKernels += loop->hasAttr("fusion.kernel"); });
  module->print(llvm::outs());
  llvm::outs() << "// kernels: " << numKernels << "\n";
  return 0;
}
