// Fusion inside of a stock mlir-opt. Options of mlir-opt are parsed before plugins are loaded, so passes and pipelines are
// named in --pass-pipeline.
// REQUIRES: FusionPlugin

// RUN: mlir-opt-22 %s --load-dialect-plugin=%fusion_plugin | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%fusion_plugin --load-pass-plugin=%fusion_plugin \
// RUN:   --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s
// RUN: mlir-opt-22 %s --load-dialect-plugin=%fusion_plugin --load-pass-plugin=%fusion_plugin \
// RUN:   --pass-pipeline='builtin.module(func.func(spacemap-build))' | FileCheck %s --check-prefixes=CHECK,BUILD

// The same in fusion-opt, which has it all already, is no conflict.
// RUN: fusion-opt %s --load-dialect-plugin=%fusion_plugin --load-pass-plugin=%fusion_plugin --spacemap-build \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BUILD

// A plugin exports its two entry points and nothing else of ours.
// RUN: %llvm_tools/llvm-nm -D --defined-only --no-sort %fusion_plugin | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: fusion
// SYMBOLS-DAG: mlirGetDialectPluginInfo
// SYMBOLS-DAG: mlirGetPassPluginInfo

// CHECK-LABEL: func.func @graph(
func.func @graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: spacemap.graph dims [m = 4]
  %r = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %1 = spacemap.map (%p = %0 : !spacemap.space<[m], f32>) {
      %2 = math.exp %p : f32
      spacemap.yield %2 : f32
    } -> !spacemap.space<[m], f32>
    spacemap.output %1 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @linalg(
func.func @linalg(%x: tensor<4xf32>) -> tensor<4xf32> {
  // BUILD: spacemap.graph
  // BUILD-NOT: linalg.generic
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
       ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
