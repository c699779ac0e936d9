// A column of a 32x32 tile of f32: 32 passes over the banks for one load, one pass when rows are padded. Counters of the
// loop and of the kernel.
// RUN: fusion-emulate %s --shared=8192 --arg=32xf32=zeros --arg=i32:32 --print=0 --json | FileCheck %s --check-prefixes=CHECK,CONFLICT
// RUN: fusion-emulate %s --shared=8192 --arg=32xf32=zeros --arg=i32:33 --print=0 --json | FileCheck %s --check-prefixes=CHECK,PADDED

// CHECK: "kernel": "column"
// CONFLICT-SAME: "shared_load_bytes": 4096, "shared_store_bytes": 4096, "shared_wavefronts": 1056, "bank_conflicts": 992
// PADDED-SAME: "shared_load_bytes": 4096, "shared_store_bytes": 4096, "shared_wavefronts": 64, "bank_conflicts": 0
// CHECK-SAME: "barriers": 1
// CHECK-SAME: "loops": [{"loop": 1, "parent": 0, "depth": 1, "function": "column", "location": "{{[^"]*}}banks.mlir:{{[0-9]+:[0-9]+}}", "thread_trips": 1056, "counters": {"load_bytes": 0
// CHECK-SAME: "shared_load_bytes": 0, "shared_store_bytes": 4096, "shared_wavefronts": 32, "bank_conflicts": 0
// CHECK-SAME: {"loop": 2, "parent": 0
// CONFLICT-SAME: "shared_load_bytes": 4096, "shared_store_bytes": 0, "shared_wavefronts": 1024, "bank_conflicts": 992
// PADDED-SAME: "shared_load_bytes": 4096, "shared_store_bytes": 0, "shared_wavefronts": 32, "bank_conflicts": 0
// CHECK: 0: 0 32 64 96
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @column(%x: !llvm.ptr<1>, %pitch: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %c32 = llvm.mlir.constant(32 : i32) : i32
  %f0 = llvm.mlir.constant(0.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  llvm.br ^fill(%zero : i32)
^fill(%i: i32):
  %more = llvm.icmp "slt" %i, %c32 : i32
  llvm.cond_br %more, ^store, ^between
^store:
  %0 = llvm.mul %i, %pitch : i32
  %1 = llvm.add %0, %t : i32
  %p = llvm.getelementptr %s[%1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %v = llvm.sitofp %i : i32 to f32
  llvm.store %v, %p : f32, !llvm.ptr<3>
  %next = llvm.add %i, %one : i32
  llvm.br ^fill(%next : i32)
^between:
  nvvm.barrier0
  llvm.br ^sum(%zero, %f0 : i32, f32)
^sum(%j: i32, %acc: f32):
  %more2 = llvm.icmp "slt" %j, %c32 : i32
  llvm.cond_br %more2, ^load, ^exit
^load:
  %2 = llvm.mul %t, %pitch : i32
  %3 = llvm.add %2, %j : i32
  %q = llvm.getelementptr %s[%3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %w = llvm.load %q : !llvm.ptr<3> -> f32
  %acc2 = llvm.fadd %acc, %w : f32
  %next2 = llvm.add %j, %one : i32
  llvm.br ^sum(%next2, %acc2 : i32, f32)
^exit:
  %r = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %acc, %r : f32, !llvm.ptr<1>
  llvm.return
}
