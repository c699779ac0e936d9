// RUN: fusion-opt %s --fusion-cpu-outline-parallel --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: memref<2x100xf32>, %[[N:.*]]: index)
// CHECK: %[[T:.*]] = arith.ceildivsi %[[N]], %c32
// CHECK: %[[P:.*]] = arith.maxsi %[[T]], %c0
// CHECK: %[[C:.*]] = arith.muli %[[P]], %c2
// CHECK: call @kernel.my_kernel_(%c0, %[[C]], %[[A]], %[[P]])
// CHECK-NOT: scf.forall

// CHECK: func.func private @kernel.my_kernel_(%[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[M:.*]]: memref<2x100xf32>, %[[COLS:.*]]: index)
// CHECK-SAME: attributes {fusion.parallel_body}
// CHECK-DAG: %[[CST:.*]] = arith.constant 1.0
// The small scratch is on the stack, the large one is allocated once per call.
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK-DAG: %[[LARGE:.*]] = memref.alloc() : memref<1024x1024xf32>
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[COL:.*]] = arith.remui %[[I]], %[[COLS]]
// CHECK: %[[ROW:.*]] = arith.divui %[[I]], %[[COLS]]
// CHECK: %[[OFF:.*]] = arith.muli %[[COL]], %c32
// CHECK: memref.store %[[CST]], %[[M]][%[[ROW]], %[[OFF]]]
// The loop inside is sequential.
// CHECK: scf.for
// CHECK: memref.dealloc %[[LARGE]]
func.func @main(%a: memref<2x100xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i, %j) = (0, 0) to (2, %n) step (1, 32) {
    memref.store %one, %a[%i, %j] : memref<2x100xf32>
    scf.forall (%k) in (16) {
      %s = memref.alloc() : memref<16xf32>
      memref.store %one, %s[%k] : memref<16xf32>
      %x = memref.load %s[%i] : memref<16xf32>
      memref.store %x, %a[%i, %k] : memref<2x100xf32>
      memref.dealloc %s : memref<16xf32>
    }
    %l = memref.alloc() : memref<1024x1024xf32>
    memref.store %one, %l[%i, %j] : memref<1024x1024xf32>
    %y = memref.load %l[%j, %i] : memref<1024x1024xf32>
    memref.store %y, %a[%i, %j] : memref<2x100xf32>
    memref.dealloc %l : memref<1024x1024xf32>
  } {fusion.kernel = "my kernel!"}
  return
}

// -----

func.func @tensors(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'scf.forall' op must be on buffers: bufferize before fusion-cpu-outline-parallel}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
    }
  }
  return %0 : tensor<4xf32>
}
