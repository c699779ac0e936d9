// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vectorize{vector-bits=512}, canonicalize, cse))' --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// What does not vary along the lanes is read and computed outside of the inner loop; a division by it becomes a product.
// CHECK-LABEL: func.func @broadcast(
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = memref.load
// CHECK:           %[[R:.*]] = math.sqrt %[[S]] : f32
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:             arith.divf %{{.*}}, %{{.*}} : f32
// CHECK:             arith.mulf {{.*}} : vector<16xf32>
// CHECK-NOT:         arith.divf {{.*}} : vector
// CHECK:             vector.store
// CHECK:           scf.for
// CHECK:             arith.cmpi sgt, {{.*}} : vector<16xi32>
// CHECK:             vector.maskedload
// CHECK:             vector.maskedstore
func.func @broadcast(%x: memref<?x?xf32>, %s: memref<?xf32>, %g: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %g : memref<?x?xf32>, memref<?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = math.sqrt %b : f32
    %1 = arith.divf %a, %0 : f32
    %2 = arith.mulf %1, %c : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// Contiguous memory is one loop, whatever its rank.
// CHECK-LABEL: func.func @joined(
// CHECK:         scf.for %{{.*}} = %c0 to %c960 step
// CHECK-NOT:     scf.for
// CHECK:         vector.store
func.func @joined(%x: memref<3x4x80xf32>, %y: memref<3x4x80xf32>) {
  linalg.map { math.absf } ins(%x : memref<3x4x80xf32>) outs(%y : memref<3x4x80xf32>)
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A mask from coordinates.
// CHECK-LABEL: func.func @causal(
// CHECK:         arith.constant dense<[0, 1, 2, {{.*}}]> : vector<16xindex>
// CHECK:         arith.cmpi sge, {{.*}} : vector<16xindex>
// CHECK:         arith.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @causal(%x: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<8x64xf32>) {
  ^bb0(%a: f32):
    %minus = arith.constant 0xFF800000 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi sle, %j, %i : index
    %0 = arith.select %below, %a, %minus : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// i1 is one byte per element in memory; f16 is computed in f32.
// CHECK-LABEL: func.func @types(
// CHECK:         llvm.load {{.*}} -> vector<16xi8>
// CHECK:         arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK:         arith.addf {{.*}} : vector<16xf32>
// CHECK:         arith.truncf {{.*}} : vector<16xf32> to vector<16xf16>
func.func @types(%m: memref<8x16xi1>, %x: memref<8x16xf16>, %y: memref<8x16xf16>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %x : memref<8x16xi1>, memref<8x16xf16>) outs(%y : memref<8x16xf16>) {
  ^bb0(%on: i1, %a: f16, %out: f16):
    %one = arith.constant 1.0 : f16
    %0 = arith.addf %a, %one : f16
    %1 = arith.select %on, %0, %a : f16
    linalg.yield %1 : f16
  }
  return
}

// -----

// A memref that the body reads by itself is gathered; where the position is the same for all lanes, it is read once.
// CHECK-LABEL: func.func @gather(
// CHECK:         vector.gather
// CHECK:         memref.load
// CHECK:         vector.store
func.func @gather(%at: memref<8x64xindex>, %table: memref<?x8xf32>, %y: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%at : memref<8x64xindex>) outs(%y : memref<8x64xf32>) {
  ^bb0(%row: index, %out: f32):
    %i = linalg.index 0 : index
    %0 = memref.load %table[%row, %i] : memref<?x8xf32>
    %1 = memref.load %table[%i, %i] : memref<?x8xf32>
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// An op without a point in its iteration space disappears.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
func.func @empty(%x: memref<0x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<0x4xf32>)
  return
}

// -----

// The tile program says that the result is large: it is stored past the caches, in whole aligned vectors, and the next block's input
// is fetched meanwhile, line by line.
// CHECK-LABEL: func.func @stream(
// CHECK:         vector.load %[[X:[a-z_0-9]+]][
// CHECK:         memref.prefetch %[[X]][%{{.*}}], read, locality<2>, data
// CHECK:         vector.store {{.*}} {alignment = {{64|32}} : i64, nontemporal = true}
// CHECK:         return
func.func @stream(%x: memref<4x256xf32>, %y: memref<4x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x256xf32>) outs(%y : memref<4x256xf32>) attrs = {fusion.prefetch = array<i64: 1024>, fusion.stream} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Rows that are no multiple of a cache line apart: ordinary stores.
// CHECK-LABEL: func.func @stream_unaligned(
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @stream_unaligned(%x: memref<4x256xf32>, %y: memref<4x256xf32, strided<[260, 1]>>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x256xf32>) outs(%y : memref<4x256xf32, strided<[260, 1]>>) attrs = {fusion.stream} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}
