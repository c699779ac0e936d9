// RUN: fusion-opt %s --fusion-cpu-place-buffers --split-input-file | FileCheck %s

#min = affine_map<(d0) -> (32, 100 - d0)>

// CHECK-LABEL: func @ragged
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[A:.*]] = memref.alloc() : memref<32x48xf32>
// CHECK: %[[V:.*]] = memref.subview %[[A]][0, 0] [%[[N]], 48] [1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[V]]
// CHECK: %[[B:.*]] = memref.alloc() : memref<16x32xf32>
// CHECK: %[[W:.*]] = memref.subview %[[B]][0, 0] [16, %[[N]]] [1, 1] : memref<16x32xf32> to memref<16x?xf32, strided<[32, 1]>>
// CHECK: %[[X:.*]] = memref.subview %[[W]][0, 0] [8, %[[N]]] [1, 1] : memref<16x?xf32, strided<[32, 1]>> to memref<8x?xf32, strided<[32, 1]>>
// CHECK: linalg.fill {{.*}} outs(%[[X]]
func.func @ragged(%z: f32) {
  scf.forall (%i) = (0) to (100) step (32) {
    %n = affine.min #min(%i)
    %a = memref.alloc(%n) : memref<?x48xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<?x48xf32>)
    %b = memref.alloc(%n) : memref<16x?xf32>
    %v = memref.subview %b[0, 0] [8, %n] [1, 1] : memref<16x?xf32> to memref<8x?xf32, strided<[?, 1]>>
    linalg.fill ins(%z : f32) outs(%v : memref<8x?xf32, strided<[?, 1]>>)
  }
  return
}

// -----

// Without a bound, outside of a parallel loop, or where the layout is seen, nothing changes.

// CHECK-LABEL: func @stay
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: scf.forall
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x4xf32>
func.func @stay(%n: index, %z: f32) {
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  scf.forall (%i) in (100) {
    %b = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
    %c = memref.alloc(%i) : memref<?x4xf32>
    %d = memref.collapse_shape %c [[0, 1]] : memref<?x4xf32> into memref<?xf32>
    linalg.fill ins(%z : f32) outs(%d : memref<?xf32>)
  }
  return
}
