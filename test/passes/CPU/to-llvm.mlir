// RUN: fusion-opt %s --fusion-cpu-codegen --split-input-file | FileCheck %s

// CHECK-DAG: llvm.func @fusion_rt_parallel_for(!llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-DAG: llvm.func @fusion_rt_invoke(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @fusion_rt_aligned_alloc(i64, i64, !llvm.ptr) -> (!llvm.ptr {llvm.noalias})

// CHECK-LABEL: llvm.func internal @fusion.main
// CHECK-SAME: fusion.signature = (tensor<4096x64xf32>) -> tensor<4096x64xf32>
// CHECK: %[[CONTEXT:.*]] = llvm.alloca
// CHECK: llvm.call @fusion_rt_aligned_alloc
// CHECK: %[[RANGE:.*]] = llvm.mlir.addressof @fusion.main.parallel.range
// CHECK: llvm.call @fusion_rt_parallel_for(%[[RANGE]], %[[CONTEXT]], %{{.*}})
// CHECK-LABEL: llvm.func internal @fusion_body_main
// CHECK: llvm.call @fusion.main
// CHECK-LABEL: llvm.func @fusion_entry_main(%arg0: !llvm.ptr) -> i32
// CHECK: llvm.mlir.addressof @fusion_body_main
// CHECK: llvm.call @fusion_rt_invoke
// CHECK-LABEL: llvm.func internal @fusion.main.parallel.range(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// CHECK: llvm.call @fusion.main.parallel(%arg1, %arg2,
// CHECK-LABEL: llvm.func internal @fusion.main.parallel
func.func @main(%a: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %0 = arith.addf %a, %a : tensor<4096x64xf32>
  return %0 : tensor<4096x64xf32>
}

// -----

// An assertion ends the call; its text has the place.

// CHECK-DAG: llvm.mlir.global internal constant @fusion_text_0("{{.*}}to-llvm.mlir:[[#@LINE+10]]:3: assertion failed: must be positive\00")
// CHECK-DAG: llvm.func @fusion_rt_assert_fail(!llvm.ptr) attributes {passthrough = ["noreturn", "cold"]}
// CHECK-LABEL: llvm.func internal @fusion.main
// CHECK: llvm.cond_br %{{.*}}, ^[[OK:.*]], ^[[FAIL:.*]]
// CHECK: ^[[FAIL]]:
// CHECK: llvm.call @fusion_rt_assert_fail
// CHECK-NEXT: llvm.unreachable
func.func @main(%a: i32) -> i32 {
  %z = arith.constant 0 : i32
  %p = arith.cmpi sgt, %a, %z : i32
  cf.assert %p, "must be positive"
  return %a : i32
}
