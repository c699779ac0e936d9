// RUN: fusion-opt %s --spacemap-postpone-broadcast --canonicalize --cse | FileCheck %s
// RUN: fusion-run %s --entry=rmsnorm_linear --target=reference --stage=spacemap-postpone-broadcast --input=4x9xf32=random:1 --input=9x5xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=selected --target=reference --stage=spacemap-postpone-broadcast --input=4x9xf32=random:1 --input=4x9xi1=random:2 --expected=reference

!mkn = !spacemap.space<[m, k, n], f32>
!mk = !spacemap.space<[m, k], f32>
!kn = !spacemap.space<[k, n], f32>
!mn = !spacemap.space<[m, n], f32>
!m = !spacemap.space<[m], f32>

// The row factor moves past the contraction, which then waits for nothing.
// CHECK-LABEL: func.func @rmsnorm_linear
// CHECK: %[[S:.*]] = spacemap.all_to_one %{{.*}} along [k] sum : <[m, k], f32>
// CHECK: %[[R:.*]] = spacemap.map (%{{.*}} = %[[S]] :
// CHECK: math.rsqrt
// CHECK: %[[Y:.*]] = spacemap.all_to_one %{{.*}} along [k] sum : <[m, k, n], f32> -> <[m, n], f32>
// CHECK: %[[B:.*]] = spacemap.one_to_all %[[R]] along [n]
// CHECK: spacemap.map (%{{.*}} = %[[Y]], %{{.*}} = %[[B]]
// CHECK-NEXT: arith.mulf
func.func @rmsnorm_linear(%x: tensor<4x9xf32>, %w: tensor<9x5xf32>) -> tensor<4x5xf32> {
  %0 = spacemap.graph dims [m = 4, k = 9, n = 5] ins(%a = %x, %b = %w : tensor<4x9xf32>, tensor<9x5xf32>) {
    %s = spacemap.source %a [m, k] : tensor<4x9xf32> -> !mk
    %ws = spacemap.source %b [k, n] : tensor<9x5xf32> -> !kn
    %sq = spacemap.map (%p = %s : !mk) {
      %e = arith.mulf %p, %p : f32
      spacemap.yield %e : f32
    } -> !mk
    %sum = spacemap.all_to_one %sq along [k] sum : !mk -> !m
    %r = spacemap.map (%p = %sum : !m) {
      %c = arith.constant 1.000000e-05 : f32
      %d = arith.addf %p, %c : f32
      %e = math.rsqrt %d : f32
      spacemap.yield %e : f32
    } -> !m
    %rb = spacemap.one_to_all %r along [k] : !m -> !mk
    %y = spacemap.map (%p = %s, %q = %rb : !mk, !mk) {
      %d = arith.mulf %p, %q : f32
      spacemap.yield %d : f32
    } -> !mk
    %yb = spacemap.one_to_all %y along [n] : !mk -> !mkn
    %wb = spacemap.one_to_all %ws along [m] : !kn -> !mkn
    %it = spacemap.map (%p = %yb, %q = %wb : !mkn, !mkn) {
      %d = arith.mulf %p, %q : f32
      spacemap.yield %d : f32
    } -> !mkn
    %out = spacemap.all_to_one %it along [k] sum : !mkn -> !mn
    spacemap.output %out [m, n] : !mn
  } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// Not past a selection by the elements: it may hide a division by zero.
// CHECK-LABEL: func.func @selected
// CHECK: arith.divf
// CHECK: arith.select
// CHECK: spacemap.all_to_one
// CHECK-NEXT: spacemap.output
func.func @selected(%x: tensor<4x9xf32>, %c: tensor<4x9xi1>) -> tensor<4xf32> {
  %0 = spacemap.graph dims [m = 4, k = 9] ins(%a = %x, %b = %c : tensor<4x9xf32>, tensor<4x9xi1>) {
    %s = spacemap.source %a [m, k] : tensor<4x9xf32> -> !mk
    %cs = spacemap.source %b [m, k] : tensor<4x9xi1> -> !spacemap.space<[m, k], i1>
    %sum = spacemap.all_to_one %s along [k] sum : !mk -> !m
    %sumb = spacemap.one_to_all %sum along [k] : !m -> !mk
    %y = spacemap.map (%p = %s, %q = %sumb, %r = %cs : !mk, !mk, !spacemap.space<[m, k], i1>) {
      %z = arith.constant 0.000000e+00 : f32
      %d = arith.divf %p, %q : f32
      %e = arith.select %r, %d, %z : f32
      spacemap.yield %e : f32
    } -> !mk
    %out = spacemap.all_to_one %y along [k] sum : !mk -> !m
    spacemap.output %out [m] : !m
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
