// The second sum and the last copy do not depend on the copy of neighbours that ends the first group, and move before it:
// it writes the left half of a store of which they read the right half.
// RUN: fusion-opt --dist-fuse %s | FileCheck %s
// RUN: fusion-opt --dist-fuse=reorder=true %s | FileCheck %s --check-prefix=REORDER
// RUN: fusion-run --target=reference %s --input=8xf64=random:1 --input=8xf64=random:2 --output=@%t.0.npy --output=@%t.1.npy --output=@%t.2.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-fuse{reorder=true})' --input=8xf64=random:1 --input=8xf64=random:2 --expected=@%t.0.npy --expected=@%t.1.npy --expected=@%t.2.npy

#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
#left = #dist.tiled<[2] offset [0] extent [4] by (d0) -> (d0)>
#right = #dist.tiled<[2] offset [4] extent [4] by (d0) -> (d0)>
#near = #dist.tiled<[2] offset [1] extent [4] by (d0) -> (d0)>

dist.task @add(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %c: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @copy(%a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.copy ins(%a : tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// CHECK-LABEL: func.func @main
// CHECK: dist.launch @add
// CHECK-NEXT: dist.launch @fused_copy_add
// CHECK-NEXT: dist.launch @copy
// CHECK-NOT: dist.launch
// REORDER-LABEL: func.func @main
// REORDER: dist.launch @fused_add_add_copy
// REORDER-NEXT: dist.launch @copy
// REORDER-NOT: dist.launch
func.func @main(%x: tensor<8xf64>, %y: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) {
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %Y = dist.from_tensor %y : tensor<8xf64> -> !dist.store<8xf64>
  %S = dist.create : !dist.store<8xf64>
  %T = dist.create : !dist.store<8xf64>
  %V = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  dist.launch @add on [2] (%X read #cut, %Y read #cut, %S write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @copy on [2] (%S read #near, %Y write #left) : !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @add on [2] (%X read #cut, %X read #cut, %T write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @copy on [2] (%Y read #right, %V write #left) : !dist.store<8xf64>, !dist.store<8xf64>
  %s = dist.to_tensor %S : !dist.store<8xf64> -> tensor<8xf64>
  %t = dist.to_tensor %T : !dist.store<8xf64> -> tensor<8xf64>
  %u = dist.to_tensor %V : !dist.store<8xf64> -> tensor<8xf64>
  return %s, %t, %u : tensor<8xf64>, tensor<8xf64>, tensor<8xf64>
}
