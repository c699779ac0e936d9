// A planned program on 1 to 5 ranks (the last have no points): halo exchange with overlap, a reduction over the ranks, gathering.

// RUN: fusion-run %s --input=random:3 --expected=reference | FileCheck %s
// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --input=random:3 --expected=reference | FileCheck %s %}
// RUN: %if openmpi %{ %mpirun-openmpi -np 3 fusion-run %s --input=random:3 --expected=reference | FileCheck %s %}
// RUN: %if openmpi %{ %mpirun-openmpi -np 5 fusion-run %s --input=random:3 --expected=reference | FileCheck %s %}
// RUN: %if mpich %{ %mpirun-mpich -np 4 fusion-run %s --input=random:3 --expected=reference | FileCheck %s %}
// CHECK: ok: 2 results match
// CHECK-NOT: ok:

// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --input=random:3 --json | FileCheck %s --check-prefix=JSON %}
// Scatter 1, exchanges 3 times 2, reductions, gathering 1.
// JSON: "ranks":2,"messages":{{[1-9][0-9]*}},"bytes_sent":{{[1-9][0-9]*}},"tasks_per_step":2,

#interior = #dist.tiled<[5] offset [1] extent [18] by (d0) -> (d0)>
#left = #dist.tiled<[5] offset [0] extent [18] by (d0) -> (d0)>
#right = #dist.tiled<[5] offset [2] extent [18] by (d0) -> (d0)>

dist.task @smooth(%l: tensor<?xf64> read, %c: tensor<?xf64> read, %r: tensor<?xf64> read, %out: tensor<?xf64> write) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%l, %c, %r : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %d: f64, %old: f64):
    %half = arith.constant 0.5 : f64
    %quarter = arith.constant 0.25 : f64
    %s = arith.addf %a, %d : f64
    %t = arith.mulf %s, %quarter : f64
    %u = arith.mulf %b, %half : f64
    %v = arith.addf %t, %u : f64
    linalg.yield %v : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @sum(%x: tensor<?xf64> read, %s: tensor<f64> reduce<sum>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %1 = arith.addf %b, %a : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  dist.yield %0 : tensor<f64>
}
func.func @main(%x: tensor<20xf64>) -> (tensor<20xf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %u = dist.from_tensor %x : tensor<20xf64> -> !dist.store<20xf64>
  %v = dist.create : !dist.store<20xf64>
  %s = dist.create : !dist.store<f64>
  dist.fill %zero into %s by #dist.none on [1] : f64, !dist.store<f64>
  dist.exchange %u from [#dist.placement<#dist.none on [1]>]
      to [#dist.placement<#interior on [4]>, #dist.placement<#left on [4]>, #dist.placement<#right on [4]>]
      : !dist.store<20xf64>
  scf.for %i = %c0 to %c3 step %c1 {
    dist.launch @smooth on [4] (%u read #left, %u read #interior, %u read #right, %v write #interior)
        : !dist.store<20xf64>, !dist.store<20xf64>, !dist.store<20xf64>, !dist.store<20xf64>
    dist.copy %v by #interior to %u by #interior on [4] : !dist.store<20xf64>, !dist.store<20xf64>
    %t = dist.exchange_start %u from [#dist.placement<#dist.none on [1]>, #dist.placement<#interior on [4]>]
        to [#dist.placement<#left on [4]>, #dist.placement<#right on [4]>] : !dist.store<20xf64>
    dist.launch @sum on [4] (%v read #interior, %s reduce<sum> #dist.none) : !dist.store<20xf64>, !dist.store<f64>
    dist.all_reduce %s sum <#dist.none on [4]> : !dist.store<f64>
    dist.exchange_wait %t
  }
  dist.exchange %u from [#dist.placement<#dist.none on [1]>, #dist.placement<#interior on [4]>]
      to [#dist.placement<#dist.none on [1]>] : !dist.store<20xf64>
  %r = dist.to_tensor %u : !dist.store<20xf64> -> tensor<20xf64>
  %n = dist.to_tensor %s : !dist.store<f64> -> tensor<f64>
  return %r, %n : tensor<20xf64>, tensor<f64>
}
