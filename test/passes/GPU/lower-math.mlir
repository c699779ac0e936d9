// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(fusion-gpu-lower-math))' | FileCheck %s

gpu.module @device {
  // CHECK-LABEL: llvm.func @functions
  llvm.func @functions(%x: f32, %y: f32, %h: f16, %d: f64, %i: i32, %p: !llvm.ptr) {
    // CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[SCALED]])
    %0 = math.exp %x : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%{{.*}})
    %1 = math.exp2 %0 : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"
    %2 = math.rsqrt %1 : f32
    // CHECK: %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.div.full"
    // CHECK: arith.mulf %{{.*}}, %[[INVERSE]] : f32
    %3 = arith.divf %2, %y : f32
    // By a constant: its reciprocal.
    // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
    %c = arith.constant 3.0 : f32
    %4 = arith.divf %3, %c : f32
    // CHECK: llvm.store
    llvm.store %4, %p : f32, !llvm.ptr
    // f64 stays exact.
    // CHECK: arith.divf %{{.*}} : f64
    %5 = arith.divf %d, %d : f64
    llvm.store %5, %p : f64, !llvm.ptr
    // The reciprocal of a tiny number is infinite: no multiplication by it.
    // CHECK: arith.divf %{{.*}} : f32
    %tiny = arith.constant 1.0e-45 : f32
    %6 = arith.divf %x, %tiny : f32
    llvm.store %6, %p : f32, !llvm.ptr
    // f16 divisions are done in f32.
    // CHECK: arith.extf
    // CHECK: "llvm.nvvm.div.full"
    // CHECK: arith.truncf
    %7 = arith.divf %h, %h : f16
    llvm.store %7, %p : f16, !llvm.ptr
    // CHECK-NOT: arith.ceildivsi
    // CHECK: arith.maxsi
    %9 = math.absi %i : i32
    llvm.store %9, %p : i32, !llvm.ptr
    %8 = arith.ceildivsi %i, %i : i32
    llvm.store %8, %p : i32, !llvm.ptr
    llvm.return
  }
}
