// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-run %s --entry=normalize --stage=spacemap-to-tiles --input=1024x2048xf32=random:1 --expected=reference --threads=2

// A large result that nobody in the program reads goes past the caches. The unnormalised values are kept in scratch, so that
// each line of the result is written once; the pass that reads the row last fetches the next block's.
// CHECK-LABEL: func.func @normalize(
// CHECK:         scf.forall
// CHECK:           %[[ROW:.*]] = tensor.extract_slice %arg0[
// CHECK:           linalg.generic {{.*}} ins(%[[ROW]]
// CHECK-NOT:       fusion.stream
// CHECK:           linalg.generic {{.*}} ins(%[[ROW]]{{.*}} attrs = {fusion.prefetch = array<i64: 4096, 0>}
// CHECK:           linalg.generic {{.*}} attrs = {fusion.stream}
func.func @normalize(%x: tensor<1024x2048xf32>) -> tensor<1024x2048xf32> {
  %0 = spacemap.graph dims [m = 1024, n = 2048] ins(%a = %x : tensor<1024x2048xf32>) blocks [m = 2] {
    %1 = spacemap.source %a [m, n] : tensor<1024x2048xf32> -> !spacemap.space<[m, n], f32>
    %2 = spacemap.all_to_one %1 along [n] max : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %3 = spacemap.one_to_all %2 along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %4 = spacemap.map (%p = %1, %q = %3 : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %9 = arith.subf %p, %q : f32
      %10 = math.exp %9 : f32
      spacemap.yield %10 : f32
    } -> !spacemap.space<[m, n], f32>
    %5 = spacemap.all_to_one %4 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %6 = spacemap.one_to_all %5 along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    %7 = spacemap.map (%p = %4, %q = %6 : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %9 = arith.divf %p, %q : f32
      spacemap.yield %9 : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %7 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<1024x2048xf32>
  return %0 : tensor<1024x2048xf32>
}

// The next operation of the program reads the result.
// CHECK-LABEL: func.func @read_again(
// CHECK-NOT:     fusion.stream
// CHECK:         return
func.func @read_again(%x: tensor<1024x2048xf32>) -> (tensor<1024x2048xf32>, f32) {
  %0 = spacemap.graph dims [m = 1024, n = 2048] ins(%a = %x : tensor<1024x2048xf32>) blocks [m = 2] {
    %1 = spacemap.source %a [m, n] : tensor<1024x2048xf32> -> !spacemap.space<[m, n], f32>
    %2 = spacemap.map (%p = %1 : !spacemap.space<[m, n], f32>) {
      %3 = arith.negf %p : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %2 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<1024x2048xf32>
  %c7 = arith.constant 7 : index
  %1 = tensor.extract %0[%c7, %c7] : tensor<1024x2048xf32>
  return %0, %1 : tensor<1024x2048xf32>, f32
}

// Rows of 2046 elements do not start at cache lines.
// CHECK-LABEL: func.func @ragged_rows(
// CHECK-NOT:     fusion.stream
// CHECK:         return
func.func @ragged_rows(%x: tensor<1100x2046xf32>) -> tensor<1100x2046xf32> {
  %0 = spacemap.graph dims [m = 1100, n = 2046] ins(%a = %x : tensor<1100x2046xf32>) blocks [m = 2] {
    %1 = spacemap.source %a [m, n] : tensor<1100x2046xf32> -> !spacemap.space<[m, n], f32>
    %2 = spacemap.map (%p = %1 : !spacemap.space<[m, n], f32>) {
      %3 = arith.negf %p : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m, n], f32>
    spacemap.output %2 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<1100x2046xf32>
  return %0 : tensor<1100x2046xf32>
}
