// RUN: fusion-opt %s | FileCheck %s

// CHECK-LABEL: func.func @identity
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
