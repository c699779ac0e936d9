// RUN: fusion-run --target=reference %s --entry=shapes --input=iota | FileCheck %s --check-prefix=SHAPES
// RUN: fusion-run --target=reference %s --entry=slices --input=iota --input=1 | FileCheck %s --check-prefix=SLICES
// RUN: fusion-run --target=reference %s --entry=gather --input=iota | FileCheck %s --check-prefix=GATHER
// RUN: fusion-run --target=reference %s --entry=make --input=2 | FileCheck %s --check-prefix=MAKE
// RUN: fusion-run --target=reference %s --entry=elementwise --input=iota | FileCheck %s --check-prefix=ELEMENT
// RUN: fusion-run --target=reference %s --entry=empty --input=0x3xf32=ones | FileCheck %s --check-prefix=EMPTY
// RUN: fusion-run --target=cpu %s --entry=shapes --input=iota | FileCheck %s --check-prefix=SHAPES
// RUN: fusion-run --target=cpu %s --entry=slices --input=iota --input=1 | FileCheck %s --check-prefix=SLICES
// RUN: fusion-run --target=cpu %s --entry=elementwise --input=iota | FileCheck %s --check-prefix=ELEMENT
// RUN: fusion-run --target=cpu %s --entry=empty --input=0x3xf32=ones | FileCheck %s --check-prefix=EMPTY

// SHAPES: result 0: 6xf32 = [0, 1, 2, 3, 4, 5]
// SHAPES-NEXT: result 1: 6xf32 = [0, 3, 1, 4, 2, 5]
// SHAPES-NEXT: result 2: 3x1x2xf32 = [0, 1, 2, 3, 4, 5]
// SHAPES-NEXT: result 3: 3x2xf32 = [0, 1, 2, 3, 4, 5]
func.func @shapes(%a: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<3x1x2xf32>, tensor<?x?xf32>) {
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %empty = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%empty : tensor<3x2xf32>) permutation = [1, 0]
  %flatT = tensor.collapse_shape %t [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %e = tensor.expand_shape %flat [[0, 1, 2]] output_shape [3, 1, 2] : tensor<6xf32> into tensor<3x1x2xf32>
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = tensor.from_elements %c3, %c2 : tensor<2xindex>
  %r = tensor.reshape %a(%s) : (tensor<2x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %flat, %flatT, %e, %r : tensor<6xf32>, tensor<6xf32>, tensor<3x1x2xf32>, tensor<?x?xf32>
}

// SLICES: result 0: 2xf32 = [4, 6]
// SLICES-NEXT: result 1: 3x4xf32 = [0, 4, 2, 6, 4, 5, 6, 7, 8, 9, 10, 11]
// SLICES-NEXT: result 2: 3x5xf32 = [0, 1, 2, 3, 0, 4, 5, 6, 7, 4, 8, 9, 10, 11, 8]
// SLICES-NEXT: result 3: 4x4xf32 = [7, 7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
// SLICES-NEXT: result 4: f32 = [6]
func.func @slices(%a: tensor<3x4xf32>, %i: index)
    -> (tensor<2xf32>, tensor<3x4xf32>, tensor<3x5xf32>, tensor<4x4xf32>, f32) {
  %c2 = arith.constant 2 : index
  %pad = arith.constant 7.0 : f32
  %s = tensor.extract_slice %a[%i, 0] [1, 2] [1, 2] : tensor<3x4xf32> to tensor<2xf32>
  %ins = tensor.insert_slice %s into %a[0, 1] [1, 2] [1, 2] : tensor<2xf32> into tensor<3x4xf32>
  %col = tensor.extract_slice %a[0, 0] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  %cat = tensor.concat dim(1) %a, %col : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %p = tensor.pad %a low[1, 0] high[0, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %pad : f32
  } : tensor<3x4xf32> to tensor<4x4xf32>
  %x = tensor.extract %a[%i, %c2] : tensor<3x4xf32>
  return %s, %ins, %cat, %p, %x : tensor<2xf32>, tensor<3x4xf32>, tensor<3x5xf32>, tensor<4x4xf32>, f32
}

// GATHER: result 0: 2x1x2xf32 = [4, 5, 0, 1]
// GATHER-NEXT: result 1: 2x2xf32 = [4, 5, 0, 1]
// GATHER-NEXT: result 2: 3x2xf32 = [0, 1, 2, 3, 0, 1]
func.func @gather(%a: tensor<3x2xf32>) -> (tensor<2x1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) {
  %i = arith.constant dense<[[2], [0]]> : tensor<2x1xindex>
  %j = arith.constant dense<[[2]]> : tensor<1x1xindex>
  %full = tensor.gather %a[%i] gather_dims([0]) : (tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<2x1x2xf32>
  %reduced = tensor.gather %a[%i] gather_dims([0]) : (tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<2x2xf32>
  %row = tensor.extract_slice %a[0, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  %row3 = tensor.expand_shape %row [[0, 1], [2]] output_shape [1, 1, 2] : tensor<1x2xf32> into tensor<1x1x2xf32>
  %s = tensor.scatter %row3 into %a[%j] scatter_dims([0]) unique
    : (tensor<1x1x2xf32>, tensor<3x2xf32>, tensor<1x1xindex>) -> tensor<3x2xf32>
  return %full, %reduced, %s : tensor<2x1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>
}

// MAKE: result 0: 2x3xindex = [0, 1, 2, 10, 11, 12]
// MAKE-NEXT: result 1: 2xf32 = [1.5, 1.5]
// MAKE-NEXT: result 2: 2x2xi8 = [1, -2, 3, 4]
// MAKE-NEXT: result 3: 3xi1 = [1, 0, 1]
func.func @make(%n: index) -> (tensor<?x3xindex>, tensor<?xf32>, tensor<2x2xi8>, tensor<3xi1>) {
  %g = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %0 = arith.muli %i, %c10 : index
    %1 = arith.addi %0, %j : index
    tensor.yield %1 : index
  } : tensor<?x3xindex>
  %f = arith.constant 1.5 : f32
  %s = tensor.splat %f[%n] : tensor<?xf32>
  %c = arith.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %b = arith.constant dense<[true, false, true]> : tensor<3xi1>
  return %g, %s, %c, %b : tensor<?x3xindex>, tensor<?xf32>, tensor<2x2xi8>, tensor<3xi1>
}

// ELEMENT: result 0: 4xf32 = [1, 2, 3, 4]
// ELEMENT-NEXT: result 1: 4xf32 = [0, 1, 3, 4]
func.func @elementwise(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %sum = arith.addf %a, %one : tensor<4xf32>
  %less = arith.cmpf olt, %a, %two : tensor<4xf32>
  %pick = arith.select %less, %a, %sum : tensor<4xi1>, tensor<4xf32>
  return %sum, %pick : tensor<4xf32>, tensor<4xf32>
}

// EMPTY: result 0: 3xf32 = [0, 0, 0]
// EMPTY-NEXT: result 1: 0x3xf32 = []
func.func @empty(%a: tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<?x3xf32>) outs(%f : tensor<3xf32>) dimensions = [0]
  %e2 = tensor.empty(%n) : tensor<?x3xf32>
  %x = linalg.exp ins(%a : tensor<?x3xf32>) outs(%e2 : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %s, %x : tensor<3xf32>, tensor<?x3xf32>
}
