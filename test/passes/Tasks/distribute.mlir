// RUN: fusion-opt --dist-distribute=domain=4 %s | FileCheck %s
// The distributed program computes the same, before and after fusion.
// RUN: fusion-run --target=reference %s --input=10x6xf64=random:1 --input=6x5xf64=random:2 --output=@%t.0.npy --output=@%t.1.npy --output=@%t.2.npy --output=@%t.3.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-distribute{domain=4})' --input=10x6xf64=random:1 --input=6x5xf64=random:2 --expected=@%t.0.npy --expected=@%t.1.npy --expected=@%t.2.npy --expected=@%t.3.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-distribute{domain=4},dist-fuse,dist-eliminate-dead-stores)' --input=10x6xf64=random:1 --input=6x5xf64=random:2 --expected=@%t.0.npy --expected=@%t.1.npy --expected=@%t.2.npy --expected=@%t.3.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-distribute{domain=3},dist-fuse,dist-eliminate-dead-stores)' --input=10x6xf64=random:1 --input=6x5xf64=random:2 --expected=@%t.0.npy --expected=@%t.1.npy --expected=@%t.2.npy --expected=@%t.3.npy
// RUN: fusion-run --target=reference %s --stage='builtin.module(dist-distribute{domain=1},dist-fuse)' --input=10x6xf64=random:1 --input=6x5xf64=random:2 --expected=@%t.0.npy --expected=@%t.1.npy --expected=@%t.2.npy --expected=@%t.3.npy

// CHECK-DAG: #[[$ROWS:.*]] = #dist.tiled<[3, 5] offset [0, 0] extent [10, 5] by (d0) -> (d0, 0)>
// CHECK-DAG: #[[$A:.*]] = #dist.tiled<[3, 6] offset [0, 0] extent [10, 6] by (d0) -> (d0, 0)>
// CHECK-DAG: #[[$COLUMNS:.*]] = #dist.tiled<[10, 2] offset [0, 0] extent [10, 5] by (d0) -> (0, d0)>
// CHECK-DAG: #[[$B:.*]] = #dist.tiled<[6, 2] offset [0, 0] extent [6, 5] by (d0) -> (0, d0)>
// CHECK-DAG: #[[$AK:.*]] = #dist.tiled<[10, 2] offset [0, 0] extent [10, 6] by (d0) -> (0, d0)>
// CHECK-DAG: #[[$BK:.*]] = #dist.tiled<[2, 5] offset [0, 0] extent [6, 5] by (d0) -> (d0, 0)>
// CHECK-DAG: #[[$ABOVE:.*]] = #dist.tiled<[2, 6] offset [0, 0] extent [8, 6] by (d0) -> (d0, 0)>
// CHECK-DAG: #[[$BELOW:.*]] = #dist.tiled<[2, 6] offset [2, 0] extent [8, 6] by (d0) -> (d0, 0)>

// CHECK: dist.task private @main_matmul(%{{.*}}: tensor<?x6xf64> read, %{{.*}}: tensor<6x5xf64> read, %{{.*}}: tensor<?x5xf64> read_write)
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<10x6xf64>, %b: tensor<6x5xf64>) -> (tensor<10x5xf64>, tensor<10x5xf64>, tensor<8x6xf64>, tensor<f64>) {
  // CHECK-DAG: %[[SA:.*]] = dist.from_tensor %arg0
  // CHECK-DAG: %[[SB:.*]] = dist.from_tensor %arg1
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<10x5xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<10x5xf64>) -> tensor<10x5xf64>
  // By rows.
  // CHECK: dist.launch @main_matmul on [4] (%[[SA]] read #[[$A]], %[[SB]] read #dist.none, %[[C:.*]] read_write #[[$ROWS]])
  %c = linalg.matmul ins(%a, %b : tensor<10x6xf64>, tensor<6x5xf64>) outs(%init : tensor<10x5xf64>) -> tensor<10x5xf64>
  // By columns.
  // CHECK: dist.launch @main_matmul_0 on [4] (%[[SA]] read #dist.none, %[[SB]] read #[[$B]], %{{.*}} read_write #[[$COLUMNS]])
  %d = linalg.matmul {dist.dims = array<i64: 1>} ins(%a, %b : tensor<10x6xf64>, tensor<6x5xf64>) outs(%c : tensor<10x5xf64>) -> tensor<10x5xf64>
  // Along the sum.
  // CHECK: dist.launch @main_matmul_1 on [4] (%[[SA]] read #[[$AK]], %[[SB]] read #[[$BK]], %{{.*}} reduce<sum> #dist.none)
  %e = linalg.matmul {dist.dims = array<i64: 2>} ins(%a, %b : tensor<10x6xf64>, tensor<6x5xf64>) outs(%d : tensor<10x5xf64>) -> tensor<10x5xf64>
  // A row is broadcast.
  %row = tensor.extract_slice %b [2, 0] [1, 5] [1, 1] : tensor<6x5xf64> to tensor<1x5xf64>
  // CHECK: dist.launch @main_generic on [4] (%{{.*}} read #[[$ROWS]], %[[SB]] read #{{.*}}, %{{.*}} write #[[$ROWS]])
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %row : tensor<10x5xf64>, tensor<1x5xf64>) outs(%empty : tensor<10x5xf64>) {
  ^bb0(%x: f64, %y: f64, %old: f64):
    %0 = arith.mulf %x, %y : f64
    linalg.yield %0 : f64
  } -> tensor<10x5xf64>
  // A stencil.
  %above = tensor.extract_slice %a [0, 0] [8, 6] [1, 1] : tensor<10x6xf64> to tensor<8x6xf64>
  %below = tensor.extract_slice %a [2, 0] [8, 6] [1, 1] : tensor<10x6xf64> to tensor<8x6xf64>
  %empty8 = tensor.empty() : tensor<8x6xf64>
  // CHECK: dist.launch @main_sub on [4] (%[[SA]] read #[[$ABOVE]], %[[SA]] read #[[$BELOW]], %{{.*}} write #[[$ABOVE]])
  %g = linalg.sub ins(%above, %below : tensor<8x6xf64>, tensor<8x6xf64>) outs(%empty8 : tensor<8x6xf64>) -> tensor<8x6xf64>
  // Part of a tensor is replaced.
  %two = tensor.extract_slice %g [1, 1] [2, 2] [1, 1] : tensor<8x6xf64> to tensor<2x2xf64>
  // CHECK: dist.copy
  // CHECK: dist.copy
  %h = tensor.insert_slice %two into %g [5, 3] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<8x6xf64>
  // All of it is reduced.
  %emptySum = tensor.empty() : tensor<f64>
  %initSum = linalg.fill ins(%zero : f64) outs(%emptySum : tensor<f64>) -> tensor<f64>
  // CHECK: dist.launch @main_reduce on [4] (%{{.*}} read #{{.*}}, %{{.*}} reduce<sum> #dist.none)
  %sum = linalg.reduce ins(%f : tensor<10x5xf64>) outs(%initSum : tensor<f64>) dimensions = [0, 1]
    (%in: f64, %old: f64) {
      %0 = arith.addf %in, %old : f64
      linalg.yield %0 : f64
    }
  // CHECK: dist.to_tensor
  return %c, %f, %h, %sum : tensor<10x5xf64>, tensor<10x5xf64>, tensor<8x6xf64>, tensor<f64>
}
