// RUN: fusion-opt --dist-fuse --split-input-file %s | FileCheck %s

// Figure 6: z = 2x; w = y + z; v = w^2; norm(w[half:]). Only z is a temporary: the norm reads w through other tiles, v is
// read by the program.
#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
#half = #dist.tiled<[2] offset [4] extent [4] by (d0) -> (d0)>
dist.task @double(%a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %a : tensor<?xf64>, tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @add(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %c: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @square(%a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.square ins(%a : tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @norm(%a: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.dot ins(%a, %a : tensor<?xf64>, tensor<?xf64>) outs(%s : tensor<f64>) -> tensor<f64>
  dist.yield %0 : tensor<f64>
}
// CHECK-LABEL: dist.task @fused_double_add_square(%{{.*}}: tensor<?xf64> read, %{{.*}}: tensor<?xf64> read, %{{.*}}: tensor<?xf64> write, %{{.*}}: tensor<?xf64> write)
// CHECK: dist.yield %{{.*}}, %{{.*}} : tensor<?xf64>, tensor<?xf64>
// CHECK-LABEL: func.func @figure6
// CHECK: %[[W:.*]] = dist.create : <8xf64>
// CHECK-NEXT: %[[V:.*]] = dist.create : <8xf64>
// CHECK-NEXT: %[[N:.*]] = dist.create : <f64>
// CHECK-NEXT: dist.launch @fused_double_add_square on [2] (%{{.*}} read #{{.*}}, %{{.*}} read #{{.*}}, %[[W]] write #{{.*}}, %[[V]] write #{{.*}})
// CHECK: dist.fill %{{.*}} into %[[N]]
// CHECK-NEXT: dist.launch @norm on [2] (%[[W]] read #{{.*}}, %[[N]] reduce<sum> #dist.none)
func.func @figure6(%x: tensor<8xf64>, %y: tensor<8xf64>) -> (tensor<8xf64>, tensor<f64>) {
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %Y = dist.from_tensor %y : tensor<8xf64> -> !dist.store<8xf64>
  %Z = dist.create : !dist.store<8xf64>
  %W = dist.create : !dist.store<8xf64>
  %V = dist.create : !dist.store<8xf64>
  %N = dist.create : !dist.store<f64>
  dist.launch @double on [2] (%X read #cut, %Z write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @add on [2] (%Y read #cut, %Z read #cut, %W write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @square on [2] (%W read #cut, %V write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  %zero = arith.constant 0.0 : f64
  dist.fill %zero into %N by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @norm on [2] (%W read #half, %N reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  %v = dist.to_tensor %V : !dist.store<8xf64> -> tensor<8xf64>
  %n = dist.to_tensor %N : !dist.store<f64> -> tensor<f64>
  return %v, %n : tensor<8xf64>, tensor<f64>
}

// -----

// A scalar task runs at every point of the group that it joins; the other scalar task cannot: the reduction is not
// complete. What the task wrote is read later, so every point writes it for itself.
#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @sum(%a: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%a : tensor<?xf64>) outs(%s : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}
dist.task @half(%s: tensor<f64> read, %t: tensor<f64> write) {
  %two = arith.constant 2.0 : f64
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%s : tensor<f64>) outs(%t : tensor<f64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = arith.divf %in, %two : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  dist.yield %0 : tensor<f64>
}
dist.task @scale(%s: tensor<f64> read, %a: tensor<?xf64> read_write) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<f64>) outs(%a : tensor<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = arith.mulf %in, %out : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
// CHECK-LABEL: dist.task @fused_half_scale(%{{.*}}: tensor<f64> read, %{{.*}}: tensor<f64> write, %{{.*}}: tensor<?xf64> read_write)
// CHECK-LABEL: func.func @promoted
// CHECK: dist.launch @sum on [2]
// CHECK-NEXT: dist.launch @fused_half_scale on [2] replicated (%{{.*}} read #dist.none, %{{.*}} write #dist.none, %{{.*}} read_write
func.func @promoted(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<f64>) {
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %S = dist.create : !dist.store<f64>
  %T = dist.create : !dist.store<f64>
  %zero = arith.constant 0.0 : f64
  dist.fill %zero into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @sum on [2] (%X read #cut, %S reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  dist.launch @half on [1] (%S read #dist.none, %T write #dist.none) : !dist.store<f64>, !dist.store<f64>
  dist.launch @scale on [2] (%T read #dist.none, %X read_write #cut) : !dist.store<f64>, !dist.store<8xf64>
  %r = dist.to_tensor %X : !dist.store<8xf64> -> tensor<8xf64>
  %t = dist.to_tensor %T : !dist.store<f64> -> tensor<f64>
  return %r, %t : tensor<8xf64>, tensor<f64>
}

// -----

// Two reductions into one store are added up explicitly. Equal groups share one task.
#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @sum(%a: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%a : tensor<?xf64>) outs(%s : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}
// CHECK-NOT: dist.task @
// CHECK: dist.task @fused_sum_sum(%[[A:.*]]: tensor<?xf64> read, %[[S:.*]]: tensor<f64> reduce<sum>, %[[B:.*]]: tensor<?xf64> read)
// CHECK: %[[FIRST:.*]] = linalg.reduce ins(%[[A]] : tensor<?xf64>) outs(%[[S]] : tensor<f64>)
// CHECK: %[[ID:.*]] = linalg.fill
// CHECK: %[[SECOND:.*]] = linalg.reduce ins(%[[B]] : tensor<?xf64>) outs(%[[ID]] : tensor<f64>)
// CHECK: linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]] : tensor<f64>, tensor<f64>)
// CHECK-NOT: dist.task @
// CHECK-LABEL: func.func @reductions
// CHECK: dist.launch @fused_sum_sum
// CHECK: dist.launch @fused_sum_sum
// CHECK-NOT: dist.launch
func.func @reductions(%x: tensor<8xf64>, %y: tensor<8xf64>) -> (tensor<f64>, tensor<f64>) {
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %Y = dist.from_tensor %y : tensor<8xf64> -> !dist.store<8xf64>
  %S = dist.create : !dist.store<f64>
  %T = dist.create : !dist.store<f64>
  %zero = arith.constant 0.0 : f64
  dist.fill %zero into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @sum on [2] (%X read #cut, %S reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  dist.launch @sum on [2] (%Y read #cut, %S reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  %s = dist.to_tensor %S : !dist.store<f64> -> tensor<f64>
  dist.fill %zero into %T by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @sum on [2] (%X read #cut, %T reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  dist.launch @sum on [2] (%Y read #cut, %T reduce<sum> #dist.none) : !dist.store<8xf64>, !dist.store<f64>
  %t = dist.to_tensor %T : !dist.store<f64> -> tensor<f64>
  return %s, %t : tensor<f64>, tensor<f64>
}

// -----

// A fill of a constant and a copy between tasks are part of the group; the store of the next iteration keeps what is read
// there before it is written.
#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @add(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %c: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
// CHECK: dist.task @fused_fill_to_copy_4(%[[X:.*]]: tensor<?xf64> read_write, %[[OLD:.*]]: tensor<?xf64> read_write)
// CHECK: %[[ONE:.*]] = linalg.fill ins(%{{.*}} : f64)
// CHECK: %[[T:.*]] = linalg.add ins(%[[X]], %[[ONE]]
// CHECK: %[[U:.*]] = linalg.add ins(%[[T]], %[[OLD]]
// CHECK: %[[C:.*]] = linalg.copy ins(%[[U]]
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: dist.launch @fused_fill_to_copy_4
// CHECK-NEXT: }
func.func @loop(%x: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %Old = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  scf.for %i = %c0 to %n step %c1 {
    %Ones = dist.create : !dist.store<8xf64>
    %T = dist.create : !dist.store<8xf64>
    dist.fill %one into %Ones by #cut on [2] : f64, !dist.store<8xf64>
    dist.launch @add on [2] (%X read #cut, %Ones read #cut, %T write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
    dist.launch @add on [2] (%T read #cut, %Old read #cut, %X write #cut) : !dist.store<8xf64>, !dist.store<8xf64>, !dist.store<8xf64>
    dist.copy %X by #cut to %Old by #cut on [2] : !dist.store<8xf64>, !dist.store<8xf64>
  }
  %r = dist.to_tensor %X : !dist.store<8xf64> -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// -----

// Nothing else has the extents of %T: it stays.
#rows = #dist.tiled<[4] offset [0] extent [7] by (d0) -> (d0)>
#other = #dist.tiled<[2] offset [0] extent [3] by (d0) -> (d0)>
dist.task @iota(%a: tensor<?xf64> write) {
  %zero = arith.constant 0.0 : f64
  %0 = linalg.fill ins(%zero : f64) outs(%a : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @sum(%a: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.reduce ins(%a : tensor<?xf64>) outs(%s : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  dist.yield %0 : tensor<f64>
}
// CHECK-LABEL: dist.task @fused_iota_sum(%{{.*}}: tensor<?xf64> write, %{{.*}}: tensor<f64> reduce<sum>)
// CHECK-LABEL: func.func @extents
// CHECK: dist.create : <7xf64>
func.func @extents() -> tensor<f64> {
  %T = dist.create : !dist.store<7xf64>
  %S = dist.create : !dist.store<f64>
  %zero = arith.constant 0.0 : f64
  dist.fill %zero into %S by #dist.none on [1] : f64, !dist.store<f64>
  dist.launch @iota on [2] (%T write #rows) : !dist.store<7xf64>
  dist.launch @sum on [2] (%T read #rows, %S reduce<sum> #dist.none) : !dist.store<7xf64>, !dist.store<f64>
  %s = dist.to_tensor %S : !dist.store<f64> -> tensor<f64>
  return %s : tensor<f64>
}
