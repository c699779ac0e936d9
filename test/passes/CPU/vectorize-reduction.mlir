// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=512}, canonicalize, cse))' --split-input-file | FileCheck %s

// Lanes along the reduction: independent accumulators, halved to one number at the end.
// CHECK-LABEL: func.func @rows(
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4:     arith.addf {{.*}} : vector<16xf32>
// CHECK:           vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK:           arith.addf {{.*}} : vector<8xf32>
// CHECK:           arith.addf {{.*}} : vector<4xf32>
// CHECK:           memref.store
func.func @rows(%x: memref<8x256xf32>, %y: memref<8xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<8x256xf32>) outs(%y : memref<8xf32>) dimensions = [1]
  return
}

// -----

// Lanes along what stays: accumulators are carried over the rows.
// CHECK-LABEL: func.func @columns(
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4:     arith.maximumf
// CHECK-COUNT-4:   vector.store
func.func @columns(%x: memref<8x256xf32>, %y: memref<256xf32>) {
  linalg.reduce { arith.maximumf } ins(%x : memref<8x256xf32>) outs(%y : memref<256xf32>) dimensions = [0]
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// One loop both stores the exponentials and adds them up.
// CHECK-LABEL: func.func @mixed(
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2:     math.exp {{.*}} : vector<16xf32>
// CHECK-COUNT-2:     vector.store
// CHECK-COUNT-2:     arith.addf
// CHECK:           vector.maskedload
// CHECK:           vector.maskedstore
// CHECK:           arith.select
func.func @mixed(%x: memref<8x100xf32>, %m: memref<8xf32>, %e: memref<8x100xf32>, %s: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : memref<8x100xf32>, memref<8xf32>) outs(%e, %s : memref<8x100xf32>, memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %acc: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %acc, %1 : f32
    linalg.yield %1, %2 : f32, f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// An index of the maximum is not a combination that can be reordered: scalar loops.
// CHECK-LABEL: func.func @argmax(
// CHECK-NOT:     vector
// CHECK:         arith.select
func.func @argmax(%x: memref<8x100xf32>, %m: memref<8xf32>, %p: memref<8xi64>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x100xf32>) outs(%m, %p : memref<8xf32>, memref<8xi64>) {
  ^bb0(%a: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %position = arith.index_cast %j : index to i64
    %0 = arith.maximumf %a, %best : f32
    %1 = arith.cmpf ogt, %a, %best : f32
    %2 = arith.select %1, %position, %at : i64
    linalg.yield %0, %2 : f32, i64
  }
  return
}
