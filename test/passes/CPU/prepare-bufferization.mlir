// RUN: fusion-opt %s --fusion-cpu-prepare-bufferization --split-input-file --verify-diagnostics | FileCheck %s

// Two writers share a fill of a slice: each gets its own, and the one in the loop makes it there.

// CHECK-LABEL: func @shared
// CHECK: %[[E0:.*]] = tensor.empty() : tensor<32xf32>
// CHECK: %[[S0:.*]] = tensor.extract_slice %[[E0]]
// CHECK: %[[F0:.*]] = linalg.fill {{.*}} outs(%[[S0]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[F0]])
// CHECK: %[[E1:.*]] = tensor.empty() : tensor<32xf32>
// CHECK: %[[S1:.*]] = tensor.extract_slice %[[E1]]
// CHECK: %[[F1:.*]] = linalg.fill {{.*}} outs(%[[S1]]
// CHECK: linalg.reduce {{.*}} outs(%[[F1]]
func.func @shared(%a: tensor<?x16xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %s = tensor.extract_slice %e[0] [%n] [1] : tensor<32xf32> to tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f) -> (tensor<?xf32>) {
    %p = linalg.reduce { arith.addf } ins(%a : tensor<?x16xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
    %u = linalg.add ins(%p, %p : tensor<?xf32>, tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @unknown(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{'tosa.abs' has no lowering for the CPU}}
  %0 = tosa.abs %a : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
