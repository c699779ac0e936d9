//===- Passes.td - Normalisation passes ----------------------*- tablegen -*-===//

#ifndef FUSION_NORMALIZE_PASSES
#define FUSION_NORMALIZE_PASSES

include "mlir/Pass/PassBase.td"

def AssertBounds : Pass<"fusion-assert-bounds"> {
  let summary = "Assert what operations on tensors require of run-time extents and indices";
  let description = [{
    Operands of a linalg operation that share a loop have equal extents; what slices, elements and windows reach lies
    in their tensors; reshapes, expansions and casts fit; extents are not negative, steps of loops positive. A program
    in which this does not hold is undefined, and would read or write foreign memory. In front of each operation stands
    an assertion of what cannot be proven, so that such a call ends with a located message. Nothing is asserted of what
    is static, or follows from other assertions and from how extents are computed. Runs first: later passes take what
    is asserted as facts.

    Example:

    ```mlir
    // %x : tensor<?xf32>; %y : tensor<?xf32>
    %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    // becomes
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %1 = arith.cmpi eq, %n, %m : index
    cf.assert %1, "'linalg.add' op has operands whose extents differ: operand 0 on axis 0 and operand 1 on axis 0 share a loop"
    %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numAsserts", "asserts", "Assertions made">];
}

def AssertDivisors : Pass<"fusion-assert-divisors"> {
  let summary = "Assert that integer divisions have a quotient";
  let description = [{
    Before each scalar division of integers whose divisor is not a constant stands an assertion that the divisor is not
    zero and, where numbers are signed, that the least of them is not divided by -1. In bodies of linalg operations,
    too: `fusion-split-asserts` moves them out, so that the division can still be fused. Runs once on a program; a second
    run cannot know of the first where its assertions were moved out.

    Example:

    ```mlir
    // %a : i32; %b : i32
    %0 = arith.divui %a, %b : i32
    // becomes
    %c0 = arith.constant 0 : i32
    %1 = arith.cmpi ne, %b, %c0 : i32
    cf.assert %1, "'arith.divui' op divides by zero"
    %0 = arith.divui %a, %b : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
  let statistics = [Statistic<"numAsserts", "asserts", "Assertions made">];
}

def Generalize : Pass<"fusion-generalize"> {
  let summary = "Turn named operations on tensors into linalg.generic";
  let description = [{
    Afterwards every loop nest whose accesses are projections of the loops is a `linalg.generic`:

    - named linalg operations, with permuted or broadcasting maps too, but not convolutions, poolings, packs and other
      operations that read windows; `linalg.fill` and `linalg.transpose` stay, their names say all there is to say;
    - `linalg.softmax`, which becomes a maximum, a difference, an exponential, a sum and a quotient;
    - elementwise operations of `arith` and `math` on tensors, with scalar operands among the tensors too;
    - `tensor.generate`; `tensor.splat` becomes a `linalg.fill`.

    Operations on buffers are left alone.

    Example:

    ```mlir
    // %x : tensor<8xf32>; %e : tensor<8xf32>
    %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = math.exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numGeneralized", "generalized", "Operations turned into linalg.generic">];
}

def DropDeadResults : Pass<"fusion-drop-dead-results"> {
  let summary = "Remove unused results, operands and body operations of linalg.generic";
  let description = [{
    A result that nobody uses is dropped with its init and with whatever the body computes only for it. Exporters write
    every maximum with the position of the maximum; where the position is unused, a plain reduction remains. Inputs that
    the body does not read, and inputs given twice, go too, unless they are what bounds a loop.

    Example:

    ```mlir
    // %x : tensor<4x8xf32>; %max : tensor<4xf32>; %position : tensor<4xi64>
    %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                                            affine_map<(d0, d1) -> (d0)>],
                           iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x8xf32>) outs(%max, %position : tensor<4xf32>, tensor<4xi64>) {
    ^bb0(%in: f32, %out: f32, %at: i64):
      %1 = linalg.index 1 : index
      %2 = arith.index_cast %1 : index to i64
      %3 = arith.maximumf %in, %out : f32
      %4 = arith.cmpf ogt, %in, %out : f32
      %5 = arith.select %4, %2, %at : i64
      linalg.yield %3, %5 : f32, i64
    } -> (tensor<4xf32>, tensor<4xi64>)
    // becomes, if %0#1 is unused
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x8xf32>) outs(%max : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.maximumf %in, %out : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"numResults", "results-dropped", "Results dropped">,
                    Statistic<"numInputs", "inputs-dropped", "Inputs dropped">];
}

def DetachInits : Pass<"fusion-detach-inits"> {
  let summary = "Give operations that never read their init an empty one";
  let description = [{
    An init that the body does not read only names a shape. Exporters share inits freely, filled tensors among them;
    `tensor.empty` in their place removes the false dependence.

    Example:

    ```mlir
    // %x : tensor<8xf32>; %filled : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%filled : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = math.exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    // becomes
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic ... ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numDetached", "detached", "Inits replaced">];
}

def InlineScalars : Pass<"fusion-inline-scalars"> {
  let summary = "Replace uniform tensor operands by scalars inside the body";
  let description = [{
    An input of a `linalg.generic` all of whose elements are one scalar (a splat constant, a filled or splatted tensor,
    also behind reshapes, transposes and slices; a scalar operand) is removed, and the body uses the scalar. So a splat
    constant of the shape of the scores is never materialised. `tensor.extract` from such a tensor becomes the scalar
    too. A generic that merely yields a scalar becomes a `linalg.fill`; one that yields its only input unchanged, all
    maps alike, is replaced by that input.

    Example:

    ```mlir
    // %x : tensor<8xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
        ins(%x, %zero : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %1 = arith.maximumf %in, %in_0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    // becomes
    %cst = arith.constant 0.0 : f32
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.maximumf %in, %cst : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numInlined", "operands-inlined", "Tensor operands replaced by scalars">,
                    Statistic<"numFills", "fills", "Generics replaced by linalg.fill">];
}

def SimplifyScalars : Pass<"fusion-simplify-scalars"> {
  let summary = "Rewrite scalar arithmetic into the forms that later stages know";
  let description = [{
    - Powers with a small constant whole exponent become products (in f32 for 16-bit floats).
    - The truncation of a float constant becomes the rounded constant.
    - A comparison of widened floats with each other, or with a constant that the narrow type holds exactly, is made in
      the narrow type.

    Example:

    ```mlir
    // %x : f32
    %minus_infinity = arith.constant 0xFFF0000000000000 : f64
    %0 = arith.extf %x : f32 to f64
    %1 = arith.cmpf oeq, %0, %minus_infinity : f64
    // becomes
    %cst = arith.constant 0xFF800000 : f32
    %1 = arith.cmpf oeq, %x, %cst : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MergeExtents : Pass<"fusion-merge-extents"> {
  let summary = "Give equal run-time extents one name";
  let description = [{
    Index and integer arithmetic is brought into a polynomial normal form over the extents of the function's tensors,
    which are known to be non-negative. Values that are provably equal get one SSA name, those that are provably
    constant become constants. What follows from it:

    - equalities stated by a `cf.assert`, or by two operands of one linalg operation that share a loop, hold afterwards;
    - an assertion that is provably true goes, one that stands twice stands once;
    - `tensor.reshape` with a known shape becomes `tensor.collapse_shape` and `tensor.expand_shape`;
    - a run-time broadcast guard (a generic that reads a tensor at its own position, or at 0 where the tensor's extent is
      1) is the tensor itself where its shape is provably the guard's. Where that cannot be proven, the guard runs only
      if the extents really differ: `scf.if` on the comparison of the extents.

    The extents of an existing tensor are assumed not to overflow when multiplied.

    Example:

    ```mlir
    // %x : tensor<?x4x8xf32>; %y : tensor<?x8xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
    %0 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%n]
    %1 = arith.divsi %0, %c4 : index
    %2 = tensor.expand_shape %y [[0, 1], [2]] output_shape [%1, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
    // becomes
    %2 = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numMerged", "extents-merged", "Scalar values replaced by an equal one">,
                    Statistic<"numAsserts", "asserts-proven", "Assertions proven">,
                    Statistic<"numReshapes", "reshapes", "tensor.reshape operations made static">,
                    Statistic<"numGuards", "guards-removed", "Broadcast guards removed">,
                    Statistic<"numConditionalGuards", "guards-conditional", "Broadcast guards made conditional">];
}

def SplitAsserts : Pass<"fusion-split-asserts"> {
  let summary = "Move assertions out of the bodies of linalg.generic";
  let description = [{
    An assertion inside a body becomes an operation of its own: a reduction by `andi` over all points, whose one result
    is asserted in the function. The computing generic is then pure. A body that reads memory (`tensor.extract`) keeps
    its assertions, as they may guard that read.

    Example:

    ```mlir
    // %x : tensor<8xf32>
    %cst = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.cmpf one, %in, %cst : f32
      cf.assert %1, "zero element"
      %2 = math.log %in : f32
      linalg.yield %2 : f32
    } -> tensor<8xf32>
    // becomes
    %all = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                           iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%true : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %1 = arith.cmpf one, %in, %cst : f32
      %2 = arith.andi %1, %out : i1
      linalg.yield %2 : i1
    } -> tensor<i1>
    %ok = tensor.extract %all[] : tensor<i1>
    cf.assert %ok, "zero element"
    %0 = linalg.generic ... ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numAsserts", "asserts-split", "Assertions moved out">];
}

def FoldGenerators : Pass<"fusion-fold-generators"> {
  let summary = "Compute positions and masks where they are used";
  let description = [{
    A generator is a `linalg.generic` without tensor operands: a function of its own position. It is computed inside
    each `linalg.generic` that reads it, `linalg.index` of the reader taking the place of the position, also through
    reshapes, transposes and slices. Chains fold one into the other, so that a causal mask becomes a comparison of two
    coordinates in the body that applies it. A generator with expensive maths is folded only into readers that run no
    more often than it does itself.

    Example:

    ```mlir
    %e = tensor.empty() : tensor<8xi64>
    %f = tensor.empty() : tensor<4x8xi64>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<8xi64>) {
    ^bb0(%out: i64):
      %1 = linalg.index 0 : index
      %2 = arith.index_cast %1 : index to i64
      linalg.yield %2 : i64
    } -> tensor<8xi64>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8xi64>) outs(%f : tensor<4x8xi64>) {
    ^bb0(%in: i64, %out: i64):
      linalg.yield %in : i64
    } -> tensor<4x8xi64>
    // becomes
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]} outs(%f : tensor<4x8xi64>) {
    ^bb0(%out: i64):
      %1 = linalg.index 1 : index
      %2 = arith.index_cast %1 : index to i64
      linalg.yield %2 : i64
    } -> tensor<4x8xi64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"maxBodySize", "max-body-size", "unsigned", /*default=*/"256",
           "Do not fold where the reader's body would have more operations than this.">
  ];
  let statistics = [Statistic<"numFolded", "folded", "Uses of generators folded">];
}

def CloneGenerators : Pass<"fusion-clone-generators"> {
  let summary = "Give each way of reading a generator a copy of it";
  let description = [{
    A generator that was too expensive to fold may be read along the rows by one operation and along the columns by
    another. Each way of reading it (an indexing map, and the reshapes and transposes in between) gets a copy, so that
    the rows of one need not be the rows of the other. Runs after the last common subexpression elimination.

    Example:

    ```mlir
    // %x : tensor<8x8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %f = tensor.empty() : tensor<8x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<8xf32>) {
    ^bb0(%out: f32):
      %2 = linalg.index 0 : index
      %3 = arith.index_cast %2 : index to i64
      %4 = arith.sitofp %3 : i64 to f32
      %5 = math.sin %4 : f32
      linalg.yield %5 : f32
    } -> tensor<8xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>,
                                          affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%0, %0 : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8x8xf32>) {
    ^bb0(%row: f32, %column: f32, %out: f32):
      %2 = arith.mulf %row, %column : f32
      linalg.yield %2 : f32
    } -> tensor<8x8xf32>
    // becomes
    %0 = linalg.generic ... outs(%e : tensor<8xf32>) { ... }
    %1 = linalg.generic ... outs(%e : tensor<8xf32>) { ... }
    %2 = linalg.generic ... ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8x8xf32>) { ... }
    ```
  }];
  let statistics = [Statistic<"numCloned", "cloned", "Copies made">];
}

def SplitConcats : Pass<"fusion-split-concats"> {
  let summary = "Compute what a concatenation feeds in parts";
  let description = [{
    A concatenation along an axis is no mapping over a whole dimension. Where all that is computed from it ends in
    reductions over that axis, it need not be made: elementwise operations are computed part by part, and the reduction
    of the whole is one reduction after the other, each over a part, starting from the result of the one before. A
    contraction of rotated queries and keys becomes the sum of the contractions of their halves. Other operands are
    sliced.

    Example:

    ```mlir
    // %x : tensor<4x8xf32>; %y : tensor<4x8xf32>; %s : tensor<4xf32>
    %0 = tensor.concat dim(1) %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
        ins(%0 : tensor<4x16xf32>) outs(%s : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = arith.addf %in, %out : f32
      linalg.yield %2 : f32
    } -> tensor<4xf32>
    // becomes
    %0 = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%s : tensor<4xf32>) { ... }
    %1 = linalg.generic ... ins(%y : tensor<4x8xf32>) outs(%0 : tensor<4xf32>) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"maxParts", "max-parts", "unsigned", /*default=*/"4", "Leave concatenations of more operands than this.">
  ];
  let statistics = [Statistic<"numSplit", "split", "Concatenations that are not made">];
}

def PushSlices : Pass<"fusion-push-slices"> {
  let summary = "Slice operands instead of results";
  let description = [{
    Where all that is used of a result are slices that do not overlap, the operation is computed slice by slice: each
    `tensor.extract_slice` with unit strides moves to the operands, through `linalg.generic`, `linalg.transpose`,
    `linalg.fill`, `tensor.empty` and reshapes, until it reaches arguments or operations that are not known. The gates
    of an LSTM cell become matmuls with slices of the weights. Nothing is computed twice.

    Example:

    ```mlir
    // %x : tensor<4x8xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = math.exp %in : f32
      linalg.yield %2 : f32
    } -> tensor<4x8xf32>
    %1 = tensor.extract_slice %0[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
    // becomes
    %0 = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
    %f = tensor.empty() : tensor<4x4xf32>
    %1 = linalg.generic ... ins(%0 : tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numPushed", "pushed", "Slices moved above an operation">];
}

def NarrowF64 : Pass<"fusion-narrow-f64"> {
  let summary = "Compute f64 islands of f32 programs in f32";
  let description = [{
    An island is a set of tensor operations on f64 whose values all come from narrower floats or constants and all end
    in narrower floats or other types. PyTorch exports the variance of LayerNorm so. This pass computes islands in f32.
    It changes numbers, so it is off unless asked for: `--fusion-normalize=narrow-f64=true`.

    Example:

    ```mlir
    // %x : tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.extf %in : f32 to f64
      %2 = math.exp %1 : f64
      %3 = arith.truncf %2 : f64 to f32
      linalg.yield %3 : f32
    } -> tensor<8xf32>
    // becomes
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = math.exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numNarrowed", "narrowed", "Operations narrowed">];
}

def SinkConstants : Pass<"fusion-sink-constants"> {
  let summary = "Copy scalar constants of the function into the bodies that use them";
  let description = [{
    A body that captures a scalar constant gets its own copy, so that a body says by itself what it computes. Runs last,
    since canonicalisation moves constants out again.

    Example:

    ```mlir
    // %x : tensor<8xf32>; %e : tensor<8xf32>
    %cst = arith.constant 0.0 : f32
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.maximumf %in, %cst : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    // becomes
    %0 = linalg.generic ... ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %cst = arith.constant 0.0 : f32
      %1 = arith.maximumf %in, %cst : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    ```
  }];
  let statistics = [Statistic<"numSunk", "sunk", "Constants copied into a body">];
}

#endif // FUSION_NORMALIZE_PASSES
