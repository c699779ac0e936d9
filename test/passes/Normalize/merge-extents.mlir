// RUN: fusion-opt %s --fusion-merge-extents --canonicalize --split-input-file | FileCheck %s

#times4 = affine_map<()[s0] -> (s0 * 4)>

// Sizes computed from one extent are that extent.

// CHECK-LABEL: @arithmetic
// CHECK-SAME: %[[X:.*]]: tensor<?x4x8xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: return %[[N]], %[[N]], %[[N]], %[[N]]
func.func @arithmetic(%x: tensor<?x4x8xf32>) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c0_i64 = arith.constant 0 : i64
  %c8_i64 = arith.constant 8 : i64
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %0 = affine.apply #times4()[%n]
  %1 = arith.divsi %0, %c4 : index
  %2 = arith.index_cast %n : index to i64
  %3 = arith.cmpi slt, %2, %c0_i64 : i64
  %4 = arith.select %3, %c8_i64, %2 : i64
  %5 = arith.index_cast %4 : i64 to index
  %6 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [%1, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  %8 = tensor.dim %7, %c0 : tensor<?x4x8xf32>
  %9 = arith.muli %4, %4 : i64
  %10 = arith.divsi %9, %4 : i64
  %11 = arith.index_cast %10 : i64 to index
  return %1, %5, %8, %11 : index, index, index, index
}

// -----

// An asserted equality holds behind the assertion, not before it; a proven one goes.

// CHECK-LABEL: @asserted
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[Y]]
// CHECK: %[[EQ:.*]] = arith.cmpi eq
// CHECK: %[[BEFORE:.*]] = arith.addi %[[N]], %[[M]]
// CHECK: cf.assert %[[EQ]], "sizes"
// CHECK-NOT: cf.assert
// CHECK: return %[[BEFORE]], %[[N]]
func.func @asserted(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %0 = arith.cmpi eq, %n, %m : index
  %1 = arith.addi %n, %m : index
  cf.assert %0, "sizes"
  cf.assert %0, "sizes again"
  %2 = arith.cmpi sge, %m, %c0 : index
  cf.assert %2, "negative"
  %3 = tensor.dim %y, %c0 : tensor<?xf32>
  return %1, %3 : index, index
}

// -----

#v = affine_map<(d0) -> (d0)>

// Operands that share a loop share its extent.

// CHECK-LABEL: @shared_loop
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: linalg.generic
// CHECK: return %{{.*}}, %[[N]]
func.func @shared_loop(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  return %0, %m : tensor<?xf32>, index
}

// -----

// A fact of one branch does not hold in the other, nor behind them.

func.func private @use(index)

// CHECK-LABEL: func.func @branches
// CHECK-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %{{.*}}
// CHECK: scf.if
// CHECK: cf.assert
// CHECK: } else {
// CHECK: %[[M:.*]] = tensor.dim %arg1
// CHECK: call @use(%[[M]])
// CHECK: %[[M2:.*]] = tensor.dim %arg1
// CHECK: return %[[M2]]
func.func @branches(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: i1) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  scf.if %c {
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %0 = arith.cmpi eq, %n, %m : index
    cf.assert %0, "sizes"
    func.call @use(%m) : (index) -> ()
  } else {
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    func.call @use(%m) : (index) -> ()
  }
  %k = tensor.dim %y, %c0 : tensor<?xf32>
  return %k : index
}

// -----

// Reshapes by a shape tensor: splitting, joining, and both at once.

// CHECK-LABEL: @reshapes
// CHECK-SAME: %[[X:.*]]: tensor<8x?x?xf32>
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c2
// CHECK-DAG: %[[A:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 4, %[[N]], %[[M]]]
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK: return %[[A]], %[[B]]
func.func @reshapes(%x: tensor<8x?x?xf32>) -> (tensor<2x4x?x?xf32>, tensor<8x?xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c2_i64 = arith.constant 2 : i64
  %c4_i64 = arith.constant 4 : i64
  %c8_i64 = arith.constant 8 : i64
  %n = tensor.dim %x, %c1 : tensor<8x?x?xf32>
  %m = tensor.dim %x, %c2 : tensor<8x?x?xf32>
  %n_i64 = arith.index_cast %n : index to i64
  %m_i64 = arith.index_cast %m : index to i64
  %s = tensor.from_elements %c2_i64, %c4_i64, %n_i64, %m_i64 : tensor<4xi64>
  %0 = tensor.reshape %x(%s) : (tensor<8x?x?xf32>, tensor<4xi64>) -> tensor<2x4x?x?xf32>
  %nm = arith.muli %m_i64, %n_i64 : i64
  %t = tensor.from_elements %c8_i64, %nm : tensor<2xi64>
  %1 = tensor.reshape %0(%t) : (tensor<2x4x?x?xf32>, tensor<2xi64>) -> tensor<8x?xf32>
  return %0, %1 : tensor<2x4x?x?xf32>, tensor<8x?xf32>
}

// -----

// A reshape that is not known to keep rows apart stays.

// CHECK-LABEL: @unknown_reshape
// CHECK: tensor.reshape
func.func @unknown_reshape(%x: tensor<?x6xf32>, %n: index) -> tensor<?x4xf32> {
  %c4 = arith.constant 4 : index
  %s = tensor.from_elements %n, %c4 : tensor<2xindex>
  %0 = tensor.reshape %x(%s) : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
