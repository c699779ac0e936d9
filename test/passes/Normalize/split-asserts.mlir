// RUN: fusion-opt %s --fusion-split-asserts --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Two assertions, checked in their order before the computation.

// CHECK-LABEL: @two
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<i1>)
// CHECK: arith.cmpf one
// CHECK-NEXT: arith.andi
// CHECK: %[[FIRST:.*]] = tensor.extract
// CHECK: cf.assert %[[FIRST]], "zero"
// CHECK: iterator_types = ["reduction", "reduction"]
// CHECK: linalg.index 1
// CHECK: %[[SECOND:.*]] = tensor.extract
// CHECK: cf.assert %[[SECOND]], "far"
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK-NOT: cf.assert
func.func @two(%x: tensor<4x8xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4x8xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %1 = arith.cmpf one, %by, %cst : f32
    cf.assert %1, "zero"
    %2 = linalg.index 1 : index
    %3 = arith.cmpi ult, %2, %n : index
    cf.assert %3, "far"
    %4 = arith.divf %in, %by : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// The assertion guards a read.

// CHECK-LABEL: @gather
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: cf.assert
// CHECK: tensor.extract
func.func @gather(%table: tensor<16xf32>, %at: tensor<8xi64>) -> tensor<8xf32> {
  %c16 = arith.constant 16 : index
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: i64, %out: f32):
    %1 = arith.index_cast %in : i64 to index
    %2 = arith.cmpi ult, %1, %c16 : index
    cf.assert %2, "out of bounds"
    %3 = tensor.extract %table[%1] : tensor<16xf32>
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// The condition depends on the running value of a reduction.

// CHECK-LABEL: @running
// CHECK: linalg.generic
// CHECK: cf.assert
// CHECK: linalg.yield
// CHECK-NOT: cf.assert
func.func @running(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<f32> {
  %cst = arith.constant 9.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.cmpf olt, %out, %cst : f32
    cf.assert %1, "large"
    %2 = arith.addf %in, %out : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
