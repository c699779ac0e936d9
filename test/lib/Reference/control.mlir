// RUN: fusion-run --target=reference %s --entry=loops --input=5 | FileCheck %s --check-prefix=LOOPS
// RUN: fusion-run --target=reference %s --entry=tiles --input=iota | FileCheck %s --check-prefix=TILES
// RUN: fusion-run --target=reference %s --entry=branches --input=6 | FileCheck %s --check-prefix=BRANCH
// RUN: fusion-run --target=reference %s --entry=factorial --input=5 | FileCheck %s --check-prefix=CALL
// RUN: fusion-run --target=cpu %s --entry=loops --input=5 | FileCheck %s --check-prefix=LOOPS
// RUN: fusion-run --target=cpu %s --entry=tiles --input=iota | FileCheck %s --check-prefix=TILES
// RUN: fusion-run --target=cpu %s --entry=branches --input=6 | FileCheck %s --check-prefix=BRANCH
// RUN: fusion-run --target=cpu %s --entry=factorial --input=5 | FileCheck %s --check-prefix=CALL

// LOOPS: result 0: index = [10]
// LOOPS-NEXT: result 1: index = [8]
// LOOPS-NEXT: result 2: index = [10]
func.func @loops(%n: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> index {
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  %power = scf.while (%p = %c1) : (index) -> index {
    %goes = arith.cmpi slt, %p, %n : index
    scf.condition(%goes) %p : index
  } do {
  ^bb0(%p: index):
    %twice = arith.muli %p, %c2 : index
    scf.yield %twice : index
  }
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%c0) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %t = arith.addi %a, %b : index
      scf.reduce.return %t : index
    }
  }
  return %sum, %power, %r : index, index, index
}

// Every tile reads the tensor as it was before the loop.
// TILES: result 0: 2x5xf32 = [10, 12, 14, 16, 18, 10, 12, 14, 16, 18]
func.func @tiles(%a: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %c2 = arith.constant 2 : index
  %r = scf.forall (%i, %j) = (0, 0) to (2, 5) step (1, 2) shared_outs(%o = %a) -> (tensor<2x5xf32>) {
    %n = affine.min affine_map<(d0) -> (2, 5 - d0)>(%j)
    %s = tensor.extract_slice %a[1, %j] [1, %n] [1, 1] : tensor<2x5xf32> to tensor<1x?xf32>
    %e = tensor.empty(%n) : tensor<1x?xf32>
    %twice = linalg.add ins(%s, %s : tensor<1x?xf32>, tensor<1x?xf32>) outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i, %j] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<2x5xf32>
    }
  }
  return %r : tensor<2x5xf32>
}

// BRANCH: result 0: i64 = [60]
// BRANCH-NEXT: result 1: i64 = [2]
// BRANCH-NEXT: result 2: i64 = [7]
func.func @branches(%n: i64) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c7 = arith.constant 7 : i64
  %c10 = arith.constant 10 : i64
  %0 = arith.index_cast %n : i64 to index
  %picked = scf.index_switch %0 -> i64
  case 6 {
    %t = arith.muli %n, %c10 : i64
    scf.yield %t : i64
  }
  default {
    scf.yield %c0 : i64
  }
  %even = arith.remsi %n, %c2 : i64
  %isEven = arith.cmpi eq, %even, %c0 : i64
  %2 = scf.if %isEven -> i64 {
    scf.yield %c2 : i64
  } else {
    scf.yield %c0 : i64
  }
  cf.cond_br %isEven, ^bb1(%c7 : i64), ^bb1(%c0 : i64)
^bb1(%3: i64):
  return %picked, %2, %3 : i64, i64, i64
}

// CALL: result 0: i64 = [120]
func.func @factorial(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %small = arith.cmpi sle, %n, %c1 : i64
  cf.cond_br %small, ^stop, ^go
^stop:
  return %c1 : i64
^go:
  %less = arith.subi %n, %c1 : i64
  %f = call @factorial(%less) : (i64) -> i64
  %r = arith.muli %n, %f : i64
  return %r : i64
}
