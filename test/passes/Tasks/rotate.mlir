// Conjugate gradients: the updates of an iteration fuse with the dot product of the next. 12 tasks; 3 groups, since the
// product with the matrix is not opaque here and fuses with the dot product after it.
// RUN: fusion-opt --dist-rotate-loops --dist-fuse %s | FileCheck %s
// RUN: fusion-opt --dist-rotate-loops %s | FileCheck %s --check-prefix=ROTATED
// RUN: fusion-run --target=reference %s --input=60xf64=random:1 --input=7 --output=@%t.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-rotate-loops,dist-fuse,dist-eliminate-dead-stores)' --input=60xf64=random:1 --input=7 --expected=@%t.npy
// RUN: fusion-run --target=reference %s --input=60xf64=random:1 --input=0 --output=@%t.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-rotate-loops,dist-fuse)' --input=60xf64=random:1 --input=0 --expected=@%t.npy
// RUN: fusion-run --target=reference %s --input=60xf64=random:1 --input=1 --output=@%t.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-rotate-loops,dist-fuse)' --input=60xf64=random:1 --input=1 --expected=@%t.npy

#cut = #dist.tiled<[16] offset [0] extent [60] by (d0) -> (d0)>
#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
#p = affine_map<() -> ()>

dist.task @copy(%a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.copy ins(%a : tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @dot(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.dot ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%s : tensor<f64>) -> tensor<f64>
  dist.yield %0 : tensor<f64>
}
dist.task @divide(%a: tensor<f64> read, %b: tensor<f64> read, %c: tensor<f64> write) {
  %0 = linalg.div ins(%a, %b : tensor<f64>, tensor<f64>) outs(%c : tensor<f64>) -> tensor<f64>
  dist.yield %0 : tensor<f64>
}
dist.task @scale(%s: tensor<f64> read, %a: tensor<?xf64> read, %b: tensor<?xf64> write) {
  %0 = linalg.generic {indexing_maps = [#s, #v, #v], iterator_types = ["parallel"]}
      ins(%s, %a : tensor<f64>, tensor<?xf64>) outs(%b : tensor<?xf64>) {
  ^bb0(%x: f64, %y: f64, %old: f64):
    %1 = arith.mulf %x, %y : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @add(%a: tensor<?xf64> read, %b: tensor<?xf64> read, %c: tensor<?xf64> write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%c : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @add_to(%a: tensor<?xf64> read, %b: tensor<?xf64> read_write) {
  %0 = linalg.add ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @subtract_from(%a: tensor<?xf64> read, %b: tensor<?xf64> read_write) {
  %0 = linalg.sub ins(%b, %a : tensor<?xf64>, tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
// A product with a matrix, which reads all of the vector: q_i = (1 + sum p) * p_i.
dist.task @product(%all: tensor<?xf64> read, %p: tensor<?xf64> read, %q: tensor<?xf64> write) {
  %one = arith.constant dense<1.0> : tensor<f64>
  %sum = linalg.reduce ins(%all : tensor<?xf64>) outs(%one : tensor<f64>) dimensions = [0]
    (%in: f64, %old: f64) {
      %1 = arith.addf %in, %old : f64
      linalg.yield %1 : f64
    }
  %0 = linalg.generic {indexing_maps = [#s, #v, #v], iterator_types = ["parallel"]}
      ins(%sum, %p : tensor<f64>, tensor<?xf64>) outs(%q : tensor<?xf64>) {
  ^bb0(%x: f64, %y: f64, %old: f64):
    %1 = arith.mulf %x, %y : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// Once before the loop,
// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK: dist.launch @fused_copy_dot on [4]
// the iterations,
// CHECK: scf.for
// CHECK-NEXT: dist.launch @fused_divide_scale_add on [4]
// CHECK-NEXT: dist.fill
// The old scalar is replaced when the first group has read it.
// CHECK-NEXT: dist.launch @fused_copy_product_dot on [4] replicated
// CHECK-NEXT: dist.fill
// CHECK-NEXT: dist.launch @fused_divide_to_dot_7 on [4]
// CHECK-NEXT: }
// and what remains of the last.
// CHECK: dist.launch @fused_divide_scale_add on [4]
// CHECK: dist.launch @fused_copy_product_dot on [4] replicated
// CHECK: dist.launch @fused_divide_to_subtract_from_5 on [4]
// CHECK-NOT: dist.launch

// ROTATED: %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %[[N:.*]] : index
// ROTATED: scf.if %[[RUNS]] {
// ROTATED: dist.launch @copy
// ROTATED: dist.launch @dot
// ROTATED: %[[LESS:.*]] = arith.subi %[[N]]
// ROTATED: scf.for {{.*}} to %[[LESS]]
func.func @main(%b: tensor<60xf64>, %n: index) -> tensor<60xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %R = dist.from_tensor %b : tensor<60xf64> -> !dist.store<60xf64>
  %X = dist.create : !dist.store<60xf64>
  %P = dist.create : !dist.store<60xf64>
  %Z = dist.create : !dist.store<60xf64>
  %rho = dist.create : !dist.store<f64>
  %rho1 = dist.create : !dist.store<f64>
  dist.fill %zero into %X by #cut on [4] : f64, !dist.store<60xf64>
  dist.fill %zero into %P by #cut on [4] : f64, !dist.store<60xf64>
  dist.fill %one into %rho1 by #dist.none on [1] : f64, !dist.store<f64>
  scf.for %i = %c0 to %n step %c1 {
    dist.launch @copy on [4] (%R read #cut, %Z write #cut) : !dist.store<60xf64>, !dist.store<60xf64>
    dist.fill %zero into %rho by #dist.none on [1] : f64, !dist.store<f64>
    dist.launch @dot on [4] (%R read #cut, %Z read #cut, %rho reduce<sum> #dist.none) : !dist.store<60xf64>, !dist.store<60xf64>, !dist.store<f64>
    %beta = dist.create : !dist.store<f64>
    dist.launch @divide on [1] (%rho read #dist.none, %rho1 read #dist.none, %beta write #dist.none) : !dist.store<f64>, !dist.store<f64>, !dist.store<f64>
    dist.copy %rho by #dist.none to %rho1 by #dist.none on [1] : !dist.store<f64>, !dist.store<f64>
    %T = dist.create : !dist.store<60xf64>
    dist.launch @scale on [4] (%beta read #dist.none, %P read #cut, %T write #cut) : !dist.store<f64>, !dist.store<60xf64>, !dist.store<60xf64>
    dist.launch @add on [4] (%T read #cut, %Z read #cut, %P write #cut) : !dist.store<60xf64>, !dist.store<60xf64>, !dist.store<60xf64>
    %Q = dist.create : !dist.store<60xf64>
    dist.launch @product on [4] (%P read #dist.none, %P read #cut, %Q write #cut) : !dist.store<60xf64>, !dist.store<60xf64>, !dist.store<60xf64>
    %pq = dist.create : !dist.store<f64>
    dist.fill %zero into %pq by #dist.none on [1] : f64, !dist.store<f64>
    dist.launch @dot on [4] (%P read #cut, %Q read #cut, %pq reduce<sum> #dist.none) : !dist.store<60xf64>, !dist.store<60xf64>, !dist.store<f64>
    %alpha = dist.create : !dist.store<f64>
    dist.launch @divide on [1] (%rho1 read #dist.none, %pq read #dist.none, %alpha write #dist.none) : !dist.store<f64>, !dist.store<f64>, !dist.store<f64>
    %U = dist.create : !dist.store<60xf64>
    dist.launch @scale on [4] (%alpha read #dist.none, %P read #cut, %U write #cut) : !dist.store<f64>, !dist.store<60xf64>, !dist.store<60xf64>
    dist.launch @add_to on [4] (%U read #cut, %X read_write #cut) : !dist.store<60xf64>, !dist.store<60xf64>
    %V = dist.create : !dist.store<60xf64>
    dist.launch @scale on [4] (%alpha read #dist.none, %Q read #cut, %V write #cut) : !dist.store<f64>, !dist.store<60xf64>, !dist.store<60xf64>
    dist.launch @subtract_from on [4] (%V read #cut, %R read_write #cut) : !dist.store<60xf64>, !dist.store<60xf64>
  }
  %r = dist.to_tensor %X : !dist.store<60xf64> -> tensor<60xf64>
  return %r : tensor<60xf64>
}
