// Where accumulators live: in the result's memory if that is compact, in scratch if it is cut out of long rows; and scratch
// that nobody reads any more is used again.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-run %s --entry=compact --target=reference --stage=spacemap-to-tiles --input=32x16xf32=random:1 --input=16x64xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=long_rows --target=cpu --stage=spacemap-to-tiles --input=32x16xf32=random:1 --input=16x512xf32=random:2 --expected=reference --atol=1e-4
// RUN: fusion-run %s --entry=chain --target=cpu --stage=spacemap-to-tiles --input=32x16xf32=random:1 --input=16x16xf32=random:2 --input=16x16xf32=random:3 --input=16x16xf32=random:4 --expected=reference --atol=1e-4

!m_k = !spacemap.space<[m, k], f32>
!m_n = !spacemap.space<[m, n], f32>
!n_k = !spacemap.space<[n, k], f32>
!m_n_k = !spacemap.space<[m, n, k], f32>

// CHECK-LABEL: func.func @compact
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}} : tensor<32x64xf32> to tensor<16x32xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[OUT]] :
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK: tensor.parallel_insert_slice %[[SUM]]
func.func @compact(%A: tensor<32x16xf32>, %B: tensor<16x64xf32>) -> tensor<32x64xf32> {
  %r = spacemap.graph dims [m = 32, n = 64, k = 16] ins(%a = %A, %b = %B : tensor<32x16xf32>, tensor<16x64xf32>) blocks [m = 16, n = 32] {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !m_n
    %sum = spacemap.temporal along k by 4 (%acc = %zero : !m_n) {
      %0 = spacemap.source %a [m, k] : tensor<32x16xf32> -> !m_k
      %1 = spacemap.source %b [k, n] : tensor<16x64xf32> -> !n_k
      %2 = spacemap.one_to_all %0 along [n] : !m_k -> !m_n_k
      %3 = spacemap.one_to_all %1 along [m] : !n_k -> !m_n_k
      %4 = spacemap.map (%x = %2, %y = %3 : !m_n_k, !m_n_k) {
        %p = arith.mulf %x, %y : f32
        spacemap.yield %p : f32
      } -> !m_n_k
      %5 = spacemap.all_to_one %4 along [k] sum : !m_n_k -> !m_n
      %6 = spacemap.map (%x = %acc, %y = %5 : !m_n, !m_n) {
        %p = arith.addf %x, %y : f32
        spacemap.yield %p : f32
      } -> !m_n
      spacemap.next %6 : !m_n
    } -> !m_n
    spacemap.output %sum [m, n] : !m_n
  } -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// CHECK-LABEL: func.func @long_rows
// CHECK: %[[SCRATCH:.*]] = tensor.empty() : tensor<16x32xf32>
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}} : tensor<32x512xf32> to tensor<16x32xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[SCRATCH]] :
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[SUM]] : {{.*}}) outs(%[[OUT]] :
// CHECK: tensor.parallel_insert_slice %[[COPY]]
func.func @long_rows(%A: tensor<32x16xf32>, %B: tensor<16x512xf32>) -> tensor<32x512xf32> {
  %r = spacemap.graph dims [m = 32, n = 512, k = 16] ins(%a = %A, %b = %B : tensor<32x16xf32>, tensor<16x512xf32>) blocks [m = 16, n = 32] {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !m_n
    %sum = spacemap.temporal along k by 4 (%acc = %zero : !m_n) {
      %0 = spacemap.source %a [m, k] : tensor<32x16xf32> -> !m_k
      %1 = spacemap.source %b [k, n] : tensor<16x512xf32> -> !n_k
      %2 = spacemap.one_to_all %0 along [n] : !m_k -> !m_n_k
      %3 = spacemap.one_to_all %1 along [m] : !n_k -> !m_n_k
      %4 = spacemap.map (%x = %2, %y = %3 : !m_n_k, !m_n_k) {
        %p = arith.mulf %x, %y : f32
        spacemap.yield %p : f32
      } -> !m_n_k
      %5 = spacemap.all_to_one %4 along [k] sum : !m_n_k -> !m_n
      %6 = spacemap.map (%x = %acc, %y = %5 : !m_n, !m_n) {
        %p = arith.addf %x, %y : f32
        spacemap.yield %p : f32
      } -> !m_n
      spacemap.next %6 : !m_n
    } -> !m_n
    spacemap.output %sum [m, n] : !m_n
  } -> tensor<32x512xf32>
  return %r : tensor<32x512xf32>
}

// Three products in a row: what the first one was made in serves the third one's packed operand.
// CHECK-LABEL: func.func @chain
// CHECK: scf.forall
// CHECK-COUNT-3: tensor.empty() :
// CHECK-NOT: tensor.empty() :
// CHECK: fusion.kernel
func.func @chain(%X: tensor<32x16xf32>, %U: tensor<16x16xf32>, %V: tensor<16x16xf32>, %W: tensor<16x16xf32>) -> tensor<32x16xf32> {
  %r = spacemap.graph dims [m = 32, a = 16, b = 16, c = 16, d = 16] ins(%x = %X, %u = %U, %v = %V, %w = %W : tensor<32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) blocks [m = 16] {
    %0 = spacemap.source %x [m, a] : tensor<32x16xf32> -> !spacemap.space<[m, a], f32>
    %1 = spacemap.source %u [b, a] : tensor<16x16xf32> -> !spacemap.space<[a, b], f32>
    %2 = spacemap.one_to_all %0 along [b] : !spacemap.space<[m, a], f32> -> !spacemap.space<[m, a, b], f32>
    %3 = spacemap.one_to_all %1 along [m] : !spacemap.space<[a, b], f32> -> !spacemap.space<[m, a, b], f32>
    %4 = spacemap.map (%p = %2, %q = %3 : !spacemap.space<[m, a, b], f32>, !spacemap.space<[m, a, b], f32>) {
      %t = arith.mulf %p, %q : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, a, b], f32>
    %5 = spacemap.all_to_one %4 along [a] sum : !spacemap.space<[m, a, b], f32> -> !spacemap.space<[m, b], f32>
    %6 = spacemap.source %v [c, b] : tensor<16x16xf32> -> !spacemap.space<[b, c], f32>
    %7 = spacemap.one_to_all %5 along [c] : !spacemap.space<[m, b], f32> -> !spacemap.space<[m, b, c], f32>
    %8 = spacemap.one_to_all %6 along [m] : !spacemap.space<[b, c], f32> -> !spacemap.space<[m, b, c], f32>
    %9 = spacemap.map (%p = %7, %q = %8 : !spacemap.space<[m, b, c], f32>, !spacemap.space<[m, b, c], f32>) {
      %t = arith.mulf %p, %q : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, b, c], f32>
    %10 = spacemap.all_to_one %9 along [b] sum : !spacemap.space<[m, b, c], f32> -> !spacemap.space<[m, c], f32>
    %11 = spacemap.source %w [d, c] : tensor<16x16xf32> -> !spacemap.space<[c, d], f32>
    %12 = spacemap.one_to_all %10 along [d] : !spacemap.space<[m, c], f32> -> !spacemap.space<[m, c, d], f32>
    %13 = spacemap.one_to_all %11 along [m] : !spacemap.space<[c, d], f32> -> !spacemap.space<[m, c, d], f32>
    %14 = spacemap.map (%p = %12, %q = %13 : !spacemap.space<[m, c, d], f32>, !spacemap.space<[m, c, d], f32>) {
      %t = arith.mulf %p, %q : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[m, c, d], f32>
    %15 = spacemap.all_to_one %14 along [c] sum : !spacemap.space<[m, c, d], f32> -> !spacemap.space<[m, d], f32>
    spacemap.output %15 [m, d] : !spacemap.space<[m, d], f32>
  } -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}
