// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-gpu-assign-layouts

#id = affine_map<(d0) -> (d0)>

func.func @unbounded(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> tensor<?xf32> {
    // expected-error@+1 {{extent 0 of a tile has no constant bound: a kernel's tiles must fit into the registers of a block}}
    %in = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%in : tensor<?xf32>) outs(%in : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    }
  } {fusion.kernel = "k", mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<?xf32>
}
