// The program of the embedding example; here through fusion-opt.
// RUN: fusion-opt %s --fusion-to-tiles | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-COUNT-1: scf.forall (
// CHECK-NOT: scf.forall (
func.func @softmax(%x: tensor<32x100xf32>) -> tensor<32x100xf32> {
  %0 = tensor.empty() : tensor<32x100xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<32x100xf32>) outs(%0 : tensor<32x100xf32>) -> tensor<32x100xf32>
  return %1 : tensor<32x100xf32>
}
