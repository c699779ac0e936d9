// RUN: fusion-opt %s --fusion-narrow-f64 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>

// CHECK-LABEL: @island
// CHECK-NOT: tensor<{{.*}}f64>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: {{extf|truncf|f64}}
// CHECK: return
func.func @island(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f64
  %eight = arith.constant 8.0 : f64
  %e = tensor.empty() : tensor<4x8xf64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf64>) {
  ^bb0(%in: f32, %out: f64):
    %3 = arith.extf %in : f32 to f64
    linalg.yield %3 : f64
  } -> tensor<4x8xf64>
  %er = tensor.empty() : tensor<4xf64>
  %f = linalg.fill ins(%zero : f64) outs(%er : tensor<4xf64>) -> tensor<4xf64>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8xf64>) outs(%f : tensor<4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %3 = arith.addf %in, %out : f64
    linalg.yield %3 : f64
  } -> tensor<4xf64>
  %es = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%1 : tensor<4xf64>) outs(%es : tensor<4xf32>) {
  ^bb0(%in: f64, %out: f32):
    %3 = arith.divf %in, %eight : f64
    %4 = arith.truncf %3 : f64 to f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A result in f64 is asked for: nothing of what it needs is narrowed.

// CHECK-LABEL: @wide_result
// CHECK: arith.extf
// CHECK: math.exp %{{.*}} : f64
// CHECK: return %{{.*}} : tensor<8xf64>
func.func @wide_result(%x: tensor<8xf32>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8xf64>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf64>) {
  ^bb0(%in: f32, %out: f64):
    %2 = arith.extf %in : f32 to f64
    linalg.yield %2 : f64
  } -> tensor<8xf64>
  %1 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%0 : tensor<8xf64>) outs(%e : tensor<8xf64>) {
  ^bb0(%in: f64, %out: f64):
    %2 = math.exp %in : f64
    linalg.yield %2 : f64
  } -> tensor<8xf64>
  return %1 : tensor<8xf64>
}

// An f64 argument makes an f64 program.

// CHECK-LABEL: @wide_argument
// CHECK: math.exp %{{.*}} : f64
// CHECK: arith.truncf
func.func @wide_argument(%x: tensor<8xf64>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<8xf64>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f64, %out: f32):
    %1 = math.exp %in : f64
    %2 = arith.truncf %1 : f64 to f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
