// Stores in the memory of tensors of the host program, which goes on to update these tensors: the store keeps its content; the
// result is not shared with it. In a loop, a store each time.

// RUN: fusion-run %s --input=random:1 --expected=reference | FileCheck %s
// RUN: fusion-run %s --input=random:1 --expected=reference --fuse-tasks=off | FileCheck %s
// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --input=random:1 --expected=reference | FileCheck %s %}
// CHECK: ok: 3 results match

// RUN: fusion-opt %s --dist-lower | FileCheck %s --check-prefix=CALLS
// CALLS: llvm.call @fusion_dist_borrow
// CALLS: llvm.call @fusion_dist_borrow
// CALLS: llvm.call @fusion_dist_from_tensor
// CALLS: scf.for
// CALLS: llvm.call @fusion_dist_borrow
// CALLS: llvm.call @fusion_dist_return
// CALLS: scf.yield
// CALLS: llvm.call @fusion_dist_return
// CALLS-NOT: llvm.call @fusion_dist_return

#cut = #dist.tiled<[3] offset [0] extent [8] by (d0) -> (d0)>
#id = affine_map<(i) -> (i)>

dist.task @add(%x: tensor<?xf64> read, %y: tensor<?xf64> read_write) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %1 = arith.addf %b, %a : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

func.func @main(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %seven = arith.constant 7.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf64>)
      outs(%e : tensor<8xf64>) {
  ^bb0(%a: f64, %b: f64):
    %1 = arith.addf %a, %a : f64
    linalg.yield %1 : f64
  } -> tensor<8xf64>
  %X = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %T = dist.from_tensor %t : tensor<8xf64> -> !dist.store<8xf64>
  %Y = dist.from_tensor %t : tensor<8xf64> -> !dist.store<8xf64>
  // The tensor of %T is updated while %T is alive.
  %u = tensor.insert %seven into %t[%c1] : tensor<8xf64>
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %u) -> tensor<8xf64> {
    %V = dist.from_tensor %v : tensor<8xf64> -> !dist.store<8xf64>
    %w = tensor.insert %seven into %v[%i] : tensor<8xf64>
    dist.exchange %V from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [3]>] : !dist.store<8xf64>
    dist.exchange %Y from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [3]>] : !dist.store<8xf64>
    dist.launch @add on [3] (%V read #cut, %Y read_write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
    dist.exchange %Y from [#dist.placement<#cut on [3]>] to [#dist.placement<#dist.none on [1]>] : !dist.store<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  dist.exchange %T from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [3]>] : !dist.store<8xf64>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [3]>] : !dist.store<8xf64>
  dist.exchange %Y from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [3]>] : !dist.store<8xf64>
  dist.launch @add on [3] (%T read #cut, %Y read_write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  dist.launch @add on [3] (%X read #cut, %Y read_write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  dist.exchange %Y from [#dist.placement<#cut on [3]>] to [#dist.placement<#dist.none on [1]>] : !dist.store<8xf64>
  %y = dist.to_tensor %Y : !dist.store<8xf64> -> tensor<8xf64>
  %r = dist.to_tensor %T : !dist.store<8xf64> -> tensor<8xf64>
  return %y, %r, %last : tensor<8xf64>, tensor<8xf64>, tensor<8xf64>
}
