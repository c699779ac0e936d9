// A ragged grid of two dimensions over a temporal loop; the reduction accumulates into the state.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: fusion-run %s --entry=matmul_bias_relu --target=reference --stage=spacemap-to-tiles --input=100x70xf32=random:1 --input=70x96xf32=random:2 --input=96xf32=random:3 --atol=1e-4 --expected=reference
// RUN: fusion-run %s --entry=matmul_bias_relu --target=cpu --stage=spacemap-to-tiles --input=100x70xf32=random:1 --input=70x96xf32=random:2 --input=96xf32=random:3 --atol=1e-4 --expected=reference

// CHECK-LABEL: func.func @matmul_bias_relu
// CHECK-SAME: %[[A:.*]]: tensor<100x70xf32>, %[[B:.*]]: tensor<70x96xf32>, %[[BIAS:.*]]: tensor<96xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<100x96xf32>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (100, 96) step (32, 32) shared_outs(%[[RESULT:.*]] = %[[EMPTY]])
// CHECK: %[[SCRATCH:.*]] = tensor.empty() : tensor<32x32xf32>
// CHECK: %[[ROWS:.*]] = affine.min #{{.*}}(%[[M]])
// CHECK: %[[OUT:.*]] = tensor.extract_slice %[[RESULT]][%[[M]], %[[N]]] [%[[ROWS]], 32] [1, 1]
// CHECK: tensor.extract_slice %[[SCRATCH]][0, 0] [%[[ROWS]], 32] [1, 1]
// CHECK: scf.for %[[K:[^ ,]+]] = %{{.*}} iter_args(%[[ACC:.*]] =
// CHECK: %[[STEP:.*]] = affine.min #{{.*}}(%[[K]])
// CHECK: %[[LEFT:.*]] = tensor.extract_slice %[[A]][%[[M]], %[[K]]] [%[[ROWS]], %[[STEP]]] [1, 1]
// CHECK: %[[RIGHT:.*]] = tensor.extract_slice %[[B]][%[[K]], %[[N]]] [%[[STEP]], 32] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[LEFT]], %[[RIGHT]] : {{.*}}) outs(%[[ACC]] :
// CHECK: %[[BIASTILE:.*]] = tensor.extract_slice %[[BIAS]][%[[N]]] [32] [1]
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[BIASTILE]] : {{.*}}) outs(%[[OUT]] :
// CHECK: tensor.parallel_insert_slice %[[RELU]] into %[[RESULT]][%[[M]], %[[N]]] [%[[ROWS]], 32] [1, 1]
// CHECK: mapping = [#gpu.block<linear_dim_0>, #gpu.block<linear_dim_1>]

// BUFFER-LABEL: func.func @matmul_bias_relu
// BUFFER: scf.for %
// BUFFER-NOT: memref.alloc
// BUFFER-NOT: memref.copy
// BUFFER: return

func.func @matmul_bias_relu(%A: tensor<100x70xf32>, %B: tensor<70x96xf32>, %bias: tensor<96xf32>) -> tensor<100x96xf32> {
  %r = spacemap.graph dims [m = 100, n = 96, k = 70] ins(%a = %A, %b = %B, %c = %bias : tensor<100x70xf32>, tensor<70x96xf32>, tensor<96xf32>) blocks [m = 32, n = 32] {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !spacemap.space<[m, n], f32>
    %acc = spacemap.temporal along k by 16 (%s = %zero : !spacemap.space<[m, n], f32>) {
      %0 = spacemap.source %a [m, k] : tensor<100x70xf32> -> !spacemap.space<[m, k], f32>
      %1 = spacemap.source %b [k, n] : tensor<70x96xf32> -> !spacemap.space<[n, k], f32>
      %2 = spacemap.one_to_all %0 along [n] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, n, k], f32>
      %3 = spacemap.one_to_all %1 along [m] : !spacemap.space<[n, k], f32> -> !spacemap.space<[m, n, k], f32>
      %4 = spacemap.map (%x = %2, %y = %3 : !spacemap.space<[m, n, k], f32>, !spacemap.space<[m, n, k], f32>) {
        %p = arith.mulf %x, %y : f32
        spacemap.yield %p : f32
      } -> !spacemap.space<[m, n, k], f32>
      %5 = spacemap.all_to_one %4 along [k] sum : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
      %6 = spacemap.map (%x = %s, %y = %5 : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
        %p = arith.addf %x, %y : f32
        spacemap.yield %p : f32
      } -> !spacemap.space<[m, n], f32>
      spacemap.next %6 : !spacemap.space<[m, n], f32>
    } -> !spacemap.space<[m, n], f32>
    %7 = spacemap.source %c [n] : tensor<96xf32> -> !spacemap.space<[n], f32>
    %8 = spacemap.one_to_all %7 along [m] : !spacemap.space<[n], f32> -> !spacemap.space<[m, n], f32>
    %9 = spacemap.map (%x = %acc, %y = %8 : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %p = arith.addf %x, %y : f32
      %z = arith.constant 0.0 : f32
      %q = arith.maximumf %p, %z : f32
      spacemap.yield %q : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %9 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<100x96xf32>
  return %r : tensor<100x96xf32>
}
