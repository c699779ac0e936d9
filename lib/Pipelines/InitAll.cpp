//===- InitAll.cpp - Register everything that Fusion needs ------------------===//

#include "fusion/InitAll.h"
#include "fusion/CPU/Passes.h"
#include "fusion/GPU/Passes.h"
#include "fusion/Normalize/Passes.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Dist/Dist.h"
#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Spaces/Passes.h"
#include "fusion/Tasks/Passes.h"
#include "fusion/Tiles/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

namespace fusion {

void registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  registry.insert<dist::DistDialect, spacemap::SpaceMapDialect>();
}

void registerAllPasses() {
  registerTasksPasses();
  registerNormalizePasses();
  registerSpacesPasses();
  registerTilesPasses();
  registerCPUPasses();
  registerGPUPasses();
  registerPipelines();
  registerDistPipelines();
  registerGpuPipelines();
}

} // namespace fusion
