// RUN: fusion-opt %s --fusion-sink-constants | FileCheck %s

#v = affine_map<(d0) -> (d0)>

// The constant that only bodies use goes; another one stays; tensors are no scalars.

// CHECK-LABEL: @sink
// CHECK-SAME: %{{.*}}: tensor<8xf32>, %[[S:.*]]: f32
// CHECK-NOT: arith.constant 2.0
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: arith.mulf %{{.*}}, %[[C]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[C]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[S]]
func.func @sink(%x: tensor<8xf32>, %s: f32) -> tensor<8xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.mulf %in, %two : f32
    %2 = arith.addf %1, %two : f32
    %3 = arith.addf %2, %s : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
