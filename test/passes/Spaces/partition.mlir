// RUN: fusion-opt %s --split-input-file --spacemap-partition=target=a100 --mlir-print-local-scope | FileCheck %s
// RUN: fusion-opt %s --split-input-file --spacemap-partition="target=a100 temporal=false" --mlir-print-local-scope | FileCheck %s --check-prefix=SPATIAL
// RUN: fusion-opt %s --split-input-file --spacemap-partition=target=a100 -o /dev/null --remarks-filter-missed=spacemap --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not fusion-opt %s --split-input-file --spacemap-partition=target=z80 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'z80': accepted are cpu, v100, a100, h100, h200, b200, sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100

// A row of 2^17 columns is more than one block can hold: with temporal slicing the softmax stays one graph (the result
// takes a second pass), without it each reduction is a kernel of its own.
// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-1: spacemap.graph
// CHECK-NOT: spacemap.graph
// SPATIAL-LABEL: func.func @softmax
// SPATIAL: %[[M:.*]] = spacemap.graph
// SPATIAL: spacemap.all_to_one %{{.*}} max
// SPATIAL: spacemap.graph {{.*}} ins({{.*}} = %[[M]]
// SPATIAL: return
func.func @softmax(%x: tensor<4096x131072xf32>) -> tensor<4096x131072xf32> {
  %0 = spacemap.graph dims [m = 4096, n = 131072] ins(%a = %x : tensor<4096x131072xf32>) {
    %s = spacemap.source %a [m, n] : tensor<4096x131072xf32> -> !spacemap.space<[m, n], f32>
    %max = spacemap.all_to_one %s along [n] max : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %maxn = spacemap.one_to_all %max along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %e = spacemap.map (%p = %s, %q = %maxn : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %d = arith.subf %p, %q : f32
      %v = math.exp %d : f32
      spacemap.yield %v : f32
    } -> !spacemap.space<[m, n], f32>
    %sum = spacemap.all_to_one %e along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %sumn = spacemap.one_to_all %sum along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %y = spacemap.map (%p = %e, %q = %sumn : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %v = arith.divf %p, %q : f32
      spacemap.yield %v : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %y [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<4096x131072xf32>
  return %0 : tensor<4096x131072xf32>
}

// -----

// Two layers of width 16384: rows of the hidden layer are too wide to stay on chip, so it is cut between the layers. The
// cut frees the columns of the first layer for spatial slicing.
// CHECK-LABEL: func.func @wide_mlp
// CHECK: %[[H:.*]] = spacemap.graph dims [m = 4096, h = 16384, k = 1024]
// CHECK: math.tanh
// CHECK: spacemap.graph dims [m = 4096, h = 16384, n = 1024] ins(%{{.*}} = %[[H]]
// REMARK: remark: {{.*}} footprint {{.*}} is not fused with its operand, tanh at
func.func @wide_mlp(%x: tensor<4096x1024xf32>, %w: tensor<1024x16384xf32>, %v: tensor<16384x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = spacemap.graph dims [m = 4096, h = 16384, k = 1024, n = 1024]
      ins(%a = %x, %b = %w, %c = %v : tensor<4096x1024xf32>, tensor<1024x16384xf32>, tensor<16384x1024xf32>) {
    %x0 = spacemap.source %a [m, k] : tensor<4096x1024xf32> -> !spacemap.space<[m, k], f32>
    %w0 = spacemap.source %b [k, h] : tensor<1024x16384xf32> -> !spacemap.space<[h, k], f32>
    %x1 = spacemap.one_to_all %x0 along [h] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, h, k], f32>
    %w1 = spacemap.one_to_all %w0 along [m] : !spacemap.space<[h, k], f32> -> !spacemap.space<[m, h, k], f32>
    %p1 = spacemap.map (%s = %x1, %t = %w1 : !spacemap.space<[m, h, k], f32>, !spacemap.space<[m, h, k], f32>) {
      %f = arith.mulf %s, %t : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, h, k], f32>
    %h = spacemap.all_to_one %p1 along [k] sum : !spacemap.space<[m, h, k], f32> -> !spacemap.space<[m, h], f32>
    %r = spacemap.map (%s = %h : !spacemap.space<[m, h], f32>) {
      %f = math.tanh %s : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, h], f32>
    %v0 = spacemap.source %c [h, n] : tensor<16384x1024xf32> -> !spacemap.space<[h, n], f32>
    %r1 = spacemap.one_to_all %r along [n] : !spacemap.space<[m, h], f32> -> !spacemap.space<[m, h, n], f32>
    %v1 = spacemap.one_to_all %v0 along [m] : !spacemap.space<[h, n], f32> -> !spacemap.space<[m, h, n], f32>
    %p2 = spacemap.map (%s = %r1, %t = %v1 : !spacemap.space<[m, h, n], f32>, !spacemap.space<[m, h, n], f32>) {
      %f = arith.mulf %s, %t : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, h, n], f32>
    %y = spacemap.all_to_one %p2 along [h] sum : !spacemap.space<[m, h, n], f32> -> !spacemap.space<[m, n], f32>
    spacemap.output %y [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
