// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=512}, canonicalize, cse))' --split-input-file | FileCheck %s --check-prefixes=CHECK,ZMM
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=256}, canonicalize, cse))' --split-input-file | FileCheck %s --check-prefixes=CHECK,YMM

// Accumulators are loaded once, carried through the whole reduction, and stored once.
// CHECK-LABEL: func.func @static(
// CHECK-NOT:     memref.alloc
// ZMM-COUNT-24:  vector.load
// ZMM:           scf.for {{.*}} -> (vector<16xf32>, {{.*}}) {
// ZMM-COUNT-4:     vector.load
// ZMM-NOT:         vector.load
// ZMM-COUNT-24:    vector.fma
// ZMM-NOT:         vector.fma
// ZMM:             scf.yield
// ZMM-COUNT-24:  vector.store
// YMM-COUNT-12:  vector.load
// YMM:           scf.for {{.*}} -> (vector<8xf32>, {{.*}}) {
// YMM-COUNT-12:    vector.fma
// CHECK-NOT:     vector.maskedload
// CHECK-NOT:     linalg.
// CHECK:         return
func.func @static(%a: memref<24x64xf32>, %b: memref<64x64xf32>, %c: memref<24x64xf32>) {
  linalg.matmul ins(%a, %b : memref<24x64xf32>, memref<64x64xf32>) outs(%c : memref<24x64xf32>)
  return
}

// -----

// Columns that fill no vector are masked; rows come in tiles of falling height.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[PANEL:.*]] = memref.alloc({{.*}}) {alignment = {{64|32}} : i64} : memref<?x{{64|16}}xf32>
// ZMM-COUNT-24:  vector.fma
// ZMM-COUNT-16:  vector.fma
// ZMM-COUNT-4:   vector.fma
// CHECK:         vector.maskedload
// CHECK:         vector.fma
// CHECK:         vector.maskedstore
// CHECK:         memref.dealloc %[[PANEL]]
func.func @dynamic(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

#map_a = affine_map<(b, m, n, k) -> (b, m, k)>
#map_b = affine_map<(b, m, n, k) -> (b, n, k)>
#map_c = affine_map<(b, m, n, k) -> (b, m, n)>

// The right operand is contiguous along k: its panel is transposed in registers, once per batch entry and panel. Narrow operands
// are widened on the way, the left one as a whole.
// CHECK-LABEL: func.func @transposed_f16(
// CHECK-DAG:     memref.alloc() {{.*}} : memref<32x64xf32>
// CHECK-DAG:     memref.alloc() {{.*}} : memref<64x{{64|16}}xf32>
// CHECK:         scf.for
// CHECK:           arith.extf {{.*}}xf16> to
// CHECK:           scf.for
// CHECK:             vector.shuffle
// CHECK:             vector.fma
func.func @transposed_f16(%a: memref<4x32x64xf16>, %b: memref<4x128x64xf16>, %c: memref<4x32x128xf32>) {
  linalg.generic {indexing_maps = [#map_a, #map_b, #map_c],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x32x64xf16>, memref<4x128x64xf16>) outs(%c : memref<4x32x128xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.addf %2, %acc : f32
    linalg.yield %3 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @integers(
// CHECK:         arith.extsi {{.*}} : vector<{{16|8}}xi8> to vector<{{16|8}}xi32>
// CHECK:         arith.muli {{.*}} : vector<{{16|8}}xi32>
// CHECK:         arith.addi {{.*}} : vector<{{16|8}}xi32>
func.func @integers(%a: memref<8x32xi8>, %b: memref<32x32xi8>, %c: memref<8x32xi32>) {
  linalg.matmul ins(%a, %b : memref<8x32xi8>, memref<32x32xi8>) outs(%c : memref<8x32xi32>)
  return
}

// -----

// With one row and a matrix that is contiguous along k, the lanes run along the reduction.
// CHECK-LABEL: func.func @matrix_vector(
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} -> (vector<{{.*}}>, vector<{{.*}}>, vector<{{.*}}>, vector<{{.*}}>)
// CHECK-COUNT-4:     vector.fma
// CHECK:           vector.shuffle
// CHECK:           memref.store
func.func @matrix_vector(%a: memref<64x256xf32>, %x: memref<256xf32>, %y: memref<64xf32>) {
  linalg.matvec ins(%a, %x : memref<64x256xf32>, memref<256xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// A convolution is a sum of products as well: rows are output channels, lanes neighbouring pixels, and the window only another
// reduction.
// CHECK-LABEL: func.func @convolution(
// CHECK:         scf.for {{.*}} -> (vector<{{16|8}}xf32>, {{.*}}) {
// CHECK:           scf.for {{.*}} -> (vector<{{16|8}}xf32>, {{.*}}) {
// CHECK:             scf.for {{.*}} -> (vector<{{16|8}}xf32>, {{.*}}) {
// CHECK:               vector.fma
func.func @convolution(%x: memref<1x3x18x34xf32>, %w: memref<12x3x3x3xf32>, %y: memref<1x12x16x32xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : memref<1x3x18x34xf32>, memref<12x3x3x3xf32>) outs(%y : memref<1x12x16x32xf32>)
  return
}

// -----

// Zeros right in front of the contraction that adds to them stay in registers; C is not read, and not written twice.
// CHECK-LABEL: func.func @from_zero(
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     vector.load %{{.*}} : memref<{{.*}}>, vector<{{.*}}>
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<{{16|8}}xf32>
// CHECK-NOT:     vector.store
// CHECK:         scf.for {{.*}} iter_args({{.*}} = %[[ZERO]],
// CHECK:         vector.store
func.func @from_zero(%a: memref<24x64xf32>, %b: memref<64x64xf32>, %c: memref<24x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<24x64xf32>)
  linalg.matmul ins(%a, %b : memref<24x64xf32>, memref<64x64xf32>) outs(%c : memref<24x64xf32>)
  return
}

// -----

// Ones, or zeros for another buffer, are written as they are.
// CHECK-LABEL: func.func @from_one(
// CHECK:         vector.store
// CHECK:         vector.load
// CHECK:         vector.fma
func.func @from_one(%a: memref<24x64xf32>, %b: memref<64x64xf32>, %c: memref<24x64xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%c : memref<24x64xf32>)
  linalg.matmul ins(%a, %b : memref<24x64xf32>, memref<64x64xf32>) outs(%c : memref<24x64xf32>)
  return
}
