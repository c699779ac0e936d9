// RUN: fusion-opt %s --spacemap-slice=target=h100 --mlir-print-local-scope | FileCheck %s --check-prefix=FULL
// RUN: fusion-opt %s --spacemap-slice="target=h100 temporal=false" --mlir-print-local-scope | FileCheck %s --check-prefix=SPATIAL
// RUN: fusion-opt %s --spacemap-slice="target=h100 rank=false" --mlir-print-local-scope | FileCheck %s --check-prefix=FIRST
// RUN: fusion-opt %s --spacemap-slice="block-sizes=m=48 temporal-dim=l=100" --mlir-print-local-scope | FileCheck %s --check-prefix=USER
// RUN: not fusion-opt %s --spacemap-slice=block-sizes=n=16 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not fusion-opt %s --spacemap-slice=block-sizes=z=16 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion-opt %s --spacemap-slice=block-sizes=m=none 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fusion-opt %s --spacemap-slice="block-sizes=m=16 temporal-dim=m=4" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not fusion-opt %s --spacemap-slice=target=cpu9 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: fusion-run %s --entry=attention --target=reference --stage="builtin.module(func.func(spacemap-slice{block-sizes=m=48 temporal-dim=l=100}))" --input=64x64xf32=random:1 --input=1024x64xf32=random:2 --input=1024x64xf32=random:3 --expected=reference --rtol=1e-5 --atol=1e-6
// RUN: fusion-run %s --entry=attention --target=cpu --stage="builtin.module(func.func(spacemap-slice{block-sizes=m=48 temporal-dim=l=100}))" --input=64x64xf32=random:1 --input=1024x64xf32=random:2 --input=1024x64xf32=random:3 --expected=reference --rtol=1e-5 --atol=1e-6

// The ablation: the scheduler slices queries and walks over keys; without temporal slicing the scores of a block do
// not fit on chip, so that the graph stays whole; without ranking it takes the first that fits.
// FULL: spacemap.graph {{.*}} blocks [m = {{[0-9]+}}]
// FULL: spacemap.temporal along l by
// SPATIAL-NOT: spacemap.temporal
// FIRST: spacemap.graph {{.*}} blocks [m = {{[0-9]+}}]
// USER: spacemap.graph {{.*}} blocks [m = 48]
// USER: spacemap.temporal along l by 100
// ILLEGAL: error: 'spacemap.graph' op cannot be cut into independent blocks along 'n'; legal are [m]
// UNKNOWN: error: 'spacemap.graph' op cannot be sliced as 'z=16': it has no dimension 'z'
// NUMBER: error: 'spacemap.graph' op cannot be sliced as 'm=none': expected dim=extent with a positive extent
// BOTH: error: 'spacemap.graph' op cannot be sliced along 'm' both spatially and temporally
// TARGET: error: unknown target 'cpu9': accepted are cpu, v100, a100, h100, h200, b200, sm_70, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100
func.func @attention(%q: tensor<64x64xf32>, %k: tensor<1024x64xf32>, %v: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %0 = spacemap.graph dims [m = 64, l = 1024, k = 64, n = 64]
      ins(%a = %q, %b = %k, %c = %v : tensor<64x64xf32>, tensor<1024x64xf32>, tensor<1024x64xf32>) {
    %q0 = spacemap.source %a [m, k] : tensor<64x64xf32> -> !spacemap.space<[m, k], f32>
    %k0 = spacemap.source %b [l, k] : tensor<1024x64xf32> -> !spacemap.space<[l, k], f32>
    %v0 = spacemap.source %c [l, n] : tensor<1024x64xf32> -> !spacemap.space<[l, n], f32>
    %q1 = spacemap.one_to_all %q0 along [l] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, l, k], f32>
    %k1 = spacemap.one_to_all %k0 along [m] : !spacemap.space<[l, k], f32> -> !spacemap.space<[m, l, k], f32>
    %qk = spacemap.map (%s = %q1, %t = %k1 : !spacemap.space<[m, l, k], f32>, !spacemap.space<[m, l, k], f32>) {
      %f = arith.mulf %s, %t : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, l, k], f32>
    %s0 = spacemap.all_to_one %qk along [k] sum : !spacemap.space<[m, l, k], f32> -> !spacemap.space<[m, l], f32>
    %mx = spacemap.all_to_one %s0 along [l] max : !spacemap.space<[m, l], f32> -> !spacemap.space<[m], f32>
    %mxl = spacemap.one_to_all %mx along [l] : !spacemap.space<[m], f32> -> !spacemap.space<[m, l], f32>
    %e = spacemap.map (%s = %s0, %t = %mxl : !spacemap.space<[m, l], f32>, !spacemap.space<[m, l], f32>) {
      %d = arith.subf %s, %t : f32
      %f = math.exp %d : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, l], f32>
    %sum = spacemap.all_to_one %e along [l] sum : !spacemap.space<[m, l], f32> -> !spacemap.space<[m], f32>
    %e1 = spacemap.one_to_all %e along [n] : !spacemap.space<[m, l], f32> -> !spacemap.space<[m, l, n], f32>
    %v1 = spacemap.one_to_all %v0 along [m] : !spacemap.space<[l, n], f32> -> !spacemap.space<[m, l, n], f32>
    %pv = spacemap.map (%s = %e1, %t = %v1 : !spacemap.space<[m, l, n], f32>, !spacemap.space<[m, l, n], f32>) {
      %f = arith.mulf %s, %t : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, l, n], f32>
    %o = spacemap.all_to_one %pv along [l] sum : !spacemap.space<[m, l, n], f32> -> !spacemap.space<[m, n], f32>
    %sumn = spacemap.one_to_all %sum along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %y = spacemap.map (%s = %o, %t = %sumn : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %f = arith.divf %s, %t : f32
      spacemap.yield %f : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %y [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
