// Extents that disagree at run time end the call with a located line: fused, unfused and by the reference.

// RUN: not fusion-run %s --entry=matmul --input=3x4xf32=iota --input=5x6xf32=iota 2>&1 | FileCheck %s --check-prefixes=MATMUL,ONE
// RUN: not fusion-run %s --entry=matmul --input=3x4xf32=iota --input=5x6xf32=iota --no-fuse 2>&1 | FileCheck %s --check-prefixes=MATMUL,ONE
// RUN: not fusion-run %s --entry=matmul --input=3x4xf32=iota --input=5x6xf32=iota --target=reference 2>&1 | FileCheck %s --check-prefixes=REF-MATMUL,ONE
// RUN: fusion-run %s --entry=matmul --input=3x4xf32=iota --input=4x6xf32=iota --expected=reference

// RUN: not fusion-run %s --entry=chain --input=8x16xf32=iota --input=9xf32=iota 2>&1 | FileCheck %s --check-prefixes=CHAIN,ONE
// RUN: not fusion-run %s --entry=chain --input=8x16xf32=iota --input=9xf32=iota --target=reference 2>&1 | FileCheck %s --check-prefixes=REF-CHAIN,ONE
// RUN: fusion-run %s --entry=chain --input=8x16xf32=iota --input=8xf32=iota --expected=reference

// RUN: not fusion-run %s --entry=reshape --input=6xf32=iota --input=5 --input=2 2>&1 | FileCheck %s --check-prefixes=RESHAPE,ONE
// RUN: not fusion-run %s --entry=reshape --input=6xf32=iota --input=-3 --input=-2 2>&1 | FileCheck %s --check-prefixes=RESHAPE,ONE
// RUN: fusion-run %s --entry=reshape --input=6xf32=iota --input=3 --input=2 --expected=reference

// RUN: not fusion-run %s --entry=softmaxed --input=8xf32=iota --input=3 2>&1 | FileCheck %s --check-prefixes=SOFTMAXED,ONE
// RUN: fusion-run %s --entry=softmaxed --input=8xf32=iota --input=2 --expected=reference

// RUN: not fusion-run %s --entry=window --input=6xf32=iota --input=3xf32=iota --input=5 2>&1 | FileCheck %s --check-prefixes=WINDOW,ONE
// RUN: not fusion-run %s --entry=window --input=6xf32=iota --input=3xf32=iota --input=5 --target=reference 2>&1 | FileCheck %s --check-prefixes=REF-WINDOW,ONE
// RUN: fusion-run %s --entry=window --input=6xf32=iota --input=3xf32=iota --input=4 --expected=reference

// RUN: not fusion-run %s --entry=gather --input=3x100xf32=iota --input=2xi64=value:3 2>&1 | FileCheck %s --check-prefixes=GATHER,ONE
// RUN: not fusion-run %s --entry=gather --input=3x100xf32=iota --input=2xi64=value:-1 2>&1 | FileCheck %s --check-prefixes=GATHER,ONE
// RUN: not fusion-run %s --entry=gather --input=3x100xf32=iota --input=2xi64=value:3 --target=reference 2>&1 | FileCheck %s --check-prefixes=REF-GATHER,ONE
// RUN: fusion-run %s --entry=gather --input=3x100xf32=iota --input=2xi64=value:2 --expected=reference

// RUN: not fusion-run %s --entry=pack --input=600xf32=iota --input=2x4xf32=zeros 2>&1 | FileCheck %s --check-prefixes=PACK,ONE
// RUN: not fusion-run %s --entry=pack --input=600xf32=iota --input=2x4xf32=zeros --target=reference 2>&1 | FileCheck %s --check-prefixes=PACK,ONE
// RUN: fusion-run %s --entry=pack --input=7xf32=iota --input=2x4xf32=zeros --expected=reference
// RUN: not fusion-run %s --entry=unpack --input=2x4xf32=iota --input=600xf32=zeros 2>&1 | FileCheck %s --check-prefixes=UNPACK,ONE
// RUN: not fusion-run %s --entry=unpack --input=2x4xf32=iota --input=600xf32=zeros --target=reference 2>&1 | FileCheck %s --check-prefixes=UNPACK,ONE
// RUN: fusion-run %s --entry=unpack --input=2x4xf32=iota --input=7xf32=zeros --expected=reference

// RUN: not fusion-run %s --entry=broadcast --input=3xf32=iota --input=5xf32=iota 2>&1 | FileCheck %s --check-prefixes=BROADCAST,ONE
// RUN: fusion-run %s --entry=broadcast --input=3xf32=iota --input=3xf32=iota --expected=reference
// RUN: fusion-run %s --entry=broadcast --input=1xf32=iota --input=5xf32=iota --expected=reference

// RUN: not fusion-run %s --entry=sum --input=3xf32=iota --input=4xf32=iota 2>&1 | FileCheck %s --check-prefixes=SUM,ONE
// RUN: fusion-run %s --entry=sum --input=3xf32=iota --input=3xf32=iota --expected=reference
// RUN: not fusion-run %s --entry=concat --input=3x2xf32=iota --input=4x2xf32=iota 2>&1 | FileCheck %s --check-prefixes=CONCAT,ONE
// RUN: fusion-run %s --entry=concat --input=3x2xf32=iota --input=3x5xf32=iota --expected=reference
// RUN: not fusion-run %s --entry=insert --input=3xf32=iota --input=8xf32=iota --input=4 2>&1 | FileCheck %s --check-prefixes=INSERT,ONE
// RUN: fusion-run %s --entry=insert --input=3xf32=iota --input=8xf32=iota --input=3 --expected=reference
// RUN: not fusion-run %s --entry=axis --input=3xf32=iota --input=1 2>&1 | FileCheck %s --check-prefixes=AXIS,ONE
// RUN: not fusion-run %s --entry=step --input=0 2>&1 | FileCheck %s --check-prefixes=STEP,ONE
// RUN: fusion-run %s --entry=step --input=2 --expected=reference

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  // MATMUL: shapes.mlir:[[#@LINE+2]]:8: {{.*}}'linalg.matmul' op has operands whose extents differ: operand 0 on axis 1 and operand 1 on axis 0 share a loop
  // REF-MATMUL: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.matmul' op has operands that do not fit: loop 2 has extent 4 by one operand and 5 by another
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// The graph of this would have one dimension for the rows of both.
func.func @chain(%x: tensor<?x16xf32>, %bias: tensor<?xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%m) : tensor<?x16xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  // CHAIN: shapes.mlir:[[#@LINE+2]]:8: {{.*}}'linalg.generic' op has operands whose extents differ: operand 0 on axis 0 and operand 1 on axis 0 share a loop
  // REF-CHAIN: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.generic' op has operands that do not fit: loop 0 has extent 8 by one operand and 9 by another
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s, %bias : tensor<?x16xf32>, tensor<?xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

func.func @reshape(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %s = tensor.from_elements %n, %m : tensor<2xindex>
  // RESHAPE: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.reshape' op does not have as many elements as its operand
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @softmaxed(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  // SOFTMAXED: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.expand_shape' op does not fit the extents of its operand
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %s = linalg.softmax dimension(1) ins(%y : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

func.func @window(%x: tensor<?xf32>, %k: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  // WINDOW: shapes.mlir:[[#@LINE+2]]:8: {{.*}}'linalg.conv_1d' op reaches outside of operand 0 on axis 0
  // REF-WINDOW: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.conv_1d' op {{.*}}
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @gather(%table: tensor<?x100xf32>, %at: tensor<2xi64>) -> tensor<2x100xf32> {
  %e = tensor.empty() : tensor<2x100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<2xi64>) outs(%e : tensor<2x100xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    // GATHER: shapes.mlir:[[#@LINE+2]]:10: {{.*}}'tensor.extract' op reads outside of its tensor
    // REF-GATHER: shapes.mlir:[[#@LINE+1]]:10: {{.*}}'tensor.extract' op index 3 of axis 0 is out of bounds{{.*}}
    %0 = tensor.extract %table[%i, %j] : tensor<?x100xf32>
    linalg.yield %0 : f32
  } -> tensor<2x100xf32>
  return %r : tensor<2x100xf32>
}

func.func @pack(%x: tensor<?xf32>, %d: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = arith.constant 0.0 : f32
  // PACK: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.pack' op has tiles that do not fit the extents of its operands
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [4] into %d : tensor<?xf32> -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @unpack(%x: tensor<?x4xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  // UNPACK: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.unpack' op has tiles that do not fit the extents of its operands
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %d : tensor<?x4xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// An exporter that does not know whether %x broadcasts.
func.func @broadcast(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %one = arith.cmpi eq, %m, %c1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  // BROADCAST: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'linalg.generic' op reads a tensor whose extents are neither 1 nor its own
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.select %one, %c0, %i : index
    %0 = tensor.extract %x[%at] : tensor<?xf32>
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %r = linalg.add ins(%b, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // SUM: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'arith.addf' op has operands of different shapes
  %r = arith.addf %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @concat(%x: tensor<?x2xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CONCAT: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.concat' op has operands whose extents differ on another axis than the one of the concatenation
  %r = tensor.concat dim(1) %x, %y : (tensor<?x2xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @insert(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // INSERT: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.insert_slice' op has sizes that are not the extents of its operand
  %r = tensor.insert_slice %x into %y[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @axis(%x: tensor<?xf32>, %i: index) -> index {
  // AXIS: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'tensor.dim' op asks for an axis that its operand does not have
  %r = tensor.dim %x, %i : tensor<?xf32>
  return %r : index
}

func.func @step(%s: index) -> index {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  // STEP: shapes.mlir:[[#@LINE+1]]:8: {{.*}}'scf.for' op has a step that is not positive
  %r = scf.for %i = %c0 to %c7 step %s iter_args(%x = %c0) -> index {
    %0 = arith.addi %x, %i : index
    scf.yield %0 : index
  }
  return %r : index
}

// One line, and nothing after it.
// ONE-NOT: {{.}}
