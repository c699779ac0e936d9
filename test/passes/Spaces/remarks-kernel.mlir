// What a kernel says of itself, as a remark.

// RUN: fusion-opt %s --split-input-file --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-slice=target=v100 --remarks-filter-passed=spacemap --remark-policy=all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=remark:
// RUN: fusion-opt %s --split-input-file --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-slice="target=v100 temporal=false" --remarks-filter-passed=spacemap --remark-policy=all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SPATIAL

// Rows that do not fit on chip: the sum is updated when the maximum grows. Without temporal slicing nothing fits.
// CHECK: remarks-kernel.mlir:[[#@LINE+9]]:8: remark: [Passed] kernel | Category:spacemap | Function=softmax_denominator | Blocks="d0 by {{[0-9]+}}", Dims="d0 = 64, d1 = 1048576", Ops="max along d1 (remarks-kernel.mlir:[[#@LINE+9]]:8); subf (remarks-kernel.mlir:[[#@LINE+11]]:8); exp (remarks-kernel.mlir:[[#@LINE+12]]:8); sum along d1 (remarks-kernel.mlir:[[#@LINE+13]]:8)", Predicted="{{[0-9.]+}} us on v100, 268435712 bytes from and to memory", Temporal="{{[0-9]+}} at a time, 1 loop along d1; max: aggregated; sum of {{.*}}exp({{.*}}"
// SPATIAL: remark: [Passed] kernel | {{.*}} Blocks="one block that spills to memory: its smallest block needs {{.*}} bytes of registers, but v100 has
func.func @softmax_denominator(%x: tensor<64x1048576xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %v = tensor.empty() : tensor<64x1048576xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<64x1048576xf32>) outs(%f0 : tensor<64xf32>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<64xf32>) outs(%v : tensor<64x1048576xf32>) dimensions = [1]
  %2 = linalg.sub ins(%x, %1 : tensor<64x1048576xf32>, tensor<64x1048576xf32>) outs(%v : tensor<64x1048576xf32>) -> tensor<64x1048576xf32>
  %3 = linalg.exp ins(%2 : tensor<64x1048576xf32>) outs(%v : tensor<64x1048576xf32>) -> tensor<64x1048576xf32>
  %4 = linalg.reduce { arith.addf } ins(%3 : tensor<64x1048576xf32>) outs(%f1 : tensor<64xf32>) dimensions = [1]
  return %4 : tensor<64xf32>
}

// -----

// CHECK: remark: [Passed] kernel | Category:spacemap | Function=dynamic | {{.*}}Dims="d0 = ?", Ops="exp ({{.*}})", Predicted="{{.*}} bytes from and to memory, if an extent known at run time is 1024"
func.func @dynamic(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
