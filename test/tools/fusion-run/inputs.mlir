// Generated arguments are the same on every machine.
// RUN: fusion-run --target=reference %s --input=random:7 --input=random:7 --input=true --input=-3 --input=2.5 | FileCheck %s
// RUN: fusion-run --target=reference %s --input=4xf32=random:7 --input=4xi64=random:7 --input=1 --input=index=-3 --input=f16=2.5 | FileCheck %s
// RUN: fusion-run --target=cpu %s --input=random:7 --input=random:7 --input=true --input=-3 --input=2.5 | FileCheck %s

// CHECK: result 0: 4xf32 = [-0.2203405, -0.9664234, 0.8015214, 0.1658606]
// CHECK-NEXT: result 1: 4xi64 = [3, 0, 7, 4]
// CHECK-NEXT: result 2: i1 = [1]
// CHECK-NEXT: result 3: index = [-3]
// CHECK-NEXT: result 4: f16 = [2.5]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xi64>, %c: i1, %d: index, %e: f16)
    -> (tensor<4xf32>, tensor<4xi64>, i1, index, f16) {
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xi64>, i1, index, f16
}
