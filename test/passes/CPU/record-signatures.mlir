// RUN: fusion-opt %s --fusion-cpu-record-signatures --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not fusion-opt %s --fusion-cpu="target=z80" 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: unknown CPU 'z80', expected one of: host, generic, avx2, avx512

// CHECK: func.func @fusion.main(%{{.*}}: tensor<4x?xf32> {bufferization.writable = false}, %{{.*}}: index)
// CHECK-SAME: attributes {fusion.entry = "main", fusion.signature = (tensor<4x?xf32>, index) -> tensor<4x?xf32>}
func.func @main(%a: tensor<4x?xf32>, %i: index) -> tensor<4x?xf32> {
  return %a : tensor<4x?xf32>
}

// CHECK: func.func private @fusion.inner(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 of 'func.func' cannot be compiled for the CPU: unranked tensor tensor<*xf32> is not supported, the rank must be known}}
func.func @unranked(%a: tensor<*xf32>) {
  return
}

// -----

func.func @huge() {
  // expected-error @+1 {{'tensor.empty' op cannot be compiled for the CPU: tensor<9223372036854775807x2xf32> is too large for the memory of any machine}}
  %0 = tensor.empty() : tensor<9223372036854775807x2xf32>
  return
}

// -----

// No elements, no bytes.
// CHECK-LABEL: @fusion.none
func.func @none() -> tensor<9223372036854775807x0xf32> {
  %0 = tensor.empty() : tensor<9223372036854775807x0xf32>
  return %0 : tensor<9223372036854775807x0xf32>
}

// -----

// expected-error @+1 {{'func.func' op has an argument or result of type 'memref<4xf32>', a program must be on tensors to be compiled}}
func.func @buffers(%a: memref<4xf32>) {
  return
}
