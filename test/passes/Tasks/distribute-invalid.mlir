// RUN: fusion-opt --dist-distribute=domain=2,2 --split-input-file --verify-diagnostics %s

func.func @dynamic(%x: tensor<?xf64>) -> tensor<?xf64> {
  // expected-error @+1 {{'linalg.exp' op cannot be distributed: a store has static extents, and here is a 'tensor<?xf64>'}}
  %0 = linalg.exp ins(%x : tensor<?xf64>) outs(%x : tensor<?xf64>) -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// -----

func.func @operation(%x: tensor<4xf64>) -> tensor<2x2xf64> {
  // expected-error @+1 {{'tensor.expand_shape' op cannot be distributed; there are linalg operations, and tensor.empty, extract_slice and insert_slice without strides}}
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}

// -----

func.func @rank(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @+1 {{'linalg.exp' op has 'dist.dims' of 1 loops; it needs one for each of the 2 dimensions of the launch domain, or -1}}
  %0 = linalg.exp {dist.dims = array<i64: 0>} ins(%x : tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

func.func @loop(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @+1 {{'linalg.exp' op has 'dist.dims' with 2, but there are 2 loops}}
  %0 = linalg.exp {dist.dims = array<i64: 0, 2>} ins(%x : tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

func.func @twice(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @+1 {{'linalg.exp' op has loop 1 in 'dist.dims' twice}}
  %0 = linalg.exp {dist.dims = array<i64: 1, 1>} ins(%x : tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

func.func @left(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @+1 {{'linalg.exp' op leaves dimension 1 of the launch domain without a loop, so its points would do the same}}
  %0 = linalg.exp {dist.dims = array<i64: 0, -1>} ins(%x : tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

func.func @index(%x: tensor<4x4xindex>) -> tensor<4x4xindex> {
  // expected-error @+1 {{'linalg.generic' op cannot be cut along the loops of 'dist.dims': the body uses its index}}
  %0 = linalg.generic {dist.dims = array<i64: 0, 1>, indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%x : tensor<4x4xindex>) {
  ^bb0(%old: index):
    %1 = linalg.index 0 : index
    linalg.yield %1 : index
  } -> tensor<4x4xindex>
  return %0 : tensor<4x4xindex>
}

// -----

func.func @host(%x: tensor<4x4xf64>, %a: f64) -> tensor<4x4xf64> {
  // expected-error @+1 {{'linalg.generic' op cannot be distributed: its body uses a value of the host program that is no constant}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%x : tensor<4x4xf64>) {
  ^bb0(%old: f64):
    %1 = arith.addf %old, %a : f64
    linalg.yield %1 : f64
  } -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

// expected-error @+1 {{'func.func' op needs a launch domain with extents of at least 1}}
func.func @domain(%x: tensor<4xf64>) -> tensor<4xf64> attributes {dist.domain = array<i64: 0>} {
  return %x : tensor<4xf64>
}
