// RUN: fusion-opt %s --fusion-assert-divisors | FileCheck %s

// CHECK-LABEL: @constants
// CHECK-NOT: cf.assert
// CHECK: return
func.func @constants(%a: i32, %n: index) -> (i32, index) {
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : index
  %0 = arith.divsi %a, %c4 : i32
  %1 = arith.remui %n, %c8 : index
  return %0, %1 : i32, index
}

// CHECK-LABEL: @minus_one
// CHECK: cf.assert {{.*}}'arith.divsi' op overflows
// CHECK-NOT: cf.assert
// CHECK: return
func.func @minus_one(%a: i32) -> (i32, i32) {
  %c7 = arith.constant 7 : i32
  %m1 = arith.constant -1 : i32
  %0 = arith.divsi %a, %m1 : i32
  %1 = arith.divsi %c7, %m1 : i32
  return %0, %1 : i32, i32
}

// CHECK-LABEL: @kinds
// CHECK: cf.assert {{.*}}'arith.divui' op divides by zero
// CHECK-NEXT: arith.divui
// CHECK: cf.assert {{.*}}'arith.floordivsi' op divides by zero
// CHECK: cf.assert {{.*}}'arith.floordivsi' op overflows
// CHECK-NEXT: arith.floordivsi
// CHECK: cf.assert {{.*}}'arith.ceildivui' op divides by zero
// CHECK-NEXT: arith.ceildivui
func.func @kinds(%a: i8, %b: i8) -> (i8, i8, i8) {
  %0 = arith.divui %a, %b : i8
  %1 = arith.floordivsi %a, %b : i8
  %2 = arith.ceildivui %a, %b : i8
  return %0, %1, %2 : i8, i8, i8
}

// Bodies that are not printed are left alone: --fusion-generalize makes them generic first.
// CHECK-LABEL: @named
// CHECK-NOT: cf.assert
// CHECK: return
func.func @named(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = linalg.div ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%a : tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
