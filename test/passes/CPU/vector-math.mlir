// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-cpu-vector-math))' | FileCheck %s

// CHECK-LABEL: func.func @exp(
// CHECK-COUNT-9: vector.fma {{.*}} : vector<16xf32>
// CHECK:         arith.shli {{.*}} : vector<16xi32>
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// 16-bit types are computed in f32.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NOT:     math.tanh
// CHECK:         arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.tanh %x : vector<8xf16>
  return %0 : vector<8xf16>
}

// Small exponents are multiplied out.
// CHECK-LABEL: func.func @cube(
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         return
func.func @cube(%x: vector<4xf64>) -> vector<4xf64> {
  %three = arith.constant dense<3> : vector<4xi32>
  %0 = math.fpowi %x, %three : vector<4xf64>, vector<4xi32>
  return %0 : vector<4xf64>
}

// Huge arguments leave the vector path.
// CHECK-LABEL: func.func @sin(
// CHECK:         scf.if
// CHECK:           math.sin %{{.*}} : f32
func.func @sin(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.sin %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @stay(
// CHECK:         math.exp %{{.*}} : f32
// CHECK:         math.atan2 {{.*}} : vector<4xf32>
func.func @stay(%x: f32, %y: vector<4xf32>) -> (f32, vector<4xf32>) {
  %0 = math.exp %x : f32
  %1 = math.atan2 %y, %y : vector<4xf32>
  return %0, %1 : f32, vector<4xf32>
}

// No lowering of LLVM 22 knows these, not even for scalars.
// CHECK-LABEL: func.func @simple(
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK:         arith.cmpf oeq
// CHECK-NOT:     math.clampf
// CHECK-NOT:     math.isinf
func.func @simple(%x: f32, %y: vector<4xf32>) -> (f32, vector<4xi1>) {
  %0 = math.clampf %x to [%x, %x] : f32
  %1 = math.isinf %y : vector<4xf32>
  return %0, %1 : f32, vector<4xi1>
}
