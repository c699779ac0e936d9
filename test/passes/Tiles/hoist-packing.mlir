// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles=pack=false --canonicalize | FileCheck %s --check-prefix=NOPACK
// RUN: fusion-run %s --entry=shared_weight --target=reference --stage=spacemap-to-tiles --input=512x512xf32=random:1 --input=500x512xf32=random:2 --atol=1e-3 --expected=reference
// RUN: fusion-run %s --entry=shared_weight --stage=spacemap-to-tiles --input=512x512xf32=random:1 --input=500x512xf32=random:2 --atol=1e-3 --expected=reference

// A weight stored [n, k] is read by eight rows of blocks: it is transposed to panels of one block's columns, once, in front of the
// grid, in a loop of its own that is no kernel.
// CHECK-LABEL: func.func @shared_weight(
// CHECK:         %[[PANELS:.*]] = scf.forall (%[[P:.*]], %[[K:.*]]) = (0, 0) to (4, 512) step (1, 256)
// CHECK:           tensor.extract_slice %arg1[%{{.*}}, %[[K]]] [{{.*}}, 256] [1, 1]
// CHECK:           linalg.transpose
// CHECK:           tensor.parallel_insert_slice {{.*}}[%[[P]], %[[K]], 0] [1, 256, {{.*}}] [1, 1, 1] {{.*}} into tensor<4x512x128xf32>
// CHECK:         } {fusion.packing
// CHECK:         scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (512, 500) step (64, 128)
// CHECK:           %[[PANEL:.*]] = affine.apply {{.*}}(%[[N]])
// CHECK:           tensor.extract_slice %[[PANELS]][%[[PANEL]], 0, 0] [1, 512, %{{.*}}] [1, 1, 1] : tensor<4x512x128xf32> to tensor<512x?xf32>
// CHECK-NOT:       linalg.transpose
// CHECK:           linalg.generic
// CHECK:         } {fusion.kernel
// NOPACK-LABEL: func.func @shared_weight(
// NOPACK-NOT:     fusion.packing
func.func @shared_weight(%x: tensor<512x512xf32>, %w: tensor<500x512xf32>) -> tensor<512x500xf32> {
  %0 = spacemap.graph dims [m = 512, n = 500, k = 512]
      ins(%a = %x, %b = %w : tensor<512x512xf32>, tensor<500x512xf32>) blocks [m = 64, n = 128] {
    %1 = spacemap.source %a [m, k] : tensor<512x512xf32> -> !spacemap.space<[m, k], f32>
    %2 = spacemap.source %b [n, k] : tensor<500x512xf32> -> !spacemap.space<[n, k], f32>
    %3 = spacemap.one_to_all %1 along [n] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, n, k], f32>
    %4 = spacemap.one_to_all %2 along [m] : !spacemap.space<[n, k], f32> -> !spacemap.space<[m, n, k], f32>
    %5 = spacemap.map (%p = %3, %q = %4 : !spacemap.space<[m, n, k], f32>, !spacemap.space<[m, n, k], f32>) {
      %7 = arith.mulf %p, %q : f32
      spacemap.yield %7 : f32
    } -> !spacemap.space<[m, n, k], f32>
    %6 = spacemap.all_to_one %5 along [k] sum : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
    spacemap.output %6 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<512x500xf32>
  return %0 : tensor<512x500xf32>
}

// Two rows of blocks share a small weight: a loop of its own would cost more than it saves.
// CHECK-LABEL: func.func @small(
// CHECK-NOT:     fusion.packing
// CHECK:         linalg.transpose
// CHECK-NOT:     fusion.packing
// CHECK:         return
func.func @small(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = spacemap.graph dims [m = 64, n = 64, k = 64]
      ins(%a = %x, %b = %w : tensor<64x64xf32>, tensor<64x64xf32>) blocks [m = 32, n = 64] {
    %1 = spacemap.source %a [m, k] : tensor<64x64xf32> -> !spacemap.space<[m, k], f32>
    %2 = spacemap.source %b [n, k] : tensor<64x64xf32> -> !spacemap.space<[n, k], f32>
    %3 = spacemap.one_to_all %1 along [n] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, n, k], f32>
    %4 = spacemap.one_to_all %2 along [m] : !spacemap.space<[n, k], f32> -> !spacemap.space<[m, n, k], f32>
    %5 = spacemap.map (%p = %3, %q = %4 : !spacemap.space<[m, n, k], f32>, !spacemap.space<[m, n, k], f32>) {
      %7 = arith.mulf %p, %q : f32
      spacemap.yield %7 : f32
    } -> !spacemap.space<[m, n, k], f32>
    %6 = spacemap.all_to_one %5 along [k] sum : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
    spacemap.output %6 [m, n] : !spacemap.space<[m, n], f32>
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
