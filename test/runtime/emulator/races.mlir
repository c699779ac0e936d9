// Threads that touch the same data with nothing that orders them, in shared and in global memory. Each with a repaired twin.
// RUN: not fusion-emulate %s --kernel=shared_racy --shared=256 --arg=64xf32=zeros 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: fusion-emulate %s --kernel=shared_clean --shared=256 --arg=64xf32=zeros --print=0 2>&1 | FileCheck %s --check-prefix=SHARED-CLEAN
// RUN: not fusion-emulate %s --kernel=reuse_racy --shared=256 --arg=64xf32=zeros 2>&1 | FileCheck %s --check-prefix=REUSE
// RUN: fusion-emulate %s --kernel=reuse_clean --shared=256 --arg=64xf32=zeros 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=warp --shared=256 --block=64 --arg=64xf32=zeros 2>&1 | FileCheck %s --check-prefix=WARP
// RUN: fusion-emulate %s --kernel=warp --shared=256 --block=32 --arg=64xf32=zeros 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=global --grid=2 --arg=64xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=GLOBAL
// RUN: fusion-emulate %s --kernel=global --grid=2 --arg=64xf32=zeros --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: fusion-emulate %s --kernel=atomic --grid=2 --arg=1xf32=zeros --print=0 2>&1 | FileCheck %s --check-prefix=ATOMIC

// SHARED: error: race in shared memory: 'load': thread ({{.*}}) of block (0, 0, 0) reads shared memory at offset {{.*}}, which thread ({{.*}}) of block (0, 0, 0) writes without a barrier in between
// SHARED-CLEAN: 0: 63 62 61 {{.*}} 1 0
// REUSE: error: race in shared memory: 'store': thread ({{.*}}) of block (0, 0, 0) writes shared memory at offset {{.*}}, which thread ({{.*}}) of block (0, 0, 0) reads without a barrier in between
// WARP: error: race in shared memory
// GLOBAL: error: race in global memory: 'store': thread (0, 0, 0) of block (1, 0, 0) writes global memory at offset 0 of a buffer, which another block writes in the same kernel
// ATOMIC: 0: 64
// CLEAN-NOT: {{.}}
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @write(%t: i32) {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %p = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %f = llvm.sitofp %t : i32 to f32
  llvm.store %f, %p : f32, !llvm.ptr<3>
  llvm.return
}
llvm.func @read(%x: !llvm.ptr<1>, %t: i32, %from: i32) {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %p = llvm.getelementptr %s[%from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %v = llvm.load %p : !llvm.ptr<3> -> f32
  %q = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %v, %q : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @shared_racy(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
  %c63 = llvm.mlir.constant(63 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %u = llvm.sub %c63, %t : i32
  llvm.call @write(%t) : (i32) -> ()
  llvm.call @read(%x, %t, %u) : (!llvm.ptr<1>, i32, i32) -> ()
  llvm.return
}
llvm.func @shared_clean(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
  %c63 = llvm.mlir.constant(63 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %u = llvm.sub %c63, %t : i32
  llvm.call @write(%t) : (i32) -> ()
  nvvm.barrier0
  llvm.call @read(%x, %t, %u) : (!llvm.ptr<1>, i32, i32) -> ()
  llvm.return
}
// The second write overtakes readers of the first.
llvm.func @reuse_racy(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
  %c63 = llvm.mlir.constant(63 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %u = llvm.sub %c63, %t : i32
  llvm.call @write(%t) : (i32) -> ()
  nvvm.barrier0
  llvm.call @read(%x, %t, %u) : (!llvm.ptr<1>, i32, i32) -> ()
  llvm.call @write(%t) : (i32) -> ()
  llvm.return
}
llvm.func @reuse_clean(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
  %c63 = llvm.mlir.constant(63 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %u = llvm.sub %c63, %t : i32
  llvm.call @write(%t) : (i32) -> ()
  nvvm.barrier0
  llvm.call @read(%x, %t, %u) : (!llvm.ptr<1>, i32, i32) -> ()
  nvvm.barrier0
  llvm.call @write(%t) : (i32) -> ()
  llvm.return
}
// The barrier of a warp is enough for a block of one warp only.
llvm.func @warp(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %n = nvvm.read.ptx.sreg.ntid.x : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %last = llvm.sub %n, %one : i32
  %u = llvm.sub %last, %t : i32
  llvm.call @write(%t) : (i32) -> ()
  nvvm.bar.warp.sync %all : i32
  llvm.call @read(%x, %t, %u) : (!llvm.ptr<1>, i32, i32) -> ()
  llvm.return
}
llvm.func @global(%x: !llvm.ptr<1>, %step: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %0 = llvm.mul %b, %step : i32
  %i = llvm.add %0, %t : i32
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %one, %p : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @atomic(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %old = llvm.atomicrmw fadd %x, %one monotonic : !llvm.ptr<1>, f32
  llvm.return
}
