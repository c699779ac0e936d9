// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=512}, canonicalize, cse))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @square(
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT:      vector.shuffle
// CHECK-COUNT-16: vector.store
// CHECK-NOT:      vector.maskedload
func.func @square(%x: memref<32x64xf32>, %y: memref<64x32xf32>) {
  linalg.transpose ins(%x : memref<32x64xf32>) outs(%y : memref<64x32xf32>) permutation = [1, 0]
  return
}

// -----

// Ragged edges are masked along the rows of the source, and rows beyond the edge are not stored.
// CHECK-LABEL: func.func @ragged(
// CHECK:         vector.load
// CHECK:         vector.maskedload
// CHECK:         scf.if
// CHECK:         vector.maskedstore
func.func @ragged(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  linalg.transpose ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>) permutation = [1, 0]
  return
}

// -----

// Only the loops that are contiguous on one side make the block.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     vector.shuffle
// CHECK:         vector.store
func.func @heads(%x: memref<2x8x4x64xf32>, %y: memref<2x4x8x64xf32>) {
  linalg.transpose ins(%x : memref<2x8x4x64xf32>) outs(%y : memref<2x4x8x64xf32>) permutation = [0, 2, 1, 3]
  return
}
