// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-run %s --entry=prefix_sum --target=reference --stage=spacemap-to-tiles --input=50xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=prefix_sum --stage=spacemap-to-tiles --input=50xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=window --stage=spacemap-to-tiles --input=50xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=maximum --stage=spacemap-to-tiles --input=50xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=count --stage=spacemap-to-tiles --input=50xf32=random:1 --expected=reference
// RUN: fusion-opt %S/../../../benchmarks/inputs/sdpa_causal/bench.mlir --fusion-to-tiles="threads=2" | FileCheck %s --check-prefix=CAUSAL

// Keys behind the last query of a block change nothing: the maximum, the corrected sums and even "all are masked" stay as they are.
// CAUSAL:      #[[END:.*]] = affine_map<()[s0] -> (2048, s0 + [[ROWS:[0-9]+]])>
// CAUSAL:      scf.forall ({{.*}}, %[[M:.*]]) = (0, 0, 0) to (4, 16, 2048) step (1, 1, [[ROWS]])
// CAUSAL:        %[[LAST:.*]] = affine.min #[[END]]()[%[[M]]]
// CAUSAL:        scf.for {{.*}} to %[[LAST]] step

!m = !spacemap.space<[m], f32>
!l = !spacemap.space<[l], f32>
!ml = !spacemap.space<[m, l], f32>
!im = !spacemap.space<[m], index>
!il = !spacemap.space<[l], index>
!iml = !spacemap.space<[m, l], index>

// The last block is ragged.
// CHECK-DAG:   #[[$PREFIX:.*]] = affine_map<()[s0, s1] -> (50, s0 + s1)>
// CHECK-DAG:   #[[$WINDOW:.*]] = affine_map<()[s0, s1] -> (50, s0 + s1 + 3)>
// CHECK-LABEL: func.func @prefix_sum(
// CHECK:         scf.forall (%[[M:.*]]) = (0) to (50) step (16)
// CHECK:           %[[END:.*]] = affine.min #[[$PREFIX]]()[%[[M]], %{{.*}}]
// CHECK:           scf.for {{.*}} to %[[END]] step
func.func @prefix_sum(%x: tensor<50xf32>) -> tensor<50xf32> {
  %r = spacemap.graph dims [m = 50, l = 50] ins(%a = %x : tensor<50xf32>) blocks [m = 16] {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !m
    %rows = spacemap.index m : !im
    %sum = spacemap.temporal along l by 8 (%s = %zero : !m) {
      %0 = spacemap.source %a [l] : tensor<50xf32> -> !l
      %1 = spacemap.one_to_all %0 along [m] : !l -> !ml
      %2 = spacemap.one_to_all %rows along [l] : !im -> !iml
      %3 = spacemap.index l : !il
      %4 = spacemap.one_to_all %3 along [m] : !il -> !iml
      %5 = spacemap.map (%p = %1, %i = %2, %j = %4 : !ml, !iml, !iml) {
        %z = arith.constant 0.0 : f32
        %c = arith.cmpi sgt, %j, %i : index
        %v = arith.select %c, %z, %p : f32
        spacemap.yield %v : f32
      } -> !ml
      %6 = spacemap.all_to_one %5 along [l] sum : !ml -> !m
      %7 = spacemap.map (%p = %s, %q = %6 : !m, !m) {
        %8 = arith.addf %p, %q : f32
        spacemap.yield %8 : f32
      } -> !m
      spacemap.next %7 : !m
    } -> !m
    spacemap.output %sum [m] : !m
  } -> tensor<50xf32>
  return %r : tensor<50xf32>
}

// l - m <= 3, and as a product with 0 or 1.
// CHECK-LABEL: func.func @window(
// CHECK:           %[[END:.*]] = affine.min #[[$WINDOW]]()
// CHECK:           scf.for {{.*}} to %[[END]] step
func.func @window(%x: tensor<50xf32>) -> tensor<50xf32> {
  %r = spacemap.graph dims [m = 50, l = 50] ins(%a = %x : tensor<50xf32>) blocks [m = 16] {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !m
    %rows = spacemap.index m : !im
    %sum = spacemap.temporal along l by 8 (%s = %zero : !m) {
      %0 = spacemap.source %a [l] : tensor<50xf32> -> !l
      %1 = spacemap.one_to_all %0 along [m] : !l -> !ml
      %2 = spacemap.one_to_all %rows along [l] : !im -> !iml
      %3 = spacemap.index l : !il
      %4 = spacemap.one_to_all %3 along [m] : !il -> !iml
      %5 = spacemap.map (%p = %1, %i = %2, %j = %4 : !ml, !iml, !iml) {
        %z = arith.constant 0.0 : f32
        %o = arith.constant 1.0 : f32
        %three = arith.constant 3 : index
        %d = arith.subi %j, %i : index
        %c = arith.cmpi sle, %d, %three : index
        %f = arith.select %c, %o, %z : f32
        %v = arith.mulf %f, %p : f32
        spacemap.yield %v : f32
      } -> !ml
      %6 = spacemap.all_to_one %5 along [l] sum : !ml -> !m
      %7 = spacemap.map (%p = %s, %q = %6 : !m, !m) {
        %8 = arith.addf %p, %q : f32
        spacemap.yield %8 : f32
      } -> !m
      spacemap.next %7 : !m
    } -> !m
    spacemap.output %sum [m] : !m
  } -> tensor<50xf32>
  return %r : tensor<50xf32>
}

// 0 is not neutral for a maximum: negative elements and masked ones differ.
// CHECK-LABEL: func.func @maximum(
// CHECK:         scf.for {{.*}} to %c50{{.*}} step
func.func @maximum(%x: tensor<50xf32>) -> tensor<50xf32> {
  %r = spacemap.graph dims [m = 50, l = 50] ins(%a = %x : tensor<50xf32>) blocks [m = 16] {
    %low = spacemap.map () {
      %z = arith.constant 0xFF800000 : f32
      spacemap.yield %z : f32
    } -> !m
    %rows = spacemap.index m : !im
    %max = spacemap.temporal along l by 8 (%s = %low : !m) {
      %0 = spacemap.source %a [l] : tensor<50xf32> -> !l
      %1 = spacemap.one_to_all %0 along [m] : !l -> !ml
      %2 = spacemap.one_to_all %rows along [l] : !im -> !iml
      %3 = spacemap.index l : !il
      %4 = spacemap.one_to_all %3 along [m] : !il -> !iml
      %5 = spacemap.map (%p = %1, %i = %2, %j = %4 : !ml, !iml, !iml) {
        %z = arith.constant 0.0 : f32
        %c = arith.cmpi sgt, %j, %i : index
        %v = arith.select %c, %z, %p : f32
        spacemap.yield %v : f32
      } -> !ml
      %6 = spacemap.all_to_one %5 along [l] max : !ml -> !m
      %7 = spacemap.map (%p = %s, %q = %6 : !m, !m) {
        %8 = arith.maximumf %p, %q : f32
        spacemap.yield %8 : f32
      } -> !m
      spacemap.next %7 : !m
    } -> !m
    spacemap.output %max [m] : !m
  } -> tensor<50xf32>
  return %r : tensor<50xf32>
}

// A second state counts masked elements.
// CHECK-LABEL: func.func @count(
// CHECK:         scf.for {{.*}} to %c50{{.*}} step
func.func @count(%x: tensor<50xf32>) -> (tensor<50xf32>, tensor<50xf32>) {
  %r:2 = spacemap.graph dims [m = 50, l = 50] ins(%a = %x : tensor<50xf32>) blocks [m = 16] {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !m
    %rows = spacemap.index m : !im
    %sum:2 = spacemap.temporal along l by 8 (%s = %zero, %n = %zero : !m, !m) {
      %0 = spacemap.source %a [l] : tensor<50xf32> -> !l
      %1 = spacemap.one_to_all %0 along [m] : !l -> !ml
      %2 = spacemap.one_to_all %rows along [l] : !im -> !iml
      %3 = spacemap.index l : !il
      %4 = spacemap.one_to_all %3 along [m] : !il -> !iml
      %5 = spacemap.map (%p = %1, %i = %2, %j = %4 : !ml, !iml, !iml) {
        %z = arith.constant 0.0 : f32
        %c = arith.cmpi sgt, %j, %i : index
        %v = arith.select %c, %z, %p : f32
        spacemap.yield %v : f32
      } -> !ml
      %6 = spacemap.all_to_one %5 along [l] sum : !ml -> !m
      %7 = spacemap.map (%p = %s, %q = %6 : !m, !m) {
        %8 = arith.addf %p, %q : f32
        spacemap.yield %8 : f32
      } -> !m
      %9 = spacemap.map (%i = %2, %j = %4 : !iml, !iml) {
        %z = arith.constant 0.0 : f32
        %o = arith.constant 1.0 : f32
        %c = arith.cmpi sgt, %j, %i : index
        %v = arith.select %c, %o, %z : f32
        spacemap.yield %v : f32
      } -> !ml
      %10 = spacemap.all_to_one %9 along [l] sum : !ml -> !m
      %11 = spacemap.map (%p = %n, %q = %10 : !m, !m) {
        %8 = arith.addf %p, %q : f32
        spacemap.yield %8 : f32
      } -> !m
      spacemap.next %7, %11 : !m, !m
    } -> (!m, !m)
    spacemap.output %sum#0 [m], %sum#1 [m] : !m, !m
  } -> (tensor<50xf32>, tensor<50xf32>)
  return %r#0, %r#1 : tensor<50xf32>, tensor<50xf32>
}
