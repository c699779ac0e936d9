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

def SpaceMapPartition : Pass<"spacemap-partition", "::mlir::func::FuncOp"> {
  let summary = "Partition space-mapping graphs into kernels";
  let description = [{
    Cuts each graph into parts that can be scheduled within the limits of the target and are predicted to be fastest
    (SpaceFusion, EuroSys 2025, section 5.2). The parts are runs of units in topological order, so they are convex: no
    path leaves a part and re-enters it. A unit is a contraction with its iteration space, or an elementwise chain. Among
    all ways to cut, dynamic programming over the prefixes finds the one of the least predicted time, the launches and
    the bytes written and read again at each cut included: partition is by profit, not only by feasibility. A value that
    is read on both sides of a cut becomes a result of one part and an input of the other; a One-to-All mapping from it
    is then one from an input, so that more dimensions can be sliced spatially.

    For each mapping that a cut separates there is a remark (`--remarks-filter-missed=spacemap`) with a named reason:
    `no-parallel-dim`, `footprint` or `not-profitable`.

    Example: in a graph of a softmax over 2^20 columns the row does not fit on chip, and a target without temporal
    slicing (`temporal=false`) gets one graph for the maximum, one for the sum and one for the quotient.
  }];
  let dependentDialects = ["::fusion::spacemap::SpaceMapDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "Machine whose limits hold: cpu, v100, a100, h100 or h200.">,
    Option<"threads", "threads", "int64_t", "0", "Threads of a CPU target; 0 is all processors of this machine.">,
    Option<"temporal", "temporal", "bool", "true", "Whether dimensions may be temporally sliced.">,
    Option<"byProfit", "by-profit", "bool", "true",
           "Whether cuts are chosen by predicted time; otherwise parts are as large as is feasible.">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Graphs after partitioning">,
    Statistic<"numCuts", "cuts", "Graphs that were cut">
  ];
}

def SpaceMapSlice : Pass<"spacemap-slice", "::mlir::func::FuncOp"> {
  let summary = "Slice space-mapping graphs spatially and temporally";
  let description = [{
    Chooses a schedule for each unsliced graph (SpaceFusion, EuroSys 2025, section 5.1): which legal dimensions are cut
    into blocks, which other dimension is walked in slices, and the extents of both, within the limits of the target.
    Then applies it: `blocks [...]` on the graph, and `spacemap.temporal` loops with update functions in it. With
    `block-sizes` or `temporal-dim` the schedule is the user's; an illegal one is an error.

    Example: attention over `d0` (batch), `d1` (head), `d2` (query), `d3` (key) becomes a graph with
    `blocks [d0 = 1, d1 = 1, d2 = 64]` and one loop `spacemap.temporal along d3 by 64`.
  }];
  let dependentDialects = ["::fusion::spacemap::SpaceMapDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "Machine whose limits hold: cpu, v100, a100, h100 or h200.">,
    Option<"threads", "threads", "int64_t", "0", "Threads of a CPU target; 0 is all processors of this machine.">,
    Option<"spatial", "spatial", "bool", "true", "Whether dimensions may be spatially sliced.">,
    Option<"temporal", "temporal", "bool", "true", "Whether dimensions may be temporally sliced.">,
    Option<"rank", "rank", "bool", "true",
           "Whether the fastest schedule by the cost model is taken; otherwise the first that fits.">,
    ListOption<"blockSizes", "block-sizes", "std::string", "Blocks of the user, as dim=extent.">,
    Option<"temporalDim", "temporal-dim", "std::string", "\"\"", "Temporal slicing of the user, as dim=extent.">
  ];
  let statistics = [
    Statistic<"numSpatial", "spatially-sliced", "Graphs with blocks">,
    Statistic<"numTemporal", "temporally-sliced", "Graphs with a temporal loop">
  ];
}

def SpaceMapMergeDims : Pass<"spacemap-merge-dims"> {
  let summary = "Let the uses of an input share dimensions";
  let description = [{
    `spacemap-build` gives each use of a tensor from outside dimensions of its own. Where no space would get a
    dimension twice by it, this pass makes the dimensions of the same axis one. A row that is read for its maximum,
    for a sum and for the result is then one source, and the reductions are a chain along one dimension, which can
    be sliced temporally. `X X^T` keeps two dimensions for the rows of `X`: the product has both.
  }];
  let statistics = [Statistic<"numMerged", "merged", "Dimensions that became another">];
}

def SpaceMapPostponeBroadcast : Pass<"spacemap-postpone-broadcast"> {
  let summary = "Move earlier reductions behind later ones";
  let description = [{
    Broadcast postposition: a factor of a reduction that comes from an earlier reduction over the same dimension is
    applied after the reduction instead of to every element. `sum_l (e / s * v)` becomes `(sum_l e * v) / s`, so
    that the later reduction no longer waits for `s`. Sums give up factors, divisors and selections of zero; maxima
    and minima give up whatever is monotone. `exp(-m)` is never moved: it may overflow. Each rewrite is checked by
    evaluation at random points, and left out with a warning if the check fails.

    Example: in

    ```mlir
    func.func @ratio(%x: tensor<8xf32>, %v: tensor<8xf32>) -> tensor<f32> {
      %r = spacemap.graph dims [l = 8] ins(%a = %x, %b = %v : tensor<8xf32>, tensor<8xf32>) {
        %e = spacemap.source %a [l] : tensor<8xf32> -> !spacemap.space<[l], f32>
        %w = spacemap.source %b [l] : tensor<8xf32> -> !spacemap.space<[l], f32>
        %s = spacemap.all_to_one %e along [l] sum : !spacemap.space<[l], f32> -> !spacemap.space<[], f32>
        %sl = spacemap.one_to_all %s along [l] : !spacemap.space<[], f32> -> !spacemap.space<[l], f32>
        %q = spacemap.map (%0 = %e, %1 = %sl : !spacemap.space<[l], f32>, !spacemap.space<[l], f32>) {
          %3 = arith.divf %0, %1 : f32
          spacemap.yield %3 : f32
        } -> !spacemap.space<[l], f32>
        %p = spacemap.map (%0 = %q, %1 = %w : !spacemap.space<[l], f32>, !spacemap.space<[l], f32>) {
          %3 = arith.mulf %0, %1 : f32
          spacemap.yield %3 : f32
        } -> !spacemap.space<[l], f32>
        %o = spacemap.all_to_one %p along [l] sum : !spacemap.space<[l], f32> -> !spacemap.space<[], f32>
        spacemap.output %o [] : !spacemap.space<[], f32>
      } -> tensor<f32>
      return %r : tensor<f32>
    }
    ```

    the division moves behind the second `all_to_one`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numPostponed", "postponed", "Reductions that were rewritten">];
}

def SpaceMapTemporalSlice : Pass<"spacemap-temporal-slice"> {
  let summary = "Slice graphs temporally along a dimension";
  let description = [{
    Turns each graph that has the dimension into prologue, a `spacemap.temporal` loop, and epilogue. Independent
    reductions along the dimension are aggregated. Reductions that depend on earlier ones are updated and then
    aggregated: the update function, which corrects a partial result when what it depends on has changed, is
    synthesised from the scalar functions and checked by evaluation at random points. Outputs that keep the
    dimension and need final reductions are collected in a second loop that computes their elements again from the
    sources.

    A graph that cannot be sliced so is left as it is, with a remark that says why.
  }];
  let options = [
    Option<"dim", "dim", "std::string", /*default=*/"", "Name of the dimension to slice">,
    Option<"step", "step", "int64_t", /*default=*/"64", "Extent of a slice">,
    Option<"maxPasses", "max-reduction-passes", "unsigned", /*default=*/"1",
           "How many loops may hold reductions; more than 1 allows dependent reductions without an update">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numSliced", "sliced", "Graphs that were sliced">,
    Statistic<"numUpdated", "updated", "Reductions that are updated before they are aggregated">
  ];
}

def SpaceMapPrintGraph : Pass<"spacemap-print-graph", "::mlir::ModuleOp"> {
  let summary = "Write space-mapping graphs as Graphviz text";
  let description = [{
    Draws every `spacemap.graph` of the module, at any step from `spacemap-build` to the sliced graphs. Spaces are nodes with
    their dimensions and element type; the iteration space of a contraction has another shape. Mappings are edges: `O2O`,
    `O2A(l)` (One-to-All along l), `A2O(k, sum)` (All-to-One). Each graph is a cluster with its dimensions and blocks; after
    `spacemap-partition` that is a kernel, and tensors connect the clusters. A temporal loop is a cluster of its own, with its
    states. Operations that stay outside of graphs are drawn dashed. The program is not changed.

    Example: `fusion-opt model.mlir --fusion-to-spaces --spacemap-print-graph=file=model.dot -o sliced.mlir`, then
    `dot -Tsvg model.dot -o model.svg`.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"", "File to write to; standard error if it is empty.">
  ];
}

#endif // FUSION_SPACES_PASSES
