// What cannot be sliced is left alone, with the reason.

// RUN: fusion-opt %s --spacemap-temporal-slice="dim=n step=8" --verify-diagnostics | FileCheck %s
// RUN: fusion-opt %s --spacemap-temporal-slice="dim=n step=8 max-reduction-passes=2" | FileCheck %s --check-prefix=TWICE
// RUN: fusion-run %s --entry=tanh --target=reference --stage="spacemap-temporal-slice{dim=n step=8 max-reduction-passes=2}" --input=3x29xf32=random:1 --expected=reference
// RUN: not fusion-opt %s --spacemap-temporal-slice="step=8" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: spacemap-temporal-slice needs the option 'dim' and a positive 'step'

!mn = !spacemap.space<[m, n], f32>
!m = !spacemap.space<[m], f32>

// CHECK-LABEL: func.func @tanh
// CHECK-NOT: spacemap.temporal
// TWICE-LABEL: func.func @tanh
// TWICE: spacemap.temporal along n by 8
// TWICE: spacemap.temporal along n by 8
// TWICE-NOT: spacemap.temporal
func.func @tanh(%x: tensor<3x29xf32>) -> tensor<3xf32> {
  // expected-remark @below {{not sliced along 'n': reduction 2 along 'n' (sum): no update for the sum of tanh(}}
  %0 = spacemap.graph dims [m = 3, n = 29] ins(%a = %x : tensor<3x29xf32>) {
    %s = spacemap.source %a [m, n] : tensor<3x29xf32> -> !mn
    %sum = spacemap.all_to_one %s along [n] max : !mn -> !m
    %sumb = spacemap.one_to_all %sum along [n] : !m -> !mn
    %t = spacemap.map (%p = %s, %q = %sumb : !mn, !mn) {
      %d = arith.subf %p, %q : f32
      %e = math.tanh %d : f32
      spacemap.yield %e : f32
    } -> !mn
    %r = spacemap.all_to_one %t along [n] sum : !mn -> !m
    spacemap.output %r [m] : !m
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
