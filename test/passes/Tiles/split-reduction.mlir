// RUN: fusion-opt %s --fusion-to-tiles="threads=2" | FileCheck %s
// RUN: fusion-opt %s --fusion-to-spaces="threads=2" | FileCheck %s --check-prefix=SPACES
// RUN: fusion-run %s --entry=step --target=reference --stage=fusion-to-spaces --input=200000xf64=random:1 --input=200000xf64=random:2 --input=f64=value:0.5 --expected=reference --rtol=1e-12
// RUN: fusion-run %s --entry=step --target=reference --stage=fusion-to-tiles --input=200000xf64=random:1 --input=200000xf64=random:2 --input=f64=value:0.5 --expected=reference --rtol=1e-12
// RUN: fusion-run %s --entry=step --threads=2 --input=200000xf64=random:1 --input=200000xf64=random:2 --input=f64=value:0.5 --expected=reference --rtol=1e-12
// RUN: fusion-run %s --entry=extremes --threads=2 --input=300x200xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=dynamic --threads=2 --input=40001xf64=random:1 --expected=reference --rtol=1e-12
// RUN: fusion-run %s --entry=dynamic --threads=2 --input=3xf64=random:1 --expected=reference --rtol=1e-12
// RUN: fusion-run %s --entry=dynamic --threads=2 --input=0xf64=random:1 --expected=reference

#id = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

// A step of conjugate gradients: the new residual and its square, in one pass over blocks. Each block leaves a partial sum; an
// operation behind the grid adds them in the order of the blocks, however many threads there are.
// SPACES-LABEL: func.func @step(
// SPACES:         blocks [{{.*}} = 16384]
// CHECK-LABEL: func.func @step(
// CHECK:         %[[R:.*]]:2 = scf.forall (%[[I:.*]]) = (0) to (200000) step (16384) {{.*}} -> (tensor<200000xf64>, tensor<13xf64>)
// CHECK:           linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:           tensor.parallel_insert_slice {{.*}} : tensor<f64> into tensor<13xf64>
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[R]]#1 : tensor<13xf64>) outs({{.*}} : tensor<f64>) attrs = {{.*}}fusion.combine}
func.func @step(%r: tensor<200000xf64>, %q: tensor<200000xf64>, %a: tensor<f64>) -> (tensor<200000xf64>, tensor<f64>) {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<200000xf64>
  %s = tensor.empty() : tensor<f64>
  %r1 = linalg.generic {indexing_maps = [#scalar, #id, #id, #id], iterator_types = ["parallel"]} ins(%a, %q, %r : tensor<f64>, tensor<200000xf64>, tensor<200000xf64>) outs(%e : tensor<200000xf64>) {
  ^bb0(%i: f64, %j: f64, %k: f64, %o: f64):
    %0 = arith.mulf %i, %j : f64
    %1 = arith.subf %k, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<200000xf64>
  %f = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %d = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%r1 : tensor<200000xf64>) outs(%f : tensor<f64>) {
  ^bb0(%i: f64, %o: f64):
    %0 = arith.mulf %i, %i : f64
    %1 = arith.addf %o, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  return %r1, %d : tensor<200000xf64>, tensor<f64>
}

// Both dimensions are reduced; the outer one is cut.
// CHECK-LABEL: func.func @extremes(
// CHECK:         scf.forall ({{.*}}) = (0) to (300) step (82)
// CHECK:         linalg.generic {{.*}} attrs = {{.*}}fusion.combine}
// CHECK:           arith.maximumf
func.func @extremes(%x: tensor<300x200xf32>) -> tensor<f32> {
  %low = arith.constant 0xFF800000 : f32
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<300x200xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %0 : tensor<f32>
}

// How many partial results there are is known at run time.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         scf.forall ({{.*}}) = (0) to (%{{.*}}) step (16384) {{.*}} -> (tensor<?xf64>)
// CHECK:         linalg.generic {{.*}} ins({{.*}} : tensor<?xf64>) {{.*}} attrs = {{.*}}fusion.combine}
func.func @dynamic(%x: tensor<?xf64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %s = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?xf64>) outs(%f : tensor<f64>) dimensions = [0]
  return %0 : tensor<f64>
}

// The result of the first reduction is read by every block: nothing to cut.
// CHECK-LABEL: func.func @softmax(
// CHECK-NOT:     fusion.combine
// CHECK:         return
func.func @softmax(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.softmax dimension(0) ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
