// Extents and slices that are wrong at run time end the call with a located line, on one thread or two.

// RUN: not fusion-run %s --entry=negative --input=-5 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fusion-run %s --entry=read --input=iota --input=3 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not fusion-run %s --entry=read --input=iota --input=-1 2>&1 | FileCheck %s --check-prefix=READ
// RUN: fusion-run %s --entry=read --input=iota --input=2 --expected=reference
// RUN: not fusion-run %s --entry=strided --input=iota --input=1 --input=3 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: fusion-run %s --entry=strided --input=iota --input=2 --input=2 --expected=reference
// RUN: fusion-run %s --entry=strided --input=iota --input=5 --input=0 --expected=reference
// RUN: not fusion-run %s --entry=write --input=iota --input=1 --input=6 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: fusion-run %s --entry=write --input=iota --input=1 --input=5 --expected=reference
// RUN: not fusion-run %s --entry=element --input=6xf32=iota --input=6 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: fusion-run %s --entry=element --input=6xf32=iota --input=5 --expected=reference
// RUN: not fusion-run %s --entry=cast --input=6xf32=iota 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: fusion-run %s --entry=cast --input=8xf32=iota --expected=reference
// RUN: not fusion-run %s --entry=expand --input=8xf32=iota --input=3 2>&1 | FileCheck %s --check-prefix=EXPAND
// RUN: fusion-run %s --entry=expand --input=8xf32=iota --input=2 --expected=reference

func.func @negative(%n: index) -> tensor<?xf32> {
  // NEGATIVE: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.empty' op has a negative extent
  %e = tensor.empty(%n) : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}

func.func @read(%x: tensor<4xf32>, %i: index) -> tensor<2xf32> {
  // READ: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.extract_slice' op reads outside of its tensor
  %s = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

func.func @strided(%x: tensor<5xf32>, %i: index, %n: index) -> tensor<?xf32> {
  // STRIDED: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.extract_slice' op reads outside of its tensor
  %s = tensor.extract_slice %x[%i] [%n] [2] : tensor<5xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// The rows from %from to %to are written one by one.
func.func @write(%x: tensor<5x3xf32>, %from: index, %to: index) -> tensor<5x3xf32> {
  %c1 = arith.constant 1 : index
  %row = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<1x3xf32>
  %r = scf.for %i = %from to %to step %c1 iter_args(%a = %x) -> tensor<5x3xf32> {
    // WRITE: bounds.mlir:[[#@LINE+1]]:10: {{.*}}'tensor.insert_slice' op writes outside of its tensor
    %b = tensor.insert_slice %row into %a[%i, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<5x3xf32>
    scf.yield %b : tensor<5x3xf32>
  }
  return %r : tensor<5x3xf32>
}

func.func @element(%x: tensor<?xf32>, %i: index) -> f32 {
  // ELEMENT: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.extract' op reads outside of its tensor
  %r = tensor.extract %x[%i] : tensor<?xf32>
  return %r : f32
}

func.func @cast(%x: tensor<?xf32>) -> tensor<8xf32> {
  // CAST: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.cast' op does not fit the extents of its operand
  %r = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @expand(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  // EXPAND: bounds.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.expand_shape' op does not fit the extents of its operand
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
