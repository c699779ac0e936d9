// Online softmax between two contractions: states for the maximum, the sum and the weighted rows; ragged in both
// directions, masked by coordinates.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize --one-shot-bufferize=bufferize-function-boundaries --canonicalize --cse --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: fusion-run %s --entry=attention --target=reference --stage=spacemap-to-tiles --input=50x16xf32=random:1 --input=37x16xf32=random:2 --input=37x24xf32=random:3 --expected=reference
// RUN: fusion-run %s --entry=attention --target=cpu --stage=spacemap-to-tiles --input=50x16xf32=random:1 --input=37x16xf32=random:2 --input=37x24xf32=random:3 --expected=reference

// CHECK-LABEL: func.func @attention
// CHECK: scf.forall (%[[M:.*]]) = (0) to (50) step (16) shared_outs
// Scratch of full static size, once per block.
// CHECK-DAG: tensor.empty() : tensor<16x24xf32>
// CHECK-DAG: tensor.empty() : tensor<16x8xf32>
// CHECK: scf.for %[[L:[^ ,]+]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[MAX:[^ ,]+]] = %{{.*}}, %[[SUM:[^ ,]+]] = %{{.*}}, %[[OUT:[^ ,]+]] = %{{.*}}) ->
// The keys are read along their rows, so they are packed first.
// CHECK: linalg.transpose
// CHECK: %[[QK:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// Scaling and mask overwrite the scores and give the row maximum in the same pass.
// CHECK: %[[MASKED:.*]]:2 = linalg.generic {{.*}}["parallel", "reduction"]} outs(%[[QK]], %{{.*}} :
// CHECK: linalg.index 0
// CHECK: arith.addi %{{.*}}, %[[M]]
// CHECK: linalg.index 1
// CHECK: arith.addi %{{.*}}, %[[L]]
// The correction reads the old maximum and repeats the new one, so that the maximum can then be updated in place.
// CHECK: %[[FACTOR:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[MAX]], %[[MASKED]]#1 :
// CHECK: math.exp
// CHECK: %[[NEWMAX:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[MASKED]]#1 : {{.*}} outs(%[[MAX]] :
// CHECK: arith.maximumf
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}}["parallel"]} ins(%[[FACTOR]] : {{.*}} outs(%[[SUM]] :
// CHECK: arith.mulf
// CHECK: %[[P:.*]]:2 = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[NEWMAX]] : {{.*}} outs(%[[MASKED]]#0, %[[SCALED]] :
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[ACC:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[FACTOR]] : {{.*}} outs(%[[OUT]] :
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[P]]#0, %{{.*}} : {{.*}} outs(%[[ACC]] :
// CHECK: scf.yield
// CHECK: arith.divf
// CHECK: tensor.parallel_insert_slice
// CHECK: {fusion.kernel = "attention_kernel0", mapping = [#gpu.block<linear_dim_0>]}
// CHECK-NOT: spacemap.

// Nothing is allocated or copied in the loop.
// BUFFER-LABEL: func.func @attention
// BUFFER: scf.for %
// BUFFER-NOT: memref.alloc
// BUFFER-NOT: memref.copy
// BUFFER: return

!m = !spacemap.space<[m], f32>
!ml = !spacemap.space<[m, l], f32>
!mn = !spacemap.space<[m, n], f32>
!mlk = !spacemap.space<[m, l, k], f32>
!mln = !spacemap.space<[m, l, n], f32>
func.func @attention(%Q: tensor<50x16xf32>, %K: tensor<37x16xf32>, %V: tensor<37x24xf32>) -> tensor<50x24xf32> {
  %r = spacemap.graph dims [m = 50, l = 37, k = 16, n = 24] ins(%q = %Q, %k = %K, %v = %V : tensor<50x16xf32>, tensor<37x16xf32>, tensor<37x24xf32>) blocks [m = 16] {
    %ninf = spacemap.map () {
      %z = arith.constant 0xFF800000 : f32
      spacemap.yield %z : f32
    } -> !m
    %zero = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !m
    %zero2 = spacemap.map () {
      %z = arith.constant 0.0 : f32
      spacemap.yield %z : f32
    } -> !mn
    %qs = spacemap.source %q [m, k] : tensor<50x16xf32> -> !spacemap.space<[m, k], f32>
    %st:3 = spacemap.temporal along l by 8 (%max = %ninf, %sum = %zero, %out = %zero2 : !m, !m, !mn) {
      %ks = spacemap.source %k [l, k] : tensor<37x16xf32> -> !spacemap.space<[l, k], f32>
      %vs = spacemap.source %v [l, n] : tensor<37x24xf32> -> !spacemap.space<[l, n], f32>
      %q2 = spacemap.one_to_all %qs along [l] : !spacemap.space<[m, k], f32> -> !mlk
      %k2 = spacemap.one_to_all %ks along [m] : !spacemap.space<[l, k], f32> -> !mlk
      %p = spacemap.map (%x = %q2, %y = %k2 : !mlk, !mlk) {
        %1 = arith.mulf %x, %y : f32
        spacemap.yield %1 : f32
      } -> !mlk
      %s = spacemap.all_to_one %p along [k] sum : !mlk -> !ml
      %sc = spacemap.map (%x = %s : !ml) {
        %c = arith.constant 0.125 : f32
        %1 = arith.mulf %x, %c : f32
        spacemap.yield %1 : f32
      } -> !ml
      %im = spacemap.index m : !spacemap.space<[m], index>
      %il = spacemap.index l : !spacemap.space<[l], index>
      %im2 = spacemap.one_to_all %im along [l] : !spacemap.space<[m], index> -> !spacemap.space<[m, l], index>
      %il2 = spacemap.one_to_all %il along [m] : !spacemap.space<[l], index> -> !spacemap.space<[m, l], index>
      %sm = spacemap.map (%x = %sc, %i = %im2, %j = %il2 : !ml, !spacemap.space<[m, l], index>, !spacemap.space<[m, l], index>) {
        %c = arith.cmpi sge, %i, %j : index
        %nin = arith.constant 0xFF800000 : f32
        %qq = arith.select %c, %x, %nin : f32
        spacemap.yield %qq : f32
      } -> !ml
      %rm = spacemap.all_to_one %sm along [l] max : !ml -> !m
      %max2 = spacemap.map (%x = %max, %y = %rm : !m, !m) {
        %1 = arith.maximumf %x, %y : f32
        spacemap.yield %1 : f32
      } -> !m
      %mb = spacemap.one_to_all %max2 along [l] : !m -> !ml
      %e = spacemap.map (%x = %sm, %y = %mb : !ml, !ml) {
        %1 = arith.subf %x, %y : f32
        %2 = math.exp %1 : f32
        spacemap.yield %2 : f32
      } -> !ml
      %rs = spacemap.all_to_one %e along [l] sum : !ml -> !m
      %f = spacemap.map (%x = %max, %y = %max2 : !m, !m) {
        %1 = arith.subf %x, %y : f32
        %2 = math.exp %1 : f32
        spacemap.yield %2 : f32
      } -> !m
      %us = spacemap.map (%x = %sum, %y = %f : !m, !m) {
        %1 = arith.mulf %x, %y : f32
        spacemap.yield %1 : f32
      } -> !m
      %sum2 = spacemap.map (%x = %us, %y = %rs : !m, !m) {
        %1 = arith.addf %x, %y : f32
        spacemap.yield %1 : f32
      } -> !m
      %e2 = spacemap.one_to_all %e along [n] : !ml -> !mln
      %v2 = spacemap.one_to_all %vs along [m] : !spacemap.space<[l, n], f32> -> !mln
      %pv = spacemap.map (%x = %e2, %y = %v2 : !mln, !mln) {
        %1 = arith.mulf %x, %y : f32
        spacemap.yield %1 : f32
      } -> !mln
      %o = spacemap.all_to_one %pv along [l] sum : !mln -> !mn
      %fb = spacemap.one_to_all %f along [n] : !m -> !mn
      %out2 = spacemap.map (%x = %out, %g = %fb, %y = %o : !mn, !mn, !mn) {
        %1 = arith.mulf %x, %g : f32
        %2 = arith.addf %1, %y : f32
        spacemap.yield %2 : f32
      } -> !mn
      spacemap.next %max2, %sum2, %out2 : !m, !m, !mn
    } -> (!m, !m, !mn)
    %sb = spacemap.one_to_all %st#1 along [n] : !m -> !mn
    %res = spacemap.map (%x = %st#2, %y = %sb : !mn, !mn) {
      %1 = arith.divf %x, %y : f32
      spacemap.yield %1 : f32
    } -> !mn
    spacemap.output %res [m, n] : !mn
  } -> tensor<50x24xf32>
  return %r : tensor<50x24xf32>
}
