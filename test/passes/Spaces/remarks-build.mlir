// Why neighbouring operations are not in one graph: the reasons that spacemap-build gives. docs/fusion-report.md lists
// all of them.

// RUN: fusion-opt %s --split-input-file --fusion-generalize --spacemap-build --remarks-filter-missed=spacemap --remark-policy=all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=remark:

// Each direction of an opaque operation is a pair; a reshape between two operations is looked through.
// CHECK: remarks-build.mlir:[[#@LINE+9]]:8: remark: [Missed] not-a-mapping | Category:spacemap | Function=opaque | Remark="linalg.conv_1d is not fused with its operand, exp at remarks-build.mlir:[[#@LINE+6]]:8: it stays outside of kernels: linalg.conv_1d is no linalg.generic over whole dimensions"
// CHECK: remarks-build.mlir:[[#@LINE+11]]:8: remark: [Missed] not-a-mapping {{.*}} Remark="addf is not fused with its operand, linalg.conv_1d at remarks-build.mlir:[[#@LINE+8]]:8: the operand stays outside of kernels
// CHECK: remarks-build.mlir:[[#@LINE+11]]:8: remark: [Missed] not-a-mapping {{.*}} Remark="tensor.extract_slice is not fused with its operand, addf at {{.*}}: it stays outside of kernels: tensor.extract_slice covers a part of a dimension only"
func.func @opaque(%x: tensor<18xf32>, %w: tensor<3xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %e0 = tensor.empty() : tensor<18xf32>
  %zero = arith.constant 0.0 : f32
  %0 = linalg.exp ins(%x : tensor<18xf32>) outs(%e0 : tensor<18xf32>) -> tensor<18xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %1 = linalg.conv_1d ins(%0, %w : tensor<18xf32>, tensor<3xf32>) outs(%f1 : tensor<16xf32>) -> tensor<16xf32>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %3 = linalg.add ins(%2, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tensor.extract_slice %3[1, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}

// -----

// Calls and control flow are opaque as well; what their regions read counts.
func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="func.call is not fused with its operand, exp at {{.*}}: it stays outside of kernels: func.call calls another function"
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="scf.if is not fused with its operand, func.call at {{.*}}: it stays outside of kernels: scf.if is control flow"
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="negf is not fused with its operand, scf.if at {{.*}}: the operand stays outside of kernels: scf.if is control flow"
func.func @control_flow(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @callee(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = scf.if %c -> tensor<4xf32> {
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %3 = linalg.negf ins(%2 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// The same intermediate as rows and as columns.
// CHECK: remark: [Missed] alias-conflict | {{.*}} Remark="contraction is not fused with its operand, exp at {{.*}}: in one graph a space would have the same dimension twice"
func.func @alias(%x: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %e0 = tensor.empty() : tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %0 = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %e1 = tensor.empty() : tensor<4x8xf32>
  %1 = linalg.transpose ins(%0 : tensor<8x4xf32>) outs(%e1 : tensor<4x8xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<8x4xf32>, tensor<4x8xf32>) outs(%f2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// 12 = 3 x 4 on one side and 4 x 3 on the other.
// CHECK: remark: [Missed] reshape-mismatch | {{.*}} Remark="addf is not fused with its operand, exp at {{.*}}: it stays outside of kernels: its operands divide the range of loop 0 into dimensions in different ways"
// CHECK: remark: [Missed] reshape-mismatch | {{.*}} Remark="addf is not fused with its operand, negf at
func.func @reshape(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<12xf32> {
  %e0 = tensor.empty() : tensor<3x4xf32>
  %e1 = tensor.empty() : tensor<4x3xf32>
  %e2 = tensor.empty() : tensor<12xf32>
  %0 = linalg.exp ins(%x : tensor<3x4xf32>) outs(%e0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = linalg.negf ins(%y : tensor<4x3xf32>) outs(%e1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = tensor.collapse_shape %0 [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %3 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %4 = linalg.add ins(%2, %3 : tensor<12xf32>, tensor<12xf32>) outs(%e2 : tensor<12xf32>) -> tensor<12xf32>
  return %4 : tensor<12xf32>
}

// -----

// The exponential is in the first graph; the sum has to wait for the concatenation, which is opaque.
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="tensor.concat is not fused with its operand, exp at
// CHECK: remark: [Missed] later-stage | {{.*}} Remark="mulf is not fused with its operand, exp at {{.*}}: it also reads tensor.concat at remarks-build.mlir:[[#@LINE+6]]:8, which stays outside and waits for a graph"
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="mulf is not fused with its operand, tensor.concat at
func.func @later(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %e0 = tensor.empty() : tensor<2x4xf32>
  %e1 = tensor.empty() : tensor<4x2x4xf32>
  %0 = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e0 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tensor.concat dim(0) %0, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %1 : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e1 : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x2x4xf32>
  %3 = tensor.extract_slice %2[0, 0, 0] [4, 1, 4] [1, 1, 1] : tensor<4x2x4xf32> to tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="tensor.extract_slice is not fused with its operand, mulf at

// -----

// A side effect that reads a result of a graph stands between two operations.
// CHECK: remark: [Missed] not-a-mapping | {{.*}} Remark="func.call is not fused with its operand, exp at
// CHECK: remark: [Missed] later-stage | {{.*}} Remark="negf is not fused with its operand, exp at {{.*}}: func.call at remarks-build.mlir:[[#@LINE+5]]:3 stands between them, has side effects and reads a graph's result"
func.func private @print(tensor<4xf32>)
func.func @effect(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  func.call @print(%0) : (tensor<4xf32>) -> ()
  %1 = linalg.negf ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
