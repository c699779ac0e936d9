// Why neighbouring operations are not in one kernel: the reasons that spacemap-partition gives. And what a kernel says of
// itself. docs/fusion-report.md lists all reasons.

// RUN: fusion-opt %s --split-input-file --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-partition=target=v100 --remarks-filter-missed=spacemap --remark-policy=all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=remark:

// No dimension is left to cut, and one block does not hold the whole: there is no temporal slicing of tanh.
// CHECK: remarks-partition.mlir:[[#@LINE+10]]:8: remark: [Missed] no-parallel-dim | Category:spacemap | Function=no_parallel_dim | Remark="subf is not fused with its operand, max along d0 at remarks-partition.mlir:[[#@LINE+8]]:8: no dimension can be cut into independent blocks, and its smallest block needs {{.*}}; it cannot be sliced temporally: reduction 2 along 'd0' (sum): no update for the sum of tanh({{.*}}"
func.func @no_parallel_dim(%x: tensor<1048576xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %v = tensor.empty() : tensor<1048576xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<1048576xf32>) outs(%f0 : tensor<f32>) dimensions = [0]
  %1 = linalg.broadcast ins(%0 : tensor<f32>) outs(%v : tensor<1048576xf32>) dimensions = [0]
  %2 = linalg.sub ins(%x, %1 : tensor<1048576xf32>, tensor<1048576xf32>) outs(%v : tensor<1048576xf32>) -> tensor<1048576xf32>
  %3 = linalg.tanh ins(%2 : tensor<1048576xf32>) outs(%v : tensor<1048576xf32>) -> tensor<1048576xf32>
  %4 = linalg.reduce { arith.addf } ins(%3 : tensor<1048576xf32>) outs(%f1 : tensor<f32>) dimensions = [0]
  return %4 : tensor<f32>
}

// -----

// The same for many rows: blocks of rows are possible, but not even one row fits.
// CHECK: remark: [Missed] no-update-function | {{.*}} Remark="subf is not fused with its operand, max along d1 at {{.*}}: its smallest block needs {{[0-9]+}} bytes on chip and {{[0-9]+}} bytes of registers, but v100 has {{[0-9]+}} and {{[0-9]+}}; it cannot be sliced temporally: reduction 2 along 'd1' (sum): no update for the sum of tanh(
func.func @no_update_function(%x: tensor<64x1048576xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %v = tensor.empty() : tensor<64x1048576xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<64x1048576xf32>) outs(%f0 : tensor<64xf32>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<64xf32>) outs(%v : tensor<64x1048576xf32>) dimensions = [1]
  %2 = linalg.sub ins(%x, %1 : tensor<64x1048576xf32>, tensor<64x1048576xf32>) outs(%v : tensor<64x1048576xf32>) -> tensor<64x1048576xf32>
  %3 = linalg.tanh ins(%2 : tensor<64x1048576xf32>) outs(%v : tensor<64x1048576xf32>) -> tensor<64x1048576xf32>
  %4 = linalg.reduce { arith.addf } ins(%3 : tensor<64x1048576xf32>) outs(%f1 : tensor<64xf32>) dimensions = [1]
  return %4 : tensor<64xf32>
}

// -----

// The hidden layer is wider than a block can hold.
// CHECK: remark: [Missed] footprint | {{.*}} Remark="contraction along d1 is not fused with its operand, tanh at {{.*}}: its smallest block needs
func.func @footprint(%x: tensor<4096x1024xf32>, %w: tensor<1024x16384xf32>, %v: tensor<16384x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096x16384xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4096x16384xf32>) -> tensor<4096x16384xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4096x1024xf32>, tensor<1024x16384xf32>) outs(%f0 : tensor<4096x16384xf32>) -> tensor<4096x16384xf32>
  %1 = linalg.tanh ins(%0 : tensor<4096x16384xf32>) outs(%e0 : tensor<4096x16384xf32>) -> tensor<4096x16384xf32>
  %e1 = tensor.empty() : tensor<4096x1024xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<4096x16384xf32>, tensor<16384x1024xf32>) outs(%f1 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}

// -----

// Fused, only the few rows can be cut into blocks; most of the machine would be idle. 
// CHECK: remark: [Missed] not-profitable | {{.*}} Remark="contraction along d1 is not fused with its operand, tanh at {{.*}}: predicted {{[0-9.]+}} us in one kernel, {{[0-9.]+}} us apart"
func.func @not_profitable(%x: tensor<64x8192xf32>, %w: tensor<8192x64xf32>, %v: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x8192xf32>, tensor<8192x64xf32>) outs(%f0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.tanh ins(%0 : tensor<64x64xf32>) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64x128xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<64x64xf32>, tensor<64x128xf32>) outs(%f1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}
