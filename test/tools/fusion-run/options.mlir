// What is wrong with the command line is said in one line; the exit status tells a mismatch (1) from an error (2).

// RUN: not fusion-run %s --target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: fusion-run: error: --target=tpu is unknown; cpu, reference, emulator, cuda and cuda:N are accepted
// RUN: not fusion-run 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: fusion-run: error: no program is given
// RUN: not fusion-run %s --frobnicate 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: Unknown command line argument '--frobnicate'
// RUN: not fusion-run %t.nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: fusion-run: error: {{.*}}nowhere.mlir: No such file or directory
// RUN: not fusion-run %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: fusion-run: error: {{.*}}: is a directory
// RUN: not fusion-run --case=%t.nowhere 2>&1 | FileCheck %s --check-prefix=NOCASE
// NOCASE: fusion-run: error: {{.*}}case.json: No such file or directory
// RUN: not fusion-run %s --entry=nope 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: options.mlir:{{[0-9]+}}:{{[0-9]+}}: error: there is no function 'nope'; --entry names another
// RUN: not fusion-run %s 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: options.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'main' takes 2 arguments, 0 are given by --input
// RUN: not fusion-run %s --input=random --input=1 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: argument 0 of 'main': 'random' leaves the extents of tensor<?x4xf32> open; write <shape>xf32=random
// RUN: not fusion-run %s --input=2x4xf32=frob --input=1 2>&1 | FileCheck %s --check-prefix=GENERATOR
// GENERATOR: error: argument 0 of 'main': 'frob' is none of random[:seed], positive[:seed], weights[:seed], ones, zeros, iota, value:<number>
// RUN: not fusion-run %s --input=2x4xf33=ones --input=1 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: argument 0 of 'main': 'f33' is no element type
// RUN: not fusion-run %s --input=2x5xf32=ones --input=1 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: argument 0 of 'main': the type is tensor<?x4xf32>, the array is 2x5xf32
// RUN: not fusion-run %s --input=99999999999x4xf32=ones --input=1 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: argument 0 of 'main': an array of 99999999999x4xf32 does not fit into memory
// RUN: not fusion-run %s --input=2x4xf32=ones --input=x1 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: argument 1 of 'main': 'x1' is none of
// RUN: not fusion-run %s --input=2x4xf32=ones --input=1 --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: fusion-run: error: --repeat=0 runs nothing
// RUN: not fusion-run %s --input=2x4xf32=ones --input=1 --rtol=-1 2>&1 | FileCheck %s --check-prefix=RTOL
// RTOL: fusion-run: error: --rtol must not be negative
// RUN: not fusion-run %s --input=2x4xf32=ones --input=1 --output=out.npy 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: fusion-run: error: --output=out.npy: a file is written @file.npy
// RUN: not fusion-run %s --input=2x4xf32=ones --input=1 --stage=nonsense 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: fusion-run: error: --stage: {{.*}}nonsense
// RUN: not fusion-run %s --input=2x4xf32=ones --input=1 --cpu=z80 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: {{.*}}z80

// RUN: %python %S/Inputs/expect_status.py 0 %fusion_bin/fusion-run %s --input=2x4xf32=ones --input=2 --expected=2x4xf32=value:2
// RUN: %python %S/Inputs/expect_status.py 1 %fusion_bin/fusion-run %s --input=2x4xf32=ones --input=2 --expected=2x4xf32=value:3
// RUN: %python %S/Inputs/expect_status.py 2 %fusion_bin/fusion-run %s --input=2x4xf32=ones

func.func @main(%a: tensor<?x4xf32>, %s: f32) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %s : tensor<?x4xf32>, f32) outs(%e : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
