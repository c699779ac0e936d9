//===- FusionPlugin.cpp - Fusion inside of a stock mlir-opt ---------------===//
//
//   mlir-opt --load-dialect-plugin=FusionPlugin.so --load-pass-plugin=FusionPlugin.so
//            --pass-pipeline="builtin.module(...)" model.mlir
//
// mlir-opt parses pass names before it loads plugins: the passes are reached through --pass-pipeline only.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "fusion/Version.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

// A host that has Fusion already, such as fusion-opt, keeps its own copy.

static void registerDialects(mlir::DialectRegistry *registry) {
  if (!registry->getDialectAllocator("spacemap"))
    fusion::registerAllDialects(*registry);
}

static void registerPasses() {
  if (!mlir::PassInfo::lookup("spacemap-build"))
    fusion::registerAllPasses();
}

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fusion", FUSION_VERSION, registerDialects};
}

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fusion", FUSION_VERSION, registerPasses};
}
