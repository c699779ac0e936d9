// Shapes and types at the edges: rank 0, no inputs, coordinates, views, dynamic and empty extents, dimensions of one,
// unusual states, several collected results.

// RUN: fusion-opt %s --spacemap-to-tiles --canonicalize | FileCheck %s
// RUN: fusion-run %s --entry=total --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=total --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=coordinates --target=reference --stage=spacemap-to-tiles  --expected=reference
// RUN: fusion-run %s --entry=coordinates --target=cpu --stage=spacemap-to-tiles  --expected=reference
// RUN: fusion-run %s --entry=views --target=reference --stage=spacemap-to-tiles --input=6x9xf32=random:1 --input=9xf32=random:2 --input=1.5 --expected=reference
// RUN: fusion-run %s --entry=views --target=cpu --stage=spacemap-to-tiles --input=6x9xf32=random:1 --input=9xf32=random:2 --input=1.5 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=reference --stage=spacemap-to-tiles --input=10x33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=cpu --stage=spacemap-to-tiles --input=10x33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=reference --stage=spacemap-to-tiles --input=0x33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=cpu --stage=spacemap-to-tiles --input=0x33xf32=random:1 --input=33xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=reference --stage=spacemap-to-tiles --input=1x1xf32=random:1 --input=1xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic --target=cpu --stage=spacemap-to-tiles --input=1x1xf32=random:1 --input=1xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=dynamic_temporal --target=reference --stage=spacemap-to-tiles --input=9x7xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=dynamic_temporal --target=cpu --stage=spacemap-to-tiles --input=9x7xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=dynamic_temporal --target=reference --stage=spacemap-to-tiles --input=9x0xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=dynamic_temporal --target=cpu --stage=spacemap-to-tiles --input=9x0xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=empty --target=reference --stage=spacemap-to-tiles --input=0x5xf32=random:1 --input=5x0xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=empty --target=cpu --stage=spacemap-to-tiles --input=0x5xf32=random:1 --input=5x0xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=units --target=reference --stage=spacemap-to-tiles --input=3x2x5x4xf32=random:1 --input=3x2x6x4xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=units --target=cpu --stage=spacemap-to-tiles --input=3x2x5x4xf32=random:1 --input=3x2x6x4xf32=random:2 --expected=reference
// RUN: fusion-run %s --entry=states --target=reference --stage=spacemap-to-tiles --input=4x6xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=states --target=cpu --stage=spacemap-to-tiles --input=4x6xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=collected --target=reference --stage=spacemap-to-tiles --input=4x7xf32=random:1 --expected=reference
// RUN: fusion-run %s --entry=collected --target=cpu --stage=spacemap-to-tiles --input=4x7xf32=random:1 --expected=reference

// One block is still a grid.
// CHECK-LABEL: func.func @total(
// CHECK: scf.forall (%{{.*}}) in (1)
// CHECK: linalg.generic {{.*}}["reduction", "reduction"]} {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK: fusion.kernel = "total_kernel0"

// CHECK-LABEL: func.func @coordinates(
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (5, 7) step (2, 4)
// CHECK: linalg.index
// CHECK: arith.addi %{{.*}}, %[[M]]
// CHECK: linalg.fill

// CHECK-LABEL: func.func @views(
// CHECK: linalg.copy
// CHECK: linalg.transpose

// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[ROWS:.*]] = tensor.dim
// CHECK: scf.forall (%{{.*}}) = (0) to (%[[ROWS]]) step (4)
// CHECK: affine.min #{{.*}}[%[[ROWS]]]

// CHECK-LABEL: func.func @empty(
// CHECK: scf.forall {{.*}} = (0, 0) to (0, 5) step (4, 2)
// CHECK: fusion.kernel = "empty_kernel0"
// CHECK: fusion.kernel = "empty_kernel1"
// CHECK: fusion.kernel = "empty_kernel2"

// Batch and head do not occur in the tiles, but in the coordinates.
// CHECK-LABEL: func.func @units(
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (3, 2)
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], 0, %[[H]], 0] [1, 5, 1, 6] {{.*}} to tensor<5x6xf32>
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<5x4xf32>, tensor<4x6xf32>)
// CHECK: arith.index_cast %[[B]]

// CHECK-LABEL: func.func @states(
// CHECK: scf.for {{.*}} iter_args(%[[S0:[^ ,]+]] = %{{[^ ]+}}, %[[S1:[^ ,]+]] = %
// CHECK: %[[OLD1:.*]] = linalg.copy ins(%[[S1]] :
// CHECK: %[[OLD0:.*]] = linalg.copy ins(%[[S0]] :
// CHECK: %[[NEW0:.*]] = linalg.copy ins(%[[OLD1]] : {{.*}}) outs(%[[S0]] :
// CHECK: %[[NEW1:.*]] = linalg.copy ins(%[[OLD0]] : {{.*}}) outs(%[[S1]] :
// CHECK: scf.yield %[[NEW0]], %[[NEW1]],

// CHECK-LABEL: func.func @collected(
// CHECK: scf.for
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
// CHECK-NOT: spacemap.

!s = !spacemap.space<[], f32>
!m = !spacemap.space<[m], f32>
!n = !spacemap.space<[n], f32>
!mn = !spacemap.space<[m, n], f32>
// rank-0 result
func.func @total(%x: tensor<10x33xf32>) -> tensor<f32> {
  %r = spacemap.graph dims [m = 10, n = 33] ins(%a = %x : tensor<10x33xf32>) {
    %0 = spacemap.source %a [m, n] : tensor<10x33xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [m, n] sum : !mn -> !s
    spacemap.output %1 [] : !s
  } -> tensor<f32>
  return %r : tensor<f32>
}
// no inputs, coordinates, i1 and index results, transposed result
func.func @coordinates() -> (tensor<5x7xi1>, tensor<7x5xindex>, tensor<5x7xf32>) {
  %r:3 = spacemap.graph dims [m = 5, n = 7] ins() blocks [m = 2, n = 4] {
    %i = spacemap.index m : !spacemap.space<[m], index>
    %j = spacemap.index n : !spacemap.space<[n], index>
    %i2 = spacemap.one_to_all %i along [n] : !spacemap.space<[m], index> -> !spacemap.space<[m, n], index>
    %j2 = spacemap.one_to_all %j along [m] : !spacemap.space<[n], index> -> !spacemap.space<[m, n], index>
    %c = spacemap.map (%p = %i2, %q = %j2 : !spacemap.space<[m, n], index>, !spacemap.space<[m, n], index>) {
      %t = arith.cmpi sge, %p, %q : index
      spacemap.yield %t : i1
    } -> !spacemap.space<[m, n], i1>
    %d = spacemap.map (%p = %i2, %q = %j2 : !spacemap.space<[m, n], index>, !spacemap.space<[m, n], index>) {
      %ten = arith.constant 10 : index
      %t = arith.muli %p, %ten : index
      %u = arith.addi %t, %q : index
      spacemap.yield %u : index
    } -> !spacemap.space<[m, n], index>
    %e = spacemap.map () {
      %t = arith.constant 3.5 : f32
      spacemap.yield %t : f32
    } -> !mn
    spacemap.output %c [m, n], %d [n, m], %e [m, n] : !spacemap.space<[m, n], i1>, !spacemap.space<[m, n], index>, !mn
  } -> (tensor<5x7xi1>, tensor<7x5xindex>, tensor<5x7xf32>)
  return %r#0, %r#1, %r#2 : tensor<5x7xi1>, tensor<7x5xindex>, tensor<5x7xf32>
}
// pass-through, transposition, same value twice in both orders, broadcast, scalar input
func.func @views(%x: tensor<6x9xf32>, %b: tensor<9xf32>, %c: f32) -> (tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>, tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>) {
  %r:6 = spacemap.graph dims [m = 6, n = 9] ins(%a = %x, %bb = %b, %cc = %c : tensor<6x9xf32>, tensor<9xf32>, f32) blocks [m = 4, n = 3] {
    %0 = spacemap.source %a [m, n] : tensor<6x9xf32> -> !mn
    %1 = spacemap.source %bb [n] : tensor<9xf32> -> !n
    %2 = spacemap.one_to_all %1 along [m] : !n -> !mn
    %3 = spacemap.source %cc [] : f32 -> !s
    %4 = spacemap.one_to_all %3 along [m, n] : !s -> !mn
    %5 = spacemap.map (%p = %0, %q = %4 : !mn, !mn) {
      %t = arith.mulf %p, %q : f32
      spacemap.yield %t : f32
    } -> !mn
    spacemap.output %0 [m, n], %0 [n, m], %2 [m, n], %5 [m, n], %5 [n, m], %4 [m, n] : !mn, !mn, !mn, !mn, !mn, !mn
  } -> (tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>, tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>, tensor<6x9xf32>, tensor<9x6xf32>, tensor<6x9xf32>
}
// dynamic extents
func.func @dynamic(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dm = tensor.dim %x, %c0 : tensor<?x?xf32>
  %dn = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r:2 = spacemap.graph dims [m = %dm, n = %dn] ins(%a = %x, %b = %y : tensor<?x?xf32>, tensor<?xf32>) blocks [m = 4] {
    %0 = spacemap.source %a [m, n] : tensor<?x?xf32> -> !mn
    %1 = spacemap.source %b [n] : tensor<?xf32> -> !n
    %2 = spacemap.one_to_all %1 along [m] : !n -> !mn
    %3 = spacemap.map (%p = %0, %q = %2 : !mn, !mn) {
      %t = arith.addf %p, %q : f32
      %e = math.exp %t : f32
      spacemap.yield %e : f32
    } -> !mn
    %4 = spacemap.all_to_one %3 along [n] max : !mn -> !m
    %5 = spacemap.one_to_all %4 along [n] : !m -> !mn
    %6 = spacemap.map (%p = %3, %q = %5 : !mn, !mn) {
      %t = arith.subf %p, %q : f32
      spacemap.yield %t : f32
    } -> !mn
    spacemap.output %6 [m, n], %4 [m] : !mn, !m
  } -> (tensor<?x?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?xf32>
}
func.func @dynamic_temporal(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dm = tensor.dim %x, %c0 : tensor<?x?xf32>
  %dn = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r = spacemap.graph dims [m = %dm, n = %dn] ins(%a = %x : tensor<?x?xf32>) blocks [m = 4] {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %st = spacemap.temporal along n by 4 (%sum = %zero : !m) {
      %0 = spacemap.source %a [m, n] : tensor<?x?xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
      %2 = spacemap.map (%p = %1, %q = %sum : !m, !m) {
        %t = arith.addf %p, %q : f32
        spacemap.yield %t : f32
      } -> !m
      spacemap.next %2 : !m
    } -> !m
    spacemap.output %st [m] : !m
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// empty extents: no block; empty reduction; empty whole
func.func @empty(%x: tensor<0x5xf32>, %y: tensor<5x0xf32>) -> (tensor<0x5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %r0 = spacemap.graph dims [m = 0, n = 5] ins(%a = %x : tensor<0x5xf32>) blocks [m = 4, n = 2] {
    %0 = spacemap.source %a [m, n] : tensor<0x5xf32> -> !mn
    %1 = spacemap.map (%p = %0 : !mn) {
      %t = math.exp %p : f32
      spacemap.yield %t : f32
    } -> !mn
    spacemap.output %1 [m, n] : !mn
  } -> tensor<0x5xf32>
  %r1 = spacemap.graph dims [m = 5, n = 0] ins(%a = %y : tensor<5x0xf32>) blocks [m = 1] {
    %0 = spacemap.source %a [m, n] : tensor<5x0xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    spacemap.output %1 [m] : !m
  } -> tensor<5xf32>
  %r2 = spacemap.graph dims [m = 5, n = 0] ins(%a = %y : tensor<5x0xf32>) blocks [m = 2] {
    %zero = spacemap.map () {
      %c = arith.constant 7.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %st = spacemap.temporal along n by 4 (%sum = %zero : !m) {
      %0 = spacemap.source %a [m, n] : tensor<5x0xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
      spacemap.next %1 : !m
    } -> !m
    spacemap.output %st [m] : !m
  } -> tensor<5xf32>
  return %r0, %r1, %r2 : tensor<0x5xf32>, tensor<5xf32>, tensor<5xf32>
}
// unit dimensions in tiles: batch and head blocks of one; step larger than the extent
func.func @units(%x: tensor<3x2x5x4xf32>, %w: tensor<3x2x6x4xf32>) -> tensor<3x5x2x6xf32> {
  %r = spacemap.graph dims [b = 3, h = 2, m = 5, n = 6, k = 4] ins(%a = %x, %c = %w : tensor<3x2x5x4xf32>, tensor<3x2x6x4xf32>) blocks [b = 1, h = 1] {
    %0 = spacemap.source %a [b, h, m, k] : tensor<3x2x5x4xf32> -> !spacemap.space<[b, h, m, k], f32>
    %1 = spacemap.source %c [b, h, n, k] : tensor<3x2x6x4xf32> -> !spacemap.space<[b, h, n, k], f32>
    %2 = spacemap.one_to_all %0 along [n] : !spacemap.space<[b, h, m, k], f32> -> !spacemap.space<[b, h, m, n, k], f32>
    %3 = spacemap.one_to_all %1 along [m] : !spacemap.space<[b, h, n, k], f32> -> !spacemap.space<[b, h, m, n, k], f32>
    %4 = spacemap.map (%p = %2, %q = %3 : !spacemap.space<[b, h, m, n, k], f32>, !spacemap.space<[b, h, m, n, k], f32>) {
      %t = arith.mulf %p, %q : f32
      spacemap.yield %t : f32
    } -> !spacemap.space<[b, h, m, n, k], f32>
    %5 = spacemap.all_to_one %4 along [k] sum : !spacemap.space<[b, h, m, n, k], f32> -> !spacemap.space<[b, h, m, n], f32>
    %ib = spacemap.index b : !spacemap.space<[b], index>
    %ib2 = spacemap.one_to_all %ib along [h, m, n] : !spacemap.space<[b], index> -> !spacemap.space<[b, h, m, n], index>
    %6 = spacemap.map (%p = %5, %q = %ib2 : !spacemap.space<[b, h, m, n], f32>, !spacemap.space<[b, h, m, n], index>) {
      %t = arith.index_cast %q : index to i32
      %u = arith.sitofp %t : i32 to f32
      %v = arith.addf %p, %u : f32
      spacemap.yield %v : f32
    } -> !spacemap.space<[b, h, m, n], f32>
    spacemap.output %6 [b, m, h, n] : !spacemap.space<[b, h, m, n], f32>
  } -> tensor<3x5x2x6xf32>
  return %r : tensor<3x5x2x6xf32>
}
// states that are exchanged, one that keeps its value, one that is another's next value as well, one from outside
func.func @states(%x: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:6 = spacemap.graph dims [m = 4, n = 6] ins(%a = %x : tensor<4x6xf32>) blocks [m = 2] {
    %c1 = spacemap.map () {
      %c = arith.constant 1.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %c2 = spacemap.map () {
      %c = arith.constant 2.0 : f32
      spacemap.yield %c : f32
    } -> !m
    %st:6 = spacemap.temporal along n by 2 (%s0 = %c1, %s1 = %c2, %s2 = %c2, %s3 = %c1, %s4 = %c1, %s5 = %c1 : !m, !m, !m, !m, !m, !m) {
      %0 = spacemap.source %a [m, n] : tensor<4x6xf32> -> !mn
      %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
      %2 = spacemap.map (%p = %s3, %q = %1, %w = %s0 : !m, !m, !m) {
        %t = arith.mulf %p, %w : f32
        %u = arith.addf %t, %q : f32
        spacemap.yield %u : f32
      } -> !m
      spacemap.next %s1, %s0, %s2, %2, %2, %c2 : !m, !m, !m, !m, !m, !m
    } -> (!m, !m, !m, !m, !m, !m)
    spacemap.output %st#0 [m], %st#1 [m], %st#2 [m], %st#3 [m], %st#4 [m], %st#5 [m] : !m, !m, !m, !m, !m, !m
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// two collected, one in scratch that is read again
func.func @collected(%x: tensor<4x7xf32>) -> (tensor<7x4xf32>, tensor<4xf32>, tensor<4x7xf32>) {
  %r:3 = spacemap.graph dims [m = 4, n = 7] ins(%a = %x : tensor<4x7xf32>) blocks [m = 3] {
    %y:2 = spacemap.temporal along n by 3 () {
      %0 = spacemap.source %a [m, n] : tensor<4x7xf32> -> !mn
      %1 = spacemap.map (%p = %0 : !mn) {
        %t = math.exp %p : f32
        spacemap.yield %t : f32
      } -> !mn
      %2 = spacemap.map (%p = %1 : !mn) {
        %t = math.sqrt %p : f32
        spacemap.yield %t : f32
      } -> !mn
      spacemap.next collect %1, %2 : !mn, !mn
    } -> (!mn, !mn)
    %3 = spacemap.all_to_one %y#1 along [n] sum : !mn -> !m
    %4 = spacemap.map (%p = %y#1 : !mn) {
      %t = arith.addf %p, %p : f32
      spacemap.yield %t : f32
    } -> !mn
    spacemap.output %y#0 [n, m], %3 [m], %4 [m, n] : !mn, !m, !mn
  } -> (tensor<7x4xf32>, tensor<4xf32>, tensor<4x7xf32>)
  return %r#0, %r#1, %r#2 : tensor<7x4xf32>, tensor<4xf32>, tensor<4x7xf32>
}
