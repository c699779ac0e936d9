// RUN: fusion-opt %s --fusion-cpu-parallelize-opaque --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func @rows
// CHECK: scf.forall (%{{.*}}) = (0) to (1000) step (16) shared_outs
// CHECK: linalg.reduce
func.func @rows(%a: tensor<1000x4096xf32>, %i: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<1000x4096xf32>) outs(%i : tensor<1000xf32>) dimensions = [1]
  return %0 : tensor<1000xf32>
}

// -----

// Few rows: the columns are cut too, by cache lines.

// CHECK-LABEL: func @wide
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (2, 100000) step (1, 33344)
func.func @wide(%a: tensor<2x100000xf32>, %b: tensor<2x100000xf32>) -> tensor<2x100000xf32> {
  %0 = linalg.copy ins(%a : tensor<2x100000xf32>) outs(%b : tensor<2x100000xf32>) -> tensor<2x100000xf32>
  return %0 : tensor<2x100000xf32>
}

// -----

// CHECK-LABEL: func @dynamic
// CHECK: %[[D:.*]] = tensor.dim %arg0, %c0
// CHECK: %[[T:.*]] = affine.max #{{.*}}()[%[[D]]]
// CHECK: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (%[[T]])
func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.copy ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Small ones, whole reductions and what stands in a parallel loop stay.

// CHECK-LABEL: func @stay
// CHECK-NOT: scf.forall (
// CHECK: linalg.copy
// CHECK: linalg.reduce
// CHECK: scf.forall (%{{.*}}) in (4)
// CHECK-NOT: scf.forall (
func.func @stay(%a: tensor<10x10xf32>, %b: tensor<10x10xf32>, %c: tensor<1000000xf32>, %d: tensor<f32>, %e: tensor<4x1000000xf32>)
    -> (tensor<10x10xf32>, tensor<f32>, tensor<4x1000000xf32>) {
  %0 = linalg.copy ins(%a : tensor<10x10xf32>) outs(%b : tensor<10x10xf32>) -> tensor<10x10xf32>
  %1 = linalg.reduce { arith.addf } ins(%c : tensor<1000000xf32>) outs(%d : tensor<f32>) dimensions = [0]
  %2 = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x1000000xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 1000000] [1, 1] : tensor<4x1000000xf32> to tensor<1000000xf32>
    %t = linalg.copy ins(%c : tensor<1000000xf32>) outs(%s : tensor<1000000xf32>) -> tensor<1000000xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 1000000] [1, 1] : tensor<1000000xf32> into tensor<4x1000000xf32>
    }
  }
  return %0, %1, %2 : tensor<10x10xf32>, tensor<f32>, tensor<4x1000000xf32>
}
