//===- fusion-opt.cpp - Optimizer driver ----------------------------------===//

#include "fusion/CPU/Passes.h"
#include "fusion/Normalize/Passes.h"
#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Spaces/Passes.h"
#include "fusion/Tiles/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  fusion::registerNormalizePasses();
  fusion::registerSpacesPasses();
  fusion::registerTilesPasses();
  fusion::registerCPUPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<fusion::spacemap::SpaceMapDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Fusion optimizer\n", registry));
}
