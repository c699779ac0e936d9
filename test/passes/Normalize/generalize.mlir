// RUN: fusion-opt %s --fusion-generalize --split-input-file | FileCheck %s

// Named contractions, permuted and broadcasting maps included.

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: @transposed_matmul
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @transposed_matmul(%a: tensor<4x8xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                      affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4x8xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// CHECK-LABEL: @others
// CHECK-COUNT-6: linalg.generic
// CHECK-NOT: linalg.{{contract|dot|batch_matvec|reduce|broadcast|map}}
func.func @others(%x: tensor<2x3x4xf32>, %y: tensor<2x4xf32>, %v: tensor<4xf32>, %s: tensor<f32>, %i: tensor<2x3xf32>,
                  %o: tensor<2x3x4xf32>)
    -> (tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = linalg.batch_matvec ins(%x, %y : tensor<2x3x4xf32>, tensor<2x4xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.dot ins(%v, %v : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %2 = linalg.reduce {arith.addf} ins(%x : tensor<2x3x4xf32>) outs(%i : tensor<2x3xf32>) dimensions = [2]
  %3 = linalg.contract indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (c)>,
                                        affine_map<(a, b, c) -> (a, b)>]
      ins(%x, %v : tensor<2x3x4xf32>, tensor<4xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = linalg.broadcast ins(%v : tensor<4xf32>) outs(%o : tensor<2x3x4xf32>) dimensions = [0, 1]
  %5 = linalg.map {math.exp} ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<2x3x4xf32>)
  return %0, %1, %2, %3, %4, %5
      : tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// Windows, fills, transposes and buffers stay.

// CHECK-LABEL: @kept
// CHECK: linalg.conv_1d_nwc_wcf
// CHECK: linalg.pooling_nwc_max
// CHECK: linalg.transpose
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK-NOT: linalg.generic
func.func @kept(%x: tensor<1x8x3xf32>, %k: tensor<3x3x5xf32>, %c: tensor<1x6x5xf32>, %w: tensor<3xf32>, %p: tensor<1x6x3xf32>,
                %t: tensor<3x8x1xf32>, %s: f32, %m: memref<4x4xf32>)
    -> (tensor<1x6x5xf32>, tensor<1x6x3xf32>, tensor<3x8x1xf32>, tensor<1x6x3xf32>) {
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %k : tensor<1x8x3xf32>, tensor<3x3x5xf32>) outs(%c : tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  %1 = linalg.pooling_nwc_max ins(%x, %w : tensor<1x8x3xf32>, tensor<3xf32>) outs(%p : tensor<1x6x3xf32>) -> tensor<1x6x3xf32>
  %2 = linalg.transpose ins(%x : tensor<1x8x3xf32>) outs(%t : tensor<3x8x1xf32>) permutation = [2, 1, 0]
  %3 = linalg.fill ins(%s : f32) outs(%p : tensor<1x6x3xf32>) -> tensor<1x6x3xf32>
  linalg.matmul ins(%m, %m : memref<4x4xf32>, memref<4x4xf32>) outs(%m : memref<4x4xf32>)
  return %0, %1, %2, %3 : tensor<1x6x5xf32>, tensor<1x6x3xf32>, tensor<3x8x1xf32>, tensor<1x6x3xf32>
}

// -----

// Softmax along an inner axis of a tensor with a run-time extent. The maximum starts at minus infinity.

// CHECK-LABEL: @softmax
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[INF]] : f32)
// CHECK: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.fill ins(%[[ZERO]] : f32)
// CHECK: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: linalg.softmax
func.func @softmax(%x: tensor<2x?x4xf32>, %o: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x?x4xf32>) outs(%o : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// -----

// Scalar operations on tensors; the condition of a select may be a scalar.

// CHECK-LABEL: @elementwise
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %{{.*}}, %[[C:.*]]: i1
// CHECK: tensor.empty(%{{.*}}) : tensor<?x4xf32>
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK: arith.select %[[C]]
func.func @elementwise(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %c: i1) -> tensor<?x4xf32> {
  %0 = arith.addf %x, %y : tensor<?x4xf32>
  %1 = arith.select %c, %0, %x : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: @made
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: linalg.fill
// CHECK-NOT: tensor.{{generate|splat}}
func.func @made(%n: index, %s: f32) -> (tensor<?xi64>, tensor<4xf32>) {
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %2 = arith.index_cast %i : index to i64
    tensor.yield %2 : i64
  } : tensor<?xi64>
  %1 = tensor.splat %s : tensor<4xf32>
  return %0, %1 : tensor<?xi64>, tensor<4xf32>
}
