// RUN: fusion-opt %s --fusion-merge-extents --canonicalize --cse --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// The tensor's extent is the loop's: where it is 1 the only position is 0.

// CHECK-LABEL: @proven
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[X]]
func.func @proven(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 1 : index
    %3 = arith.cmpi eq, %n, %c1 : index
    %4 = arith.select %3, %c0, %1 : index
    %5 = tensor.extract %x[%4, %2] : tensor<?x4xf32>
    linalg.yield %5 : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Another tensor's extent, behind a transpose: broadcast at run time only if the extents differ. The transpose comes
// after the choice. A second run changes nothing.

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: @conditional
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[Y]]
// CHECK: %[[EQ:.*]] = arith.cmpi eq, %[[M]], %[[N]]
// CHECK: %[[CHOICE:.*]] = scf.if %[[EQ]] -> (tensor<?x4xf32>) {
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK: } else {
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[M]], %{{.*}}
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: arith.select %[[ONE]]
// CHECK: tensor.extract %[[Y]]
// CHECK: linalg.generic {indexing_maps = [#[[$T]], #[[$ID]]]{{.*}} ins(%[[CHOICE]] : tensor<?x4xf32>) outs(%{{.*}} : tensor<4x?xf32>)
// CHECK-NOT: tensor.extract
func.func @conditional(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = tensor.dim %y, %c0 : tensor<?x4xf32>
  %et = tensor.empty(%m) : tensor<4x?xf32>
  %t = linalg.transpose ins(%y : tensor<?x4xf32>) outs(%et : tensor<4x?xf32>) permutation = [1, 0]
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x?xf32>) {
  ^bb0(%out: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 1 : index
    %3 = arith.cmpi eq, %m, %c1 : index
    %4 = arith.select %3, %c0, %2 : index
    %5 = tensor.extract %t[%1, %4] : tensor<4x?xf32>
    linalg.yield %5 : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A gather by anything else is no guard.

// CHECK-LABEL: @gather
// CHECK: tensor.extract
func.func @gather(%x: tensor<?xf32>, %k: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%out: f32):
    %1 = linalg.index 0 : index
    %3 = arith.cmpi eq, %n, %c2 : index
    %4 = arith.select %3, %c0, %1 : index
    %5 = tensor.extract %x[%4] : tensor<?xf32>
    linalg.yield %5 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
