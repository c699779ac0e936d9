// RUN: fusion-opt %s --dist-lower --split-input-file | FileCheck %s

// The description's example: an argument that is only read is used where it is, the result is copied.

// CHECK-DAG: llvm.mlir.global internal constant @dist.table.main.0(dense<[0, 0, 8, 1, 8, 1, 1, 1, 0]> : tensor<9xi64>)
// CHECK-LABEL: func.func @main
// CHECK-SAME: attributes {fusion.ranks}
// CHECK: %[[CONTEXT:.*]] = llvm.call @fusion_dist_begin
// CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK: llvm.call @fusion_dist_borrow(%[[CONTEXT]],
// CHECK: %[[RESULT:.*]] = memref.alloc() : memref<8xf64>
// CHECK: llvm.call @fusion_dist_to_tensor
// CHECK: bufferization.to_tensor %[[RESULT]] restrict writable
// CHECK: llvm.call @fusion_dist_destroy
// CHECK: llvm.call @fusion_dist_end(%[[CONTEXT]])
func.func @main(%x: tensor<8xf64>) -> tensor<8xf64> {
  %s = dist.from_tensor %x : tensor<8xf64> -> !dist.store<8xf64>
  %r = dist.to_tensor %s : !dist.store<8xf64> -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// -----

// Bodies: one for the tile that divides, with its extents, one for the tile that does not. What is written is no
// destination that is read; what is reduced starts from the identity. The store of the result is made in its memory, and
// dies in it.

#cut = #dist.tiled<[5] offset [0] extent [10] by (d0) -> (d0)>
#ragged = #dist.tiled<[4] offset [0] extent [10] by (d0) -> (d0)>

dist.task @scale(%x: tensor<?xf64> read, %y: tensor<?xf64> write, %s: tensor<f64> reduce<max>) {
  %0 = linalg.add ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %2 = arith.maximumf %a, %b : f64
    linalg.yield %2 : f64
  } -> tensor<f64>
  dist.yield %0, %1 : tensor<?xf64>, tensor<f64>
}
dist.task @double_it(tensor<?xf64> read_write) external "double_it"

// CHECK-DAG: llvm.func @double_it(!llvm.ptr, i32) -> i32
// CHECK-LABEL: func.func @two_tiles
// CHECK: %[[RESULT:.*]] = memref.alloc() : memref<10xf64>
// CHECK: memref.extract_aligned_pointer_as_index %[[RESULT]]
// CHECK: llvm.call @fusion_dist_create
// CHECK: call_body
// CHECK-NOT: memref.alloc
// CHECK: bufferization.to_tensor %[[RESULT]] restrict writable
func.func private @call_body()
func.func @two_tiles(%x: tensor<10xf64>) -> tensor<10xf64> {
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  %S = dist.create : !dist.store<f64>
  dist.launch @scale on [2] (%X read #cut, %Y write #cut, %S reduce<max> #dist.none)
      : !dist.store<10xf64>, !dist.store<10xf64>, !dist.store<f64>
  call @call_body() : () -> ()
  dist.launch @scale on [3] (%X read #ragged, %Y write #ragged, %S reduce<max> #dist.none)
      : !dist.store<10xf64>, !dist.store<10xf64>, !dist.store<f64>
  dist.launch @scale on [2] (%X read #cut, %Y write #cut, %S reduce<max> #dist.none)
      : !dist.store<10xf64>, !dist.store<10xf64>, !dist.store<f64>
  dist.all_reduce %S max <#dist.none on [2]> : !dist.store<f64>
  dist.launch @double_it on [2] (%Y read_write #cut) : !dist.store<10xf64>
  %y = dist.to_tensor %Y : !dist.store<10xf64> -> tensor<10xf64>
  return %y : tensor<10xf64>
}
// CHECK-LABEL: func.func private @dist.body.scale.0(%arg0: !llvm.ptr) attributes {fusion.task = "scale"}
// CHECK-DAG: bufferization.to_tensor {{.*}} restrict : memref<5xf64>
// CHECK-DAG: tensor.empty() : tensor<5xf64>
// CHECK-DAG: arith.constant 0xFFF0000000000000 : f64
// CHECK: bufferization.materialize_in_destination {{.*}} in restrict writable {{.*}} : (tensor<5xf64>, memref<5xf64>)
// CHECK: bufferization.materialize_in_destination {{.*}} in restrict writable {{.*}} : (tensor<f64>, memref<f64>)
// CHECK-LABEL: func.func private @dist.body.scale.1
// CHECK: restrict : memref<?xf64> to tensor<?xf64>
// CHECK-NOT: @dist.body.scale.2
