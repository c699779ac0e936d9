// RUN: fusion-run --target=reference %s --entry=named --input=iota --input=iota | FileCheck %s --check-prefix=NAMED
// RUN: fusion-run --target=reference %s --entry=argmax --input=iota | FileCheck %s --check-prefix=ARGMAX
// RUN: fusion-run --target=reference %s --entry=maps --input=iota | FileCheck %s --check-prefix=MAPS
// RUN: fusion-run --target=reference %s --entry=softmax --input=iota | FileCheck %s --check-prefix=SOFTMAX
// RUN: fusion-run --target=reference %s --entry=pack --input=iota | FileCheck %s --check-prefix=PACK
// RUN: fusion-run --target=reference %s --entry=walked --input=iota | FileCheck %s --check-prefix=WALKED
// RUN: fusion-run --target=reference %s --entry=half --input=ones | FileCheck %s --check-prefix=HALF

// NAMED: result 0: 2x2xf32 = [10, 13, 28, 40]
// NAMED-NEXT: result 1: 2xf32 = [3, 12]
// NAMED-NEXT: result 2: 3x2xf32 = [0, 0, 1, 1, 2, 2]
// NAMED-NEXT: result 3: 2x3xf32 = [0, 1, 4, 9, 16, 25]
func.func @named(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>)
    -> (tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%f1 : tensor<2xf32>) dimensions = [1]
  %row = tensor.extract_slice %a[0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %e2 = tensor.empty() : tensor<3x2xf32>
  %bc = linalg.broadcast ins(%row : tensor<3xf32>) outs(%e2 : tensor<3x2xf32>) dimensions = [1]
  %e3 = tensor.empty() : tensor<2x3xf32>
  %sq = linalg.map { arith.mulf } ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e3 : tensor<2x3xf32>)
  return %m, %r, %bc, %sq : tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}

// Of equal values the first wins.
// ARGMAX: result 0: 2xf32 = [3, 7]
// ARGMAX-NEXT: result 1: 2xi64 = [3, 3]
func.func @argmax(%a: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %ninf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<2xf32>
  %e1 = tensor.empty() : tensor<2xi64>
  %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
  %f1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<2xi64>) -> tensor<2xi64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x4xf32>) outs(%f0, %f1 : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %i = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %m = arith.maximumf %in, %best : f32
    %g = arith.cmpf ogt, %in, %best : f32
    %s = arith.select %g, %ii, %at : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xi64>
}

// A window, a division in a map, and an output that several points write.
// MAPS: result 0: 3xf32 = [3, 6, 9]
// MAPS-NEXT: result 1: 6xf32 = [0, 0, 1, 1, 2, 2]
// MAPS-NEXT: result 2: 2xf32 = [6, 4]
func.func @maps(%a: tensor<5xf32>) -> (tensor<3xf32>, tensor<6xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %k = arith.constant dense<1.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %c = linalg.conv_1d ins(%a, %k : tensor<5xf32>, tensor<3xf32>) outs(%f : tensor<3xf32>) -> tensor<3xf32>
  %e6 = tensor.empty() : tensor<6xf32>
  %twice = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<5xf32>) outs(%e6 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6xf32>
  %e2 = tensor.empty() : tensor<2xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %mod = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i mod 2)>], iterator_types = ["reduction"]}
      ins(%a : tensor<5xf32>) outs(%f2 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %c, %twice, %mod : tensor<3xf32>, tensor<6xf32>, tensor<2xf32>
}

// SOFTMAX: result 0: 2x2xf32 = [0.2689414, 0.7310586, 0.2689414, 0.7310586]
// SOFTMAX-NEXT: result 1: 2x2xf32 = [0.1192029, 0.1192029, 0.880797, 0.880797]
func.func @softmax(%a: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %e = tensor.empty() : tensor<2x2xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = linalg.softmax dimension(0) ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r, %c : tensor<2x2xf32>, tensor<2x2xf32>
}

// PACK: result 0: 2x2x2x2xf32 = [0, 3, 1, 4, 2, 5, -1, -1, 6, -1, 7, -1, 8, -1, -1, -1]
// PACK-NEXT: result 1: 3x3xf32 = [0, 1, 2, 3, 4, 5, 6, 7, 8]
func.func @pack(%a: tensor<3x3xf32>) -> (tensor<2x2x2x2xf32>, tensor<3x3xf32>) {
  %pad = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<2x2x2x2xf32>
  %p = linalg.pack %a padding_value(%pad : f32) inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %e
    : tensor<3x3xf32> -> tensor<2x2x2x2xf32>
  %e3 = tensor.empty() : tensor<3x3xf32>
  %u = linalg.unpack %p inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %e3
    : tensor<2x2x2x2xf32> -> tensor<3x3xf32>
  return %p, %u : tensor<2x2x2x2xf32>, tensor<3x3xf32>
}

// A body with control flow is walked.
// WALKED: result 0: 2x3xf32 = [0, 1, 2, 30, 40, 50]
func.func @walked(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %c0 = arith.constant 0 : index
  %ten = arith.constant 10.0 : f32
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %v = scf.if %first -> f32 {
      scf.yield %in : f32
    } else {
      %m = arith.mulf %in, %ten : f32
      scf.yield %m : f32
    }
    linalg.yield %v : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// A sum of f16 in f16 stops growing at 2048.
// HALF: result 0: f16 = [2048]
func.func @half(%a: tensor<3000xf16>) -> tensor<f16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<f16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<f16>) -> tensor<f16>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<3000xf16>) outs(%f : tensor<f16>) dimensions = [0]
  return %s : tensor<f16>
}
