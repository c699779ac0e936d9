// RUN: fusion-opt %s --dist-overlap-communication | FileCheck %s
// RUN: fusion-opt %s --dist-overlap-communication | fusion-run - --target=reference --input=10xf64=iota --input=f64=value:3 --ranks=2 --expected=reference

#cut = #dist.tiled<[5] offset [0] extent [10] by (d0) -> (d0)>
#up = #dist.tiled<[5] offset [1] extent [9] by (d0) -> (d0)>
#down = #dist.tiled<[5] offset [0] extent [9] by (d0) -> (d0)>

// CHECK-LABEL: func.func @main
// The exchange starts as soon as the store is there.
// CHECK: %[[X:.*]] = dist.from_tensor
// CHECK: %[[TX:.*]] = dist.exchange_start %[[X]]
// CHECK: dist.fill
// CHECK: dist.exchange_wait %[[TX]]
// CHECK-NEXT: dist.copy %[[X]]
// Two of them are under way at once, after the last writes.
// CHECK-NEXT: %[[TY:.*]] = dist.exchange_start %[[Y:.*]] from
// CHECK-NEXT: dist.copy %{{.*}} to %[[Z:.*]] by
// CHECK-NEXT: %[[TZ:.*]] = dist.exchange_start %[[Z]]
// CHECK-NEXT: dist.exchange_wait %[[TY]]
// CHECK-NEXT: dist.copy %[[Y]]
// CHECK-NEXT: dist.exchange_wait %[[TZ]]
// CHECK-NEXT: dist.copy %[[Z]]
// There is nothing to do meanwhile.
// CHECK: dist.exchange %{{.*}} from
// CHECK-NEXT: dist.to_tensor
func.func @main(%x: tensor<10xf64>, %zero: f64) -> tensor<10xf64> {
  %X = dist.from_tensor %x : tensor<10xf64> -> !dist.store<10xf64>
  %Y = dist.create : !dist.store<10xf64>
  %Z = dist.create : !dist.store<10xf64>
  %R = dist.create : !dist.store<10xf64>
  dist.fill %zero into %R by #cut on [2] : f64, !dist.store<10xf64>
  dist.exchange %X from [#dist.placement<#dist.none on [1]>] to [#dist.placement<#cut on [2]>] : !dist.store<10xf64>
  dist.copy %X by #cut to %Y by #cut on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.copy %X by #cut to %Z by #cut on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.exchange %Y from [#dist.placement<#cut on [2]>] to [#dist.placement<#up on [2]>] : !dist.store<10xf64>
  dist.exchange %Z from [#dist.placement<#cut on [2]>] to [#dist.placement<#up on [2]>] : !dist.store<10xf64>
  dist.copy %Y by #up to %R by #down on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.copy %Z by #up to %R by #down on [2] : !dist.store<10xf64>, !dist.store<10xf64>
  dist.exchange %R from [#dist.placement<#cut on [2]>, #dist.placement<#down on [2]>]
      to [#dist.placement<#dist.none on [1]>] : !dist.store<10xf64>
  %r = dist.to_tensor %R : !dist.store<10xf64> -> tensor<10xf64>
  return %r : tensor<10xf64>
}
