// Every operation, printed and parsed again: as written, in the generic form, and as bytecode.
// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --emit-bytecode | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:      %[[Q:.+]]: tensor<128x64xf32>, %[[K:.+]]: tensor<256x64xf32>
func.func @attention(%q: tensor<128x64xf32>, %k: tensor<256x64xf32>) -> tensor<128x256xf32> {
  // CHECK: spacemap.graph dims [m = 128, l = 256, k = 64]
  // CHECK-SAME: ins(%[[A:.+]] = %[[Q]], %[[B:.+]] = %[[K]] : tensor<128x64xf32>, tensor<256x64xf32>) {
  %r = spacemap.graph dims [m = 128, l = 256, k = 64]
      ins(%a = %q, %b = %k : tensor<128x64xf32>, tensor<256x64xf32>) {
    // CHECK-NEXT: %[[QS:.+]] = spacemap.source %[[A]] [m, k] : tensor<128x64xf32> -> <[m, k], f32>
    %qs = spacemap.source %a [m, k] : tensor<128x64xf32> -> !spacemap.space<[m, k], f32>
    %ks = spacemap.source %b [l, k] : tensor<256x64xf32> -> !spacemap.space<[l, k], f32>
    // CHECK: %[[QB:.+]] = spacemap.one_to_all %[[QS]] along [l] : <[m, k], f32> -> <[m, l, k], f32>
    %qb = spacemap.one_to_all %qs along [l] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, l, k], f32>
    %kb = spacemap.one_to_all %ks along [m] : !spacemap.space<[l, k], f32> -> !spacemap.space<[m, l, k], f32>
    // CHECK: %[[P:.+]] = spacemap.map (%[[X:.+]] = %[[QB]], %[[Y:.+]] = %{{.+}} :
    // CHECK-SAME: !spacemap.space<[m, l, k], f32>, !spacemap.space<[m, l, k], f32>) {
    // CHECK-NEXT: %[[XY:.+]] = arith.mulf %[[X]], %[[Y]] : f32
    // CHECK-NEXT: spacemap.yield %[[XY]] : f32
    // CHECK-NEXT: } -> !spacemap.space<[m, l, k], f32>
    %p = spacemap.map (%x = %qb, %y = %kb : !spacemap.space<[m, l, k], f32>, !spacemap.space<[m, l, k], f32>) {
      %0 = arith.mulf %x, %y : f32
      spacemap.yield %0 : f32
    } -> !spacemap.space<[m, l, k], f32>
    // CHECK: spacemap.all_to_one %[[P]] along [k] sum : <[m, l, k], f32> -> <[m, l], f32>
    %s = spacemap.all_to_one %p along [k] sum : !spacemap.space<[m, l, k], f32> -> !spacemap.space<[m, l], f32>
    // CHECK: spacemap.output %{{.+}} [m, l] : !spacemap.space<[m, l], f32>
    spacemap.output %s [m, l] : !spacemap.space<[m, l], f32>
  } -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// CHECK-LABEL: func.func @transposed(
func.func @transposed(%x: tensor<?x16xf16>, %d: index) -> (tensor<16x?xf16>, tensor<?x16xf16>) {
  // CHECK: %{{.+}}:2 = spacemap.graph dims [m = %{{.+}}, n = 16] ins({{.*}}) attributes {name = "copy"} {
  %r:2 = spacemap.graph dims [m = %d, n = 16] ins(%a = %x : tensor<?x16xf16>) attributes {name = "copy"} {
    %0 = spacemap.source %a [m, n] : tensor<?x16xf16> -> !spacemap.space<[m, n], f16>
    // CHECK: spacemap.output %[[S:.+]] [n, m], %[[S]] [m, n] :
    spacemap.output %0 [n, m], %0 [m, n] : !spacemap.space<[m, n], f16>, !spacemap.space<[m, n], f16>
  // CHECK: } -> (tensor<16x?xf16>, tensor<?x16xf16>)
  } -> (tensor<16x?xf16>, tensor<?x16xf16>)
  return %r#0, %r#1 : tensor<16x?xf16>, tensor<?x16xf16>
}

// CHECK-LABEL: func.func @coordinates(
func.func @coordinates(%scalar: f32, %rank0: tensor<i64>) -> tensor<4x8xi1> {
  %r = spacemap.graph dims [i = 4, j = 8] ins(%s = %scalar, %t = %rank0 : f32, tensor<i64>) {
    // CHECK: spacemap.source %{{.+}} [] : f32 -> <[], f32>
    %0 = spacemap.source %s [] : f32 -> !spacemap.space<[], f32>
    // CHECK: spacemap.source %{{.+}} [] : tensor<i64> -> <[], i64>
    %1 = spacemap.source %t [] : tensor<i64> -> !spacemap.space<[], i64>
    // CHECK: spacemap.index i : <[i], index>
    %2 = spacemap.index i : !spacemap.space<[i], index>
    %3 = spacemap.index j : !spacemap.space<[j], index>
    %4 = spacemap.one_to_all %2 along [j] : !spacemap.space<[i], index> -> !spacemap.space<[i, j], index>
    %5 = spacemap.one_to_all %3 along [i] : !spacemap.space<[j], index> -> !spacemap.space<[i, j], index>
    %6 = spacemap.map (%a = %4, %b = %5 : !spacemap.space<[i, j], index>, !spacemap.space<[i, j], index>) {
      %7 = arith.cmpi uge, %a, %b : index
      spacemap.yield %7 : i1
    } -> !spacemap.space<[i, j], i1>
    spacemap.output %6 [i, j] : !spacemap.space<[i, j], i1>
  } -> tensor<4x8xi1>
  return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @sliced(
func.func @sliced(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  // CHECK: spacemap.graph dims [m = 8, n = 16] ins({{.*}}) blocks [m = 4] {
  %r:2 = spacemap.graph dims [m = 8, n = 16] ins(%a = %x : tensor<8x16xf32>) blocks [m = 4] {
    // CHECK: %[[ZERO:.+]] = spacemap.map () {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !spacemap.space<[m], f32>
    // CHECK: %{{.+}}:2 = spacemap.temporal along n by 4 (%[[S:.+]] = %[[ZERO]] : !spacemap.space<[m], f32>) {
    %sum:2 = spacemap.temporal along n by 4 (%s = %zero : !spacemap.space<[m], f32>) {
      %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !spacemap.space<[m, n], f32>
      // CHECK: spacemap.seen n : <[], index>
      %seen = spacemap.seen n : !spacemap.space<[], index>
      %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
      // CHECK: spacemap.map (%{{.+}} = %[[S]],
      %2 = spacemap.map (%p = %s, %q = %1 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
        %3 = arith.addf %p, %q : f32
        spacemap.yield %3 : f32
      } -> !spacemap.space<[m], f32>
      // CHECK: spacemap.next %{{.+}} : !spacemap.space<[m], f32> collect %{{.+}} : !spacemap.space<[m, n], f32>
      spacemap.next %2 : !spacemap.space<[m], f32> collect %0 : !spacemap.space<[m, n], f32>
    // CHECK: } -> (!spacemap.space<[m], f32>, !spacemap.space<[m, n], f32>)
    } -> (!spacemap.space<[m], f32>, !spacemap.space<[m, n], f32>)
    spacemap.output %sum#0 [m], %sum#1 [m, n] : !spacemap.space<[m], f32>, !spacemap.space<[m, n], f32>
  } -> (tensor<8xf32>, tensor<8x16xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func @reducers(
func.func @reducers(%x: tensor<4xi32>, %y: tensor<4xbf16>) {
  spacemap.graph dims [m = 4] ins(%a = %x, %b = %y : tensor<4xi32>, tensor<4xbf16>) {
    %0 = spacemap.source %a [m] : tensor<4xi32> -> !spacemap.space<[m], i32>
    %1 = spacemap.source %b [m] : tensor<4xbf16> -> !spacemap.space<[m], bf16>
    // CHECK: along [m] sum :
    %2 = spacemap.all_to_one %0 along [m] sum : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] prod :
    %3 = spacemap.all_to_one %1 along [m] prod : !spacemap.space<[m], bf16> -> !spacemap.space<[], bf16>
    // CHECK: along [m] max :
    %4 = spacemap.all_to_one %1 along [m] max : !spacemap.space<[m], bf16> -> !spacemap.space<[], bf16>
    // CHECK: along [m] min :
    %5 = spacemap.all_to_one %0 along [m] min : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] maxnum :
    %6 = spacemap.all_to_one %1 along [m] maxnum : !spacemap.space<[m], bf16> -> !spacemap.space<[], bf16>
    // CHECK: along [m] minnum :
    %7 = spacemap.all_to_one %1 along [m] minnum : !spacemap.space<[m], bf16> -> !spacemap.space<[], bf16>
    // CHECK: along [m] maxu :
    %8 = spacemap.all_to_one %0 along [m] maxu : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] minu :
    %9 = spacemap.all_to_one %0 along [m] minu : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] and :
    %10 = spacemap.all_to_one %0 along [m] and : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] or :
    %11 = spacemap.all_to_one %0 along [m] or : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    // CHECK: along [m] xor :
    %12 = spacemap.all_to_one %0 along [m] xor : !spacemap.space<[m], i32> -> !spacemap.space<[], i32>
    spacemap.output
  }
  return
}

// A name that is not a keyword is written as a string; zero extents and graphs without dimensions are fine.
// CHECK-LABEL: func.func @odd(
func.func @odd(%x: tensor<0x1xf32>) -> tensor<0x1xf32> {
  // CHECK: spacemap.graph dims ["a b" = 0, "7" = 1] ins(
  %r = spacemap.graph dims ["a b" = 0, "7" = 1] ins(%a = %x : tensor<0x1xf32>) {
    // CHECK: spacemap.source %{{.+}} ["a b", "7"] : tensor<0x1xf32> -> <["a b", "7"], f32>
    %0 = spacemap.source %a ["a b", "7"] : tensor<0x1xf32> -> !spacemap.space<["a b", "7"], f32>
    // CHECK: spacemap.index "7" : <["7"], index>
    %1 = spacemap.index "7" : !spacemap.space<["7"], index>
    spacemap.output %0 ["a b", "7"] : !spacemap.space<["a b", "7"], f32>
  } -> tensor<0x1xf32>
  // CHECK: spacemap.graph dims [] ins() {
  // CHECK-NEXT: spacemap.output
  // CHECK-NEXT: }
  spacemap.graph dims [] ins() {
  }
  return %r : tensor<0x1xf32>
}
