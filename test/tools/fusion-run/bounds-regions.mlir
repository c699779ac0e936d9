// Assertions in all kinds of regions, in the bodies of parallel loops too, end the call.

// RUN: fusion-run %s --entry=gen --input=8xf32=iota --input=6 --input=2 --expected=reference
// RUN: not fusion-run %s --entry=gen --input=8xf32=iota --input=6 --input=3 2>&1 | FileCheck %s --check-prefix=GEN
// RUN: fusion-run %s --entry=forall --input=8xf32=iota --input=1 --threads=2 --expected=reference
// RUN: not fusion-run %s --entry=forall --input=8xf32=iota --input=6 --threads=2 2>&1 | FileCheck %s --check-prefix=FORALL
// RUN: fusion-run %s --entry=map --input=8xf32=iota --input=6xindex=value:7 --expected=reference
// RUN: not fusion-run %s --entry=map --input=8xf32=iota --input=6xindex=value:8 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: fusion-run %s --entry=blocks --input=8xf32=iota --input=0 --input=8 --expected=reference
// RUN: not fusion-run %s --entry=blocks --input=8xf32=iota --input=1 --input=8 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: fusion-run %s --entry=while --input=8xf32=iota --input=8 --expected=reference
// RUN: not fusion-run %s --entry=while --input=8xf32=iota --input=9 --no-fuse 2>&1 | FileCheck %s --check-prefix=WHILE

func.func @gen(%x: tensor<?xf32>, %n: index, %off: index) -> tensor<?xf32> {
  %r = tensor.generate %n {
  ^bb0(%i: index):
    %j = arith.addi %i, %off : index
    // GEN: bounds-regions.mlir:[[#@LINE+1]]:10: error: assertion failed: 'tensor.extract' op reads outside of its tensor
    %v = tensor.extract %x[%j] : tensor<?xf32>
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @forall(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%m) : tensor<?xf32>
  %e = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %e) -> tensor<?xf32> {
    // FORALL: bounds-regions.mlir:[[#@LINE+1]]:10: error: assertion failed: 'tensor.extract_slice' op reads outside of its tensor
    %s = tensor.extract_slice %x[%i] [4] [1] : tensor<?xf32> to tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [4] [1] : tensor<4xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

func.func @map(%x: tensor<?xf32>, %t: tensor<?xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %t, %c0 : tensor<?xindex>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.map ins(%t : tensor<?xindex>) outs(%e : tensor<?xf32>) (%i: index, %o: f32) {
    // MAP: bounds-regions.mlir:[[#@LINE+1]]:10: error: assertion failed: 'tensor.extract' op reads outside of its tensor
    %v = tensor.extract %x[%i] : tensor<?xf32>
    linalg.yield %v : f32
  }
  return %r : tensor<?xf32>
}

func.func @blocks(%x: tensor<?xf32>, %c: i1, %i: index) -> f32 {
  %z = arith.constant 0.0 : f32
  cf.cond_br %c, ^a, ^b(%z : f32)
^a:
  // BLOCKS: bounds-regions.mlir:[[#@LINE+1]]:8: error: assertion failed: 'tensor.extract' op reads outside of its tensor
  %v = tensor.extract %x[%i] : tensor<?xf32>
  cf.br ^b(%v : f32)
^b(%r: f32):
  return %r : f32
}

func.func @while(%x: tensor<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r:2 = scf.while (%i = %c0, %s = %z) : (index, f32) -> (index, f32) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %s : index, f32
  } do {
  ^bb0(%i: index, %s: f32):
    // WHILE: bounds-regions.mlir:[[#@LINE+1]]:10: error: assertion failed: 'tensor.extract' op reads outside of its tensor
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %t = arith.addf %s, %v : f32
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %t : index, f32
  }
  return %r#1 : f32
}
