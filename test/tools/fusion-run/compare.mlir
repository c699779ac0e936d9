// What --expected, --json and --report say.

// RUN: fusion-run %s --input=iota --expected=iota | FileCheck %s --check-prefix=OK
// RUN: fusion-run %s --input=random:3 --expected=reference | FileCheck %s --check-prefix=OK
// OK: ok: 1 result matches

// RUN: not fusion-run %s --input=iota --expected=ones 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: compare.mlir:{{[0-9]+}}:{{[0-9]+}}: error: result 0 of 'main' does not match: 5 of 6 elements differ; first at [0, 0]: got 0, want 1; largest absolute error 4, largest relative error 4
// WRONG-NOT: {{.}}
// RUN: fusion-run %s --input=iota --expected=ones --atol=4
// RUN: fusion-run %s --input=iota --expected=ones --rtol=4

// RUN: fusion-run %s --input=iota --expected=iota --json | FileCheck %s --check-prefix=JSON
// JSON: {"target":"cpu","kernels":{{[0-9]+}},"opaque_ops":{{[0-9]+}},"schedule_seconds":{{[0-9.e+-]+}},"compile_seconds":{{[0-9.e+-]+}},"run_seconds":{"min":{{[0-9.e+-]+}},"median":{{[0-9.e+-]+}}},"peak_bytes":{{[0-9]+}},"max_abs_error":0,"max_rel_error":0,"ok":true}
// RUN: not fusion-run %s --input=iota --expected=ones --json --repeat=3 2>&1 | FileCheck %s --check-prefix=JSONBAD
// JSONBAD: error: result 0
// JSONBAD: "max_abs_error":4,"max_rel_error":4,"ok":false}

// RUN: fusion-run %s --input=iota --no-fuse --report | FileCheck %s --check-prefix=REPORT
// REPORT: 0 fused kernels, 1 operation outside of kernels
// REPORT-NEXT: alone: linalg.{{abs|generic}} at {{.*}}compare.mlir:[[#]]:[[#]]
// REPORT-NEXT: scheduled in

// RUN: fusion-run %s --target=reference --input=iota --stage="func.func(linalg-generalize-named-ops),cse" | FileCheck %s --check-prefix=STAGE
// RUN: fusion-run %s --target=reference --input=iota --stage="builtin.module(canonicalize)" | FileCheck %s --check-prefix=STAGE
// STAGE: result 0: 2x3xf32 = [0, 1, 2, 3, 4, 5]

func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.abs ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
