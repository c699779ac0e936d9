//===- Passes.td - Passes of the Tasks stage --------------------*- tablegen -*-===//

#ifndef FUSION_TASKS_PASSES
#define FUSION_TASKS_PASSES

include "mlir/Pass/PassBase.td"

//===--- Distribution ---------------------------------------------------------------------------------------------===//

def DistDistribute : Pass<"dist-distribute", "::mlir::ModuleOp"> {
  let summary = "Distribute functions on tensors over the points of a launch domain";
  let description = [{
    Each linalg operation of a function with static extents becomes a task and a launch; tensors become stores. The
    domain is that of the attribute `dist.domain` of the function, or the option. The attribute `dist.dims` of an
    operation names the loop that each dimension of the domain cuts; without it these are the parallel loops in order,
    then the reduction loops. A matrix product is so cut by rows (`[0]`), columns (`[1]`) or along the sum (`[2]`: the
    result is then reduced into). An operand that does not have the loop is whole at every point.

    `tensor.extract_slice` without strides is no operation: what reads it has an offset in its partition, as in
    stencils. `tensor.insert_slice` becomes copies. An operation without `dist.dims` that cannot be cut (too few loops,
    subscripts that are sums of loops, bodies that ask for the index of a cut loop, reductions by unknown operators) runs
    at one point. Other operations on tensors, control flow, dynamic extents, and values of the host program that are no
    constants in bodies are errors.

    Example: with `domain=4`

    ```mlir
    func.func @main(%a: tensor<8x6xf64>, %b: tensor<6x5xf64>) -> tensor<8x5xf64> {
      %zero = arith.constant 0.0 : f64
      %empty = tensor.empty() : tensor<8x5xf64>
      %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<8x5xf64>) -> tensor<8x5xf64>
      %c = linalg.matmul ins(%a, %b : tensor<8x6xf64>, tensor<6x5xf64>) outs(%init : tensor<8x5xf64>) -> tensor<8x5xf64>
      return %c : tensor<8x5xf64>
    }
    ```

    becomes one launch on four points, each of which has two rows of `%a` and `%c` and all of `%b`.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    ListOption<"domain", "domain", "int64_t",
               "Extents of the launch domain of public functions without 'dist.domain'; none leaves them as they are.">
  ];
}

//===--- Fusion ---------------------------------------------------------------------------------------------------===//

def DistFuse : Pass<"dist-fuse", "::mlir::ModuleOp"> {
  let summary = "Fuse index tasks that need no communication between points";
  let description = [{
    In each block the longest sequence of launches that can run point by point becomes one launch, then the next, and so
    on (Diffuse, ASPLOS 2025, sections 4 and 5). What can run point by point is decided by comparing partitions, in
    constant time for each argument: one launch domain; what was written through a partition is read and written through
    it only; what was read through a partition is written through it only; what is reduced is neither read nor written.
    A task of scalars on a domain of one point joins a group on another domain: every point then computes it.

    The bodies of a group are put together in program order, as values of tensors: what one task writes and a later
    reads is passed on. A store that nothing observes after the group is no argument any more, only a value of the body.
    Launches of equal groups share one task. The kernels within the body are the business of the pipeline that compiles
    it.

    Opaque tasks, reads by the host program of what the group changes, control flow and exchanges end a group. Fills of
    constants and copies are part of it where they can be, and are not counted as tasks; a fill of a scalar moves before
    the group if the group has not touched the scalar.

    The module gets the attribute `dist.task_report` (fusion/Report/TaskReport.h), and there are remarks of category
    `dist`: for each group, and for each place where one ended, with the name of the constraint.

    Example: of

    ```mlir
    #cut = #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>
    dist.task @double(%x: tensor<?xf64> read, %y: tensor<?xf64> write) {
      %0 = linalg.add ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
      dist.yield %0 : tensor<?xf64>
    }
    func.func @main(%x: tensor<1000xf64>) -> tensor<1000xf64> {
      %X = dist.from_tensor %x : tensor<1000xf64> -> !dist.store<1000xf64>
      %T = dist.create : !dist.store<1000xf64>
      %Y = dist.create : !dist.store<1000xf64>
      dist.launch @double on [4] (%X read #cut, %T write #cut) : !dist.store<1000xf64>, !dist.store<1000xf64>
      dist.launch @double on [4] (%T read #cut, %Y write #cut) : !dist.store<1000xf64>, !dist.store<1000xf64>
      %y = dist.to_tensor %Y : !dist.store<1000xf64> -> tensor<1000xf64>
      return %y : tensor<1000xf64>
    }
    ```

    one launch of `@fused_double_double` remains, and `%T` is gone.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"window", "window", "unsigned", "0", "Launches, fills and copies in a group at most; 0 is any number.">,
    Option<"fills", "fills", "std::string", "\"all\"",
           "Which fills of constants may be part of a group: all, views (those of part of a store) or none.">,
    Option<"promoteScalars", "promote-scalars", "bool", "true",
           "Whether tasks of scalars join groups on domains of several points.">,
    Option<"reorder", "reorder", "bool", "false",
           "Whether tasks move past others that they do not depend on, where that makes fewer groups.">
  ];
  let statistics = [
    Statistic<"numSaved", "saved", "Groups less by reordering">,
    Statistic<"numGroups", "groups", "Groups of tasks, those of one task included">,
    Statistic<"numFused", "tasks", "Fused tasks made">,
    Statistic<"numStores", "stores", "Stores that vanished">
  ];
}

def DistRotateLoops : Pass<"dist-rotate-loops", "::mlir::ModuleOp"> {
  let summary = "Let tasks of one iteration fuse with those of the next";
  let description = [{
    Where the last group of a loop's body and tasks at its start can be one group, the loop `A; B` becomes
    `A; (B; A) ...; B` with one iteration less: the start of the next iteration then follows the end of this one, and
    `dist-fuse` makes one task of them. A loop is rotated only if an iteration has fewer groups afterwards, by the split
    that saves most. In the conjugate gradient method the updates of the solution and the residual meet the dot product
    of the next iteration so (Diffuse, ASPLOS 2025, section 7).

    Stores that are made in a loop that is rotated are made before it. A loop whose number of iterations is not known
    gets a guard. Loops with results are left alone.

    Example: of the body `write t; read t -> u; opaque u -> v; reduce v`, where the reduction and the write of `t` go
    together, the write moves to the end of the iteration.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"window", "window", "unsigned", "0", "As in dist-fuse.">,
    Option<"fills", "fills", "std::string", "\"all\"", "As in dist-fuse.">,
    Option<"promoteScalars", "promote-scalars", "bool", "true", "As in dist-fuse.">
  ];
  let statistics = [Statistic<"numRotated", "rotated", "Loops that were rotated">];
}

def DistEliminateDeadStores : Pass<"dist-eliminate-dead-stores", "::mlir::ModuleOp"> {
  let summary = "Remove launches, arguments and stores that nothing observes";
  let description = [{
    What is written, but overwritten in whole or never read again on any path, the next iterations of loops included, is
    not computed: a launch, fill or copy of which this holds for all stores that it changes disappears, an argument
    `write` of another one becomes a value of the task's body, and stores without uses are not made. Opaque tasks keep
    their arguments.

    Example:

    ```mlir
    func.func @main(%a: f64) {
      %s = dist.create : !dist.store<8xf64>
      dist.fill %a into %s by #dist.none on [1] : f64, !dist.store<8xf64>
      return
    }
    ```

    becomes an empty function.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLaunches", "launches", "Launches, fills and copies that were dead">,
    Statistic<"numArguments", "arguments", "Dead arguments of other launches">,
    Statistic<"numStores", "stores", "Stores without uses">
  ];
}

//===--- Communication --------------------------------------------------------------------------------------------===//

def DistPlanCommunication : Pass<"dist-plan-communication", "::mlir::ModuleOp"> {
  let summary = "Insert the exchanges and reductions that a dist program needs on several ranks";
  let description = [{
    Before a launch that reads a store through a partition for which some point may not have the current elements of its
    box there is a `dist.exchange`, from where the current elements are to all such partitions of the launch; after
    launches that reduce there is one `dist.all_reduce`, right before the first operation that needs the result. What
    the host program reads is brought to the first rank, scalars to every rank.

    Where current elements are is found by dataflow over blocks, `scf.for`, `scf.while` and `scf.if`, by comparing
    partitions: in constant time in the number of points, and for any number of ranks. Exchanges of what a loop does not
    change are done before it, and none is inserted if each point reads what it has written or got itself. A function that
    has communication already is left alone.

    Example: of

    ```mlir
    #cut = #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>
    func.func @main(%x: tensor<1000xf64>) -> tensor<1000xf64> {
      %X = dist.from_tensor %x : tensor<1000xf64> -> !dist.store<1000xf64>
      %Y = dist.create : !dist.store<1000xf64>
      dist.copy %X by #cut to %Y by #cut on [4] : !dist.store<1000xf64>, !dist.store<1000xf64>
      %y = dist.to_tensor %Y : !dist.store<1000xf64> -> tensor<1000xf64>
      return %y : tensor<1000xf64>
    }
    ```

    the result is a scatter, `dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on
    [4]>]`, before the copy, and a gather of `%Y` after it.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numExchanges", "exchanges", "Exchanges inserted where they are needed">,
    Statistic<"numHoisted", "hoisted", "Exchanges inserted before a loop">,
    Statistic<"numDropped", "dropped", "Reads that need no exchange">,
    Statistic<"numReductions", "all-reduces", "Reductions over the ranks inserted">
  ];
}

def DistOverlapCommunication : Pass<"dist-overlap-communication", "::mlir::ModuleOp"> {
  let summary = "Split exchanges into start and wait where there is something to do meanwhile";
  let description = [{
    An exchange starts right after the last operation of its block that touches the store, and is waited for right before
    the next one. Where launches, or other exchanges, lie between the two, `dist.exchange` becomes `dist.exchange_start`
    and `dist.exchange_wait`; several exchanges in front of one launch are under way at once. An exchange with nothing
    to do meanwhile stays as it is.

    Example: of

    ```mlir
    #cut = #dist.tiled<[5] offset [0] extent [10] by (d0) -> (d0)>
    func.func @main(%x: tensor<10xf64>, %zero: f64) -> tensor<10xf64> {
      %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
      %Y = dist.create : !dist.store<10xf64>
      dist.fill %zero into %Y by #cut on [2] : f64, !dist.store<10xf64>
      dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [2]>] : !dist.store<10xf64>
      dist.copy %X by #cut to %Y by #cut on [2] : !dist.store<10xf64>, !dist.store<10xf64>
      %y = dist.to_tensor %Y : !dist.store<10xf64> -> tensor<10xf64>
      return %y : tensor<10xf64>
    }
    ```

    the exchange starts before the fill, and is waited for after it.
  }];
  let dependentDialects = ["::fusion::dist::DistDialect"];
  let statistics = [Statistic<"numOverlapped", "overlapped", "Exchanges split into start and wait">];
}

//===--- Execution ------------------------------------------------------------------------------------------------===//

def DistLower : Pass<"dist-lower", "::mlir::ModuleOp"> {
  let summary = "Lower dist programs to functions on tensors and calls of the run-time";
  let description = [{
    Works on a program whose communication is planned and whose views are canonicalised away. Each task becomes a function
    that takes its boxes as buffers and updates in place what it writes, one for each combination of the extents that its
    launches know; its body stays on tensors, for the pipeline that fuses and compiles any other program. Each operation on
    stores becomes a call of a C function of fusion/Runtime/Dist.h with a constant table of numbers: stores have numbers in
    their function, partitions and placements are coded. The tables do not depend on the number of ranks or points.

    A store lives from where it is made to its last use. A store that is made from a tensor and never written uses the
    memory of the tensor; one whose last use is a `dist.to_tensor` in the same block is made in the memory of the result.

    ```mlir
    func.func @main(%x: tensor<8xf64>) -> tensor<8xf64> {
      %s = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
      %r = dist.to_tensor %s : !dist.store<8xf64> -> tensor<8xf64>
      return %r : tensor<8xf64>
    }
    // becomes
    llvm.mlir.global internal constant @dist.table.main.0(dense<[...]> : tensor<12xi64>) : !llvm.array<12 x i64>
    func.func @main(%x: tensor<8xf64>) -> tensor<8xf64> {
      %context = llvm.call @fusion_dist_begin(%stores, %slots) : (i64, i64) -> !llvm.ptr
      ...
    }
    ```
  }];
  let statistics = [
    Statistic<"numBodies", "num-bodies", "Number of functions made of tasks">,
    Statistic<"numBorrowed", "num-borrowed", "Number of stores in the memory of the tensor that they are made from">,
    Statistic<"numPlaced", "num-placed", "Number of stores in the memory of a result">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif // FUSION_TASKS_PASSES
