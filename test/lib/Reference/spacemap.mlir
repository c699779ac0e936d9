// Every stage of a graph has the same value.
// RUN: fusion-run --target=reference %s --entry=whole --input=iota | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-run --target=reference %s --entry=blocks --input=iota | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-run --target=reference %s --entry=temporal --input=iota | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-run --target=reference %s --entry=split --input=iota | FileCheck %s --check-prefix=SPLIT
// RUN: fusion-run --target=reference %s --entry=transposed --input=2x3xf32=iota --input=10 | FileCheck %s --check-prefix=DYNAMIC
// RUN: fusion-run --target=reference %s --entry=collected --input=iota | FileCheck %s --check-prefix=COLLECT

!m = !spacemap.space<[m], f32>
!mn = !spacemap.space<[m, n], f32>

// WHOLE: result 0: 3xf32 = [10, 35, 60]
func.func @whole(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %r = spacemap.graph dims [m = 3, n = 5] ins(%a = %x : tensor<3x5xf32>) {
    %0 = spacemap.source %a [m, n] : tensor<3x5xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    spacemap.output %1 [m] : !m
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @blocks(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %r = spacemap.graph dims [m = 3, n = 5] ins(%a = %x : tensor<3x5xf32>) blocks [m = 2] {
    %0 = spacemap.source %a [m, n] : tensor<3x5xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    spacemap.output %1 [m] : !m
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @temporal(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %r = spacemap.graph dims [m = 3, n = 5] ins(%a = %x : tensor<3x5xf32>) blocks [m = 1] {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !m
    %sum = spacemap.temporal along n by 2 (%s = %zero : !m) {
      %0 = spacemap.source %a [m, n] : tensor<3x5xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
      %2 = spacemap.map (%p = %s, %q = %1 : !m, !m) {
        %3 = arith.addf %p, %q : f32
        spacemap.yield %3 : f32
      } -> !m
      spacemap.next %2 : !m
    } -> !m
    spacemap.output %sum [m] : !m
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// The reduced dimension is cut into blocks: their sums are added.
// SPLIT: result 0: 3xf32 = [10, 35, 60]
func.func @split(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %r = spacemap.graph dims [m = 3, n = 5] ins(%a = %x : tensor<3x5xf32>) blocks [n = 2] {
    %0 = spacemap.source %a [m, n] : tensor<3x5xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    spacemap.output %1 [m] : !m
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Coordinates count through the whole dimension; the output is transposed.
// DYNAMIC: result 0: 3x2xf32 = [0, 23, 11, 34, 22, 45]
func.func @transposed(%x: tensor<?x3xf32>, %s: f32) -> tensor<3x?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x3xf32>
  %r = spacemap.graph dims [m = %d, n = 3] ins(%a = %x, %b = %s : tensor<?x3xf32>, f32) blocks [m = 1, n = 2] {
    %0 = spacemap.source %a [m, n] : tensor<?x3xf32> -> !mn
    %1 = spacemap.source %b [] : f32 -> !spacemap.space<[], f32>
    %2 = spacemap.one_to_all %1 along [m, n] : !spacemap.space<[], f32> -> !mn
    %i = spacemap.index m : !spacemap.space<[m], index>
    %j = spacemap.index n : !spacemap.space<[n], index>
    %ii = spacemap.one_to_all %i along [n] : !spacemap.space<[m], index> -> !spacemap.space<[m, n], index>
    %jj = spacemap.one_to_all %j along [m] : !spacemap.space<[n], index> -> !spacemap.space<[m, n], index>
    %3 = spacemap.map (%v = %0, %k = %2, %p = %ii, %q = %jj
        : !mn, !mn, !spacemap.space<[m, n], index>, !spacemap.space<[m, n], index>) {
      %c2 = arith.constant 2 : index
      %twice = arith.muli %p, %c2 : index
      %t = arith.addi %twice, %q : index
      %u = arith.index_cast %t : index to i32
      %w = arith.sitofp %u : i32 to f32
      %y = arith.mulf %w, %k : f32
      %z = arith.addf %v, %y : f32
      spacemap.yield %z : f32
    } -> !mn
    spacemap.output %3 [n, m] : !mn
  } -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// The running mean over what has been seen, kept for each slice.
// COLLECT: result 0: 4xf32 = [0, 0.5, 1, 1.5]
// COLLECT-NEXT: result 1: f32 = [6]
func.func @collected(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %r:2 = spacemap.graph dims [n = 4] ins(%a = %x : tensor<4xf32>) {
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !spacemap.space<[], f32>
    %t:2 = spacemap.temporal along n by 1 (%s = %zero : !spacemap.space<[], f32>) {
      %0 = spacemap.source %a [n] : tensor<4xf32> -> !spacemap.space<[n], f32>
      %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[n], f32> -> !spacemap.space<[], f32>
      %seen = spacemap.seen n : !spacemap.space<[], index>
      %2 = spacemap.map (%p = %s, %q = %1 : !spacemap.space<[], f32>, !spacemap.space<[], f32>) {
        %3 = arith.addf %p, %q : f32
        spacemap.yield %3 : f32
      } -> !spacemap.space<[], f32>
      %m = spacemap.map (%p = %2, %c = %seen : !spacemap.space<[], f32>, !spacemap.space<[], index>) {
        %i = arith.index_cast %c : index to i32
        %f = arith.sitofp %i : i32 to f32
        %d = arith.divf %p, %f : f32
        spacemap.yield %d : f32
      } -> !spacemap.space<[], f32>
      %mm = spacemap.one_to_all %m along [n] : !spacemap.space<[], f32> -> !spacemap.space<[n], f32>
      spacemap.next %2 : !spacemap.space<[], f32> collect %mm : !spacemap.space<[n], f32>
    } -> (!spacemap.space<[], f32>, !spacemap.space<[n], f32>)
    spacemap.output %t#1 [n], %t#0 [] : !spacemap.space<[n], f32>, !spacemap.space<[], f32>
  } -> (tensor<4xf32>, tensor<f32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<f32>
}
