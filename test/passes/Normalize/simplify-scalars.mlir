// RUN: fusion-opt %s --fusion-simplify-scalars | FileCheck %s

// CHECK-LABEL: @powers
// CHECK-SAME: %[[X:.*]]: f32, %[[H:.*]]: f16, %[[I:.*]]: i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-DAG: %[[CUBE:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK-DAG: arith.divf %[[ONE]], %[[X]] : f32
// CHECK-DAG: %[[WIDE:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK-DAG: %[[WIDE2:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
// CHECK-DAG: arith.truncf %[[WIDE2]] : f32 to f16
// CHECK-DAG: arith.muli %[[I]], %[[I]] : i32
// CHECK: return %{{.*}}, %{{.*}}, %[[ONE]]
// CHECK-NOT: math.
func.func @powers(%x: f32, %h: f16, %i: i32) -> (f32, f32, f32, f32, f16, i32) {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c2i = arith.constant 2 : i32
  %three = arith.constant 3.0 : f32
  %minus = arith.constant -1 : i32
  %0 = math.fpowi %x, %c2 : f32, i64
  %1 = math.powf %x, %three : f32
  %2 = math.fpowi %x, %c0 : f32, i64
  %3 = math.fpowi %x, %minus : f32, i32
  %4 = math.fpowi %h, %c2 : f16, i64
  %5 = math.ipowi %i, %c2i : i32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f16, i32
}

// Powers that stay: large, broken, unknown or negative whole ones.

// CHECK-LABEL: @kept_powers
// CHECK-COUNT-3: math.{{powf|fpowi|ipowi}}
func.func @kept_powers(%x: f32, %n: i32, %i: i32) -> (f32, f32, i32) {
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -1 : i32
  %0 = math.powf %x, %half : f32
  %1 = math.fpowi %x, %n : f32, i32
  %2 = math.ipowi %i, %minus : i32
  return %0, %1, %2 : f32, f32, i32
}

// CHECK-LABEL: @constants
// CHECK-DAG: arith.constant 9.99999974E-6 : f32
// CHECK-DAG: arith.constant 1.414060e+00 : f16
// CHECK-NOT: truncf
func.func @constants() -> (f32, f16) {
  %eps = arith.constant 1.0e-05 : f64
  %0 = arith.truncf %eps : f64 to f32
  %two = arith.constant 2.0 : f16
  %1 = math.sqrt %two : f16
  return %0, %1 : f32, f16
}

// A constant that f32 does not hold keeps the comparison wide.

// CHECK-LABEL: @comparisons
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK-DAG: arith.cmpf oeq, %[[X]], %{{.*}} : f32
// CHECK-DAG: arith.cmpf olt, %[[X]], %[[Y]] : f32
// CHECK-DAG: arith.cmpf ugt, %{{.*}}, %{{.*}} : f64
func.func @comparisons(%x: f32, %y: f32) -> (i1, i1, i1) {
  %inf = arith.constant 0xFFF0000000000000 : f64
  %tenth = arith.constant 0.1 : f64
  %0 = arith.extf %x : f32 to f64
  %1 = arith.extf %y : f32 to f64
  %2 = arith.cmpf oeq, %0, %inf : f64
  %3 = arith.cmpf olt, %0, %1 : f64
  %4 = arith.cmpf ugt, %0, %tenth : f64
  return %2, %3, %4 : i1, i1, i1
}
