// Each graph is a cluster; what connects them is drawn between the clusters, opaque operations dashed.

// RUN: fusion-opt %s --fusion-generalize --spacemap-build --spacemap-print-graph -o /dev/null 2>&1 | FileCheck %s
// Graphviz reads it, where there is Graphviz.
// RUN: fusion-opt %s --fusion-generalize --spacemap-build --spacemap-print-graph=file=%t.dot -o /dev/null
// RUN: %python -c "import shutil, subprocess, sys; dot = shutil.which('dot'); sys.exit(dot and subprocess.call([dot, '-Tsvg', sys.argv[1], '-o', sys.argv[2]]) or 0)" %t.dot %t.svg

// CHECK: label="main_kernel0\ld0 = ?\l"
// CHECK: [[EXP:n[0-9]+]] [label="exp\n[d0] f32"
// CHECK: [[OUT0:n[0-9]+]] [label="output\ntensor<?xf32>"
// CHECK: label="main_kernel1\ld0 = ?\l"
// CHECK: [[IN:n[0-9]+]] [label="input 0\n[d0] f32"
// CHECK: [[NEG:n[0-9]+]] [label="negf\n[d0] f32"
// CHECK: [[OUT1:n[0-9]+]] [label="output\ntensor<?xf32>"
// CHECK: [[CAT:n[0-9]+]] [label="tensor.concat\ntensor<?xf32>", style="dashed,filled"
// CHECK: label="scalar_kernel0\l";
// CHECK: [[OUT0]] -> [[CAT]]
// CHECK: [[CAT]] -> [[IN]]
// CHECK: [[OUT1]] -> n
func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.concat dim(0) %0, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.negf ins(%1 : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.exp ins(%x : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
