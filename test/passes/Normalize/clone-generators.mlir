// RUN: fusion-opt %s --fusion-clone-generators | FileCheck %s

#v = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// Read along rows and along columns: one copy each.

// CHECK-LABEL: @cloned
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK-NOT: linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%{{.*}}, %[[A]] : tensor<8x8xf32>, tensor<8xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%{{.*}}, %[[B]] : tensor<8x8xf32>, tensor<8xf32>)
func.func @cloned(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %3 = linalg.index 0 : index
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.sitofp %4 : i64 to f32
    %6 = math.sin %5 : f32
    linalg.yield %6 : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<8x8xf32>, tensor<8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0 : tensor<8x8xf32>, tensor<8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
