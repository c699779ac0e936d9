// RUN: fusion-opt %s --spacemap-merge-dims | FileCheck %s
// RUN: fusion-run %s --entry=centred --target=reference --stage=spacemap-merge-dims --input=3x5xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=gram --target=reference --stage=spacemap-merge-dims --input=3x5xf32=random:1 --expected=reference

// CHECK-LABEL: func.func @centred
// CHECK: dims [m = 3, n = 5] ins(
// CHECK: %[[X:.*]] = spacemap.source %{{.*}} [m, n]
// CHECK-NOT: spacemap.source
// CHECK: %[[S:.*]] = spacemap.all_to_one %[[X]] along [n] sum
// CHECK: %[[B:.*]] = spacemap.one_to_all %[[S]] along [n]
// CHECK: spacemap.map (%{{.*}} = %[[X]], %{{.*}} = %[[B]]
func.func @centred(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = spacemap.graph dims [m = 3, n = 5, o = 5] ins(%a = %x : tensor<3x5xf32>) {
    %s = spacemap.source %a [m, n] : tensor<3x5xf32> -> !spacemap.space<[m, n], f32>
    %t = spacemap.source %a [m, o] : tensor<3x5xf32> -> !spacemap.space<[m, o], f32>
    %sum = spacemap.all_to_one %s along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %sumb = spacemap.one_to_all %sum along [o] : !spacemap.space<[m], f32> -> !spacemap.space<[m, o], f32>
    %y = spacemap.map (%p = %t, %q = %sumb : !spacemap.space<[m, o], f32>, !spacemap.space<[m, o], f32>) {
      %d = arith.subf %p, %q : f32
      spacemap.yield %d : f32
    } -> !spacemap.space<[m, o], f32>
    spacemap.output %y [m, o] : !spacemap.space<[m, o], f32>
  } -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// The product has the rows of both factors; the contracted dimension was one already.
// CHECK-LABEL: func.func @gram
// CHECK: dims [m = 3, l = 3, k = 5] ins(
// CHECK: spacemap.source %{{.*}} [m, k]
// CHECK: spacemap.source %{{.*}} [l, k]
func.func @gram(%x: tensor<3x5xf32>) -> tensor<3x3xf32> {
  %0 = spacemap.graph dims [m = 3, l = 3, k = 5] ins(%a = %x : tensor<3x5xf32>) {
    %s = spacemap.source %a [m, k] : tensor<3x5xf32> -> !spacemap.space<[m, k], f32>
    %t = spacemap.source %a [l, k] : tensor<3x5xf32> -> !spacemap.space<[l, k], f32>
    %sb = spacemap.one_to_all %s along [l] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, l, k], f32>
    %tb = spacemap.one_to_all %t along [m] : !spacemap.space<[l, k], f32> -> !spacemap.space<[m, l, k], f32>
    %y = spacemap.map (%p = %sb, %q = %tb : !spacemap.space<[m, l, k], f32>, !spacemap.space<[m, l, k], f32>) {
      %d = arith.mulf %p, %q : f32
      spacemap.yield %d : f32
    } -> !spacemap.space<[m, l, k], f32>
    %r = spacemap.all_to_one %y along [k] sum : !spacemap.space<[m, l, k], f32> -> !spacemap.space<[m, l], f32>
    spacemap.output %r [m, l] : !spacemap.space<[m, l], f32>
  } -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
