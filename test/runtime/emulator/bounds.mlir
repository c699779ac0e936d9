// Accesses outside of what they belong to, and at addresses that do not fit their width. Each with a repaired twin.
// RUN: not fusion-emulate %s --kernel=global_load --arg=32xf32=iota --arg=32xf32=zeros --arg=i32:1 2>&1 | FileCheck %s --check-prefix=LOAD
// RUN: fusion-emulate %s --kernel=global_load --arg=32xf32=iota --arg=32xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=global_store --arg=32xf32=zeros --arg=i32:-1 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: fusion-emulate %s --kernel=global_store --arg=32xf32=zeros --arg=i32:0 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=shared --shared=124 --arg=i32:0 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: fusion-emulate %s --kernel=shared --shared=128 --arg=i32:0 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=misaligned --shared=256 --arg=i32:1 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: fusion-emulate %s --kernel=misaligned --shared=256 --arg=i32:2 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// RUN: not fusion-emulate %s --kernel=null --arg=i64:0 2>&1 | FileCheck %s --check-prefix=NULL
// RUN: not fusion-emulate %s --kernel=division --arg=1xi32=ones --arg=i32:0 2>&1 | FileCheck %s --check-prefix=DIVISION
// RUN: fusion-emulate %s --kernel=division --arg=1xi32=ones --arg=i32:7 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty

// LOAD: bounds.mlir:[[#@LINE+12]]:8: error: out of bounds: 'load': thread (31, 0, 0) of block (0, 0, 0) accesses 4 bytes at 0 bytes behind the end of a buffer of 128 bytes
// STORE: error: out of bounds: 'store': thread (0, 0, 0) of block (0, 0, 0) accesses 4 bytes at 4 bytes before the start of a buffer of 128 bytes
// SHARED: error: out of bounds: 'store': thread (31, 0, 0) of block (0, 0, 0) accesses 4 bytes at offset 124 of shared memory, which has 124
// MISALIGNED: error: misaligned access: 'store': thread (0, 0, 0) of block (0, 0, 0) uses an address that is not a multiple of 8 (remainder 4)
// NULL: error: out of bounds: 'load': thread (0, 0, 0) of block (0, 0, 0) accesses 4 bytes at a null pointer
// DIVISION: error: invalid operation: 'sdiv': thread (0, 0, 0) of block (0, 0, 0) divides by zero, or overflows
// CLEAN-NOT: {{.}}
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @global_load(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %by: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %i = llvm.add %t, %by : i32
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %p : !llvm.ptr<1> -> f32
  %q = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %v, %q : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @global_store(%x: !llvm.ptr<1>, %by: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %i = llvm.add %t, %by : i32
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %one, %p : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @shared(%by: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %i = llvm.add %t, %by : i32
  %p = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %one, %p : f32, !llvm.ptr<3>
  llvm.return
}
llvm.func @misaligned(%by: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %s = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %zero = llvm.mlir.constant(dense<0.0> : vector<2xf32>) : vector<2xf32>
  %p = llvm.getelementptr %s[%by] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %zero, %p {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  llvm.return
}
llvm.func @null(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %v = llvm.load %p : !llvm.ptr<1> -> f32
  llvm.store %v, %p : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @division(%p: !llvm.ptr<1>, %by: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %v = llvm.load %p : !llvm.ptr<1> -> i32
  %q = llvm.sdiv %v, %by : i32
  llvm.store %q, %p : i32, !llvm.ptr<1>
  llvm.return
}
