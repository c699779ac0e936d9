// RUN: fusion-opt %s --fusion-fold-generators --split-input-file | FileCheck %s

#v = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0, 0)>
#cols = affine_map<(d0, d1) -> (0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d2, d3)>

// One iota serves as rows and as columns of a causal mask: both become coordinates of the scores.

// CHECK-LABEL: @causal
// CHECK-SAME: %[[X:.*]]: tensor<2x4x100x100xf32>
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<2x4x100x100xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG: %[[ROW:.*]] = linalg.index 2
// CHECK-DAG: %[[COLUMN:.*]] = linalg.index 3
// CHECK-DAG: %[[R:.*]] = arith.index_cast %[[ROW]]
// CHECK-DAG: %[[C:.*]] = arith.index_cast %[[COLUMN]]
// CHECK: %[[LESS:.*]] = arith.cmpi sle, %[[C]], %[[R]] : i64
// CHECK: %[[MASK:.*]] = arith.select %[[LESS]]
// CHECK: arith.addf %[[IN]], %[[MASK]]
// CHECK: return
func.func @causal(%x: tensor<2x4x100x100xf32>) -> tensor<2x4x100x100xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<100xi64>
  %0 = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%e : tensor<100xi64>) {
  ^bb0(%out: i64):
    %6 = linalg.index 0 : index
    %7 = arith.index_cast %6 : index to i64
    linalg.yield %7 : i64
  } -> tensor<100xi64>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [1, 100] : tensor<100xi64> into tensor<1x100xi64>
  %2 = tensor.expand_shape %0 [[0, 1]] output_shape [100, 1] : tensor<100xi64> into tensor<100x1xi64>
  %b = tensor.empty() : tensor<100x100xi1>
  %3 = linalg.generic {indexing_maps = [#cols, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2 : tensor<1x100xi64>, tensor<100x1xi64>) outs(%b : tensor<100x100xi1>) {
  ^bb0(%c: i64, %r: i64, %out: i1):
    %6 = arith.cmpi sle, %c, %r : i64
    linalg.yield %6 : i1
  } -> tensor<100x100xi1>
  %f = tensor.empty() : tensor<100x100xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%3 : tensor<100x100xi1>) outs(%f : tensor<100x100xf32>) {
  ^bb0(%in: i1, %out: f32):
    %6 = arith.select %in, %zero, %inf : f32
    linalg.yield %6 : f32
  } -> tensor<100x100xf32>
  %g = tensor.empty() : tensor<2x4x100x100xf32>
  %5 = linalg.generic {indexing_maps = [#id4, #last, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %4 : tensor<2x4x100x100xf32>, tensor<100x100xf32>) outs(%g : tensor<2x4x100x100xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %6 = arith.addf %in, %m : f32
    linalg.yield %6 : f32
  } -> tensor<2x4x100x100xf32>
  return %5 : tensor<2x4x100x100xf32>
}

// -----

#v = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A slice counts from its offset, a reshape splits the position.

// CHECK-LABEL: @views
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xi64>)
// CHECK-DAG: linalg.index 0
// CHECK-DAG: arith.addi %{{.*}}, %{{.*}} : index
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x6xi64>)
// CHECK-DAG: linalg.index 0
// CHECK-DAG: linalg.index 1
// CHECK-DAG: arith.muli
// CHECK: return
func.func @views(%x: tensor<4xi64>, %y: tensor<4x6xi64>) -> (tensor<4xi64>, tensor<4x6xi64>) {
  %e = tensor.empty() : tensor<24xi64>
  %0 = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%e : tensor<24xi64>) {
  ^bb0(%out: i64):
    %5 = linalg.index 0 : index
    %6 = arith.index_cast %5 : index to i64
    linalg.yield %6 : i64
  } -> tensor<24xi64>
  %1 = tensor.extract_slice %0[5] [4] [1] : tensor<24xi64> to tensor<4xi64>
  %2 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 6] : tensor<24xi64> into tensor<4x6xi64>
  %f = tensor.empty() : tensor<4xi64>
  %3 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%x, %1 : tensor<4xi64>, tensor<4xi64>) outs(%f : tensor<4xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %5 = arith.muli %a, %b : i64
    linalg.yield %5 : i64
  } -> tensor<4xi64>
  %g = tensor.empty() : tensor<4x6xi64>
  %4 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %2 : tensor<4x6xi64>, tensor<4x6xi64>) outs(%g : tensor<4x6xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %5 = arith.addi %a, %b : i64
    linalg.yield %5 : i64
  } -> tensor<4x6xi64>
  return %3, %4 : tensor<4xi64>, tensor<4x6xi64>
}

// -----

#v = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A logarithm is not taken once per column, but it is taken where it is read once.

// CHECK-LABEL: @expensive
// CHECK: math.log
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>) outs
// CHECK: math.log
func.func @expensive(%x: tensor<8x4xf32>, %y: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %3 = linalg.index 0 : index
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.sitofp %4 : i64 to f32
    %6 = math.log %5 : f32
    linalg.yield %6 : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<8x4xf32>, tensor<8xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<8x4xf32>
  %2 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%y, %0 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8xf32>
}
