// Contributions to boxes that overlap: a matrix-vector product cut along the columns, on an old content; maxima of integers;
// several points on a rank; extents that do not divide.

// RUN: fusion-run %s --input=random:1 --input=random:2 --input=random:3 --expected=reference | FileCheck %s
// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --input=random:1 --input=random:2 --input=random:3 \
// RUN:   --expected=reference | FileCheck %s %}
// RUN: %if openmpi %{ %mpirun-openmpi -np 3 fusion-run %s --input=random:1 --input=random:2 --input=random:3 \
// RUN:   --expected=reference | FileCheck %s %}
// RUN: %if mpich %{ %mpirun-mpich -np 4 fusion-run %s --input=random:1 --input=random:2 --input=random:3 \
// RUN:   --expected=reference | FileCheck %s %}
// CHECK: ok: 2 results match

#columns = #dist.tiled<[7, 3] offset [0, 0] extent [7, 11] by (d0) -> (0, d0)>
#part = #dist.tiled<[3] offset [0] extent [11] by (d0) -> (d0)>

dist.task @product(%a: tensor<?x?xf64> read, %x: tensor<?xf64> read, %y: tensor<?xf64> reduce<sum>) {
  %0 = linalg.matvec ins(%a, %x : tensor<?x?xf64>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}
dist.task @largest(%k: tensor<?xi32> read, %m: tensor<i32> reduce<max>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%k : tensor<?xi32>) outs(%m : tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.maxsi %a, %b : i32
    linalg.yield %1 : i32
  } -> tensor<i32>
  dist.yield %0 : tensor<i32>
}
func.func @main(%a: tensor<7x11xf64>, %x: tensor<11xf64>, %k: tensor<11xi32>) -> (tensor<7xf64>, tensor<i32>) {
  %one = arith.constant 1.0 : f64
  %least = arith.constant -5 : i32
  %A = dist.from_tensor %a : tensor<7x11xf64> -> !dist.store<7x11xf64>
  %X = dist.from_tensor %x : tensor<11xf64> -> !dist.store<11xf64>
  %K = dist.from_tensor %k : tensor<11xi32> -> !dist.store<11xi32>
  %Y = dist.create : !dist.store<7xf64>
  %M = dist.create : !dist.store<i32>
  dist.fill %least into %M by #dist.none on [1] : i32, !dist.store<i32>
  dist.fill %one into %Y by #dist.none on [1] : f64, !dist.store<7xf64>
  dist.exchange %A from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#columns on [4]>] : !dist.store<7x11xf64>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#part on [4]>] : !dist.store<11xf64>
  dist.exchange %K from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#part on [4]>] : !dist.store<11xi32>
  dist.exchange %Y from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#dist.none on [4]>] : !dist.store<7xf64>
  dist.launch @product on [4] (%A read #columns, %X read #part, %Y reduce<sum> #dist.none)
      : !dist.store<7x11xf64>, !dist.store<11xf64>, !dist.store<7xf64>
  dist.launch @product on [4] (%A read #columns, %X read #part, %Y reduce<sum> #dist.none)
      : !dist.store<7x11xf64>, !dist.store<11xf64>, !dist.store<7xf64>
  dist.launch @largest on [4] (%K read #part, %M reduce<max> #dist.none) : !dist.store<11xi32>, !dist.store<i32>
  dist.all_reduce %Y sum <#dist.none on [4]> : !dist.store<7xf64>
  dist.all_reduce %M max <#dist.none on [4]> : !dist.store<i32>
  %y = dist.to_tensor %Y : !dist.store<7xf64> -> tensor<7xf64>
  %m = dist.to_tensor %M : !dist.store<i32> -> tensor<i32>
  return %y, %m : tensor<7xf64>, tensor<i32>
}
