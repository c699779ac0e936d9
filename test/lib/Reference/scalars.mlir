// Arithmetic on scalars in their own types: integers wrap, floats round after each operation.
// RUN: fusion-run --target=reference %s --entry=integers --input=200 --input=100 | FileCheck %s --check-prefix=INT
// RUN: fusion-run --target=reference %s --entry=rounding | FileCheck %s --check-prefix=ROUND
// RUN: fusion-run --target=reference %s --entry=specials | FileCheck %s --check-prefix=SPECIAL
// RUN: fusion-run --target=reference %s --entry=affine --input=-7 | FileCheck %s --check-prefix=AFFINE
// RUN: fusion-run --target=reference %s --entry=math | FileCheck %s --check-prefix=MATH

// INT: result 0: i8 = [44]
// INT-NEXT: result 1: i8 = [32]
// INT-NEXT: result 2: i8 = [0]
// INT-NEXT: result 3: i8 = [2]
// INT-NEXT: result 4: i1 = [1]
// INT-NEXT: result 5: i1 = [0]
// INT-NEXT: result 6: i16 = [200]
// INT-NEXT: result 7: i16 = [-56]
// INT-NEXT: result 8: i8 = [-28]
// INT-NEXT: result 9: i8 = [-1]
func.func @integers(%a: i8, %b: i8) -> (i8, i8, i8, i8, i1, i1, i16, i16, i8, i8) {
  %c1 = arith.constant 1 : i8
  %c2 = arith.constant 2 : i8
  %sum = arith.addi %a, %b : i8
  %product = arith.muli %a, %b : i8
  %quotient = arith.divsi %a, %b : i8
  %unsigned = arith.divui %a, %b : i8
  %less = arith.cmpi slt, %a, %b : i8
  %below = arith.cmpi ult, %a, %b : i8
  %zext = arith.extui %a : i8 to i16
  %sext = arith.extsi %a : i8 to i16
  %shift = arith.shrsi %a, %c1 : i8
  %floor = arith.floordivsi %a, %b : i8
  return %sum, %product, %quotient, %unsigned, %less, %below, %zext, %sext, %shift, %floor
    : i8, i8, i8, i8, i1, i1, i16, i16, i8, i8
}

// 2048 + 1 is 2048 in f16, 256 + 1 is 256 in bf16, 2^24 + 1 is 2^24 in f32.
// ROUND: result 0: f16 = [2048]
// ROUND-NEXT: result 1: bf16 = [256]
// ROUND-NEXT: result 2: f32 = [1.677722e+07]
// ROUND-NEXT: result 3: f32 = [1.677722e+07]
// ROUND-NEXT: result 4: i32 = [-2147483648]
// ROUND-NEXT: result 5: f16 = [inf]
func.func @rounding() -> (f16, bf16, f32, f32, i32, f16) {
  %h = arith.constant 2048.0 : f16
  %h1 = arith.constant 1.0 : f16
  %b = arith.constant 256.0 : bf16
  %b1 = arith.constant 1.0 : bf16
  %f = arith.constant 16777216.0 : f32
  %f1 = arith.constant 1.0 : f32
  %i = arith.constant 16777217 : i32
  %ninf = arith.constant 0xFF800000 : f32
  %0 = arith.addf %h, %h1 : f16
  %1 = arith.addf %b, %b1 : bf16
  %2 = arith.addf %f, %f1 : f32
  %3 = arith.sitofp %i : i32 to f32
  %4 = arith.fptosi %ninf : f32 to i32
  %5 = arith.truncf %f : f32 to f16
  return %0, %1, %2, %3, %4, %5 : f16, bf16, f32, f32, i32, f16
}

// SPECIAL: result 0: f32 = [nan]
// SPECIAL-NEXT: result 1: f32 = [1]
// SPECIAL-NEXT: result 2: f32 = [0]
// SPECIAL-NEXT: result 3: f32 = [-0]
// SPECIAL-NEXT: result 4: i1 = [1]
// SPECIAL-NEXT: result 5: i1 = [0]
func.func @specials() -> (f32, f32, f32, f32, i1, i1) {
  %nan = arith.constant 0x7FC00000 : f32
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %0 = arith.maximumf %nan, %one : f32
  %1 = arith.maxnumf %nan, %one : f32
  %2 = arith.maximumf %minus, %zero : f32
  %3 = arith.minimumf %zero, %minus : f32
  %4 = arith.cmpf ugt, %nan, %one : f32
  %5 = arith.cmpf ogt, %nan, %one : f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, i1, i1
}

// AFFINE: result 0: index = [-3]
// AFFINE-NEXT: result 1: index = [1]
// AFFINE-NEXT: result 2: index = [-7]
// AFFINE-NEXT: result 3: index = [4]
func.func @affine(%i: index) -> (index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 ceildiv 2)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%i)
  %2 = affine.min affine_map<(d0) -> (d0, 4)>(%i)
  %3 = affine.max affine_map<(d0) -> (d0, 4, d0 floordiv 2)>(%i)
  return %0, %1, %2, %3 : index, index, index, index
}

// MATH: result 0: f32 = [0.8427008]
// MATH-NEXT: result 1: f64 = [-8]
// MATH-NEXT: result 2: i32 = [81]
// MATH-NEXT: result 3: i32 = [31]
// MATH-NEXT: result 4: f32 = [-2]
// MATH-NEXT: result 5: f32 = [2]
func.func @math() -> (f32, f64, i32, i32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %m2 = arith.constant -2.0 : f64
  %i3 = arith.constant 3 : i32
  %i4 = arith.constant 4 : i32
  %i1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i64
  %half = arith.constant -2.5 : f32
  %h = arith.constant 2.5 : f32
  %0 = math.erf %one : f32
  %1 = math.fpowi %m2, %c3 : f64, i64
  %2 = math.ipowi %i3, %i4 : i32
  %3 = math.ctlz %i1 : i32
  %4 = math.trunc %half : f32
  %5 = math.roundeven %h : f32
  return %0, %1, %2, %3, %4, %5 : f32, f64, i32, i32, f32, f32
}
