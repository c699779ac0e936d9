// Two contractions whose weights are stored with the columns outermost, in f16, the first one's result feeding the
// second one slice by slice.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: fusion-run %s --entry=mlp --target=reference --stage=spacemap-to-tiles --input=20x12xf16=random:1 --input=22x12xf16=random:2 --input=22xf32=random:3 --input=10x22xf16=random:4 --expected=reference
// RUN: fusion-run %s --entry=mlp --target=cpu --stage=spacemap-to-tiles --input=20x12xf16=random:1 --input=22x12xf16=random:2 --input=22xf32=random:3 --input=10x22xf16=random:4 --expected=reference

// CHECK-LABEL: func.func @mlp
// The state is the result's own memory.
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}} : tensor<20x10xf32> to tensor<?x10xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]] :
// The rows do not change from slice to slice.
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}} : tensor<20x12xf16> to tensor<?x12xf16>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:[^ ,]+]] = %[[ZERO]])
// CHECK: %[[W1:.*]] = linalg.transpose {{.*}} permutation = [1, 0]
// Widening stays in the contraction.
// CHECK: %[[H:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W1]] : tensor<?x12xf16>, tensor<12x?xf16>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[G:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} {{.*}} outs(%[[H]] :
// CHECK: math.tanh
// CHECK: %[[W2:.*]] = linalg.transpose {{.*}} permutation = [1, 0]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[G]], %[[W2]] : {{.*}} outs(%[[ACC]] :
// CHECK: scf.yield %[[Y]]

// BUFFER-LABEL: func.func @mlp
// BUFFER: scf.for %
// BUFFER-NOT: memref.alloc
// BUFFER-NOT: memref.copy
// BUFFER: return

func.func @mlp(%X: tensor<20x12xf16>, %W1: tensor<22x12xf16>, %B1: tensor<22xf32>, %W2: tensor<10x22xf16>) -> tensor<20x10xf32> {
  %r = spacemap.graph dims [m = 20, d = 12, h = 22, n = 10] ins(%x = %X, %w1 = %W1, %b1 = %B1, %w2 = %W2 : tensor<20x12xf16>, tensor<22x12xf16>, tensor<22xf32>, tensor<10x22xf16>) blocks [m = 8] {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !spacemap.space<[m, n], f32>
    %xs = spacemap.source %x [m, d] : tensor<20x12xf16> -> !spacemap.space<[m, d], f16>
    %st = spacemap.temporal along h by 8 (%acc = %zero : !spacemap.space<[m, n], f32>) {
      %w1s = spacemap.source %w1 [h, d] : tensor<22x12xf16> -> !spacemap.space<[d, h], f16>
      %xb = spacemap.one_to_all %xs along [h] : !spacemap.space<[m, d], f16> -> !spacemap.space<[m, d, h], f16>
      %wb = spacemap.one_to_all %w1s along [m] : !spacemap.space<[d, h], f16> -> !spacemap.space<[m, d, h], f16>
      %p = spacemap.map (%a = %xb, %b = %wb : !spacemap.space<[m, d, h], f16>, !spacemap.space<[m, d, h], f16>) {
        %a1 = arith.extf %a : f16 to f32
        %b1x = arith.extf %b : f16 to f32
        %t = arith.mulf %a1, %b1x : f32
        spacemap.yield %t : f32
      } -> !spacemap.space<[m, d, h], f32>
      %h = spacemap.all_to_one %p along [d] sum : !spacemap.space<[m, d, h], f32> -> !spacemap.space<[m, h], f32>
      %b1s = spacemap.source %b1 [h] : tensor<22xf32> -> !spacemap.space<[h], f32>
      %b1b = spacemap.one_to_all %b1s along [m] : !spacemap.space<[h], f32> -> !spacemap.space<[m, h], f32>
      %g = spacemap.map (%a = %h, %b = %b1b : !spacemap.space<[m, h], f32>, !spacemap.space<[m, h], f32>) {
        %t = arith.addf %a, %b : f32
        %u = math.tanh %t : f32
        spacemap.yield %u : f32
      } -> !spacemap.space<[m, h], f32>
      %w2s = spacemap.source %w2 [n, h] : tensor<10x22xf16> -> !spacemap.space<[h, n], f16>
      %w2f = spacemap.map (%a = %w2s : !spacemap.space<[h, n], f16>) { %t = arith.extf %a : f16 to f32 spacemap.yield %t : f32 } -> !spacemap.space<[h, n], f32>
      %gb = spacemap.one_to_all %g along [n] : !spacemap.space<[m, h], f32> -> !spacemap.space<[m, h, n], f32>
      %w2b = spacemap.one_to_all %w2f along [m] : !spacemap.space<[h, n], f32> -> !spacemap.space<[m, h, n], f32>
      %p2 = spacemap.map (%a = %gb, %b = %w2b : !spacemap.space<[m, h, n], f32>, !spacemap.space<[m, h, n], f32>) {
        %t = arith.mulf %a, %b : f32
        spacemap.yield %t : f32
      } -> !spacemap.space<[m, h, n], f32>
      %y = spacemap.all_to_one %p2 along [h] sum : !spacemap.space<[m, h, n], f32> -> !spacemap.space<[m, n], f32>
      %acc2 = spacemap.map (%a = %acc, %b = %y : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
        %t = arith.addf %a, %b : f32
        spacemap.yield %t : f32
      } -> !spacemap.space<[m, n], f32>
      spacemap.next %acc2 : !spacemap.space<[m, n], f32>
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %st [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<20x10xf32>
  return %r : tensor<20x10xf32>
}
