//===- SpaceMapToTiles.cpp - Graphs to tile programs ----------------------===//

#include "KernelLowering.h"

#include "fusion/Tiles/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPTOTILES
#include "fusion/Tiles/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

struct SpaceMapToTiles : fusion::impl::SpaceMapToTilesBase<SpaceMapToTiles> {
  using SpaceMapToTilesBase::SpaceMapToTilesBase;

  void runOnOperation() override {
    SmallVector<GraphOp> graphs;
    getOperation()->walk([&](GraphOp graph) { graphs.push_back(graph); });
    llvm::DenseMap<Operation *, unsigned> numbers;
    tiles::TileCounts counts;
    for (GraphOp graph : graphs) {
      std::string name = getName(graph, numbers);
      if (failed(lower(graph, name, counts)))
        return signalPassFailure();
    }
    numKernels += counts.kernels;
    numTiles += counts.tiles;
    scratchBytes += counts.scratchBytes;
  }

  LogicalResult lower(GraphOp graph, StringRef name, tiles::TileCounts &counts) {
    tiles::TileCounts before = counts;
    tiles::KernelLowering lowering(graph, name, pack, /*isCautious=*/false, counts);
    if (succeeded(lowering.run()))
      return success();
    if (!lowering.mayRetry())
      return failure();
    counts = before;
    return tiles::KernelLowering(graph, name, pack, /*isCautious=*/true, counts).run();
  }

  /// The name that the graph carries, or the function's with a number.
  static std::string getName(GraphOp graph, llvm::DenseMap<Operation *, unsigned> &numbers) {
    for (StringRef attribute : {"fusion.kernel", "sym"})
      if (auto name = graph->getAttrOfType<StringAttr>(attribute))
        return name.str();
    Operation *function = graph->getParentOfType<FunctionOpInterface>();
    auto symbol = function ? function->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()) : StringAttr();
    return (Twine(symbol ? symbol.getValue() : "graph") + "_kernel" + Twine(numbers[function]++)).str();
  }
};

} // namespace
