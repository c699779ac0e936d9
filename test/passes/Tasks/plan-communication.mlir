// RUN: fusion-opt %s --split-input-file --dist-plan-communication | FileCheck %s

#rows = #dist.tiled<[3] offset [0] extent [10] by (d0) -> (d0)>
dist.task @dot(%x: tensor<?xf64> read, %acc: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%x : tensor<?xf64>) outs(%acc : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}
dist.task @scale(%a: tensor<f64> read, %y: tensor<?xf64> read_write) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<f64>) outs(%y : tensor<?xf64>) {
  ^bb0(%s: f64, %v: f64):
    %1 = arith.mulf %s, %v : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// The tensor is scattered before its first use and gathered for the host; two reductions into one scalar share one
// all_reduce, which waits for the first use.
// CHECK: #[[$ROWS:tiles[0-9]*]] = #dist.tiled<[3] offset [0] extent [10] by (d0) -> (d0)>
// CHECK-LABEL: func.func @scatter_gather
// CHECK: %[[X:.*]] = dist.from_tensor
// CHECK: dist.exchange %[[X]] from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#[[$ROWS]] on [4]>] : <10xf64>
// CHECK-NEXT: dist.launch @dot
// CHECK-NOT: dist.exchange
// CHECK-NOT: dist.all_reduce
// CHECK: dist.launch @dot
// CHECK-NEXT: dist.copy
// CHECK-NEXT: dist.all_reduce %{{.*}} sum <#dist.none on [4]>
// CHECK-NEXT: dist.launch @scale
// CHECK-NEXT: dist.exchange %[[X]] from [#dist.placement<#[[$ROWS]] on [4]>] to [#dist.placement<#dist.none on [1]>]
// CHECK-NEXT: dist.to_tensor
// CHECK-NOT: dist.exchange
// CHECK: return
func.func @scatter_gather(%x: tensor<10xf64>, %zero: f64) -> tensor<10xf64> {
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  %S = dist.create : !dist.store<f64>
  dist.fill %zero into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @dot on [4] (%X read #rows, %S reduce<sum> #dist.none) : !dist.store<10xf64>, !dist.store<f64>
  dist.launch @dot on [4] (%X read #rows, %S reduce<sum> #dist.none) : !dist.store<10xf64>, !dist.store<f64>
  dist.copy %X by #rows to %Y by #rows on [4] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.launch @scale on [4] (%S read #dist.none, %X read_write #rows) : !dist.store<f64>, !dist.store<10xf64>
  %r = dist.to_tensor %X : !dist.store<10xf64> -> tensor<10xf64>
  return %r : tensor<10xf64>
}

// -----

// A halo: only what other points have written is exchanged in the loop; what the loop does not change is brought before it.
#inner = #dist.tiled<[2, 6] offset [1, 1] extent [6, 6] by (d0) -> (d0, 0)>
#north = #dist.tiled<[2, 6] offset [0, 1] extent [6, 6] by (d0) -> (d0, 0)>
#west = #dist.tiled<[2, 6] offset [1, 0] extent [6, 6] by (d0) -> (d0, 0)>
#whole = #dist.tiled<[2, 6] offset [0, 0] extent [6, 6] by (d0) -> (d0, 0)>
dist.task @add(%x: tensor<?x?xf64> read, %y: tensor<?x?xf64> read, %z: tensor<?x?xf64> write) {
  %0 = linalg.add ins(%x, %y : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  dist.yield %0 : tensor<?x?xf64>
}
// CHECK-DAG: #[[$INNER:tiles[0-9]*]] = #dist.tiled<[2, 6] offset [1, 1]
// CHECK-DAG: #[[$NORTH:tiles[0-9]*]] = #dist.tiled<[2, 6] offset [0, 1]
// CHECK-DAG: #[[$WEST:tiles[0-9]*]] = #dist.tiled<[2, 6] offset [1, 0]
// CHECK-LABEL: func.func @halo
// CHECK: dist.exchange %[[B:.*]] from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#{{.*}} on [3]>] : <6x6xf64>
// CHECK: scf.for
// CHECK-NOT: dist.exchange %[[B]]
// CHECK: dist.exchange %[[G:.*]] from [{{.*}}#dist.placement<#[[$INNER]] on [3]>] to [#dist.placement<#[[$NORTH]] on [3]>] : <8x8xf64>
// CHECK-NEXT: dist.launch @add
// CHECK-NEXT: dist.launch @add
// CHECK-NEXT: dist.copy
// CHECK-NEXT: }
func.func @halo(%g: tensor<8x8xf64>, %b: tensor<6x6xf64>, %n: index) -> tensor<8x8xf64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %G = dist.from_tensor %g : tensor<8x8xf64> -> !dist.store<8x8xf64>
  %B = dist.from_tensor %b : tensor<6x6xf64> -> !dist.store<6x6xf64>
  %T = dist.create : !dist.store<6x6xf64>
  %U = dist.create : !dist.store<6x6xf64>
  scf.for %i = %zero to %n step %one {
    dist.launch @add on [3] (%G read #north, %G read #west, %T write #whole)
        : !dist.store<8x8xf64>, !dist.store<8x8xf64>, !dist.store<6x6xf64>
    dist.launch @add on [3] (%T read #whole, %B read #whole, %U write #whole)
        : !dist.store<6x6xf64>, !dist.store<6x6xf64>, !dist.store<6x6xf64>
    dist.copy %U by #whole to %G by #inner on [3] : !dist.store<6x6xf64>, !dist.store<8x8xf64>
  }
  %r = dist.to_tensor %G : !dist.store<8x8xf64> -> tensor<8x8xf64>
  return %r : tensor<8x8xf64>
}

// -----

// A branch that leaves a store elsewhere brings it back, and a reduction of a loop is combined after it.
#rows = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
#moved = #dist.tiled<[3] offset [0] extent [8] by (d0) -> (d0)>
dist.task @total(%x: tensor<?xi64> read, %acc: tensor<i64> reduce<sum>) {
  %0 = linalg.reduce ins(%x : tensor<?xi64>) outs(%acc : tensor<i64>) dimensions = [0]
    (%in: i64, %old: i64) {
      %1 = arith.addi %in, %old : i64
      linalg.yield %1 : i64
    }
  dist.yield %0 : tensor<i64>
}
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK-NEXT: dist.fill %{{.*}} into %[[X:.*]] by #[[$MOVED:tiles[0-9]*]] on [3]
// CHECK-NEXT: dist.exchange %[[X]] from [#dist.placement<#[[$MOVED]] on [3]>] to [#dist.placement<#[[$HALVES:tiles[0-9]*]] on [2]>]
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NEXT: dist.launch @total
// CHECK-NEXT: }
// CHECK-NEXT: dist.all_reduce %[[S:.*]] sum <#dist.none on [2]> : !dist.store<i64>
// CHECK-NEXT: dist.to_tensor %[[S]]
func.func @branch(%flag: i1, %n: index, %value: i64) -> tensor<i64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %X = dist.create : !dist.store<8xi64>
  %S = dist.create : !dist.store<i64>
  dist.fill %value into %S by #dist.none on [1] : i64, !dist.store<i64>
  dist.fill %value into %X by #rows on [2] : i64, !dist.store<8xi64>
  scf.if %flag {
    dist.fill %value into %X by #moved on [3] : i64, !dist.store<8xi64>
  }
  scf.for %i = %zero to %n step %one {
    dist.launch @total on [2] (%X read #rows, %S reduce<sum> #dist.none) : !dist.store<8xi64>, !dist.store<i64>
  }
  %s = dist.to_tensor %S : !dist.store<i64> -> tensor<i64>
  return %s : tensor<i64>
}
