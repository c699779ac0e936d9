// RUN: fusion-opt %s --fusion-cpu-expand-copies --canonicalize | FileCheck %s

// CHECK-LABEL: func @copies
// CHECK-NEXT: memref.copy %arg0, %arg1
// CHECK-NEXT: linalg.generic {{.*}} ins(%arg2 : memref<64x64xf32, strided<[128, 1]>>) outs(%arg0
// CHECK: linalg.generic {{.*}} ins(%arg3 : memref<16xf32>) outs(%arg4
// CHECK-NOT: memref.copy
// CHECK: return
func.func @copies(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32, strided<[128, 1]>>,
                  %d: memref<16xf32>, %e: memref<16xf32>) {
  memref.copy %a, %b : memref<64x64xf32> to memref<64x64xf32>
  memref.copy %c, %a : memref<64x64xf32, strided<[128, 1]>> to memref<64x64xf32>
  memref.copy %d, %e : memref<16xf32> to memref<16xf32>
  memref.copy %b, %b : memref<64x64xf32> to memref<64x64xf32>
  return
}

// Large ones use all threads, by the outermost dim that can be cut.

// CHECK-LABEL: func @large
// CHECK: scf.forall (%[[I:.*]]) = (0) to (1000) step (16)
// CHECK: %[[N:.*]] = affine.min
// CHECK: memref.subview %arg0[0, %[[I]], 0] [1, %[[N]], 100] [1, 1, 1]
// CHECK: memref.subview %arg1[0, %[[I]], 0] [1, %[[N]], 100] [1, 1, 1]
// CHECK: linalg.generic
// CHECK: %[[D:.*]] = memref.dim %arg2, %c0
// CHECK: scf.forall (%{{.*}}) = (0) to (%[[D]]) step
// In a kernel there is nothing to win.
// CHECK: scf.forall (%{{.*}}) in (4)
// CHECK-NOT: scf.forall (
// CHECK: return
func.func @large(%a: memref<1x1000x100xf32>, %b: memref<1x1000x100xf32>, %c: memref<?x4xf32>, %d: memref<?x4xf32>) {
  memref.copy %a, %b : memref<1x1000x100xf32> to memref<1x1000x100xf32>
  memref.copy %d, %c : memref<?x4xf32> to memref<?x4xf32>
  scf.forall (%i) in (4) {
    memref.copy %b, %a : memref<1x1000x100xf32> to memref<1x1000x100xf32>
  }
  return
}
