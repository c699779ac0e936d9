//===- Passes.td - Passes of the Tiles stage ----------------------*- tablegen -*-===//

#ifndef FUSION_TILES_PASSES
#define FUSION_TILES_PASSES

include "mlir/Pass/PassBase.td"

def SpaceMapToTiles : Pass<"spacemap-to-tiles"> {
  let summary = "Lower space-mapping graphs to tile programs made of upstream dialects";
  let description = [{
    Every `spacemap.graph` becomes one kernel: an `scf.forall` over the blocks of its spatially sliced dimensions
    with the attribute `fusion.kernel = "name"` (taken from the graph's attribute of that name, or derived from the
    function). A graph that is not sliced is a grid of one block. Inside, each `spacemap.temporal` is an `scf.for`
    whose iteration arguments are the states, and the mappings are `linalg` operations on tile tensors in destination
    style. Scratch tiles have static shapes wherever block sizes, steps and whole extents are static; ragged edges are
    slices of them. Dimensions of tile size 1 do not occur in tiles.

    Maps are computed in the body of whatever consumes them, unless that repeats work that costs more than a load.
    Reductions accumulate straight into the states, which are corrected in place, so that bufferization needs no
    copies inside the loops. A reduction along a dimension of the grid leaves one partial result for each block, which
    an operation behind the grid combines. The grid carries a device mapping (`#gpu.block`), which keeps it a loop when it has one
    block.

    Example:

    ```mlir
    // %x : tensor<8x16xf32>
    %sum = spacemap.graph dims [m = 8, n = 16] ins(%a = %x : tensor<8x16xf32>) blocks [m = 4] {
      %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !spacemap.space<[m, n], f32>
      %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
      spacemap.output %1 [m] : !spacemap.space<[m], f32>
    } -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = tensor.empty() : tensor<8xf32>
    %sum = scf.forall (%m) = (0) to (8) step (4) shared_outs(%out = %0) -> (tensor<8xf32>) {
      %x_tile = tensor.extract_slice %x[%m, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
      %out_tile = tensor.extract_slice %out[%m] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%out_tile : tensor<4xf32>) -> tensor<4xf32>
      %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x_tile : tensor<4x16xf32>) outs(%1 : tensor<4xf32>) {...} -> tensor<4xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %2 into %out[%m] [4] [1] : tensor<4xf32> into tensor<8xf32>
      }
    } {fusion.kernel = "main_kernel0", mapping = [#gpu.block<linear_dim_0>]}
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"pack", "pack", "bool", /*default=*/"true",
           "For cores with caches: copy the right-hand operand of a contraction that is read from a matrix with long rows to contiguous memory, once if many blocks read it; mark what goes past the caches or is fetched early">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels made">,
    Statistic<"numTiles", "tiles", "Number of spaces that are kept in a scratch tile">,
    Statistic<"scratchBytes", "scratch-bytes", "Bytes of scratch tiles of static shape, summed over kernels">
  ];
}

#endif // FUSION_TILES_PASSES
