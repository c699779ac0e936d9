// An online softmax by hand: attention in tiles with ragged edges in both dimensions. The running maximum, sum and output are
// updated in place: the correction of the old state is computed before the state is updated. Nothing is allocated or
// copied in the temporal loop, and the result is computed in its place.

// RUN: fusion-opt %s --fusion-cpu-bufferize | FileCheck %s --implicit-check-not=memref.copy --implicit-check-not=memref.alloc

// CHECK-LABEL: func @fusion.main
// CHECK: %[[RESULT:.*]] = memref.alloc() {{.*}} : memref<2x100x64xf32>
// CHECK-NEXT: scf.forall
// CHECK: %[[MAX:.*]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK: %[[SUM:.*]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK: %[[SCORES:.*]] = memref.alloc() {{.*}} : memref<32x48xf32>
// CHECK: %[[TILE_MAX:.*]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK: %[[CORRECTION:.*]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c100 step %c48 {
// CHECK-COUNT-5: memref.dealloc
// CHECK-NOT: memref.dealloc
// CHECK: return %[[RESULT]]

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#minm = affine_map<(d0) -> (32, 100 - d0)>
#minl = affine_map<(d0) -> (48, 100 - d0)>
module {
  func.func @main(%q: tensor<2x100x64xf32>, %k: tensor<2x100x64xf32>, %v: tensor<2x100x64xf32>) -> tensor<2x100x64xf32> {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %c100 = arith.constant 100 : index
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant 0.125 : f32
    %init = tensor.empty() : tensor<2x100x64xf32>
    %res = scf.forall (%b, %m) = (0, 0) to (2, 100) step (1, 32) shared_outs(%o = %init) -> (tensor<2x100x64xf32>) {
      %ms = affine.min #minm(%m)
      %qt = tensor.extract_slice %q[%b, %m, 0] [1, %ms, 64] [1, 1, 1] : tensor<2x100x64xf32> to tensor<?x64xf32>
      %ot = tensor.extract_slice %o[%b, %m, 0] [1, %ms, 64] [1, 1, 1] : tensor<2x100x64xf32> to tensor<?x64xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%ot : tensor<?x64xf32>) -> tensor<?x64xf32>
      %me = tensor.empty() : tensor<32xf32>
      %mes = tensor.extract_slice %me[0] [%ms] [1] : tensor<32xf32> to tensor<?xf32>
      %m0 = linalg.fill ins(%ninf : f32) outs(%mes : tensor<?xf32>) -> tensor<?xf32>
      %se = tensor.empty() : tensor<32xf32>
      %ses = tensor.extract_slice %se[0] [%ms] [1] : tensor<32xf32> to tensor<?xf32>
      %s0 = linalg.fill ins(%zero : f32) outs(%ses : tensor<?xf32>) -> tensor<?xf32>
      %r:3 = scf.for %l = %c0 to %c100 step %c48 iter_args(%mx = %m0, %sum = %s0, %acc = %acc0) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x64xf32>) {
        %ls = affine.min #minl(%l)
        %kt = tensor.extract_slice %k[%b, %l, 0] [1, %ls, 64] [1, 1, 1] : tensor<2x100x64xf32> to tensor<?x64xf32>
        %vt = tensor.extract_slice %v[%b, %l, 0] [1, %ls, 64] [1, 1, 1] : tensor<2x100x64xf32> to tensor<?x64xf32>
        %qke = tensor.empty() : tensor<32x48xf32>
        %qks = tensor.extract_slice %qke[0, 0] [%ms, %ls] [1, 1] : tensor<32x48xf32> to tensor<?x?xf32>
        %qk0 = linalg.fill ins(%zero : f32) outs(%qks : tensor<?x?xf32>) -> tensor<?x?xf32>
        %qk = linalg.generic {indexing_maps = [affine_map<(m,l,k)->(m,k)>, affine_map<(m,l,k)->(l,k)>, affine_map<(m,l,k)->(m,l)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%qt, %kt : tensor<?x64xf32>, tensor<?x64xf32>) outs(%qk0 : tensor<?x?xf32>) {
        ^bb0(%a: f32, %bb: f32, %c: f32):
          %x = arith.mulf %a, %bb : f32
          %y = arith.addf %x, %c : f32
          linalg.yield %y : f32
        } -> tensor<?x?xf32>
        %sc = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%qk : tensor<?x?xf32>) {
        ^bb0(%c: f32):
          %x = arith.mulf %c, %scale : f32
          linalg.yield %x : f32
        } -> tensor<?x?xf32>
        // tile max
        %tme = tensor.empty() : tensor<32xf32>
        %tms = tensor.extract_slice %tme[0] [%ms] [1] : tensor<32xf32> to tensor<?xf32>
        %tm0 = linalg.fill ins(%ninf : f32) outs(%tms : tensor<?xf32>) -> tensor<?xf32>
        %tm = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%sc : tensor<?x?xf32>) outs(%tm0 : tensor<?xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.maximumf %a, %c : f32
          linalg.yield %x : f32
        } -> tensor<?xf32>
        // correction first: it reads the old max
        %coe = tensor.empty() : tensor<32xf32>
        %cos = tensor.extract_slice %coe[0] [%ms] [1] : tensor<32xf32> to tensor<?xf32>
        %corr = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%mx, %tm : tensor<?xf32>, tensor<?xf32>) outs(%cos : tensor<?xf32>) {
        ^bb0(%a: f32, %b1: f32, %c: f32):
          %x = arith.maximumf %a, %b1 : f32
          %y = arith.subf %a, %x : f32
          %z = math.exp %y : f32
          linalg.yield %z : f32
        } -> tensor<?xf32>
        %mn = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%tm : tensor<?xf32>) outs(%mx : tensor<?xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.maximumf %a, %c : f32
          linalg.yield %x : f32
        } -> tensor<?xf32>
        %p = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]} ins(%mn : tensor<?xf32>) outs(%sc : tensor<?x?xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.subf %c, %a : f32
          %y = math.exp %x : f32
          linalg.yield %y : f32
        } -> tensor<?x?xf32>
        %sumc = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%corr : tensor<?xf32>) outs(%sum : tensor<?xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.mulf %a, %c : f32
          linalg.yield %x : f32
        } -> tensor<?xf32>
        %sumn = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<?x?xf32>) outs(%sumc : tensor<?xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.addf %a, %c : f32
          linalg.yield %x : f32
        } -> tensor<?xf32>
        %accc = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]} ins(%corr : tensor<?xf32>) outs(%acc : tensor<?x64xf32>) {
        ^bb0(%a: f32, %c: f32):
          %x = arith.mulf %a, %c : f32
          linalg.yield %x : f32
        } -> tensor<?x64xf32>
        %accn = linalg.generic {indexing_maps = [affine_map<(m,n,l)->(m,l)>, affine_map<(m,n,l)->(l,n)>, affine_map<(m,n,l)->(m,n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %vt : tensor<?x?xf32>, tensor<?x64xf32>) outs(%accc : tensor<?x64xf32>) {
        ^bb0(%a: f32, %bb: f32, %c: f32):
          %x = arith.mulf %a, %bb : f32
          %y = arith.addf %x, %c : f32
          linalg.yield %y : f32
        } -> tensor<?x64xf32>
        scf.yield %mn, %sumn, %accn : tensor<?xf32>, tensor<?xf32>, tensor<?x64xf32>
      }
      %fin = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]} ins(%r#1 : tensor<?xf32>) outs(%r#2 : tensor<?x64xf32>) {
      ^bb0(%a: f32, %c: f32):
        %x = arith.divf %c, %a : f32
        linalg.yield %x : f32
      } -> tensor<?x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %fin into %o[%b, %m, 0] [1, %ms, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<2x100x64xf32>
      }
    } {fusion.kernel = "attention"}
    return %res : tensor<2x100x64xf32>
  }
}
