// Undefined behaviour and what cannot be run are one located line on the reference target.

// RUN: not fusion-run --target=reference %s --entry=bounds --input=iota --input=3 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not fusion-run --target=reference %s --entry=body --input=iota --input=3 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not fusion-run --target=reference %s --entry=divide --input=1 --input=0 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not fusion-run --target=reference %s --entry=assert --input=0 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not fusion-run --target=reference %s --entry=forever --input=0 2>&1 | FileCheck %s --check-prefix=FOREVER
// RUN: not fusion-run --target=reference %s --entry=huge --input=4000000000 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not fusion-run --target=reference %s --entry=negative --input=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fusion-run --target=reference %s --entry=slice --input=iota --input=2 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not fusion-run --target=reference %s --entry=reshape --input=iota --input=2 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RUN: not fusion-run --target=reference %s --entry=cast --input=4xf32=ones 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not fusion-run --target=reference %s --entry=misfit --input=2xf32=ones --input=3xf32=ones 2>&1 | FileCheck %s --check-prefix=MISFIT
// RUN: not fusion-run --target=reference %s --entry=unknown --input=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion-run --target=reference %s --entry=external --input=1 2>&1 | FileCheck %s --check-prefix=EXTERNAL
// RUN: not fusion-run --target=reference %s --entry=steps --input=0 2>&1 | FileCheck %s --check-prefix=STEPS

func.func @bounds(%a: tensor<3xf32>, %i: index) -> f32 {
  // BOUNDS: run-time-errors.mlir:[[#@LINE+2]]:8: error: 'tensor.extract' op index 3 of axis 0 is out of bounds: the extent is 3
  // BOUNDS-NOT: {{.}}
  %0 = tensor.extract %a[%i] : tensor<3xf32>
  return %0 : f32
}

func.func @body(%a: tensor<3xf32>, %i: index) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<2xf32>) {
  ^bb0(%o: f32):
    // BODY: run-time-errors.mlir:[[#@LINE+1]]:10: error: 'tensor.extract' op index 3 of axis 0 is out of bounds: the extent is 3
    %0 = tensor.extract %a[%i] : tensor<3xf32>
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @divide(%a: i32, %b: i32) -> i32 {
  // DIVIDE: run-time-errors.mlir:[[#@LINE+1]]:8: error: 'arith.divsi' op division by zero
  %0 = arith.divsi %a, %b : i32
  return %0 : i32
}

func.func @assert(%a: i1) -> i1 {
  // ASSERT: run-time-errors.mlir:[[#@LINE+1]]:3: error: 'cf.assert' op assertion failed: must be true
  cf.assert %a, "must be true"
  return %a : i1
}

func.func @forever(%a: i32) -> i32 {
  // FOREVER: run-time-errors.mlir:[[#@LINE+1]]:8: error: 'func.call' op calls 'forever' when 200 calls are open, which is the limit
  %0 = call @forever(%a) : (i32) -> i32
  return %0 : i32
}

func.func @huge(%n: index) -> tensor<?x?x?xf32> {
  // HUGE: run-time-errors.mlir:[[#@LINE+1]]:8: error: 'tensor.empty' op makes a tensor of 4000000000x4000000000x4000000000xf32, which does not fit into memory
  %0 = tensor.empty(%n, %n, %n) : tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

func.func @negative(%n: index) -> tensor<?xf32> {
  // NEGATIVE: error: 'tensor.empty' op makes a tensor of -1xf32: an extent is negative
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @slice(%a: tensor<3xf32>, %i: index) -> tensor<2xf32> {
  // SLICE: error: 'tensor.extract_slice' op slices axis 0 at offset 2, size 2, stride 1, which is out of bounds: the extent is 3
  %0 = tensor.extract_slice %a[%i] [2] [1] : tensor<3xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @reshape(%a: tensor<3xf32>, %n: index) -> tensor<?xf32> {
  %s = tensor.from_elements %n : tensor<1xindex>
  // RESHAPE: error: 'tensor.reshape' op reshapes a tensor of 3xf32 to 2xf32
  %0 = tensor.reshape %a(%s) : (tensor<3xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @cast(%a: tensor<?xf32>) -> tensor<3xf32> {
  // CAST: error: 'tensor.cast' op computes a tensor of 4xf32 where the type says 'tensor<3xf32>'
  %0 = tensor.cast %a : tensor<?xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @misfit(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  // MISFIT: error: 'linalg.add' op has operands that do not fit: loop 0 has extent 2 by one operand and 3 by another
  %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @unknown(%a: index) -> index {
  // UNKNOWN: error: 'index.add' op is not known to the reference interpreter
  %0 = index.add %a, %a
  return %0 : index
}

func.func private @outside(i32) -> i32
func.func @external(%a: i32) -> i32 {
  // EXTERNAL: error: 'func.call' op calls 'outside', which has no body
  %0 = call @outside(%a) : (i32) -> i32
  return %0 : i32
}

func.func @steps(%s: index) -> index {
  %c0 = arith.constant 0 : index
  // STEPS: error: 'scf.for' op has step 0, which is not positive
  %0 = scf.for %i = %c0 to %c0 step %s iter_args(%x = %c0) -> index {
    scf.yield %x : index
  }
  return %0 : index
}
