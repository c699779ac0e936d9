// A function without a body cannot be called.

// RUN: not fusion-run %s --input=1 2>&1 | FileCheck %s --check-prefixes=CPU,ONE
// RUN: not fusion-run %s --input=1 --no-fuse 2>&1 | FileCheck %s --check-prefixes=CPU,ONE
// RUN: not fusion-run %s --input=1 --target=reference 2>&1 | FileCheck %s --check-prefixes=REFERENCE,ONE

func.func private @outside(i32) -> i32
func.func @main(%a: i32) -> i32 {
  // CPU: external.mlir:[[#@LINE+2]]:8: error: the program calls 'outside', which has no body
  // REFERENCE: external.mlir:[[#@LINE+1]]:8: error: 'func.call' op calls 'outside', which has no body
  %0 = call @outside(%a) : (i32) -> i32
  return %0 : i32
}

// ONE-NOT: {{.}}
