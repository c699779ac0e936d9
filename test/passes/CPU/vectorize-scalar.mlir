// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize, canonicalize, cse))' --split-input-file | FileCheck %s
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=100}))' 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{registers=2}))' 2>&1 | FileCheck %s --check-prefix=REGISTERS

// BITS: error: 'vector-bits' must be 0, 128, 256 or 512, got 100
// REGISTERS: error: 'registers' must be at least 8, got 2

// CHECK-LABEL: func.func @assertion(
// CHECK-NOT:     vector
// CHECK:         cf.assert
func.func @assertion(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.cmpf one, %a, %zero : f32
    cf.assert %0, "zero"
    linalg.yield %a : f32
  }
  return
}

// -----

// Indices that are not linear.
// CHECK-LABEL: func.func @halves(
// CHECK-NOT:     vector
// CHECK:         scf.for
func.func @halves(%x: memref<8xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Tensors are not for this level.
// CHECK-LABEL: func.func @tensors(
// CHECK:         linalg.fill
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
