// RUN: fusion-opt %s --fusion-split-concats --canonicalize --cse --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A rotation of halves, scaled, transposed and contracted: two contractions, the second from the result of the first.

// CHECK-LABEL: @rotate
// CHECK-SAME: %[[X:.*]]: tensor<4x16xf32>, %[[S:.*]]: tensor<16xf32>, %[[Y:.*]]: tensor<4x16xf32>
// CHECK-NOT: tensor.concat
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x4xf32>)
// CHECK: linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x4xf32>) outs(%[[FIRST]] : tensor<4x4xf32>)
// CHECK-NOT: reduction
func.func @rotate(%x: tensor<4x16xf32>, %s: tensor<16xf32>, %y: tensor<4x16xf32>, %acc: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %lo = tensor.extract_slice %x[0, 0] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %hi = tensor.extract_slice %x[0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %0 = tensor.concat dim(1) %hi, %lo : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %s : tensor<4x16xf32>, tensor<16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %4 = arith.mulf %l, %r : f32
    linalg.yield %4 : f32
  } -> tensor<4x16xf32>
  %et = tensor.empty() : tensor<16x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<4x16xf32>) outs(%et : tensor<16x4xf32>) permutation = [1, 0]
  %3 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %2 : tensor<4x16xf32>, tensor<16x4xf32>) outs(%acc : tensor<4x4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %4 = arith.mulf %l, %r : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Unequal parts; positions count on through the parts.

// CHECK-LABEL: @positions
// CHECK-SAME: %[[X:.*]]: tensor<4x3xi64>, %[[Y:.*]]: tensor<4x?xi64>, %[[Z:.*]]: tensor<4x5xi64>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x3xi64>)
// CHECK: linalg.index 1
// CHECK-NOT: arith.addi %{{.*}}, %c3
// CHECK: linalg.generic {{.*}} ins(%[[Z]] : tensor<4x5xi64>) outs(%[[FIRST]]
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.addi %[[I]], %c3

// The extent of a part is not known.
// CHECK: tensor.concat
func.func @positions(%x: tensor<4x3xi64>, %y: tensor<4x?xi64>, %z: tensor<4x5xi64>, %acc: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = tensor.concat dim(1) %x, %z : (tensor<4x3xi64>, tensor<4x5xi64>) -> tensor<4x8xi64>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xi64>) outs(%acc : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.muli %in, %5 : i64
    %7 = arith.addi %out, %6 : i64
    linalg.yield %7 : i64
  } -> tensor<4xi64>
  %2 = tensor.concat dim(1) %x, %y : (tensor<4x3xi64>, tensor<4x?xi64>) -> tensor<4x?xi64>
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<4x?xi64>) outs(%acc : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %4 = arith.addi %out, %in : i64
    linalg.yield %4 : i64
  } -> tensor<4xi64>
  return %1, %3 : tensor<4xi64>, tensor<4xi64>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What is also needed whole, or ends in something else than a reduction, is made.

// CHECK-LABEL: @whole
// CHECK-COUNT-2: tensor.concat
func.func @whole(%x: tensor<4x3xf32>, %acc: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = tensor.concat dim(1) %x, %x : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x6xf32>) outs(%acc : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %out, %in : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%x : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = math.exp %in : f32
    linalg.yield %4 : f32
  } -> tensor<4x3xf32>
  %2 = tensor.concat dim(1) %x, %y : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = math.exp %in : f32
    linalg.yield %4 : f32
  } -> tensor<4x6xf32>
  return %1, %0, %3 : tensor<4xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
