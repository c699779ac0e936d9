// RUN: fusion-opt %s --fusion-push-slices --split-input-file | FileCheck %s

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// Gates: matmuls with slices of the weights, through the transpose, the bias and the fill.

// CHECK-LABEL: @gates
// CHECK-SAME: %[[X:.*]]: tensor<16x48xf32>, %[[W:.*]]: tensor<128x48xf32>, %[[BIAS:.*]]: tensor<128xf32>
// CHECK-DAG: tensor.extract_slice %[[W]][0, 0] [64, 48]
// CHECK-DAG: tensor.extract_slice %[[W]][64, 0] [64, 48]
// CHECK-DAG: tensor.extract_slice %[[BIAS]][0] [64]
// CHECK-DAG: tensor.extract_slice %[[BIAS]][64] [64]
// CHECK-NOT: tensor.extract_slice
// CHECK-COUNT-2: ["parallel", "parallel", "reduction"]} ins(%[[X]], %{{.*}} : tensor<16x48xf32>, tensor<48x64xf32>)
// CHECK-NOT: tensor<16x128xf32>
func.func @gates(%x: tensor<16x48xf32>, %w: tensor<128x48xf32>, %bias: tensor<128xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<48x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x48xf32>) outs(%et : tensor<48x128xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<16x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x128xf32>) -> tensor<16x128xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<16x48xf32>, tensor<48x128xf32>) outs(%f : tensor<16x128xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %4 = arith.mulf %l, %r : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<16x128xf32>
  %1 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<16x128xf32>, tensor<128xf32>) outs(%e : tensor<16x128xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %4 = arith.addf %l, %r : f32
    linalg.yield %4 : f32
  } -> tensor<16x128xf32>
  %2 = tensor.extract_slice %1[0, 0] [16, 64] [1, 1] : tensor<16x128xf32> to tensor<16x64xf32>
  %3 = tensor.extract_slice %1[0, 64] [16, 64] [1, 1] : tensor<16x128xf32> to tensor<16x64xf32>
  return %2, %3 : tensor<16x64xf32>, tensor<16x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Slices that overlap, and a value that is used whole, are not computed twice.

// CHECK-LABEL: @shared
// CHECK-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK-COUNT-3: tensor.extract_slice
// CHECK-NOT: linalg.generic
func.func @shared(%x: tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = math.exp %in : f32
    linalg.yield %5 : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = math.tanh %in : f32
    linalg.yield %5 : f32
  } -> tensor<4x8xf32>
  %2 = tensor.extract_slice %0[0, 0] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>
  %3 = tensor.extract_slice %0[0, 3] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>
  %4 = tensor.extract_slice %1[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  return %2, %3, %1, %4 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// One row, dropped to rank 1; positions in the body count from the start of the whole. The other axis is dynamic.

// CHECK-LABEL: @row
// CHECK-SAME: %[[X:.*]]: tensor<8x?xi64>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][3, 0] [1, %{{.*}}] [1, 1] : tensor<8x?xi64> to tensor<1x?xi64>
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<1x?xi64>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[I]], %{{.*}} : index
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x?xi64> into tensor<?xi64>
func.func @row(%x: tensor<8x?xi64>, %n: index) -> tensor<?xi64> {
  %e = tensor.empty(%n) : tensor<8x?xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x?xi64>) outs(%e : tensor<8x?xi64>) {
  ^bb0(%in: i64, %out: i64):
    %2 = linalg.index 0 : index
    %3 = arith.index_cast %2 : index to i64
    %4 = arith.addi %in, %3 : i64
    linalg.yield %4 : i64
  } -> tensor<8x?xi64>
  %1 = tensor.extract_slice %0[3, 0] [1, %n] [1, 1] : tensor<8x?xi64> to tensor<?xi64>
  return %1 : tensor<?xi64>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Packed projections: the slice moves through the reshape, in whole rows of what was collapsed.

// CHECK-LABEL: @packed
// CHECK-SAME: %[[X:.*]]: tensor<4x24xf32>
// CHECK: tensor.extract_slice %[[X]][0, 8] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
// CHECK: linalg.generic {{.*}} tensor<4x8xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<4x8xf32> into tensor<4x1x2x4xf32>
func.func @packed(%x: tensor<4x24xf32>) -> tensor<4x2x4xf32> {
  %e = tensor.empty() : tensor<4x24xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = math.exp %in : f32
    linalg.yield %3 : f32
  } -> tensor<4x24xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2, 3]] output_shape [4, 3, 2, 4] : tensor<4x24xf32> into tensor<4x3x2x4xf32>
  %2 = tensor.extract_slice %1[0, 1, 0, 0] [4, 1, 2, 4] [1, 1, 1, 1] : tensor<4x3x2x4xf32> to tensor<4x2x4xf32>
  return %2 : tensor<4x2x4xf32>
}
