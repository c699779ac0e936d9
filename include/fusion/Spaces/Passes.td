//===- Passes.td - Passes of the spaces stage ----------------*- tablegen -*-===//

#ifndef FUSION_SPACES_PASSES
#define FUSION_SPACES_PASSES

include "mlir/Pass/PassBase.td"

def SpaceMapBuild : Pass<"spacemap-build", "::mlir::func::FuncOp"> {
  let summary = "Build space-mapping graphs from linalg on tensors";
  let description = [{
    Collects the `linalg.generic` ops that are globally ranged mappings into `spacemap.graph`s, as large as possible:
    one per connected region. Reshapes, transposes, unit axes and broadcasts become lists of dimensions
    (`fusion::DimTable`); each use of a tensor from outside has a source with dimensions of its own. Operations that
    are no globally ranged mapping stay as they are and cut the graph, and so does an operand whose alignment would
    give one space the same dimension twice.

    Example:

    ```mlir
    func.func @scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %empty = tensor.empty() : tensor<2x3xf32>
      %y = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%empty : tensor<2x3xf32>) {
      ^bb0(%in: f32, %out: f32):
        %0 = arith.mulf %in, %in : f32
        linalg.yield %0 : f32
      } -> tensor<2x3xf32>
      return %y : tensor<2x3xf32>
    }
    ```

    becomes a graph over dimensions of extents 2 and 3 with a source, a map and an output.
  }];
  let dependentDialects = ["::fusion::spacemap::SpaceMapDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numGraphs", "graphs", "Graphs built">,
    Statistic<"numOps", "ops-in-graphs", "linalg ops that are in graphs now">,
    Statistic<"numCuts", "alias-cuts", "Ops kept out of their operands' graph by dimension alignment">
  ];
}

#endif // FUSION_SPACES_PASSES
