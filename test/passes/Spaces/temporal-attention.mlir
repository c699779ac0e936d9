// Attention along the keys: the division by the sum is postponed, the sum and the weighted rows are updated by one shared
// factor, and rows that have seen only -inf so far are guarded.

// RUN: fusion-opt %s --spacemap-postpone-broadcast --spacemap-temporal-slice="dim=l step=3" --canonicalize --cse | FileCheck %s
// RUN: fusion-opt %s --spacemap-postpone-broadcast --canonicalize --cse | FileCheck %s --check-prefix=POSTPONE
// RUN: fusion-run %s --entry=attention --target=reference --stage="spacemap-postpone-broadcast,spacemap-temporal-slice{dim=l step=3}" --input=5x4xf32=random:1 --input=7x4xf32=random:2 --input=7x3xf32=random:3 --expected=reference
// RUN: fusion-run %s --entry=attention --target=reference --stage="spacemap-temporal-slice{dim=l step=2}" --input=5x4xf32=random:1 --input=7x4xf32=random:2 --input=7x3xf32=random:3 --expected=reference

!mlk = !spacemap.space<[m, l, k], f32>
!mln = !spacemap.space<[m, l, n], f32>
!ml = !spacemap.space<[m, l], f32>
!mk = !spacemap.space<[m, k], f32>
!lk = !spacemap.space<[l, k], f32>
!ln = !spacemap.space<[l, n], f32>
!mn = !spacemap.space<[m, n], f32>
!m = !spacemap.space<[m], f32>

// POSTPONE-LABEL: func.func @attention
// POSTPONE: spacemap.all_to_one %{{.*}} along [l] max
// POSTPONE: %[[EXP:.*]] = spacemap.map
// POSTPONE-NEXT: arith.subf
// POSTPONE: math.exp
// POSTPONE: %[[SUM:.*]] = spacemap.all_to_one %[[EXP]] along [l] sum
// POSTPONE-NOT: arith.divf
// POSTPONE: %[[E:.*]] = spacemap.one_to_all %[[EXP]] along [n]
// POSTPONE: spacemap.map (%{{.*}} = %[[E]],
// POSTPONE-NEXT: arith.mulf
// POSTPONE: %[[OUT:.*]] = spacemap.all_to_one %{{.*}} along [l] sum
// POSTPONE: %[[S:.*]] = spacemap.one_to_all %[[SUM]] along [n]
// POSTPONE: spacemap.map (%{{.*}} = %[[OUT]], %{{.*}} = %[[S]]
// POSTPONE-NEXT: arith.divf

// CHECK-LABEL: func.func @attention
// The queries have no keys: they are read before the loop.
// CHECK: spacemap.source %{{.*}} [m, k]
// CHECK: arith.constant 0xFF800000
// CHECK: %[[LOOP:.*]]:3 = spacemap.temporal along l by 3 (%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[OUT:.*]] = %{{.*}} : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>, !spacemap.space<[m, n], f32>) {
// CHECK: spacemap.source %{{.*}} [l, k]
// CHECK: %[[QK:.*]] = spacemap.all_to_one %{{.*}} along [k] sum
// CHECK: %[[PARTIAL:.*]] = spacemap.all_to_one %[[QK]] along [l] max
// CHECK: %[[NEXTMAX:.*]] = spacemap.map (%{{.*}} = %[[MAX]], %{{.*}} = %[[PARTIAL]]
// CHECK-NEXT: arith.maximumf
// 0 stands for a maximum of -inf.
// CHECK: %[[GUARDED:.*]] = spacemap.map (%{{.*}} = %[[NEXTMAX]]
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK: spacemap.one_to_all %[[GUARDED]] along [l]
// CHECK: %[[P:.*]] = spacemap.map
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[ROWSUM:.*]] = spacemap.all_to_one %[[P]] along [l] sum
// The factor exp(old maximum - new maximum), once for both updates.
// CHECK: %[[FACTOR:.*]] = spacemap.map (%{{.*}} = %[[MAX]], %{{.*}} = %[[GUARDED]]
// CHECK: arith.select
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[NEXTSUM:.*]] = spacemap.map (%{{.*}} = %[[SUM]], %{{.*}} = %[[FACTOR]], %{{.*}} = %[[ROWSUM]]
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NOT: math.exp
// CHECK: %[[PV:.*]] = spacemap.all_to_one %{{.*}} along [l] sum : <[m, l, n], f32> -> <[m, n], f32>
// CHECK: %[[SHARED:.*]] = spacemap.one_to_all %[[FACTOR]] along [n]
// CHECK: %[[NEXTOUT:.*]] = spacemap.map (%{{.*}} = %[[OUT]], %{{.*}} = %[[SHARED]], %{{.*}} = %[[PV]]
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: spacemap.next %[[NEXTMAX]], %[[NEXTSUM]], %[[NEXTOUT]]
// A row that never saw a finite score is NaN again, by way of the sum.
// CHECK: %[[FINAL:.*]] = spacemap.map (%{{.*}} = %[[LOOP]]#1, %{{.*}} = %[[LOOP]]#0
// CHECK: math.exp
// CHECK: %[[DIVISOR:.*]] = spacemap.one_to_all %[[FINAL]] along [n]
// CHECK: spacemap.map (%{{.*}} = %[[LOOP]]#2, %{{.*}} = %[[DIVISOR]]
// CHECK-NEXT: arith.divf
// CHECK: spacemap.output
func.func @attention(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %0 = spacemap.graph dims [m = 5, l = 7, k = 4, n = 3] ins(%a = %q, %b = %k, %c = %v : tensor<5x4xf32>, tensor<7x4xf32>, tensor<7x3xf32>) {
    %qs = spacemap.source %a [m, k] : tensor<5x4xf32> -> !mk
    %ks = spacemap.source %b [l, k] : tensor<7x4xf32> -> !lk
    %vs = spacemap.source %c [l, n] : tensor<7x3xf32> -> !ln
    %q3 = spacemap.one_to_all %qs along [l] : !mk -> !mlk
    %k3 = spacemap.one_to_all %ks along [m] : !lk -> !mlk
    %it = spacemap.map (%x = %q3, %y = %k3 : !mlk, !mlk) {
      %p = arith.mulf %x, %y : f32
      spacemap.yield %p : f32
    } -> !mlk
    %qk = spacemap.all_to_one %it along [k] sum : !mlk -> !ml
    %max = spacemap.all_to_one %qk along [l] max : !ml -> !m
    %maxb = spacemap.one_to_all %max along [l] : !m -> !ml
    %exp = spacemap.map (%x = %qk, %y = %maxb : !ml, !ml) {
      %p = arith.subf %x, %y : f32
      %e = math.exp %p : f32
      spacemap.yield %e : f32
    } -> !ml
    %sum = spacemap.all_to_one %exp along [l] sum : !ml -> !m
    %sumb = spacemap.one_to_all %sum along [l] : !m -> !ml
    %div = spacemap.map (%x = %exp, %y = %sumb : !ml, !ml) {
      %p = arith.divf %x, %y : f32
      spacemap.yield %p : f32
    } -> !ml
    %divb = spacemap.one_to_all %div along [n] : !ml -> !mln
    %vb = spacemap.one_to_all %vs along [m] : !ln -> !mln
    %it2 = spacemap.map (%x = %divb, %y = %vb : !mln, !mln) {
      %p = arith.mulf %x, %y : f32
      spacemap.yield %p : f32
    } -> !mln
    %out = spacemap.all_to_one %it2 along [l] sum : !mln -> !mn
    spacemap.output %out [m, n] : !mn
  } -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
