// Data that nobody has written: in shared memory, global memory, registers and local variables. Each with a repaired twin.
// RUN: not fusion-emulate %s --kernel=shared --shared=128 --arg=32xf32=zeros --arg=i32:16 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: fusion-emulate %s --kernel=shared --shared=128 --arg=32xf32=zeros --arg=i32:32 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=global --arg=32xf32=uninit 2>&1 | FileCheck %s --check-prefix=GLOBAL
// RUN: fusion-emulate %s --kernel=global --arg=32xf32=iota 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=loop --arg=1xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=REGISTER
// RUN: fusion-emulate %s --kernel=loop --arg=1xf32=zeros --arg=i32:3 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=vector --arg=2xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=REGISTER
// RUN: fusion-emulate %s --kernel=vector --arg=2xf32=zeros --arg=i32:1 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=shuffled --arg=1xf32=zeros 2>&1 | FileCheck %s --check-prefix=PASSED
// RUN: not fusion-emulate %s --kernel=local --arg=1xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: fusion-emulate %s --kernel=local --arg=1xf32=zeros --arg=i32:1 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty

// SHARED: error: uninitialised data: 'load': thread ({{16|31}}, 0, 0) of block (0, 0, 0) reads 4 bytes of shared memory at offset {{64|124}} that are not all written
// GLOBAL: error: uninitialised data: 'load': thread (0, 0, 0) of block (0, 0, 0) reads 4 bytes of global memory at offset 0 of a buffer that are not all written
// REGISTER: error: uninitialised data: 'store': thread (0, 0, 0) of block (0, 0, 0) uses a value that nobody has computed
// PASSED: error: uninitialised data: 'call': thread (0, 0, 0) of block (0, 0, 0) uses a value that nobody has computed
// LOCAL: error: uninitialised data: 'load': thread (0, 0, 0) of block (0, 0, 0) reads a local variable that is not all written
// CLEAN-NOT: {{.}}
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @shared(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %p = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %writes = llvm.icmp "slt" %t, %n : i32
  llvm.cond_br %writes, ^write, ^read
^write:
  llvm.store %one, %p : f32, !llvm.ptr<3>
  llvm.br ^read
^read:
  nvvm.barrier0
  %v = llvm.load %p : !llvm.ptr<3> -> f32
  %q = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %v, %q : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @global(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %p : !llvm.ptr<1> -> f32
  %w = llvm.fadd %v, %v : f32
  llvm.store %w, %p : f32, !llvm.ptr<1>
  llvm.return
}
// The sum is undefined unless the loop runs.
llvm.func @loop(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %f = llvm.mlir.constant(1.0 : f32) : f32
  %poison = llvm.mlir.poison : f32
  llvm.br ^head(%zero, %poison : i32, f32)
^head(%i: i32, %sum: f32):
  %more = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %more, ^body, ^exit
^body:
  %next = llvm.add %i, %one : i32
  llvm.br ^head(%next, %f : i32, f32)
^exit:
  %result = llvm.fadd %sum, %f : f32
  llvm.store %result, %x : f32, !llvm.ptr<1>
  llvm.return
}
// Element 1 is written if the index says so.
llvm.func @vector(%x: !llvm.ptr<1>, %index: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %f = llvm.mlir.constant(1.0 : f32) : f32
  %undef = llvm.mlir.undef : vector<2xf32>
  %a = llvm.insertelement %f, %undef[%zero : i32] : vector<2xf32>
  %b = llvm.insertelement %f, %a[%index : i32] : vector<2xf32>
  llvm.store %b, %x {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  llvm.return
}
llvm.func @shuffled(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %undef = llvm.mlir.undef : f32
  %v = nvvm.shfl.sync idx %all, %undef, %zero, %clamp : f32 -> f32
  llvm.return
}
llvm.func @local(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %f = llvm.mlir.constant(1.0 : f32) : f32
  %a = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %writes = llvm.icmp "eq" %n, %one : i32
  llvm.cond_br %writes, ^write, ^read
^write:
  llvm.store %f, %a : f32, !llvm.ptr
  llvm.br ^read
^read:
  %v = llvm.load %a : !llvm.ptr -> f32
  llvm.store %v, %x : f32, !llvm.ptr<1>
  llvm.return
}
