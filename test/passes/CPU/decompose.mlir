// RUN: fusion-opt %s --fusion-cpu-decompose --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func @gather
// CHECK-NOT: tensor.gather
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: %[[D0:.*]] = linalg.index 0
// CHECK: %[[D1:.*]] = linalg.index 1
// CHECK: %[[D2:.*]] = linalg.index 2
// CHECK: %[[I:.*]] = tensor.extract %arg1[%[[D0]], %[[D1]], %c0]
// CHECK: tensor.extract %arg0[%[[D2]], %[[I]]]
func.func @gather(%a: tensor<4x5xf32>, %i: tensor<3x2x1xindex>) -> tensor<3x2x4xf32> {
  %0 = tensor.gather %a[%i] gather_dims([1]) : (tensor<4x5xf32>, tensor<3x2x1xindex>) -> tensor<3x2x4xf32>
  return %0 : tensor<3x2x4xf32>
}

// -----

// CHECK-LABEL: func @scatter
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg1)
// CHECK: %[[X:.*]] = tensor.extract %arg2[%[[I]], %c0]
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [1, 5] [1, 1]
// CHECK: tensor.insert_slice %[[S]] into %[[T]][%[[X]], 0] [1, 5] [1, 1]
func.func @scatter(%s: tensor<3x5xf32>, %d: tensor<4x5xf32>, %i: tensor<3x1xindex>) -> tensor<4x5xf32> {
  %0 = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<3x1xindex>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func @others
// CHECK-NOT: tensor.concat
// CHECK-NOT: tensor.pad
// CHECK-NOT: linalg.softmax
// CHECK-NOT: math.exp {{.*}} : tensor
// CHECK: return
func.func @others(%a: tensor<4x5xf32>, %p: f32) -> (tensor<8x5xf32>, tensor<6x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = tensor.concat dim(0) %a, %a : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %1 = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %p : f32
  } : tensor<4x5xf32> to tensor<6x5xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %2 = linalg.softmax dimension(1) ins(%a : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = math.exp %a : tensor<4x5xf32>
  return %0, %1, %2, %3 : tensor<8x5xf32>, tensor<6x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

// A splat of the size of an intermediate tensor is read as a scalar, or filled.

// CHECK-LABEL: func @splat
// CHECK-NOT: dense<
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<64x1024xf32>)
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @splat(%a: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<64x1024xf32>) {
  %c = arith.constant dense<-1.0> : tensor<64x1024xf32>
  %e = tensor.empty() : tensor<64x1024xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %c : tensor<64x1024xf32>, tensor<64x1024xf32>) outs(%e : tensor<64x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<64x1024xf32>
  return %0, %c : tensor<64x1024xf32>, tensor<64x1024xf32>
}

// -----

// The destinations of a kernel are not touched.

// CHECK-LABEL: func @kernel
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: linalg.generic {{.*}} outs(%[[S]] : tensor<1x8xf32>)
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @kernel(%a: tensor<4x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = scf.forall (%r) in (4) shared_outs(%o = %i) -> (tensor<4x8xf32>) {
    %s = tensor.extract_slice %o[%r, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    %x = tensor.extract_slice %a[%r, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<1x8xf32>) outs(%s : tensor<1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = arith.addf %in, %in : f32
      linalg.yield %2 : f32
    } -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%r, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    }
  }
  return %0 : tensor<4x8xf32>
}

// -----

// Nothing is written to an axis of extent 0.

// CHECK-LABEL: func.func @empty_concat
// CHECK-NOT: tensor.insert_slice %arg0
// CHECK: return
func.func @empty_concat(%a: tensor<2x0xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x0xf32>) {
  %0 = tensor.concat dim(1) %a, %b : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensor.concat dim(0) %a, %a : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<4x0xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<4x0xf32>
}
