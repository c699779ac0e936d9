// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-gpu-distribute
// RUN: not fusion-opt %s --split-input-file --fusion-gpu-distribute=chip=gtx 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'gtx'

#id = affine_map<(d0) -> (d0)>

func.func @no_layout(%x: tensor<32xf32>) -> tensor<32xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<32xf32> {
    // expected-error@+1 {{has no layout: run fusion-gpu-assign-layouts first}}
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%x : tensor<32xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @bad_layout(%x: tensor<32xf32>) -> tensor<32xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<32xf32> {
    // expected-error@+1 {{'regs[0.7]' is no layout of its 1 loops}}
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%x : tensor<32xf32>) attrs = {fusion.layout = "regs[0.7]"} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @warps(%x: tensor<32xf32>) -> tensor<32xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<32xf32> {
    // expected-error@+1 {{has a layout of 2 warps in a kernel of 1}}
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<32xf32>) outs(%x : tensor<32xf32>)
        attrs = {fusion.layout = "regs[] lanes[0.0 0.1 0.2 0.3 0.4] warps[-] x[1]"} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

func.func @combiner(%x: tensor<32xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> tensor<f32> {
    // expected-error@+1 {{reduces by a function for which there is no GPU code: accepted are one addition, multiplication, minimum, maximum or bitwise operation}}
    %y = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<32xf32>) outs(%e : tensor<f32>)
        attrs = {fusion.layout = "regs[] lanes[0.0 0.1 0.2 0.3 0.4] warps[] x[1]"} {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[] [] [] : tensor<f32> into tensor<f32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<f32>
}

// -----

func.func @unknown(%x: tensor<32xf32>) -> tensor<32xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<32xf32> {
    // expected-error@+1 {{has no GPU code within a kernel: accepted are linalg operations, slices, loops and scalar operations}}
    %y = tensor.generate {
    ^bb0(%j: index):
      %c = arith.constant 0.0 : f32
      tensor.yield %c : f32
    } : tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

func.func @step(%x: tensor<64xf32>) -> tensor<32xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> tensor<32xf32> {
    // expected-error@+1 {{has a step other than 1, for which there is no GPU code}}
    %y = tensor.extract_slice %x[0] [32] [2] : tensor<64xf32> to tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

// expected-error@+1 {{elements of type 'complex<f32>' cannot be passed to a GPU kernel: accepted are integers, index and floats}}
func.func @complex(%x: tensor<32xcomplex<f32>>) -> tensor<32xcomplex<f32>> {
  %e = tensor.empty() : tensor<32xcomplex<f32>>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> tensor<32xcomplex<f32>> {
    %y = tensor.extract_slice %x[0] [32] [1] : tensor<32xcomplex<f32>> to tensor<32xcomplex<f32>>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [32] [1] : tensor<32xcomplex<f32>> into tensor<32xcomplex<f32>>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xcomplex<f32>>
}
