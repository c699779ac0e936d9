// What is asserted, and what is not. That the assertions are right is tested in test/tools/fusion-run.

// RUN: fusion-opt %s --fusion-assert-bounds --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-assert-bounds --fusion-assert-bounds --canonicalize --cse --split-input-file | FileCheck %s

// Nothing is asserted of what is static.
// CHECK-LABEL: @static
// CHECK-NOT: cf.assert
// CHECK: return
func.func @static(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x5xf32>) -> tensor<2xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = tensor.extract_slice %0[1, 3] [1, 2] [1, 1] : tensor<3x5xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Nor of what the extents are computed from.
// CHECK-LABEL: @computed
// CHECK-NOT: cf.assert
// CHECK: return
func.func @computed(%x: tensor<?x4x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %m = arith.muli %n, %c4 : index
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %1 = linalg.exp ins(%0 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%n, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  %3 = linalg.add ins(%2, %x : tensor<?x4x8xf32>, tensor<?x4x8xf32>) outs(%x : tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  // All elements of a column, one after the other.
  %f = tensor.empty(%m) : tensor<?xf32>
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%a = %f) -> tensor<?xf32> {
    %v = tensor.extract %1[%i, %c0] : tensor<?x8xf32>
    %b = tensor.insert %v into %a[%i] : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %1, %r : tensor<?x8xf32>, tensor<?xf32>
}

// -----

// Once is enough: the second operation follows from what was asserted for the first.
// CHECK-LABEL: @once
// CHECK: cf.assert {{.*}}'linalg.add' op
// CHECK: linalg.add
// CHECK-NOT: cf.assert
// CHECK: return
func.func @once(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.mul ins(%0, %y : tensor<?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// The program asserts it itself, or branches on it.
// CHECK-LABEL: @stated
// CHECK: cf.assert %{{.*}}, "mine"
// CHECK-NOT: cf.assert
// CHECK: return
func.func @stated(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %i: index) -> (tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %k = tensor.dim %z, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  %low = arith.cmpi sge, %i, %c0 : index
  %high = arith.cmpi slt, %i, %n : index
  %inside = arith.andi %low, %high : i1
  cf.assert %same, "mine"
  %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %fits = arith.cmpi eq, %n, %k : index
  %1 = scf.if %fits -> tensor<?xf32> {
    %2 = linalg.sub ins(%0, %z : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  } else {
    scf.yield %0 : tensor<?xf32>
  }
  %3 = linalg.mul ins(%1, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %4 = scf.if %inside -> f32 {
    %5 = tensor.extract %3[%i] : tensor<?xf32>
    scf.yield %5 : f32
  } else {
    scf.yield %zero : f32
  }
  return %3, %4 : tensor<?xf32>, f32
}

// -----

// What holds in one branch is not known in the other, nor behind both.
// CHECK-LABEL: @elsewhere
// CHECK: } else {
// CHECK: cf.assert {{.*}}'linalg.sub' op
// CHECK: }
// CHECK: cf.assert {{.*}}'linalg.mul' op
// CHECK: return
func.func @elsewhere(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %k = tensor.dim %z, %c0 : tensor<?xf32>
  %fits = arith.cmpi eq, %n, %k : index
  %1 = scf.if %fits -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    %2 = linalg.sub ins(%x, %z : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  %3 = linalg.mul ins(%1, %z : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// An assertion in the body that guards the read is enough; a second index is a loop of the same extent.
// CHECK-LABEL: @guarded
// CHECK-COUNT-2: cf.assert {{.*}}"mine"
// CHECK-NOT: cf.assert
// CHECK: return
func.func @guarded(%table: tensor<10x?xf32>, %at: tensor<3xi64>) -> tensor<3x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %table, %c1 : tensor<10x?xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<3xi64>) outs(%e : tensor<3x?xf32>) {
  ^bb0(%a: i64, %o: f32):
    %c0_i64 = arith.constant 0 : i64
    %c9_i64 = arith.constant 9 : i64
    %0 = arith.cmpi sge, %a, %c0_i64 : i64
    cf.assert %0, "mine"
    %1 = arith.cmpi sle, %a, %c9_i64 : i64
    cf.assert %1, "mine"
    %i = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %2 = tensor.extract %table[%i, %j] : tensor<10x?xf32>
    linalg.yield %2 : f32
  } -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// -----

// A window is as wide as the operand that it is read from; the loops' extents are those of the others.
// CHECK-LABEL: @window
// CHECK: cf.assert {{.*}}'linalg.conv_1d' op reaches outside of operand 0 on axis 0
// CHECK: linalg.conv_1d
func.func @window(%x: tensor<?xf32>, %k: tensor<3xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
