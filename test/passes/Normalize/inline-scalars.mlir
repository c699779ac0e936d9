// RUN: fusion-opt %s --fusion-inline-scalars --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>

// A splat of the full shape, one of rank 0 and a filled tensor behind a reshape.

// CHECK-LABEL: @uniform
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
func.func @uniform(%x: tensor<4x8xf32>, %s: f32) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %e32 = tensor.empty() : tensor<32xf32>
  %f32 = linalg.fill ins(%s : f32) outs(%e32 : tensor<32xf32>) -> tensor<32xf32>
  %f = tensor.expand_shape %f32 [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #scalar, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %zeros, %one, %f : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32, %c: f32, %out: f32):
    %1 = arith.maximumf %in, %a : f32
    %2 = arith.addf %1, %b : f32
    %3 = arith.mulf %2, %c : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// A broadcast of a scalar is a fill, and its reader uses the scalar.

// CHECK-LABEL: @broadcast
// CHECK: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
func.func @broadcast(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#scalar, #id], iterator_types = ["parallel"]} ins(%two : tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %0 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %2 = arith.divf %in, %by : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// The splat is what bounds the loop: it stays. An extract from a uniform tensor is the scalar.

// CHECK-LABEL: @bound
// CHECK-SAME: %[[S:.*]]: f32
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>)
// CHECK: return %{{.*}}, %[[S]]
func.func @bound(%s: f32, %i: index) -> (tensor<f32>, f32) {
  %zero = arith.constant 0.0 : f32
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%ones : tensor<8xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %e8 = tensor.empty() : tensor<8xf32>
  %g = linalg.fill ins(%s : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %2 = tensor.extract %g[%i] : tensor<8xf32>
  return %0, %2 : tensor<f32>, f32
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// A copy is its input; a transposing copy is not.

// CHECK-LABEL: @copy
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: return %[[X]], %[[T]]
func.func @copy(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
