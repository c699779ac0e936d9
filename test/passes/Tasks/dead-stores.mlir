// RUN: fusion-opt --dist-eliminate-dead-stores %s | FileCheck %s
// RUN: not fusion-opt --dist-fuse=fills=some %s 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: option 'fills' must be all, views or none, not 'some'

#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @both(%a: tensor<?xf64> read, %b: tensor<?xf64> write, %c: tensor<?xf64> write) {
  %0 = linalg.exp ins(%a : tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  %1 = linalg.log ins(%a : tensor<?xf64>) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0, %1 : tensor<?xf64>, tensor<?xf64>
}
dist.task @exp(%a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.exp ins(%a : tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// Of one launch a result is dead; a chain of launches is dead; a fill is overwritten.
// CHECK-NOT: dist.task @both(
// CHECK: dist.task @both_0(%{{.*}}: tensor<?xf64> read, %{{.*}}: tensor<?xf64> write)
// CHECK-LABEL: func.func @straight
// CHECK-NEXT: %[[X:.*]] = dist.from_tensor
// CHECK-NEXT: %[[B:.*]] = dist.create
// CHECK-NEXT: dist.launch @both_0 on [2] (%[[X]] read #{{.*}}, %[[B]] write
// CHECK-NEXT: dist.to_tensor
// CHECK-NEXT: return
func.func @straight(%x: tensor<8xf64>, %v: f64) -> tensor<8xf64> {
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %B = dist.create : !dist.store<8xf64>
  %C = dist.create : !dist.store<8xf64>
  %D = dist.create : !dist.store<8xf64>
  dist.fill %v into %B by #cut on [2] : f64, !dist.store<8xf64>
  dist.launch @both on [2] (%X read #cut, %B write #cut, %C write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @exp on [2] (%C read #cut, %D write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  %b = dist.to_tensor %B : !dist.store<8xf64> -> tensor<8xf64>
  return %b : tensor<8xf64>
}

// What the next iteration reads is not dead.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: dist.copy
// CHECK-NEXT: dist.launch @exp
// CHECK-NEXT: }
func.func @loop(%x: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %B = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  scf.for %i = %c0 to %n step %c1 {
    dist.copy %B by #cut to %X by #cut on [2] : !dist.store<8xf64>, !dist.store<8xf64>
    dist.launch @exp on [2] (%X read #cut, %B write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  }
  %r = dist.to_tensor %X : !dist.store<8xf64> -> tensor<8xf64>
  return %r : tensor<8xf64>
}
