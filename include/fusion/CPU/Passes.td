//===- Passes.td - Passes of the CPU stage ----------------------*- tablegen -*-===//

#ifndef FUSION_CPU_PASSES
#define FUSION_CPU_PASSES

include "mlir/Pass/PassBase.td"

//===--- Before bufferization -------------------------------------------------------------------------------------===//

def CPURecordSignatures : Pass<"fusion-cpu-record-signatures", "::mlir::ModuleOp"> {
  let summary = "Keep the tensor signatures of the entry points, and check that their types can be compiled";
  let description = [{
    Sets `fusion.entry` and `fusion.signature` on every public function with a body: its name and its function type before
    lowering. The run-time checks the arguments of a call against it. Tensor arguments of public functions are marked as
    not writable, so that a program never changes its caller's arrays. Functions are renamed, so that one that is called
    `exp` or `memcpy` is not taken for that of the C library. Recursive functions first call `fusion_rt_check_stack`, which
    ends the call when the stack is full.

    An unknown target, an unranked tensor, a buffer at a public function, or a tensor whose static size in bytes does not fit
    into 46 bits is an error.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    // becomes
    func.func @fusion.main(%x: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32>
        attributes {fusion.entry = "main", fusion.signature = (tensor<4xf32>) -> tensor<4xf32>} {
      return %x : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"host\"",
           "The instruction set that the code will be for: host, generic, avx2 or avx512">
  ];
}

def CPUDecompose : Pass<"fusion-cpu-decompose", "::mlir::ModuleOp"> {
  let summary = "Rewrite the tensor operations that bufferization does not know";
  let description = [{
    `tensor.concat`, `tensor.pad`, `tensor.gather`, `tensor.scatter`, `tensor.bitcast`, `linalg.softmax`, `linalg.pack`,
    `linalg.unpack`, the Winograd transforms and elementwise ops on tensors become `linalg` ops, slices and `tensor.generate`.
    Splat constants are read as scalars where an operand of a `linalg.generic` is one, and large ones that are left become
    a `linalg.fill`: no constant of the size of an intermediate tensor is stored.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CPUParallelizeOpaque : Pass<"fusion-cpu-parallelize-opaque", "::mlir::func::FuncOp"> {
  let summary = "Tile large operations outside of kernels to parallel loops";
  let description = [{
    What no kernel holds still has to use all threads. A structured operation outside of any `scf.forall` whose iteration space is
    large (or not known) is tiled over its outer parallel loops to an `scf.forall` with some dozens of blocks. Reductions
    stay whole, so results do not depend on the number of threads.
  }];
  let options = [
    Option<"minimumWork", "minimum-work", "int64_t", "32768",
           "Number of points of the iteration space below which an operation stays on one thread">,
    Option<"blocks", "blocks", "int64_t", "64", "Number of blocks to aim at">
  ];
  let statistics = [Statistic<"numTiled", "num-tiled", "Number of operations tiled to parallel loops">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CPUPrepareBufferization : Pass<"fusion-cpu-prepare-bufferization", "::mlir::ModuleOp"> {
  let summary = "Give each writer its own destination, and report what cannot be bufferized";
  let description = [{
    Programs share one `tensor.empty` or `linalg.fill` among many destinations. To bufferization these are one buffer, and
    all writers but one would get a copy. Every destination gets its own, made where it is used: a copy of the chain of
    `tensor.empty`, `tensor.extract_slice` and `linalg.fill`. No CSE may run between this and bufferization.

    An operation on tensors that bufferization does not know is an error that names it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

//===--- On buffers -----------------------------------------------------------------------------------------------===//

def CPUPlaceBuffers : Pass<"fusion-cpu-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give ragged tiles a static buffer";
  let description = [{
    An allocation in a parallel loop whose dynamic extents have small constant bounds (the last tile of a ragged dim) becomes
    a view of a static buffer of the bound, so that it can be moved out of loops and put on the stack. Runs before
    buffer-loop-hoisting and deallocation.
  }];
  let statistics = [Statistic<"numBounded", "num-bounded", "Number of dynamic allocations made static">];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CPUExpandCopies : Pass<"fusion-cpu-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "Turn copies of buffers into structured operations";
  let description = [{
    A `memref.copy` becomes a `linalg.generic` that yields its input, to be vectorised as any other; a large one outside
    of kernels also gets a parallel loop. One of moderate size whose two sides are known to be contiguous stays and becomes
    a memcpy. A copy onto itself is erased.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CPUOutlineParallel : Pass<"fusion-cpu-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Outline parallel loops to functions over a range of a linear grid";
  let description = [{
    An `scf.forall` on buffers becomes a call `@kernel(0, n, captured values...)`, where `n` is the number of blocks of its
    grid. `@kernel` works on the blocks [begin, end) of the grid in row-major order; it has the unit attribute
    `fusion.parallel_body`, by which `fusion-cpu-parallel-calls` later finds its calls. Static scratch buffers of the body are
    allocated once per call. Parallel loops inside become sequential loops.

    The name is `kernel.` and the attribute `fusion.kernel` of the loop, or made from the function's name.
  }];
  let options = [
    Option<"stackBytes", "stack-bytes", "int64_t", "65536",
           "Scratch of a kernel up to this many bytes together lies on the stack">
  ];
  let statistics = [Statistic<"numOutlined", "num-outlined", "Number of parallel loops outlined">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

//===--- Vectors --------------------------------------------------------------------------------------------------===//

def CPUVectorize : Pass<"fusion-cpu-vectorize", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg operations on memrefs to loops over vectors";
  let description = [{
    Every linalg op on buffers becomes loops. Extents may be dynamic, memrefs strided.

    - A sum of products becomes register tiles: rows times vectors of accumulators that are carried through all reduction loops.
      The panel of the right operand is copied to contiguous scratch memory where its access is strided.
    - A copy between two orders of dimensions is made of square blocks that are transposed in registers.
    - Elementwise bodies, reductions, and mixtures of them become one loop nest. One loop is chosen for the lanes; what does
      not vary along it is computed once, as a scalar. Sums are reassociated.
    - What is left (an assertion in the body, indices that are not linear, combinations that are not associative)
      becomes scalar loops.

    Indices may be linear in the loops, so convolutions are sums of products and pooling is a reduction like others. A body
    may read further memrefs at computed positions, which become gathers.

    Values of 16-bit floating-point types are computed in f32 and rounded when they are stored. Contractions are accumulated
    in the type of the output, f32 if that has 16 bits.

    ```mlir
    // %x : memref<64xf32>; %y : memref<64xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %in : f32
      linalg.yield %0 : f32
    }
    // becomes, for 512-bit registers,
    scf.for %i = %c0 to %c64 step %c64 {
      %0 = vector.load %flat_x[%i] : memref<?xf32, strided<[1], offset: ?>>, vector<16xf32>
      ...
      %4 = arith.addf %0, %0 : vector<16xf32>
      ...
      vector.store %4, %flat_y[%i] : memref<?xf32, strided<[1], offset: ?>>, vector<16xf32>
      ...
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "0",
           "Width of a vector register in bits: 128, 256 or 512; 0 stands for the widest of the host">,
    Option<"registers", "registers", "unsigned", "0",
           "Number of vector registers; 0 stands for 32 with 512 bits and for 16 otherwise">
  ];
  let statistics = [
    Statistic<"numContractions", "num-contractions", "Number of ops lowered to register tiles">,
    Statistic<"numTransposes", "num-transposes", "Number of ops lowered to blocks transposed in registers">,
    Statistic<"numElementwise", "num-elementwise", "Number of elementwise ops and reductions lowered to vector loops">,
    Statistic<"numScalar", "num-scalar", "Number of ops lowered to scalar loops">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def CPUVectorMath : Pass<"fusion-cpu-vector-math", "::mlir::func::FuncOp"> {
  let summary = "Expand mathematical functions of vectors to inline polynomials";
  let description = [{
    `exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `tanh`, `erf`, `sin`, `cos`, `powf`, `fpowi` with a constant exponent, and `rsqrt` on vectors
    of f32 become arithmetic on whole vectors; so do `exp`, `exp2`, `log`, `tanh`, `erf` and `rsqrt` on vectors of f64. 16-bit
    types are computed in f32. Functions that are not listed are called element by element. Scalar operations stay, but for
    `clampf`, `isinf` and `isnormal`, for which LLVM 22 has no lowering.
  }];
  let statistics = [Statistic<"numExpanded", "num-expanded", "Number of operations expanded">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

//===--- To the LLVM dialect --------------------------------------------------------------------------------------===//

def CPULowerAsserts : Pass<"fusion-cpu-lower-asserts", "::mlir::ModuleOp"> {
  let summary = "Turn assertions into a guarded end of the call";
  let description = [{
    A `cf.assert` becomes a branch to a block that calls `fusion_rt_assert_fail` with the text and the location, which
    does not return: the run-time cuts the stack back to the entry of the call, which ends with an error status. The
    process goes on. Runs after structured control flow is gone.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect"];
}

def CPUParallelCalls : Pass<"fusion-cpu-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "Call outlined kernels through the run-time's parallel_for";
  let description = [{
    Works on the LLVM dialect. A call of a function with the attribute `fusion.parallel_body` packs its arguments into a
    structure on the stack and becomes a call of `fusion_rt_parallel_for` with a small function that unpacks them. Calls of
    the allocation functions of the memref lowering become calls of the run-time's allocator, with the place in the program
    that an error will name. Calls in recursive functions are kept from becoming loops, which never meet the end of the stack.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CPUEntryPoints : Pass<"fusion-cpu-entry-points", "::mlir::ModuleOp"> {
  let summary = "Emit a uniform, guarded entry for every public function";
  let description = [{
    Works on the LLVM dialect. For a function with `fusion.entry = "f"` and `fusion.signature`, emits `i32 @fusion_entry_f(ptr)`. The argument is an
    array with one pointer per argument and then one per result. Each points at a scalar, or at a descriptor {allocated,
    aligned, offset, sizes[rank], strides[rank]} of a tensor. Result descriptors are written; the caller frees each distinct
    `allocated` with `fusion_rt_free`. The return value is a status of the run-time. With the attribute `fusion.ranks` a failure
    ends all ranks (`fusion_mpi_invoke`) where there are several.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CPUCheckLowered : Pass<"fusion-cpu-check-lowered", "::mlir::ModuleOp"> {
  let summary = "Report the first operation that has no lowering for the CPU";
  let description = [{
    Conversions leave what they do not know. An operation outside of the LLVM dialect ends the compilation with one error at
    its location.
  }];
}

#endif // FUSION_CPU_PASSES
