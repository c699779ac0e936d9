// Figure 1 of the paper: the five-point stencil on views of one grid, one iteration after the other.
// RUN: fusion-opt --dist-fuse %s | FileCheck %s
// RUN: fusion-opt --dist-fuse %s --remarks-filter=dist 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS

#center = #dist.tiled<[4, 8] offset [1, 1] extent [8, 8] by (d0) -> (d0, 0)>
#north = #dist.tiled<[4, 8] offset [0, 1] extent [8, 8] by (d0) -> (d0, 0)>
#east = #dist.tiled<[4, 8] offset [1, 2] extent [8, 8] by (d0) -> (d0, 0)>
#west = #dist.tiled<[4, 8] offset [1, 0] extent [8, 8] by (d0) -> (d0, 0)>
#south = #dist.tiled<[4, 8] offset [2, 1] extent [8, 8] by (d0) -> (d0, 0)>
#whole = #dist.tiled<[4, 8] offset [0, 0] extent [8, 8] by (d0) -> (d0, 0)>

dist.task @add(%a: tensor<?x?xf64> read, %b: tensor<?x?xf64> read, %c: tensor<?x?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  dist.yield %0 : tensor<?x?xf64>
}
dist.task @mult(%a: tensor<?x?xf64> read, %c: tensor<?x?xf64> write) {
  %fifth = arith.constant 2.0e-01 : f64
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) {
  ^bb0(%x: f64, %old: f64):
    %1 = arith.mulf %x, %fifth : f64
    linalg.yield %1 : f64
  } -> tensor<?x?xf64>
  dist.yield %0 : tensor<?x?xf64>
}
dist.task @copy(%a: tensor<?x?xf64> read, %c: tensor<?x?xf64> write) {
  %0 = linalg.copy ins(%a : tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  dist.yield %0 : tensor<?x?xf64>
}

// The results of the four additions stay in the body.
// CHECK-LABEL: dist.task @fused_add_to_mult_5(
// CHECK-SAME: %[[C:.*]]: tensor<?x?xf64> read, %[[N:.*]]: tensor<?x?xf64> read, %[[E:.*]]: tensor<?x?xf64> read, %[[W:.*]]: tensor<?x?xf64> read, %[[S:.*]]: tensor<?x?xf64> read, %[[OUT:.*]]: tensor<?x?xf64> write)
// CHECK: %[[T1:.*]] = linalg.add ins(%[[C]], %[[N]]
// CHECK: %[[T2:.*]] = linalg.add ins(%[[T1]], %[[E]]
// CHECK: %[[T3:.*]] = linalg.add ins(%[[T2]], %[[W]]
// CHECK: %[[AVG:.*]] = linalg.add ins(%[[T3]], %[[S]]
// CHECK: %[[WORK:.*]] = linalg.generic {{.*}} ins(%[[AVG]] : tensor<?x?xf64>) outs(%[[OUT]] : tensor<?x?xf64>)
// CHECK: dist.yield %[[WORK]] : tensor<?x?xf64>

// CHECK-LABEL: func.func @main
// CHECK: %[[GRID:.*]] = dist.from_tensor
// CHECK-NEXT: %[[WORK:.*]] = dist.create : <8x8xf64>
// CHECK-NEXT: scf.for
// CHECK-NEXT: dist.launch @fused_add_to_mult_5 on [2] (%[[GRID]] read #{{.*}}, %[[GRID]] read #{{.*}}, %[[GRID]] read #{{.*}}, %[[GRID]] read #{{.*}}, %[[GRID]] read #{{.*}}, %[[WORK]] write #{{.*}})
// CHECK-NEXT: dist.launch @copy on [2] (%[[WORK]] read #{{.*}}, %[[GRID]] write #{{.*}})
// CHECK-NEXT: }

// REMARKS: [Missed] anti-dependence | Category:dist | Function=main | Remark="copy at {{.*}} is not fused with the tasks before it; it conflicts with add at {{.*}} on !dist.store<10x10xf64> of
// REMARKS: [Passed] fused-tasks | Category:dist | Function=main | BytesSaved=2048, Tasks="add, add, add, add, mult"
func.func @main(%grid: tensor<10x10xf64>) -> tensor<10x10xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %G = dist.from_tensor %grid : tensor<10x10xf64> -> !dist.store<10x10xf64>
  %t1 = dist.create : !dist.store<8x8xf64>
  %t2 = dist.create : !dist.store<8x8xf64>
  %t3 = dist.create : !dist.store<8x8xf64>
  %avg = dist.create : !dist.store<8x8xf64>
  %work = dist.create : !dist.store<8x8xf64>
  scf.for %i = %c0 to %c10 step %c1 {
    dist.launch @add on [2] (%G read #center, %G read #north, %t1 write #whole)
        : !dist.store<10x10xf64>, !dist.store<10x10xf64>, !dist.store<8x8xf64>
    dist.launch @add on [2] (%t1 read #whole, %G read #east, %t2 write #whole)
        : !dist.store<8x8xf64>, !dist.store<10x10xf64>, !dist.store<8x8xf64>
    dist.launch @add on [2] (%t2 read #whole, %G read #west, %t3 write #whole)
        : !dist.store<8x8xf64>, !dist.store<10x10xf64>, !dist.store<8x8xf64>
    dist.launch @add on [2] (%t3 read #whole, %G read #south, %avg write #whole)
        : !dist.store<8x8xf64>, !dist.store<10x10xf64>, !dist.store<8x8xf64>
    dist.launch @mult on [2] (%avg read #whole, %work write #whole) : !dist.store<8x8xf64>, !dist.store<8x8xf64>
    dist.launch @copy on [2] (%work read #whole, %G write #center) : !dist.store<8x8xf64>, !dist.store<10x10xf64>
  }
  %r = dist.to_tensor %G : !dist.store<10x10xf64> -> tensor<10x10xf64>
  return %r : tensor<10x10xf64>
}
