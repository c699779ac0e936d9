// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

#rows = #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>

// CHECK: #tiles = #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>
// CHECK-LABEL: dist.task @axpy(%{{.*}}: tensor<f64> read, %{{.*}}: tensor<?xf64> read, %{{.*}}: tensor<?xf64> read_write) {
dist.task @axpy(%a: tensor<f64> read, %x: tensor<?xf64> read, %y: tensor<?xf64> read_write) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a, %x : tensor<f64>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%s: f64, %u: f64, %v: f64):
    %1 = arith.mulf %s, %u : f64
    %2 = arith.addf %1, %v : f64
    linalg.yield %2 : f64
  } -> tensor<?xf64>
  // CHECK: dist.yield %{{.*}} : tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// CHECK: dist.task private @spmv(tensor<?xi32> read, tensor<?xi32> read, tensor<?xf64> read, tensor<?xf64> write) external "spmv"
dist.task private @spmv(tensor<?xi32> read, tensor<?xi32> read, tensor<?xf64> read, tensor<?xf64> write) external "spmv"

// CHECK: dist.task @dot(%{{.*}}: tensor<?xf64> read, %{{.*}}: tensor<f64> reduce<sum>)
dist.task @dot(%x: tensor<?xf64> read, %acc: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%x : tensor<?xf64>) outs(%acc : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1000xf64>, %a: f64) -> tensor<1000xf64> {
  // CHECK: dist.from_tensor %{{.*}} : tensor<1000xf64> -> <1000xf64>
  %X = dist.from_tensor %x : tensor<1000xf64> -> !dist.store<1000xf64>
  // CHECK: dist.create : <1000xf64>
  %Y = dist.create : !dist.store<1000xf64>
  %A = dist.create : !dist.store<f64>
  // CHECK: dist.fill %{{.*}} into %{{.*}} by #dist.none on [1] : f64, <f64>
  dist.fill %a into %A by #dist.none on [1] : f64, !dist.store<f64>
  // CHECK: dist.copy %{{.*}} by #tiles to
  dist.copy %X by #rows to %Y by #rows on [4] : !dist.store<1000xf64>, !dist.store<1000xf64>
  // CHECK: dist.exchange %{{.*}} from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#tiles on [4]>] :
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#rows on [4]>]
      : !dist.store<1000xf64>
  // CHECK: %[[T:.*]] = dist.exchange_start
  %t = dist.exchange_start %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#rows on [4]>]
      : !dist.store<1000xf64>
  // CHECK: dist.exchange_wait %[[T]]
  dist.exchange_wait %t
  // CHECK: dist.launch @axpy on [4] (%{{.*}} read #dist.none, %{{.*}} read #tiles, %{{.*}} read_write #tiles
  dist.launch @axpy on [4] (%A read #dist.none, %X read #rows, %Y read_write #rows)
      : !dist.store<f64>, !dist.store<1000xf64>, !dist.store<1000xf64>
  %S = dist.create : !dist.store<f64>
  dist.launch @dot on [4] (%Y read #rows, %S reduce<sum> #dist.none) : !dist.store<1000xf64>, !dist.store<f64>
  // CHECK: dist.all_reduce %{{.*}} sum <#dist.none on [4]> : !dist.store<f64>
  dist.all_reduce %S sum <#dist.none on [4]> : !dist.store<f64>
  // CHECK: dist.to_tensor %{{.*}} : <1000xf64> -> tensor<1000xf64>
  %r = dist.to_tensor %Y : !dist.store<1000xf64> -> tensor<1000xf64>
  return %r : tensor<1000xf64>
}

#range = #dist.image<range 0, 1>
// CHECK-LABEL: func.func @image
func.func @image(%pos: tensor<9xi32>, %crd: tensor<40xi32>, %x: tensor<8xf64>) {
  %P = dist.from_tensor %pos : tensor<9xi32> -> !dist.store<9xi32>
  %lo = dist.view %P [0] : !dist.store<9xi32> -> !dist.store<8xi32>
  // CHECK: dist.view %{{.*}} [1] : <9xi32> -> <8xi32>
  %hi = dist.view %P [1] : !dist.store<9xi32> -> !dist.store<8xi32>
  %C = dist.from_tensor %crd : tensor<40xi32> -> !dist.store<40xi32>
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  // CHECK: #dist.image<range 0, 1>{{.*}} #dist.image<points 2>
  dist.launch @gather on [2] (%lo read #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>,
                              %hi read #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>,
                              %C read #range, %X read #dist.image<points 2>)
    : !dist.store<8xi32>, !dist.store<8xi32>, !dist.store<40xi32>, !dist.store<8xf64>
  // CHECK: to [#dist.placement<#dist.image<points 0> on [2]>] given(%{{.*}} by [#tiles{{[0-9]*}}]) : <8xf64>, !dist.store<40xi32>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#dist.image<points 0> on [2]>]
      given (%C by [#dist.tiled<[20] offset [0] extent [40] by (d0) -> (d0)>]) : !dist.store<8xf64>, !dist.store<40xi32>
  return
}
dist.task private @gather(tensor<?xi32> read, tensor<?xi32> read, tensor<?xi32> read, tensor<?xf64> read) external "g"
