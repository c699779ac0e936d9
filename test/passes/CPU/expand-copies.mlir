// RUN: fusion-opt %s --fusion-cpu-expand-copies | FileCheck %s

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
