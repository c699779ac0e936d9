// Views become offsets and extents of partitions of their root stores.
// RUN: fusion-opt --canonicalize %s | FileCheck %s

#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>

// CHECK-DAG: #[[$TWICE:.*]] = #dist.tiled<[4] offset [3] extent [8] by (d0) -> (d0)>
// CHECK-DAG: #[[$ONE:.*]] = #dist.tiled<[4] offset [1] extent [8] by (d0) -> (d0)>
// CHECK-DAG: #[[$WHOLE:.*]] = #dist.tiled<[8] offset [1] extent [8] by (d0) -> (0)>
// CHECK-DAG: #[[$HERE:.*]] = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>

dist.task private @use(tensor<?xf64> read, tensor<?xf64> write) external "use"

// CHECK-LABEL: func.func @launch
func.func @launch() {
  // CHECK: %[[S:.*]] = dist.create : <16xf64>
  %s = dist.create : !dist.store<16xf64>
  // CHECK-NEXT: %[[T:.*]] = dist.create : <8xf64>
  %t = dist.create : !dist.store<8xf64>
  %v = dist.view %s [1] : !dist.store<16xf64> -> !dist.store<12xf64>
  // A view of a view.
  %w = dist.view %v [2] : !dist.store<12xf64> -> !dist.store<8xf64>
  // CHECK-NEXT: dist.launch @use on [2] (%[[S]] read #[[$TWICE]], %[[T]] write #[[$HERE]])
  dist.launch @use on [2] (%w read #cut, %t write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  // A view of everything is the store.
  %u = dist.view %t [0] : !dist.store<8xf64> -> !dist.store<8xf64>
  // CHECK-NEXT: dist.launch @use on [2] (%[[S]] read #[[$TWICE]], %[[T]] write #[[$HERE]])
  dist.launch @use on [2] (%w read #cut, %u write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// CHECK-LABEL: func.func @fill_and_copy
func.func @fill_and_copy(%c: f64) {
  // CHECK: %[[S:.*]] = dist.create : <16xf64>
  %s = dist.create : !dist.store<16xf64>
  // CHECK-NEXT: %[[T:.*]] = dist.create : <8xf64>
  %t = dist.create : !dist.store<8xf64>
  %v = dist.view %s [1] : !dist.store<16xf64> -> !dist.store<8xf64>
  // CHECK-NEXT: dist.fill %{{.*}} into %[[S]] by #[[$ONE]] on [2]
  dist.fill %c into %v by #cut on [2] : f64, !dist.store<8xf64>
  // The whole view is one tile.
  // CHECK-NEXT: dist.fill %{{.*}} into %[[S]] by #[[$WHOLE]] on [1]
  dist.fill %c into %v by #dist.none on [1] : f64, !dist.store<8xf64>
  // CHECK-NEXT: dist.copy %[[S]] by #[[$ONE]] to %[[T]] by #[[$HERE]] on [2]
  dist.copy %v by #cut to %t by #cut on [2] : !dist.store<8xf64>, !dist.store<8xf64>
  // CHECK-NEXT: dist.copy %[[T]] by #[[$HERE]] to %[[S]] by #[[$ONE]] on [2]
  dist.copy %t by #cut to %v by #cut on [2] : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// What an image takes has the coordinates of the view.
dist.task private @gather(tensor<?xi32> read, tensor<?xf64> read, tensor<?xf64> write) external "gather"
// CHECK-LABEL: func.func @image
func.func @image(%i: tensor<8xi32>) {
  %index = dist.from_tensor %i : tensor<8xi32> -> !dist.store<8xi32>
  %s = dist.create : !dist.store<16xf64>
  %t = dist.create : !dist.store<8xf64>
  // CHECK: %[[V:.*]] = dist.view
  %v = dist.view %s [1] : !dist.store<16xf64> -> !dist.store<8xf64>
  // CHECK: dist.launch @gather on [2] (%{{.*}} read #{{.*}}, %[[V]] read #dist.image<points 0>, %{{.*}} write
  dist.launch @gather on [2] (%index read #cut, %v read #dist.image<points 0>, %t write #cut)
      : !dist.store<8xi32>, !dist.store<8xf64>, !dist.store<8xf64>
  return
}
