// RUN: fusion-opt %s --fusion-cpu-check-lowered --split-input-file --verify-diagnostics

llvm.func @f(%a: i64) -> i64 {
  %0 = builtin.unrealized_conversion_cast %a : i64 to index
  // expected-error @+1 {{'arith.addi' has no lowering for the CPU}}
  %1 = arith.addi %0, %0 : index
  %2 = builtin.unrealized_conversion_cast %1 : index to i64
  llvm.return %2 : i64
}

// -----

llvm.func @g(%a: i64) -> i64 {
  llvm.return %a : i64
}
