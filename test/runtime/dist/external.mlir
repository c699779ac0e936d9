// A C function as a task: it sees boxes with their strides and their place in the store; its failure ends all ranks with one
// message.

// RUN: %cc -std=c99 -shared -fPIC -Wall -Werror -I%fusion_src/include %S/external.c -o %t.so -L%fusion_obj/runtime \
// RUN:   -lFusionRuntime -Wl,-rpath,%fusion_obj/runtime
// RUN: fusion-run %s --library=%t.so --input=zeros | FileCheck %s
// RUN: %if openmpi %{ %mpirun-openmpi -np 2 fusion-run %s --library=%t.so --input=zeros | FileCheck %s %}
// CHECK: result 0: 4x6xf32 = [0, 0, 0, 0, 0, 0, 0, 7, 8, 9, 10, 0, 0, 13, 14, 15, 16, 0, 0, 0, 0, 0, 0, 0]

// RUN: not fusion-run %s --input=zeros 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: %if openmpi %{ not %mpirun-openmpi -np 2 fusion-run %s --input=zeros 2>&1 | FileCheck %s --check-prefix=UNKNOWN %}
// UNKNOWN-NOT: error:
// UNKNOWN: external.mlir:[[#@LINE+13]]:1: error: 'dist.task' op names the C function 'add_index', which is neither in the run-time nor in a library given by --library
// UNKNOWN-NOT: error:

// RUN: not fusion-run %s --entry=broken --library=%t.so --input=zeros 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: %if openmpi %{ not %mpirun-openmpi -np 2 fusion-run %s --entry=broken --library=%t.so --input=zeros 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RANK %}
// RUN: %if mpich %{ not %mpirun-mpich -np 2 fusion-run %s --entry=broken --library=%t.so --input=zeros 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RANK %}
// RANK: rank 1 of 2: task 'only_first' failed at point 1 of 2: I only know the first box
// BROKEN: task 'only_first' failed at point 1 of 2: I only know the first box

#rows = #dist.tiled<[1, 4] offset [1, 1] extent [2, 4] by (d0) -> (d0, 0)>

dist.task @add_index(tensor<?x?xf32> read, tensor<?x?xf32> write) external "add_index"
dist.task @only_first(tensor<?xf32> read_write) external "only_first"

func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %X = dist.from_tensor %x : tensor<4x6xf32> -> !dist.store<4x6xf32>
  %Y = dist.create : !dist.store<4x6xf32>
  dist.fill %zero into %Y by #dist.none on [1] : f32, !dist.store<4x6xf32>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#rows on [2]>] : !dist.store<4x6xf32>
  dist.launch @add_index on [2] (%X read #rows, %Y write #rows) : !dist.store<4x6xf32>, !dist.store<4x6xf32>
  dist.exchange %Y from [#dist.placement<#dist.none on [1]>, #dist.placement<#rows on [2]>]
      to [#dist.placement<#dist.none on [1]>] : !dist.store<4x6xf32>
  %y = dist.to_tensor %Y : !dist.store<4x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @broken(%x: tensor<8xf32>) -> tensor<8xf32> {
  %X = dist.from_tensor %x : tensor<8xf32> -> !dist.store<8xf32>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>]
      to [#dist.placement<#dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)> on [2]>] : !dist.store<8xf32>
  dist.launch @only_first on [2] (%X read_write #dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)>)
      : !dist.store<8xf32>
  %y = dist.to_tensor %X : !dist.store<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
