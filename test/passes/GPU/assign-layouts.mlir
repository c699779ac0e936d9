// RUN: fusion-opt %s --split-input-file --fusion-gpu-assign-layouts=chip=sm_80 | FileCheck %s
// RUN: not fusion-opt %s --split-input-file --fusion-gpu-assign-layouts=chip=sm_81 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_81': accepted are sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100

#id = affine_map<(d0) -> (d0)>

// Sixteen bytes per lane.
// CHECK-LABEL: func.func @double
// CHECK: linalg.generic
// CHECK-SAME: fusion.layout = "regs[0.0 0.1] lanes[0.2 0.3 0.4 0.5 0.6]
// CHECK: fusion.kernel = "double", fusion.warps = {{[0-9]+}} : i64
func.func @double(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<1024xf32>
  %r = scf.forall (%i) = (0) to (1024) step (512) shared_outs(%o = %e) -> tensor<1024xf32> {
    %in = tensor.extract_slice %x[%i] [512] [1] : tensor<1024xf32> to tensor<512xf32>
    %to = tensor.extract_slice %o[%i] [512] [1] : tensor<1024xf32> to tensor<512xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : tensor<512xf32>) outs(%to : tensor<512xf32>) {
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

// -----

#mn = affine_map<(d0, d1) -> (d0, d1)>
#m = affine_map<(d0, d1) -> (d0)>

// The maximum and what uses it have the same layout, so nothing moves. 4096 f16 in eight warps.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {{.*}}fusion.layout = "[[LAYOUT:regs\[1.0 1.1 1.2\] lanes\[1.3 1.4 1.5 1.6 1.7\] warps\[1.8 1.9 1.10\] x\[1 2\]]]"
// CHECK: linalg.generic {{.*}}fusion.layout = "[[LAYOUT]]"
// CHECK: fusion.warps = 8
func.func @rows(%x: tensor<64x4096xf16>) -> tensor<64x4096xf16> {
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<64x4096xf16>
  %r = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64x4096xf16> {
    %in = tensor.extract_slice %x[%i, 0] [1, 4096] [1, 1] : tensor<64x4096xf16> to tensor<1x4096xf16>
    %to = tensor.extract_slice %o[%i, 0] [1, 4096] [1, 1] : tensor<64x4096xf16> to tensor<1x4096xf16>
    %me = tensor.empty() : tensor<1xf16>
    %mf = linalg.fill ins(%low : f16) outs(%me : tensor<1xf16>) -> tensor<1xf16>
    %max = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<1x4096xf16>) outs(%mf : tensor<1xf16>) {
    ^bb0(%a: f16, %b: f16):
      %s = arith.maximumf %b, %a : f16
      linalg.yield %s : f16
    } -> tensor<1xf16>
    %y = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%in, %max : tensor<1x4096xf16>, tensor<1xf16>) outs(%to : tensor<1x4096xf16>) {
    ^bb0(%a: f16, %b: f16, %c: f16):
      %s = arith.subf %a, %b : f16
      linalg.yield %s : f16
    } -> tensor<1x4096xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 4096] [1, 1] : tensor<1x4096xf16> into tensor<64x4096xf16>
    }
  } {fusion.kernel = "rows", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<64x4096xf16>
}
