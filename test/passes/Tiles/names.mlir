// Names of kernels, and clean-up that keeps the tags.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize --cse --canonicalize | FileCheck %s

!m = !spacemap.space<[m], f32>
!mn = !spacemap.space<[m, n], f32>

// CHECK-LABEL: func.func @names
// CHECK: {fusion.kernel = "given", mapping = [#gpu.block<linear_dim_0>]}
// CHECK: {fusion.kernel = "names_kernel0", mapping = [#gpu.block<linear_dim_0>]}
// CHECK: {fusion.kernel = "names_kernel1", mapping = [#gpu.block<linear_dim_0>]}
func.func @names(%x: tensor<12x16xf32>) -> (tensor<12x16xf32>, tensor<12xf32>, tensor<12xf32>) {
  %0 = spacemap.graph dims [m = 12, n = 16] ins(%a = %x : tensor<12x16xf32>) attributes {fusion.kernel = "given"} {
    %1 = spacemap.source %a [m, n] : tensor<12x16xf32> -> !mn
    %2 = spacemap.all_to_one %1 along [n] sum : !mn -> !m
    %3 = spacemap.one_to_all %2 along [n] : !m -> !mn
    %4 = spacemap.map (%p = %1, %q = %3 : !mn, !mn) {
      %5 = arith.subf %p, %q : f32
      spacemap.yield %5 : f32
    } -> !mn
    spacemap.output %4 [m, n] : !mn
  } -> tensor<12x16xf32>
  %1 = spacemap.graph dims [m = 12, n = 16] ins(%a = %0 : tensor<12x16xf32>) {
    %2 = spacemap.source %a [m, n] : tensor<12x16xf32> -> !mn
    %3 = spacemap.all_to_one %2 along [n] sum : !mn -> !m
    spacemap.output %3 [m] : !m
  } -> tensor<12xf32>
  %2 = spacemap.graph dims [m = 12, n = 16] ins(%a = %0 : tensor<12x16xf32>) {
    %3 = spacemap.source %a [m, n] : tensor<12x16xf32> -> !mn
    %4 = spacemap.all_to_one %3 along [n] max : !mn -> !m
    spacemap.output %4 [m] : !m
  } -> tensor<12xf32>
  return %0, %1, %2 : tensor<12x16xf32>, tensor<12xf32>, tensor<12xf32>
}
