// Graphs as Graphviz: before slicing and after it, and several graphs with an opaque operation between them.

// RUN: fusion-opt %s --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-print-graph -o /dev/null 2>&1 | FileCheck %s
// RUN: fusion-opt %s --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-slice="target=v100 block-sizes=d0=2 temporal-dim=d1=8" \
// RUN:   --spacemap-print-graph=file=%t.dot | FileCheck %s --check-prefix=IR
// RUN: FileCheck %s --check-prefix=SLICED < %t.dot
// The program is printed as it was, and the picture is the same each time.
// IR: func.func @main
// RUN: fusion-opt %s --fusion-generalize --spacemap-build --canonicalize --cse --spacemap-merge-dims --spacemap-slice="target=v100 block-sizes=d0=2 temporal-dim=d1=8" \
// RUN:   --spacemap-print-graph=file=%t.again.dot -o /dev/null
// RUN: diff %t.dot %t.again.dot
// RUN: not fusion-opt %s --spacemap-print-graph=file=%t.none/x.dot -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: cannot write '{{.*}}.none/x.dot': No such file or directory

// CHECK: digraph spacemap {
// CHECK: subgraph cluster0 {
// CHECK-NEXT: label="main_kernel0\ld0 = 8, d1 = 64, d2 = 16\l";
// CHECK-DAG: [[A:n[0-9]+]] [label="input 0\n[d0, d2] f32"{{.*}}, tooltip="print-graph.mlir:
// CHECK-DAG: [[B:n[0-9]+]] [label="input 1\n[d1, d2] f32"
// CHECK-DAG: [[P:n[0-9]+]] [label="iteration space\n[d0, d1, d2] f32", shape=box3d
// CHECK-DAG: [[S:n[0-9]+]] [label="sum\n[d0, d1] f32"
// CHECK-DAG: [[M:n[0-9]+]] [label="max\n[d0] f32"
// CHECK-DAG: [[D:n[0-9]+]] [label="subf\n[d0, d1] f32"
// CHECK-DAG: [[E:n[0-9]+]] [label="exp\n[d0, d1] f32"
// CHECK-DAG: [[T:n[0-9]+]] [label="sum\n[d0] f32"
// CHECK: [[O:n[0-9]+]] [label="output\ntensor<8xf32>", shape=cylinder
// CHECK-NEXT: }
// CHECK: [[X:n[0-9]+]] [label="argument 0\ntensor<8x16xf32>", shape=cylinder
// CHECK: [[R:n[0-9]+]] [label="result 0\ntensor<8xf32>"
// CHECK-DAG: [[A]] -> [[P]] [color="#b0413e", fontcolor="#b0413e", label="O2A(d1)"];
// CHECK-DAG: [[B]] -> [[P]] [{{.*}} label="O2A(d0)"];
// CHECK-DAG: [[P]] -> [[S]] [color="#2f6f9f", fontcolor="#2f6f9f", label="A2O(d2, sum)"];
// CHECK-DAG: [[S]] -> [[M]] [{{.*}} label="A2O(d1, max)"];
// CHECK-DAG: [[M]] -> [[D]] [{{.*}} label="O2A(d1)"];
// CHECK-DAG: [[S]] -> [[D]] [color="#555555", fontcolor="#555555", label="O2O"];
// CHECK-DAG: [[D]] -> [[E]] [{{.*}} label="O2O"];
// CHECK-DAG: [[E]] -> [[T]] [{{.*}} label="A2O(d1, sum)"];
// CHECK-DAG: [[X]] -> [[A]]
// CHECK-DAG: [[O]] -> [[R]]
// CHECK: }

// SLICED: label="main_kernel0\ld0 = 8, d1 = 64, d2 = 16\lblocks of d0 by 2\l"
// SLICED: [[INF:n[0-9]+]] [label="constant -Inf\n[] f32", shape=ellipse
// SLICED: subgraph cluster1 {
// SLICED-NEXT: label="serial loop along d1, 8 at a time";
// SLICED-DAG: [[MAX:n[0-9]+]] [label="state 0\n[d0] f32"
// SLICED-DAG: [[SUM:n[0-9]+]] [label="state 1\n[d0] f32"
// SLICED-DAG: [[NEWMAX:n[0-9]+]] [label="maximumf\n[d0] f32"
// SLICED-DAG: [[NEWSUM:n[0-9]+]] [label="mulf, addf\n[d0] f32"
// SLICED: output
// SLICED-DAG: [[INF]] -> [[MAX]] [{{.*}} label="O2A(d0)"];
// SLICED-DAG: [[MAX]] -> [[NEWMAX]] [{{.*}} label="O2O"];
// SLICED-DAG: [[NEWMAX]] -> [[MAX]] [{{.*}} label="next", style=dashed, constraint=false];
// SLICED-DAG: [[NEWSUM]] -> [[SUM]] [{{.*}} label="next"
func.func @main(%q: tensor<8x16xf32>, %k: tensor<64x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.empty() : tensor<8x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%v : tensor<8x64xf32>) -> tensor<8x64xf32>
  %t = tensor.empty() : tensor<16x64xf32>
  %kt = linalg.transpose ins(%k : tensor<64x16xf32>) outs(%t : tensor<16x64xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%q, %kt : tensor<8x16xf32>, tensor<16x64xf32>) outs(%f2 : tensor<8x64xf32>) -> tensor<8x64xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%s : tensor<8x64xf32>) outs(%f0 : tensor<8xf32>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<8xf32>) outs(%v : tensor<8x64xf32>) dimensions = [1]
  %2 = linalg.sub ins(%s, %1 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%v : tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = linalg.exp ins(%2 : tensor<8x64xf32>) outs(%v : tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = linalg.reduce { arith.addf } ins(%3 : tensor<8x64xf32>) outs(%f1 : tensor<8xf32>) dimensions = [1]
  return %4 : tensor<8xf32>
}
