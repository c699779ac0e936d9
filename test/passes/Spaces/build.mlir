// RUN: fusion-opt %s --split-input-file --spacemap-build --canonicalize --cse --spacemap-merge-dims --canonicalize --cse --mlir-print-local-scope | FileCheck %s
// RUN: fusion-opt %s --split-input-file --spacemap-build -o /dev/null

// Unit axes, constant-0 maps and the reshapes around them are no dimensions.
// CHECK-LABEL: func.func @unit_axes
// CHECK: spacemap.graph dims [d0 = 4, d1 = 6] ins(%[[X:.*]] = %{{.*}} : tensor<4x6xf32>)
// CHECK: %[[S:.*]] = spacemap.source %[[X]] [d0, d1]
// CHECK: %[[M:.*]] = spacemap.all_to_one %[[S]] along [d1] max
// CHECK: %[[B:.*]] = spacemap.one_to_all %[[M]] along [d1]
// CHECK: spacemap.map (%{{.*}} = %[[S]], %{{.*}} = %[[B]] :
// CHECK: arith.subf
// CHECK-NOT: linalg.
func.func @unit_axes(%x: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x1xf32>
  %init = linalg.fill ins(%low : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x1x6xf32>) outs(%init : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4x1xf32>
  %kept = tensor.expand_shape %max [[0], [1, 2]] output_shape [4, 1, 1] : tensor<4x1xf32> into tensor<4x1x1xf32>
  %f = tensor.empty() : tensor<4x1x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, 0)>,
                                        affine_map<(a, b, c) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %kept : tensor<4x1x6xf32>, tensor<4x1x1xf32>) outs(%f : tensor<4x1x6xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    linalg.yield %0 : f32
  } -> tensor<4x1x6xf32>
  return %y : tensor<4x1x6xf32>
}

// -----

// A merged axis is its finest dimensions; a coordinate along it is put together from theirs.
// CHECK-LABEL: func.func @merged
// CHECK: spacemap.graph dims [d0 = 2, d1 = 3, d2 = 5]
// CHECK: %[[I:.*]] = spacemap.index d0
// CHECK: %[[J:.*]] = spacemap.index d1
// CHECK: spacemap.map
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: spacemap.output %{{.*}} [d0, d1, d2]
func.func @merged(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x5xf32> into tensor<6x5xf32>
  %e = tensor.empty() : tensor<6x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%c : tensor<6x5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.addf %in, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<6x5xf32>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// -----

// X X^T: one input, two uses with dimensions of their own; the contraction's is shared.
// CHECK-LABEL: func.func @self
// CHECK: spacemap.graph dims [d0 = 4, d1 = 4, d2 = 8] ins(%[[X:.*]] = %{{.*}} : tensor<4x8xf32>)
// CHECK-DAG: spacemap.source %[[X]] [d0, d2]
// CHECK-DAG: spacemap.source %[[X]] [d1, d2]
func.func @self(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The same of an intermediate cuts: its space would have one dimension twice.
// CHECK-LABEL: func.func @self_of_intermediate
// CHECK: %[[H:.*]] = spacemap.graph dims [d0 = 4, d1 = 8]
// CHECK: math.exp
// CHECK: spacemap.graph dims [d0 = 4, d1 = 4, d2 = 8] ins(%{{.*}} = %[[H]] : tensor<4x8xf32>)
func.func @self_of_intermediate(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<4x8xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %h : tensor<4x8xf32>, tensor<4x8xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// What is no globally ranged mapping stays, and what depends on it is a later graph even if it also reads the first.
// CHECK-LABEL: func.func @opaque
// CHECK: %[[A:.*]] = spacemap.graph
// CHECK: %[[P:.*]] = tensor.pad %[[A]]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[P]]
// CHECK: spacemap.graph {{.*}} ins(%{{.*}} = %[[A]], %{{.*}} = %[[Q]] :
func.func @opaque(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %p = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<9xf32>
  %q = tensor.extract_slice %p[0] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%s: f32, %t: f32, %out: f32):
    %0 = arith.addf %s, %t : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Run-time extents: one operand per dimension; an init that is more than the identity is combined at the end.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>, %[[I:.*]]: tensor<?xf32>)
// CHECK: spacemap.graph dims [d0 = %{{.*}}, d1 = %{{.*}}] ins(%{{.*}} = %[[X]], %{{.*}} = %[[I]] :
// CHECK: spacemap.all_to_one %{{.*}} along [d1] sum
// CHECK: spacemap.map
// CHECK: arith.addf
func.func @dynamic(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Scalars from outside are inputs; a result that only a transpose reads is written transposed.
// CHECK-LABEL: func.func @scalar_and_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[S:.*]]: f32)
// CHECK: spacemap.graph {{.*}} ins(%{{.*}} = %[[X]], %{{.*}} = %[[S]] : tensor<4x8xf32>, f32)
// CHECK: spacemap.output %{{.*}} [d1, d0]
// CHECK: -> tensor<8x4xf32>
// CHECK-NOT: linalg.transpose
func.func @scalar_and_transpose(%x: tensor<4x8xf32>, %s: f32) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %s : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%y : tensor<4x8xf32>) outs(%f : tensor<8x4xf32>) permutation = [1, 0]
  return %t : tensor<8x4xf32>
}
