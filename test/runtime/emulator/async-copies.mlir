// Copies of cp.async: without a wait, with a wait but no barrier, with both. Groups are waited for in order, and what the
// source does not have is zero.
// RUN: not fusion-emulate %s --kernel=no_wait --shared=512 --arg=128xf32=iota --arg=128xf32=zeros 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: not fusion-emulate %s --kernel=no_barrier --shared=512 --arg=128xf32=iota --arg=128xf32=zeros 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: not fusion-emulate %s --kernel=one_in_flight --shared=512 --arg=128xf32=iota --arg=128xf32=zeros 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: fusion-emulate %s --kernel=clean --shared=512 --arg=128xf32=iota --arg=128xf32=zeros --print=1 --json 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: fusion-emulate %s --kernel=zero_fill --shared=512 --arg=128xf32=iota --arg=128xf32=ones --print=1 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not fusion-emulate %s --chip=sm_70 --kernel=clean --shared=512 --arg=128xf32=iota --arg=128xf32=zeros 2>&1 | FileCheck %s --check-prefix=OLD

// WAIT: error: asynchronous copy not waited for: 'load': thread (31, 0, 0) of block (0, 0, 0) reads shared memory at offset 0, where an asynchronous copy of thread (0, 0, 0) of block (0, 0, 0) may still write: it has not been waited for
// BARRIER: error: race in shared memory: 'load': thread ({{.*}}) of block (0, 0, 0) reads shared memory at offset {{.*}}, which thread ({{.*}}) of block (0, 0, 0) writes without a barrier in between
// CLEAN: "load_bytes": 512, "store_bytes": 512
// CLEAN-SAME: "wide_accesses": 64, "uncoalesced": 0, "shared_load_bytes": 512, "shared_store_bytes": 512, "shared_wavefronts": 8, "bank_conflicts": 0
// CLEAN-SAME: "async_copies": 32
// CLEAN: 1: 124 125 126 127 120 {{.*}} 0 1 2 3
// ZERO: 1: 124 125 0 0 120 121 0 0 {{.*}} 0 1 0 0
// OLD: error: {{.*}}'llvm.nvvm.cp.async.cg.shared.global.16' needs sm_80; the emulated chip is sm_70
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @copy(%x: !llvm.ptr<1>) {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %i = llvm.mul %t, %c4 : i32
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %q = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  nvvm.cp.async.shared.global %q, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}
llvm.func @copy_half(%x: !llvm.ptr<1>) {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %c8 = llvm.mlir.constant(8 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %i = llvm.mul %t, %c4 : i32
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %q = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  nvvm.cp.async.shared.global %q, %p, 16, cache = cg, %c8 : !llvm.ptr<3>, !llvm.ptr<1>, i32
  llvm.return
}
llvm.func @reverse(%y: !llvm.ptr<1>) {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %u = llvm.sub %c31, %t : i32
  %i = llvm.mul %t, %c4 : i32
  %j = llvm.mul %u, %c4 : i32
  %q = llvm.getelementptr %s[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %v = llvm.load %q {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  %p = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %v, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
llvm.func @no_wait(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  llvm.call @copy(%x) : (!llvm.ptr<1>) -> ()
  nvvm.cp.async.commit.group
  nvvm.barrier0
  llvm.call @reverse(%y) : (!llvm.ptr<1>) -> ()
  llvm.return
}
llvm.func @no_barrier(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  llvm.call @copy(%x) : (!llvm.ptr<1>) -> ()
  nvvm.cp.async.commit.group
  nvvm.bar.warp.sync %all : i32
  nvvm.cp.async.wait.group 0
  llvm.call @reverse(%y) : (!llvm.ptr<1>) -> ()
  llvm.return
}
llvm.func @one_in_flight(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  nvvm.cp.async.commit.group
  llvm.call @copy(%x) : (!llvm.ptr<1>) -> ()
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  llvm.call @reverse(%y) : (!llvm.ptr<1>) -> ()
  llvm.return
}
llvm.func @clean(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  llvm.call @copy(%x) : (!llvm.ptr<1>) -> ()
  nvvm.cp.async.commit.group
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  llvm.call @reverse(%y) : (!llvm.ptr<1>) -> ()
  llvm.return
}
llvm.func @zero_fill(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  llvm.call @copy_half(%x) : (!llvm.ptr<1>) -> ()
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  llvm.call @reverse(%y) : (!llvm.ptr<1>) -> ()
  llvm.return
}
