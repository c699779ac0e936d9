//===- Passes.td - Passes of the GPU stage ----------------------*- tablegen -*-===//

#ifndef FUSION_GPU_PASSES
#define FUSION_GPU_PASSES

include "mlir/Pass/PassBase.td"

def GPUAssignLayouts : Pass<"fusion-gpu-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Decide how each operation of a kernel is spread over registers, lanes and warps";
  let description = [{
    Sets `fusion.layout`, the layout of its iteration space (`fusion/Layout/Layout.h`), on every computing operation of a
    kernel, and `fusion.warps`, the number of warps of a block, on the kernel. The operation with the largest iteration
    space is spread for wide, coalesced access to memory; the others take over the layouts of the tiles that they share,
    so that values stay in the registers where they were made. All ways of spreading that come into question are
    tried, and the one with the lowest estimated cost is taken: instructions issued, memory transactions, shuffles,
    conversions and registers.

    Example: with `chip=sm_80`, in

    ```mlir
    func.func @double(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %e = tensor.empty() : tensor<1024xf32>
      %r = scf.forall (%i) = (0) to (1024) step (512) shared_outs(%o = %e) -> tensor<1024xf32> {
        %in = tensor.extract_slice %x[%i] [512] [1] : tensor<1024xf32> to tensor<512xf32>
        %to = tensor.extract_slice %o[%i] [512] [1] : tensor<1024xf32> to tensor<512xf32>
        %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                             iterator_types = ["parallel"]} ins(%in : tensor<512xf32>) outs(%to : tensor<512xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %a : f32
          linalg.yield %s : f32
        } -> tensor<512xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %y into %o[%i] [512] [1] : tensor<512xf32> into tensor<1024xf32>
        }
      } {fusion.kernel = "double", mapping = [#gpu.block<linear_dim_0>]}
      return %r : tensor<1024xf32>
    }
    ```

    `linalg.generic` gets four consecutive elements per lane: `fusion.layout = "regs[0.0 0.1] lanes[0.2 0.3 ...`.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "The chip to compile for.">];
}

def GPUDistribute : Pass<"fusion-gpu-distribute", "::mlir::ModuleOp"> {
  let summary = "Turn kernels into the programs of single threads, and launch them";
  let description = [{
    Each `scf.forall` with `fusion.kernel` becomes a function in the `gpu.module @fusion_gpu` and a
    `gpu.launch_func` in its place. Tiles become registers, as `fusion.layout` says: loads and stores of up to
    16 bytes, reductions by shuffles and, across warps, through shared memory; elements outside of a ragged tile are
    neither read nor written nor reduced. What the kernel uses of the program around it becomes its arguments, listed in
    `fusion.launch`. See docs/rationale/gpu.md for the form.

    An operation in a kernel for which there is no GPU code is an error.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "The chip to compile for.">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def GPULowerMath : Pass<"fusion-gpu-lower-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Use the fast instructions for f32 functions";
  let description = [{
    On f32 in device code: `math.exp` and `math.exp2` become one multiplication and `ex2.approx.ftz`, `math.rsqrt` becomes
    `rsqrt.approx.ftz`, a division becomes a multiplication by the reciprocal, which is computed once for all
    dividends of the same divisor (`div.full`, or at compile time). All are within 3 units in the last place, for
    `exp` plus 1e-7 of the exponent. f16 and bf16 functions are computed in f32. Rounding divisions and
    absolute values of integers are expanded.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def GPUCheckLowered : Pass<"fusion-gpu-check-lowered", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Report what device code still holds besides the LLVM and NVVM dialects";
  let description = [{
    Conversions leave what they do not know, and succeed. The first such operation is an error at its location, with its name.
  }];
}

#endif // FUSION_GPU_PASSES
