// A computed operand of a contraction is made once; columns that are cut out of long rows are packed; the epilogue is
// done in the result's memory.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles=pack=false | FileCheck %s --check-prefix=NOPACK
// RUN: fusion-run %s --entry=rms --target=reference --stage=spacemap-to-tiles --input=17x12xf32=random:1 --input=12xf32=random:2 --input=12x600xf32=random:3 --expected=reference
// RUN: fusion-run %s --entry=rms --target=cpu --stage=spacemap-to-tiles --input=17x12xf32=random:1 --input=12xf32=random:2 --input=12x600xf32=random:3 --expected=reference

// CHECK-LABEL: func.func @rms
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (17, 600) step (8, 64)
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}} : tensor<17x600xf32> to tensor<?x?xf32>
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}} : tensor<17x12xf32> to tensor<?x12xf32>
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[X]] :
// CHECK: %[[XG:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[X]], %{{.*}} : tensor<?x12xf32>, tensor<12xf32>)
// CHECK: %[[W:.*]] = linalg.copy ins(%{{.*}} : tensor<12x?xf32>)
// CHECK-NEXT: %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[OUT]] :
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[XG]], %[[W]] : {{.*}} outs(%[[ZERO]] :
// CHECK: linalg.generic {{.*}} outs(%[[Y]] :

// NOPACK-LABEL: func.func @rms
// NOPACK-NOT: linalg.copy
// NOPACK: return

func.func @rms(%X: tensor<17x12xf32>, %G: tensor<12xf32>, %W: tensor<12x600xf32>) -> tensor<17x600xf32> {
  %r = spacemap.graph dims [m = 17, n = 600, k = 12] ins(%x = %X, %g = %G, %w = %W : tensor<17x12xf32>, tensor<12xf32>, tensor<12x600xf32>) blocks [m = 8, n = 64] {
    %xs = spacemap.source %x [m, k] : tensor<17x12xf32> -> !spacemap.space<[m, k], f32>
    %sq = spacemap.map (%a = %xs : !spacemap.space<[m, k], f32>) {
      %t = arith.mulf %a, %a : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, k], f32>
    %ss = spacemap.all_to_one %sq along [k] sum : !spacemap.space<[m, k], f32> -> !spacemap.space<[m], f32>
    %gs = spacemap.source %g [k] : tensor<12xf32> -> !spacemap.space<[k], f32>
    %gb = spacemap.one_to_all %gs along [m] : !spacemap.space<[k], f32> -> !spacemap.space<[m, k], f32>
    %xg = spacemap.map (%a = %xs, %b = %gb : !spacemap.space<[m, k], f32>, !spacemap.space<[m, k], f32>) {
      %t = arith.mulf %a, %b : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, k], f32>
    %ws = spacemap.source %w [k, n] : tensor<12x600xf32> -> !spacemap.space<[n, k], f32>
    %xb = spacemap.one_to_all %xg along [n] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, n, k], f32>
    %wb = spacemap.one_to_all %ws along [m] : !spacemap.space<[n, k], f32> -> !spacemap.space<[m, n, k], f32>
    %p = spacemap.map (%a = %xb, %b = %wb : !spacemap.space<[m, n, k], f32>, !spacemap.space<[m, n, k], f32>) {
      %t = arith.mulf %a, %b : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, n, k], f32>
    %y = spacemap.all_to_one %p along [k] sum : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
    %rr = spacemap.map (%a = %ss : !spacemap.space<[m], f32>) {
      %c = arith.constant 12.0 : f32
      %t = arith.divf %a, %c : f32
      %u = math.rsqrt %t : f32
      spacemap.yield %u : f32
    } -> !spacemap.space<[m], f32>
    %rb = spacemap.one_to_all %rr along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %z = spacemap.map (%a = %y, %b = %rb : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %t = arith.mulf %a, %b : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %z [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<17x600xf32>
  return %r : tensor<17x600xf32>
}
