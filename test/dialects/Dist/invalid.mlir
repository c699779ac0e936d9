// One test per message of the verifiers and parsers.
// RUN: fusion-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

// expected-error @+1 {{a store has elements of signless integer, index or float type, not 'si8'}}
func.func private @elements(!dist.store<4xsi8>)

// -----

// expected-error @+1 {{the store has more elements than can be addressed}}
func.func private @large(!dist.store<4611686018427387904x2xf64>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @dynamic(!dist.store<?xf64>)

// -----

// expected-error @+1 {{'write_only' is no privilege; there are read, write, read_write and reduce<op>}}
func.func private @privilege() attributes {p = #dist.privilege<write_only>}

// -----

// expected-error @+1 {{'mean' is no reduction operator}}
func.func private @reducer() attributes {p = #dist.privilege<reduce<mean>>}

// -----

// expected-error @+1 {{a tiling has a tile, an offset, an extent and a projection of one rank, but theirs are 1, 2, 1 and 1}}
func.func private @ranks() attributes {p = #dist.tiled<[1] offset [0, 0] extent [1] by (d0) -> (d0)>}

// -----

// expected-error @+1 {{a tile has extents of at least 1, not 0}}
func.func private @tile() attributes {p = #dist.tiled<[0] offset [0] extent [1] by (d0) -> (d0)>}

// -----

// expected-error @+1 {{the offset of a tiling is not negative, but -1 is given}}
func.func private @offset() attributes {p = #dist.tiled<[1] offset [-1] extent [1] by (d0) -> (d0)>}

// -----

// expected-error @+1 {{the extent of a tiling is not negative, but -2 is given}}
func.func private @extent() attributes {p = #dist.tiled<[1] offset [0] extent [-2] by (d0) -> (d0)>}

// -----

// expected-error @+1 {{a projection has no symbols}}
func.func private @symbols() attributes {p = #dist.tiled<[1] offset [0] extent [1] by (d0)[s0] -> (d0)>}

// -----

// expected-error @+1 {{a result of a projection is a dimension of the launch domain or a constant of at least 0, not d0 + 1}}
func.func private @projection() attributes {p = #dist.tiled<[1] offset [0] extent [1] by (d0) -> (d0 + 1)>}

// -----

// expected-error @+1 {{a result of a projection is a dimension of the launch domain or a constant of at least 0, not -1}}
func.func private @constant() attributes {p = #dist.tiled<[1] offset [0] extent [1] by (d0) -> (-1)>}

// -----

// expected-error @+1 {{an image of kind 'points' names 1 argument(s), not 2}}
func.func private @image() attributes {p = #dist.image<points 0, 1>}

// -----

// expected-error @+1 {{a launch domain has extents of at least 1, not 0}}
func.func private @placement() attributes {p = #dist.placement<#dist.none on [4, 0]>}

// -----

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'dist.task' op needs one privilege for each argument}}
"dist.task"() <{sym_name = "t", argumentTypes = [tensor<?xf64>], privileges = [], external = "t"}> ({}) : () -> ()

// -----

// expected-error @+1 {{'dist.task' op argument 0 must be a ranked tensor with a privilege}}
dist.task @t(tensor<*xf64> read) external "t"

// -----

// expected-error @+1 {{'dist.task' op needs a body or the name of a C function}}
dist.task @t(tensor<?xf64> read)

// -----

// expected-error @+1 {{'dist.task' op has a body, so it cannot name a C function}}
"dist.task"() <{sym_name = "t", argumentTypes = [], privileges = [], external = "t"}> ({
  dist.yield
}) : () -> ()

// -----

// expected-error @+1 {{'dist.task' op needs the name of a C function that is not empty}}
dist.task @t(tensor<?xf64> read) external ""

// -----

// expected-error @+1 {{name all arguments (of a task with a body) or none (of an external one)}}
dist.task @t(%a: tensor<?xf64> read, tensor<?xf64> read) external "t"

// -----

// expected-error @+1 {{'dist.task' op has 1 arguments, but its body has 0}}
"dist.task"() <{sym_name = "t", argumentTypes = [tensor<?xf64>], privileges = [#dist.privilege<read>]}> ({
  dist.yield
}) : () -> ()

// -----

// expected-error @+1 {{'dist.task' op argument 0 is a 'tensor<?xf64>', but the body takes a 'tensor<4xf64>'}}
"dist.task"() <{sym_name = "t", argumentTypes = [tensor<?xf64>], privileges = [#dist.privilege<read>]}> ({
^bb0(%a: tensor<4xf64>):
  dist.yield
}) : () -> ()

// -----

dist.task @t(%a: tensor<?xf64> write) {
  // expected-error @+1 {{'linalg.exp' op reads argument 0 of the task, which has privilege 'write' and so no old elements}}
  %0 = linalg.exp ins(%a : tensor<?xf64>) outs(%a : tensor<?xf64>) -> tensor<?xf64>
  dist.yield %0 : tensor<?xf64>
}

// -----

dist.task @t(%a: tensor<?xf64> write) {
  // expected-error @+1 {{'dist.yield' op reads argument 0 of the task, which has privilege 'write' and so no old elements}}
  dist.yield %a : tensor<?xf64>
}

// -----

// Only a column is written.
dist.task @t(%x: tensor<?xf64> read, %a: tensor<?x?xf64> write) {
  // expected-error @+1 {{'linalg.generic' op reads argument 1 of the task, which has privilege 'write' and so no old elements}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 0)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<?xf64>) outs(%a : tensor<?x?xf64>) {
  ^bb0(%in: f64, %out: f64):
    linalg.yield %in : f64
  } -> tensor<?x?xf64>
  dist.yield %0 : tensor<?x?xf64>
}

// -----

dist.task @t(%x: tensor<f64> reduce<sum>, %a: tensor<f64> write) {
  // expected-error @+1 {{'linalg.copy' op uses argument 0 of the task, which has privilege 'reduce', for something else than accumulation}}
  %0 = linalg.copy ins(%x : tensor<f64>) outs(%a : tensor<f64>) -> tensor<f64>
  dist.yield %x, %0 : tensor<f64>, tensor<f64>
}

// -----

// expected-error @+1 {{'dist.task' op needs a body that ends with 'dist.yield'}}
"dist.task"() <{sym_name = "t", argumentTypes = [], privileges = []}> ({
  llvm.unreachable
}) : () -> ()

// -----

dist.task @t(%a: tensor<?xf64> read_write) {
  // expected-error @+1 {{'dist.yield' op gives 0 tensors, but the task writes or reduces 1 arguments}}
  dist.yield
}

// -----

dist.task @t(%x: tensor<?xf32> read, %a: tensor<?xf64> read_write) {
  // expected-error @+1 {{'dist.yield' op gives a 'tensor<?xf32>' for argument 1, which is a 'tensor<?xf64>'}}
  dist.yield %x : tensor<?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

dist.task @t() external "t"
func.func @main() {
  // expected-error @+1 {{'dist.launch' op needs a launch domain of at least one dimension}}
  dist.launch @t on [] ()
  return
}

// -----

dist.task @t() external "t"
func.func @main() {
  // expected-error @+1 {{'dist.launch' op needs a launch domain with extents of at least 1, not 0}}
  dist.launch @t on [0] ()
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op needs a store, a partition and a privilege for argument 0}}
  "dist.launch"(%s) <{task = @t, domain = array<i64: 1>, privileges = [unit], partitions = [#dist.none]}> : (!dist.store<8xf64>) -> ()
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op needs one privilege and one partition for each store}}
  "dist.launch"(%s) <{task = @t, domain = array<i64: 1>, privileges = [], partitions = []}> : (!dist.store<8xf64>) -> ()
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main(%s: !dist.store<8xf64>) {
  // expected-error @+1 {{'dist.launch' op argument 0 must be made by 'dist.create', 'dist.from_tensor' or 'dist.view': stores are not passed through block arguments}}
  dist.launch @t on [1] (%s read #dist.none) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?x?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8x8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: a partition with tiles of rank 1 does not fit a store of rank 2}}
  dist.launch @t on [1] (%s read #dist.tiled<[8] offset [0] extent [8] by (d0) -> (d0)>) : !dist.store<8x8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the projection takes points of rank 2, but the launch domain has rank 1}}
  dist.launch @t on [2] (%s read #dist.tiled<[4] offset [0] extent [8] by (d0, d1) -> (d0)>) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the partition leaves the store: along dimension 0 it takes elements from 1 on, 8 of them, and the store has 8}}
  dist.launch @t on [2] (%s read #dist.tiled<[4] offset [1] extent [8] by (d0) -> (d0)>) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the coordinates of the tiles along dimension 0 do not fit into 64 bits}}
  dist.launch @t on [4] (%s read #dist.tiled<[4611686018427387904] offset [0] extent [8] by (d0) -> (d0)>) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<f64> read, tensor<?xi32> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<f64>
  %i = dist.create : !dist.store<8xi32>
  // expected-error @+1 {{'dist.launch' op argument 0: an image partitions the first dimension of a store, and a scalar store has none}}
  dist.launch @t on [2] (%s read #dist.image<points 1>, %i read #dist.none) : !dist.store<f64>, !dist.store<8xi32>
  return
}

// -----

dist.task @t(tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the image refers to argument 1, which is not another argument}}
  dist.launch @t on [2] (%s read #dist.image<points 1>) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> read, tensor<?xf64> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  %i = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the image refers to argument 1, which is no one-dimensional store of integers}}
  dist.launch @t on [2] (%s read #dist.image<points 1>, %i read #dist.none) : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> read, tensor<?xi32> read, tensor<?xi32> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  %i = dist.create : !dist.store<8xi32>
  // expected-error @+1 {{'dist.launch' op argument 0: the image refers to argument 1, itself an image, which must then come before it}}
  dist.launch @t on [2] (%s read #dist.image<points 1>, %i read #dist.image<points 2>, %i read #dist.none)
      : !dist.store<8xf64>, !dist.store<8xi32>, !dist.store<8xi32>
  return
}

// -----

#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @t(tensor<?xf64> read, tensor<?xi32> write) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  %i = dist.create : !dist.store<8xi32>
  // expected-error @+1 {{'dist.launch' op argument 0: the image refers to argument 1, which is not read}}
  dist.launch @t on [2] (%s read #dist.image<points 1>, %i write #cut) : !dist.store<8xf64>, !dist.store<8xi32>
  return
}

// -----

dist.task @t(tensor<?xf64> write) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: the partition is written, but gives different points of the domain the same elements}}
  dist.launch @t on [2] (%s write #dist.none) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<f64> read_write) external "t"
func.func @main() {
  %s = dist.create : !dist.store<f64>
  // expected-error @+1 {{'dist.launch' op argument 0: the partition is written, but gives different points of the domain the same elements}}
  dist.launch @t on [2] replicated (%s read_write #dist.none) : !dist.store<f64>
  return
}

// -----

dist.task @t(tensor<?xf64> reduce<xor>) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0: elements of type 'f64' cannot be reduced with 'xor'}}
  dist.launch @t on [2] (%s reduce<xor> #dist.none) : !dist.store<8xf64>
  return
}

// -----

#cut = #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>
dist.task @t(tensor<?xf64> read, tensor<?xf64> write) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op arguments 0 and 1 are the same part of one store; a part that is written or reduced is one argument}}
  dist.launch @t on [2] (%s read #cut, %s write #cut) : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// -----

#left = #dist.tiled<[2] offset [0] extent [4] by (d0) -> (d0)>
#middle = #dist.tiled<[2] offset [2] extent [4] by (d0) -> (d0)>
dist.task @t(tensor<?xf64> read, tensor<?xf64> write) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op arguments 0 and 1 are overlapping parts of one store, and one of them is written or reduced}}
  dist.launch @t on [2] (%s read #left, %s write #middle) : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op refers to '@t', which is no 'dist.task'}}
  dist.launch @t on [2] (%s read #dist.none) : !dist.store<8xf64>
  return
}

// -----

dist.task @t() external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op passes 1 stores to '@t', which takes 0}}
  dist.launch @t on [2] (%s read #dist.none) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf32> read) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0 is a '!dist.store<8xf64>', but '@t' takes boxes of type 'tensor<?xf32>'}}
  dist.launch @t on [2] (%s read #dist.none) : !dist.store<8xf64>
  return
}

// -----

dist.task @t(tensor<?xf64> reduce<max>) external "t"
func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.launch' op argument 0 has privilege 'reduce<sum>', but '@t' declares 'reduce<max>'}}
  dist.launch @t on [2] (%s reduce<sum> #dist.none) : !dist.store<8xf64>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Fills and copies
//===----------------------------------------------------------------------===//

func.func @main(%c: f32) {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.fill' op fills a store of 'f64' with a value of type 'f32'}}
  dist.fill %c into %s by #dist.none on [1] : f32, !dist.store<8xf64>
  return
}

// -----

func.func @main(%c: f64) {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.fill' op argument 0: the partition is written, but gives different points of the domain the same elements}}
  dist.fill %c into %s by #dist.none on [2] : f64, !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  %t = dist.create : !dist.store<8xf32>
  // expected-error @+1 {{'dist.copy' op copies elements of type 'f64' to a store of 'f32'}}
  dist.copy %s by #dist.none to %t by #dist.none on [1] : !dist.store<8xf64>, !dist.store<8xf32>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  %t = dist.create : !dist.store<4xf64>
  // expected-error @+1 {{'dist.copy' op needs partitions whose boxes have the same extents at every point}}
  dist.copy %s by #dist.none to %t by #dist.none on [1] : !dist.store<8xf64>, !dist.store<4xf64>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

func.func @main(%t: tensor<8xf32>) {
  // expected-error @+1 {{'dist.from_tensor' op joins '!dist.store<8xf64>' and 'tensor<8xf32>', which differ in shape or element type}}
  %s = dist.from_tensor %t : tensor<8xf32> -> !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.to_tensor' op joins '!dist.store<8xf64>' and 'tensor<?xf64>', which differ in shape or element type}}
  %t = dist.to_tensor %s : !dist.store<8xf64> -> tensor<?xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.view' op makes '!dist.store<8xf32>' of '!dist.store<8xf64>', which differ in rank or element type}}
  %v = dist.view %s [0] : !dist.store<8xf64> -> !dist.store<8xf32>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.view' op needs one offset for each of the 1 dimensions}}
  %v = dist.view %s [0, 0] : !dist.store<8xf64> -> !dist.store<4xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.view' op leaves its source along dimension 0}}
  %v = dist.view %s [5] : !dist.store<8xf64> -> !dist.store<4xf64>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op needs at least one placement to take elements from}}
  dist.exchange %s from [] to [#dist.placement<#dist.none on [1]>] : !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op needs at least one placement to bring elements to}}
  dist.exchange %s from [#dist.placement<#dist.none on [1]>] to [] : !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op takes elements from written partitions, and an image is never written}}
  dist.exchange %s from [#dist.placement<#dist.image<points 0> on [1]>] to [#dist.placement<#dist.none on [1]>] : !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange_start' op a partition with tiles of rank 2 does not fit a store of rank 1}}
  %t = dist.exchange_start %s from [#dist.placement<#dist.tiled<[1, 1] offset [0, 0] extent [1, 1] by (d0) -> (d0, 0)> on [1]>]
      to [#dist.placement<#dist.none on [1]>] : !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op needs one partition for each store that is given}}
  "dist.exchange"(%s, %s) <{sources = [#dist.placement<#dist.none on [1]>], targets = [#dist.placement<#dist.none on [1]>],
      givenPartitions = []}> : (!dist.store<8xf64>, !dist.store<8xf64>) -> ()
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op has an image of store 0, but 0 are given before it}}
  dist.exchange %s from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#dist.image<points 0> on [1]>] : !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<8xf64>
  // expected-error @+1 {{'dist.exchange' op has an image of store 0, which is no one-dimensional store of integers}}
  dist.exchange %s from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#dist.image<points 0> on [1]>]
      given(%s by [#dist.none]) : !dist.store<8xf64>, !dist.store<8xf64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<f64>
  // expected-error @+1 {{'dist.all_reduce' op needs a reduction operator}}
  "dist.all_reduce"(%s) <{reduction = #dist.privilege<read>, placement = #dist.placement<#dist.none on [2]>}> : (!dist.store<f64>) -> ()
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<f64>
  // expected-error @+1 {{'dist.all_reduce' op cannot reduce elements of type 'f64' with 'xor'}}
  dist.all_reduce %s xor <#dist.none on [2]> : !dist.store<f64>
  return
}

// -----

func.func @main() {
  %s = dist.create : !dist.store<f64>
  // expected-error @+1 {{'mean' is no reduction operator}}
  dist.all_reduce %s mean <#dist.none on [2]> : !dist.store<f64>
  return
}
