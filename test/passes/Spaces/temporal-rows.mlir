// Row operations along the row: outputs that keep the dimension take a second loop, a mean is that of what has been seen.

// RUN: fusion-opt %s --split-input-file --spacemap-temporal-slice="dim=n step=8" --canonicalize --cse | FileCheck %s
// RUN: fusion-run %s --entry=softmax --target=reference --stage="spacemap-temporal-slice{dim=n step=8}" --input=3x29xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=variance --target=reference --stage="spacemap-temporal-slice{dim=n step=8}" --input=3x29xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=masks --target=reference --stage="spacemap-temporal-slice{dim=n step=8}" --input=3x29xi1=random:1 --expected=reference

!mn = !spacemap.space<[m, n], f32>
!m = !spacemap.space<[m], f32>

// CHECK-LABEL: func.func @softmax
// CHECK: %[[FIRST:.*]]:2 = spacemap.temporal along n by 8
// CHECK: spacemap.next %{{.*}}, %{{.*}} : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>
// CHECK: %[[SUM:.*]] = spacemap.map (%{{.*}} = %[[FIRST]]#1, %{{.*}} = %[[FIRST]]#0
// CHECK: %[[SECOND:.*]] = spacemap.temporal along n by 8 () {
// CHECK: spacemap.source %{{.*}} [m, n]
// CHECK: spacemap.one_to_all %[[FIRST]]#0 along [n]
// CHECK: math.exp
// CHECK: spacemap.one_to_all %[[SUM]] along [n]
// CHECK: arith.divf
// CHECK: spacemap.next collect %{{.*}} : !spacemap.space<[m, n], f32>
// CHECK: spacemap.output %[[SECOND]] [m, n]
func.func @softmax(%x: tensor<3x29xf32>) -> tensor<3x29xf32> {
  %0 = spacemap.graph dims [m = 3, n = 29] ins(%a = %x : tensor<3x29xf32>) {
    %s = spacemap.source %a [m, n] : tensor<3x29xf32> -> !mn
    %max = spacemap.all_to_one %s along [n] max : !mn -> !m
    %maxb = spacemap.one_to_all %max along [n] : !m -> !mn
    %exp = spacemap.map (%p = %s, %q = %maxb : !mn, !mn) {
      %d = arith.subf %p, %q : f32
      %e = math.exp %d : f32
      spacemap.yield %e : f32
    } -> !mn
    %sum = spacemap.all_to_one %exp along [n] sum : !mn -> !m
    %sumb = spacemap.one_to_all %sum along [n] : !m -> !mn
    %div = spacemap.map (%p = %exp, %q = %sumb : !mn, !mn) {
      %d = arith.divf %p, %q : f32
      spacemap.yield %d : f32
    } -> !mn
    spacemap.output %div [m, n] : !mn
  } -> tensor<3x29xf32>
  return %0 : tensor<3x29xf32>
}

// The states of the variance: the sum, the sum of squares of differences, its derivative, and how many elements have been seen.
// CHECK-LABEL: func.func @variance
// CHECK: spacemap.temporal along n by 8 (%[[S:.*]] = %{{.*}}, %[[M2:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}} : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>, !spacemap.space<[m], f32>, !spacemap.space<[], index>) {
// CHECK: %[[SEEN:.*]] = spacemap.seen n
// CHECK: %[[NEXT:.*]] = spacemap.map (%{{.*}} = %[[S]]
// CHECK: arith.addf
// The sum is scaled from what has been seen to all 29, so that dividing by 29 gives the mean so far.
// CHECK: arith.constant 2.900000e+01 : f32
// CHECK: arith.sitofp
// CHECK: arith.divf
// CHECK: spacemap.next %[[NEXT]], %{{.*}}, %{{.*}}, %[[SEEN]]
// CHECK-NOT: spacemap.temporal
// CHECK: spacemap.output
func.func @variance(%x: tensor<3x29xf32>) -> tensor<3xf32> {
  %0 = spacemap.graph dims [m = 3, n = 29] ins(%a = %x : tensor<3x29xf32>) {
    %s = spacemap.source %a [m, n] : tensor<3x29xf32> -> !mn
    %sum = spacemap.all_to_one %s along [n] sum : !mn -> !m
    %mean = spacemap.map (%p = %sum : !m) {
      %c = arith.constant 2.900000e+01 : f32
      %d = arith.divf %p, %c : f32
      spacemap.yield %d : f32
    } -> !m
    %meanb = spacemap.one_to_all %mean along [n] : !m -> !mn
    %sq = spacemap.map (%p = %s, %q = %meanb : !mn, !mn) {
      %d = arith.subf %p, %q : f32
      %e = arith.mulf %d, %d : f32
      spacemap.yield %e : f32
    } -> !mn
    %var = spacemap.all_to_one %sq along [n] sum : !mn -> !m
    spacemap.output %var [m] : !m
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @masks
// CHECK: arith.constant true
// CHECK: spacemap.temporal along n by 8 (%{{.*}} = %{{.*}} : !spacemap.space<[m], i1>)
// CHECK: arith.andi
func.func @masks(%x: tensor<3x29xi1>) -> tensor<3xi1> {
  %0 = spacemap.graph dims [m = 3, n = 29] ins(%a = %x : tensor<3x29xi1>) {
    %s = spacemap.source %a [m, n] : tensor<3x29xi1> -> !spacemap.space<[m, n], i1>
    %all = spacemap.all_to_one %s along [n] and : !spacemap.space<[m, n], i1> -> !spacemap.space<[m], i1>
    spacemap.output %all [m] : !spacemap.space<[m], i1>
  } -> tensor<3xi1>
  return %0 : tensor<3xi1>
}
