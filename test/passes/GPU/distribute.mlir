// RUN: fusion-opt %s --split-input-file --fusion-gpu-distribute=chip=sm_80 --canonicalize --cse | FileCheck %s

#mn = affine_map<(d0, d1) -> (d0, d1)>
#m = affine_map<(d0, d1) -> (d0)>

// The sum of a row over two warps: shuffles, then shared memory; 16-byte loads. The launch has the buffers as operands.

// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:.*]]: tensor<64x512xf16>
// CHECK-DAG: %[[IN:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK-DAG: %[[OUT:.*]] = memref.alloc() : memref<64xf16>
// CHECK: gpu.launch_func @fusion_gpu::@sums blocks in (%{{.*}}) threads in (%{{.*}}) dynamic_shared_memory_size %{{.*}} args(%{{.*}} : memref<64x512xf16>, %{{.*}} : memref<64xf16>)
// CHECK: bufferization.to_tensor %[[OUT]] restrict writable
func.func @sums(%x: tensor<64x512xf16>) -> tensor<64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64xf16>
  %r = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64xf16> {
    %in = tensor.extract_slice %x[%i, 0] [1, 512] [1, 1] : tensor<64x512xf16> to tensor<1x512xf16>
    %se = tensor.empty() : tensor<1xf16>
    %sf = linalg.fill ins(%zero : f16) outs(%se : tensor<1xf16>) -> tensor<1xf16>
    %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%in : tensor<1x512xf16>) outs(%sf : tensor<1xf16>)
        attrs = {fusion.layout = "regs[1.0 1.1 1.2] lanes[1.3 1.4 1.5 1.6 1.7] warps[1.8] x[1 1]"} {
    ^bb0(%a: f16, %b: f16):
      %s = arith.addf %b, %a : f16
      linalg.yield %s : f16
    } -> tensor<1xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i] [1] [1] : tensor<1xf16> into tensor<64xf16>
    }
  } {fusion.kernel = "sums", fusion.warps = 2 : i64, mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<64xf16>
}

// CHECK: gpu.module @fusion_gpu [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">]
// CHECK: llvm.mlir.global external @fusion_shared() {addr_space = 3 : i32
// CHECK: llvm.func @sums(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
// CHECK-SAME: fusion.launch = {args = [{access = "read", kind = "buffer", shape = [64, 512], type = f16}, {access = "write", kind = "buffer", shape = [64], type = f16}], grid = 64 : i64, shared = 4 : i64}
// CHECK-SAME: nvvm.reqntid = array<i32: 64, 1, 1>
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-COUNT-7: arith.addf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf16>
// CHECK: arith.addf
// CHECK-NOT: arith.addf
// One thread stores.
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr<1>
// CHECK-NOT: llvm.store

// -----

#id = affine_map<(d0) -> (d0)>

// 100 elements in 128 places: the last register group of some lanes is outside. Neither read nor written.

// CHECK-LABEL: llvm.func @ragged
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt
// CHECK: scf.if %[[INSIDE]] -> (vector<4xf32>) {
// CHECK: llvm.load {{.*}} vector<4xf32>
// CHECK: } else {
// CHECK: scf.if %[[INSIDE]] {
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: llvm.return
func.func @ragged(%x: tensor<100xf32>, %factor: f32) -> tensor<100xf32> {
  %e = tensor.empty() : tensor<100xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> tensor<100xf32> {
    %to = tensor.extract_slice %o[0] [100] [1] : tensor<100xf32> to tensor<100xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<100xf32>) outs(%to : tensor<100xf32>)
        attrs = {fusion.layout = "regs[0.0 0.1] lanes[0.2 0.3 0.4 0.5 0.6] warps[] x[1]"} {
    ^bb0(%a: f32, %b: f32):
      %s = arith.mulf %a, %factor : f32
      linalg.yield %s : f32
    } -> tensor<100xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [100] [1] : tensor<100xf32> into tensor<100xf32>
    }
  } {fusion.kernel = "ragged", fusion.warps = 1 : i64, mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<100xf32>
}
