// Undefined behaviour of scalar code, recursion and a lack of memory on the CPU: one located line each, fused or not.

// RUN: not fusion-run %s --entry=divide --input=1 --input=0 2>&1 | FileCheck %s --check-prefixes=DIVIDE,ONE
// RUN: not fusion-run %s --entry=divide --input=-2147483648 --input=-1 2>&1 | FileCheck %s --check-prefixes=OVERFLOW,ONE
// RUN: fusion-run %s --entry=divide --input=-2147483648 --input=-2 --expected=reference
// RUN: not fusion-run %s --entry=divide_tensor --input=ones --input=zeros 2>&1 | FileCheck %s --check-prefixes=TENSOR,ONE
// RUN: not fusion-run %s --entry=divide_tensor --input=ones --input=zeros --no-fuse 2>&1 | FileCheck %s --check-prefixes=TENSOR,ONE
// RUN: fusion-run %s --entry=divide_tensor --input=random:1 --input=value:3 --expected=reference
// RUN: not fusion-run %s --entry=remainder --input=100x8xi64=ones --input=8xi64=iota 2>&1 | FileCheck %s --check-prefixes=REMAINDER,ONE
// RUN: not fusion-run %s --entry=named --input=ones --input=zeros 2>&1 | FileCheck %s --check-prefixes=NAMED,ONE
// RUN: fusion-run %s --entry=counted --input=100 --expected=reference
// RUN: not fusion-run %s --entry=counted --input=-1 2>&1 | FileCheck %s --check-prefixes=COUNTED,ONE
// RUN: not fusion-run %s --entry=tail --input=1 2>&1 | FileCheck %s --check-prefixes=TAIL,ONE
// RUN: not fusion-run %s --entry=even --input=1 2>&1 | FileCheck %s --check-prefixes=EVEN,ONE
// RUN: not fusion-run %s --entry=huge --input=4194304 2>&1 | FileCheck %s --check-prefixes=HUGE,ONE
// RUN: not fusion-run %s --entry=huge --input=20000 2>&1 | FileCheck %s --check-prefixes=MEMORY,ONE
// RUN: fusion-run %s --entry=huge --input=6 --expected=reference

// The check of a division is a kernel of its own, the division stays with its reader.
// RUN: fusion-run %s --entry=sum --input=random:3 --input=value:3 --expected=reference --json | FileCheck %s --check-prefix=SUM
// SUM: "kernels":2,"opaque_ops":0

func.func @divide(%a: i32, %b: i32) -> i32 {
  // DIVIDE: scalar-errors.mlir:[[#@LINE+2]]:8: error: assertion failed: 'arith.divsi' op divides by zero
  // OVERFLOW: scalar-errors.mlir:[[#@LINE+1]]:8: error: assertion failed: 'arith.divsi' op overflows
  %0 = arith.divsi %a, %b : i32
  return %0 : i32
}

func.func @divide_tensor(%a: tensor<100xi32>, %b: tensor<100xi32>) -> tensor<100xi32> {
  // TENSOR: scalar-errors.mlir:[[#@LINE+1]]:8: error: assertion failed: 'arith.divsi' op divides by zero
  %0 = arith.divsi %a, %b : tensor<100xi32>
  return %0 : tensor<100xi32>
}

func.func @remainder(%a: tensor<100x?xi64>, %b: tensor<?xi64>) -> tensor<100x?xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?xi64>) outs(%a : tensor<100x?xi64>) {
  ^bb0(%x: i64, %o: i64):
    // REMAINDER: scalar-errors.mlir:[[#@LINE+1]]:10: error: assertion failed: 'arith.remui' op divides by zero
    %0 = arith.remui %o, %x : i64
    linalg.yield %0 : i64
  } -> tensor<100x?xi64>
  return %r : tensor<100x?xi64>
}

func.func @named(%a: tensor<100xi32>, %b: tensor<100xi32>) -> tensor<100xi32> {
  // NAMED: scalar-errors.mlir:[[#@LINE+1]]:8: error: assertion failed: 'arith.divsi' op divides by zero
  %0 = linalg.div ins(%a, %b : tensor<100xi32>, tensor<100xi32>) outs(%a : tensor<100xi32>) -> tensor<100xi32>
  return %0 : tensor<100xi32>
}

func.func @sum(%a: tensor<13x27xi32>, %b: tensor<13x27xi32>) -> tensor<13xi32> {
  %z = arith.constant dense<0> : tensor<13xi32>
  %0 = arith.divui %a, %b : tensor<13x27xi32>
  %r = linalg.reduce {arith.addi} ins(%0 : tensor<13x27xi32>) outs(%z : tensor<13xi32>) dimensions = [1]
  return %r : tensor<13xi32>
}

// COUNTED: scalar-errors.mlir:[[#@LINE+1]]:1: error: the stack is exhausted: does the recursion end?
func.func @counted(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.cmpi eq, %a, %c0 : i32
  %r = scf.if %z -> i32 {
    scf.yield %c0 : i32
  } else {
    %b = arith.subi %a, %c1 : i32
    %0 = func.call @counted(%b) : (i32) -> i32
    %1 = arith.addi %0, %c1 : i32
    scf.yield %1 : i32
  }
  return %r : i32
}

// TAIL: scalar-errors.mlir:[[#@LINE+1]]:1: error: the stack is exhausted: does the recursion end?
func.func @tail(%a: i32) -> i32 {
  %0 = call @tail(%a) : (i32) -> i32
  return %0 : i32
}

// EVEN: scalar-errors.mlir:{{.*}}:1: error: the stack is exhausted: does the recursion end?
func.func @even(%a: i32) -> i32 {
  %0 = call @odd(%a) : (i32) -> i32
  return %0 : i32
}
func.func @odd(%a: i32) -> i32 {
  %0 = call @even(%a) : (i32) -> i32
  return %0 : i32
}

// The product of the first is 2^64 elements.
func.func @huge(%n: index) -> tensor<?x?x?xf32> {
  // HUGE: scalar-errors.mlir:[[#@LINE+2]]:8: error: assertion failed: 'tensor.empty' op makes a tensor that is too large for the memory of any machine
  // MEMORY: scalar-errors.mlir:[[#@LINE+1]]:8: error: out of memory: 32000000000000 bytes are wanted
  %0 = tensor.empty(%n, %n, %n) : tensor<?x?x?xf32>
  %z = arith.constant 1.0 : f32
  %1 = linalg.fill ins(%z : f32) outs(%0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %1 : tensor<?x?x?xf32>
}

// One line, and nothing after it.
// ONE-NOT: {{.}}
