// RUN: fusion-opt %s --fusion-detach-inits | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>

// CHECK-LABEL: @detach
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[O]]
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
func.func @detach(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.exp %in : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A fill is empty behind its back too, and what is read stays.

// CHECK-LABEL: @read
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[O:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>
// CHECK: linalg.generic {{.*}} outs(%[[O]] : tensor<8xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[S]] : tensor<f32>)
func.func @read(%x: tensor<8xf32>, %o: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %in, %out : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %in, %out : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0, %1 : tensor<8xf32>, tensor<f32>
}
