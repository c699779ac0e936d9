// What the emulator does not know is an error that names it; nothing is skipped.
// RUN: split-file %s %t
// RUN: not fusion-emulate %t/intrinsic.mlir 2>&1 | FileCheck %s --check-prefix=INTRINSIC
// RUN: not fusion-emulate %t/assembly.mlir 2>&1 | FileCheck %s --check-prefix=ASSEMBLY
// RUN: not fusion-emulate %t/function.mlir 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not fusion-emulate %t/maths.mlir --arg=1xf32=ones 2>&1 | FileCheck %s --check-prefix=MATHS
// RUN: not fusion-emulate %t/dialect.mlir 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: not fusion-emulate %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not fusion-emulate %t/none.mlir --kernel=k 2>&1 | FileCheck %s --check-prefix=NOKERNEL
// RUN: not fusion-emulate %t/function.mlir --chip=sm_42 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fusion-emulate %t/large.mlir --shared=200000 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not fusion-emulate %t/large.mlir --block=64 2>&1 | FileCheck %s --check-prefix=BLOCK

// INTRINSIC: error: {{.*}}intrinsic.mlir:2:{{[0-9]+}}: 'llvm.nvvm.activemask' is an operation that the emulator does not know (in 'k')
// ASSEMBLY: error: {{.*}}inline assembly that the emulator does not know: mov.u32 $0, %clock; (in 'k')
// FUNCTION: error: {{.*}}'somewhere' is called, but has no body (in 'k')
// MATHS: error: {{.*}}'llvm.pow.f32' is an operation that the emulator does not know (in 'k')
// DIALECT: error: {{.*}}dialect.mlir:2:{{[0-9]+}}: 'gpu.barrier' is no device code; operations of the llvm and nvvm dialects are accepted
// NONE: error: {{.*}}none.mlir: has 0 kernels; --kernel names one
// NOKERNEL: error: there is no kernel 'k' in the module; there are:
// CHIP: error: the emulator does not know the chip 'sm_42'; it knows sm_70, sm_75, sm_80
// LARGE: error: a block of 'k' needs 200000 bytes of shared memory; sm_80 has 166912
// BLOCK: error: kernel 'k' is compiled for blocks of 32 x 1 x 1 threads

//--- intrinsic.mlir
llvm.func @k() attributes {nvvm.kernel} {
  %0 = llvm.call_intrinsic "llvm.nvvm.activemask"() : () -> i32
  llvm.return
}
//--- assembly.mlir
llvm.func @k() attributes {nvvm.kernel} {
  %0 = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %clock;", "=r" : () -> i32
  llvm.return
}
//--- function.mlir
llvm.func @somewhere()
llvm.func @k() attributes {nvvm.kernel} {
  llvm.call @somewhere() : () -> ()
  llvm.return
}
//--- maths.mlir
llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %0 = llvm.load %x : !llvm.ptr<1> -> f32
  %1 = llvm.intr.pow(%0, %0) : (f32, f32) -> f32
  llvm.store %1, %x : f32, !llvm.ptr<1>
  llvm.return
}
//--- dialect.mlir
llvm.func @k() attributes {nvvm.kernel} {
  gpu.barrier
  llvm.return
}
//--- none.mlir
llvm.func @f() {
  llvm.return
}
//--- large.mlir
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  llvm.return
}
