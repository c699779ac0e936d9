// Reductions along rows, without and with temporal slicing.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: fusion-run %s --entry=softmax --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference
// RUN: fusion-run %s --entry=softmax --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference
// RUN: fusion-run %s --entry=softmax_two_passes --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference
// RUN: fusion-run %s --entry=softmax_two_passes --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference
// RUN: fusion-run %s --entry=layernorm --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:7 --input=33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=layernorm --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:7 --input=33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=variance --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference
// RUN: fusion-run %s --entry=variance --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:7 --expected=reference

// The exponentials are made in the result's memory, with their sum, and divided there.
// CHECK-LABEL: func.func @softmax(
// CHECK: %[[OUT:.*]] = tensor.extract_slice %{{.*}} : tensor<10x33xf32> to tensor<?x33xf32>
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: %[[E:.*]]:2 = linalg.generic {{.*}}["parallel", "reduction"]} {{.*}} outs(%[[OUT]], %{{.*}} :
// CHECK: math.exp
// CHECK-NEXT: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[E]]#1 : {{.*}} outs(%[[E]]#0 :
// CHECK: arith.divf

// CHECK-LABEL: func.func @softmax_two_passes(
// CHECK: %[[STATES:.*]]:2 = scf.for {{.*}} iter_args(%[[MAX:[^ ,]+]] = %{{.*}}, %[[SUM:[^ ,]+]] = %{{.*}}) ->
// CHECK: %[[SLICEMAX:.*]] = linalg.generic
// The sum is corrected while the old maximum is there.
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[SLICEMAX]] : {{.*}} outs(%[[SUM]] :
// CHECK: linalg.generic {{.*}} ins(%[[SLICEMAX]] : {{.*}} outs(%[[MAX]] :
// CHECK: linalg.generic {{.*}} outs(%[[SCALED]] :
// CHECK: scf.for %[[N:[^ ,]+]] = %{{.*}} iter_args(%[[Y:[^ ,]+]] = %{{.*}}) ->
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[Y]][0, %[[N]]]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[PART]] :
// CHECK: tensor.insert_slice %[[NEW]] into %[[Y]][0, %[[N]]]

// The difference from the mean is cheap: it is computed twice, not stored. The mean is made where it is returned.
// CHECK-LABEL: func.func @layernorm(
// CHECK: scf.forall {{.*}} = (0) to (10) step (5)
// CHECK: tensor.empty() : tensor<5xf32>
// CHECK-NOT: tensor.empty
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice
// CHECK-NEXT: tensor.parallel_insert_slice

// A state that is read by what depends on its next value, along another path than that value's own, is saved first.
// CHECK-LABEL: func.func @variance(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[^ ,]+]] = %{{.*}}, %{{.*}}) ->
// CHECK: %[[SAVED:.*]] = linalg.copy ins(%[[SUM]] :
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] :
// CHECK: ins(%[[SAVED]],

// BUFFER-LABEL: func.func @softmax(
// BUFFER-NOT: memref.copy
// BUFFER-LABEL: func.func @softmax_two_passes(
// BUFFER: scf.for %
// BUFFER-NOT: memref.alloc
// BUFFER-NOT: memref.copy
// BUFFER-LABEL: func.func @layernorm(
// BUFFER-NOT: memref.copy
// BUFFER: return

!m = !spacemap.space<[m], f32>
!n = !spacemap.space<[n], f32>
!mn = !spacemap.space<[m, n], f32>
func.func @softmax(%x: tensor<10x33xf32>) -> tensor<10x33xf32> {
  %r = spacemap.graph dims [m = 10, n = 33] ins(%a = %x : tensor<10x33xf32>) blocks [m = 4] {
    %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] max : !mn -> !m
    %2 = spacemap.one_to_all %1 along [n] : !m -> !mn
    %3 = spacemap.map (%p = %0, %q = %2 : !mn, !mn) {
      %s = arith.subf %p, %q : f32
      %e = math.exp %s : f32
      spacemap.yield %e : f32
    } -> !mn
    %4 = spacemap.all_to_one %3 along [n] sum : !mn -> !m
    %5 = spacemap.one_to_all %4 along [n] : !m -> !mn
    %6 = spacemap.map (%p = %3, %q = %5 : !mn, !mn) {
      %s = arith.divf %p, %q : f32
      spacemap.yield %s : f32
    } -> !mn
    spacemap.output %6 [m, n] : !mn
  } -> tensor<10x33xf32>
  return %r : tensor<10x33xf32>
}

// Second pass over the columns: what is collected is the result.
func.func @softmax_two_passes(%x: tensor<10x33xf32>) -> tensor<10x33xf32> {
  %r = spacemap.graph dims [m = 10, n = 33] ins(%a = %x : tensor<10x33xf32>) blocks [m = 4] {
    %ninf = spacemap.map () {
      %c = arith.constant 0xFF800000 : f32
      spacemap.yield %c : f32
    } -> !m
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %st:2 = spacemap.temporal along n by 8 (%max = %ninf, %sum = %zero : !m, !m) {
      %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] max : !mn -> !m
      %max2 = spacemap.map (%p = %max, %q = %1 : !m, !m) {
        %s = arith.maximumf %p, %q : f32
        spacemap.yield %s : f32
      } -> !m
      %2 = spacemap.one_to_all %max2 along [n] : !m -> !mn
      %3 = spacemap.map (%p = %0, %q = %2 : !mn, !mn) {
        %s = arith.subf %p, %q : f32
        %e = math.exp %s : f32
        spacemap.yield %e : f32
      } -> !mn
      %4 = spacemap.all_to_one %3 along [n] sum : !mn -> !m
      %sum2 = spacemap.map (%p = %sum, %o = %max, %w = %max2, %q = %4 : !m, !m, !m, !m) {
        %s = arith.subf %o, %w : f32
        %e = math.exp %s : f32
        %f = arith.mulf %p, %e : f32
        %g = arith.addf %f, %q : f32
        spacemap.yield %g : f32
      } -> !m
      spacemap.next %max2, %sum2 : !m, !m
    } -> (!m, !m)
    %y = spacemap.temporal along n by 8 () {
      %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
      %2 = spacemap.one_to_all %st#0 along [n] : !m -> !mn
      %3 = spacemap.one_to_all %st#1 along [n] : !m -> !mn
      %4 = spacemap.map (%p = %0, %q = %2, %w = %3 : !mn, !mn, !mn) {
        %s = arith.subf %p, %q : f32
        %e = math.exp %s : f32
        %f = arith.divf %e, %w : f32
        spacemap.yield %f : f32
      } -> !mn
      spacemap.next collect %4 : !mn
    } -> !mn
    spacemap.output %y [m, n] : !mn
  } -> tensor<10x33xf32>
  return %r : tensor<10x33xf32>
}

func.func @layernorm(%x: tensor<10x33xf32>, %gain: tensor<33xf32>, %bias: tensor<33xf32>) -> (tensor<10x33xf32>, tensor<10xf32>) {
  %r:2 = spacemap.graph dims [m = 10, n = 33] ins(%a = %x, %g = %gain, %b = %bias : tensor<10x33xf32>, tensor<33xf32>, tensor<33xf32>) blocks [m = 5] {
    %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    %2 = spacemap.map (%p = %1 : !m) {
      %c = arith.constant 33.0 : f32
      %s = arith.divf %p, %c : f32
      spacemap.yield %s : f32
    } -> !m
    %3 = spacemap.one_to_all %2 along [n] : !m -> !mn
    %4 = spacemap.map (%p = %0, %q = %3 : !mn, !mn) {
      %s = arith.subf %p, %q : f32
      spacemap.yield %s : f32
    } -> !mn
    %5 = spacemap.map (%p = %4 : !mn) {
      %s = arith.mulf %p, %p : f32
      spacemap.yield %s : f32
    } -> !mn
    %6 = spacemap.all_to_one %5 along [n] sum : !mn -> !m
    %7 = spacemap.map (%p = %6 : !m) {
      %c = arith.constant 33.0 : f32
      %eps = arith.constant 1.0e-5 : f32
      %s = arith.divf %p, %c : f32
      %t = arith.addf %s, %eps : f32
      %u = math.rsqrt %t : f32
      spacemap.yield %u : f32
    } -> !m
    %8 = spacemap.one_to_all %7 along [n] : !m -> !mn
    %gs = spacemap.source %g [n] : tensor<33xf32> -> !n
    %bs = spacemap.source %b [n] : tensor<33xf32> -> !n
    %g2 = spacemap.one_to_all %gs along [m] : !n -> !mn
    %b2 = spacemap.one_to_all %bs along [m] : !n -> !mn
    %9 = spacemap.map (%p = %4, %q = %8, %u = %g2, %v = %b2 : !mn, !mn, !mn, !mn) {
      %s = arith.mulf %p, %q : f32
      %t = arith.mulf %s, %u : f32
      %w = arith.addf %t, %v : f32
      spacemap.yield %w : f32
    } -> !mn
    spacemap.output %9 [m, n], %2 [m] : !mn, !m
  } -> (tensor<10x33xf32>, tensor<10xf32>)
  return %r#0, %r#1 : tensor<10x33xf32>, tensor<10xf32>
}

// Welford: the mean of what has been seen, and the sum of squares around it.
func.func @variance(%x: tensor<10x33xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %r:2 = spacemap.graph dims [m = 10, n = 33] ins(%a = %x : tensor<10x33xf32>) blocks [m = 4] {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %st:2 = spacemap.temporal along n by 8 (%sum = %zero, %m2 = %zero : !m, !m) {
      %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
      %sum2 = spacemap.map (%p = %sum, %q = %1 : !m, !m) {
        %s = arith.addf %p, %q : f32
        spacemap.yield %s : f32
      } -> !m
      %seen = spacemap.seen n : !spacemap.space<[], index>
      %seen2 = spacemap.one_to_all %seen along [m] : !spacemap.space<[], index> -> !spacemap.space<[m], index>
      %mean = spacemap.map (%p = %sum2, %i = %seen2 : !m, !spacemap.space<[m], index>) {
        %c = arith.index_cast %i : index to i32
        %f = arith.sitofp %c : i32 to f32
        %s = arith.divf %p, %f : f32
        spacemap.yield %s : f32
      } -> !m
      %meanb = spacemap.one_to_all %mean along [n] : !m -> !mn
      %d = spacemap.map (%p = %0, %q = %meanb : !mn, !mn) {
        %s = arith.subf %p, %q : f32
        %t = arith.mulf %s, %s : f32
        spacemap.yield %t : f32
      } -> !mn
      %2 = spacemap.all_to_one %d along [n] sum : !mn -> !m
      // sum (x-d')^2 = sum (x-d)^2 + 2(d-d')(S - n d) + n(d-d')^2 with d = S/n: the second term vanishes.
      %ns = spacemap.index n : !spacemap.space<[n], index>
      %first = spacemap.all_to_one %ns along [n] min : !spacemap.space<[n], index> -> !spacemap.space<[], index>
      %firstb = spacemap.one_to_all %first along [m] : !spacemap.space<[], index> -> !spacemap.space<[m], index>
      %m22 = spacemap.map (%p = %m2, %o = %sum, %w = %mean, %i = %firstb, %q = %2 : !m, !m, !m, !spacemap.space<[m], index>, !m) {
        %c = arith.index_cast %i : index to i32
        %f = arith.sitofp %c : i32 to f32
        %one = arith.constant 1.0 : f32
        %f1 = arith.maximumf %f, %one : f32
        %s = arith.divf %o, %f1 : f32
        %t = arith.subf %s, %w : f32
        %t2 = arith.mulf %t, %t : f32
        %t3 = arith.mulf %t2, %f : f32
        %u = arith.addf %p, %t3 : f32
        %v = arith.addf %u, %q : f32
        spacemap.yield %v : f32
      } -> !m
      spacemap.next %sum2, %m22 : !m, !m
    } -> (!m, !m)
    spacemap.output %st#0 [m], %st#1 [m] : !m, !m
  } -> (tensor<10xf32>, tensor<10xf32>)
  return %r#0, %r#1 : tensor<10xf32>, tensor<10xf32>
}
