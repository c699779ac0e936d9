// Arrays from files of every kind that NumPy writes, and back.
// RUN: %python %S/Inputs/make_npy.py %t
// RUN: fusion-run --target=reference %s --input=@%t/v1.npy | FileCheck %s
// RUN: fusion-run --target=reference %s --input=@%t/v2.npy | FileCheck %s
// RUN: fusion-run --target=reference %s --input=@%t/v3.npy | FileCheck %s
// RUN: fusion-run --target=reference %s --input=@%t/fortran.npy | FileCheck %s
// RUN: fusion-run --target=reference %s --input=@%t/double-quotes.npy | FileCheck %s
// RUN: fusion-run --target=cpu %s --input=@%t/fortran.npy | FileCheck %s
// CHECK: result 0: 2x3xf32 = [0, 2, 4, 6, 8, 10]

// RUN: fusion-run --target=reference %s --entry=id0 --input=@%t/scalar.npy | FileCheck %s --check-prefix=RANK0
// RANK0: result 0: f32 = [2.5]
// RUN: fusion-run --target=reference %s --entry=id2 --input=@%t/rows0.npy | FileCheck %s --check-prefix=ROWS0
// ROWS0: result 0: 0x3xf32 = []
// RUN: fusion-run --target=reference %s --entry=half --input=@%t/half.npy | FileCheck %s --check-prefix=HALF
// HALF: result 0: 3xf16 = [1.5, -2, 65504]
// RUN: fusion-run --target=reference %s --entry=brain --input=@%t/brain.npy | FileCheck %s --check-prefix=BRAIN
// BRAIN: result 0: 3xbf16 = [1, -2, inf]
// RUN: fusion-run --target=reference %s --entry=bools --input=@%t/bools.npy | FileCheck %s --check-prefix=BOOLS
// BOOLS: result 0: 3xi1 = [1, 0, 1]
// RUN: fusion-run --target=reference %s --entry=longs --input=@%t/int64.npy | FileCheck %s --check-prefix=LONGS
// LONGS: result 0: 3xi64 = [-1, 1099511627776, 7]
// RUN: fusion-run --target=reference %s --entry=indices --input=@%t/int64.npy | FileCheck %s --check-prefix=INDICES
// INDICES: result 0: 3xindex = [-1, 1099511627776, 7]
// RUN: fusion-run --target=reference %s --entry=bytes --input=@%t/uint8.npy | FileCheck %s --check-prefix=BYTES
// BYTES: result 0: 3xi8 = [1, 2, -1]

// What is written is read again: byte for byte for the files that are in our own form.
// RUN: fusion-run --target=reference %s --entry=half --input=@%t/half.npy --output=@%t/half2.npy
// RUN: cmp %t/half.npy %t/half2.npy
// RUN: fusion-run --target=reference %s --entry=brain --input=@%t/brain.npy --output=@%t/brain2.npy
// RUN: cmp %t/brain.npy %t/brain2.npy
// RUN: fusion-run --target=cpu %s --entry=bools --input=@%t/bools.npy --output=@%t/bools2.npy
// RUN: cmp %t/bools.npy %t/bools2.npy
// RUN: fusion-run --target=cpu %s --entry=id0 --input=@%t/scalar.npy --output=@%t/scalar2.npy
// RUN: cmp %t/scalar.npy %t/scalar2.npy
// RUN: fusion-run --target=cpu %s --entry=id2 --input=@%t/rows0.npy --output=@%t/rows2.npy
// RUN: cmp %t/rows0.npy %t/rows2.npy

func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %a, %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @id0(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }
func.func @id2(%a: tensor<?x3xf32>) -> tensor<?x3xf32> { return %a : tensor<?x3xf32> }
func.func @half(%a: tensor<3xf16>) -> tensor<3xf16> { return %a : tensor<3xf16> }
func.func @brain(%a: tensor<3xbf16>) -> tensor<3xbf16> { return %a : tensor<3xbf16> }
func.func @bools(%a: tensor<3xi1>) -> tensor<3xi1> { return %a : tensor<3xi1> }
func.func @longs(%a: tensor<3xi64>) -> tensor<3xi64> { return %a : tensor<3xi64> }
func.func @indices(%a: tensor<3xindex>) -> tensor<3xindex> { return %a : tensor<3xindex> }
func.func @bytes(%a: tensor<?xi8>) -> tensor<?xi8> { return %a : tensor<?xi8> }
