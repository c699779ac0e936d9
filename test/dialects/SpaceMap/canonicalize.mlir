// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s

// Constants made by folding stay in the body, which is closed.
// CHECK-LABEL: func.func @fold_in_body(
func.func @fold_in_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    // CHECK: spacemap.map
    // CHECK-NEXT: %[[C:.+]] = arith.constant 3.000000e+00 : f32
    // CHECK-NEXT: arith.addf %{{.+}}, %[[C]] : f32
    %1 = spacemap.map (%p = %0 : !spacemap.space<[m], f32>) {
      %c1 = arith.constant 1.0 : f32
      %c2 = arith.constant 2.0 : f32
      %c3 = arith.addf %c1, %c2 : f32
      %q = arith.addf %c3, %p : f32
      spacemap.yield %q : f32
    } -> !spacemap.space<[m], f32>
    spacemap.output %1 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @merge_mappings(
func.func @merge_mappings(%x: tensor<4xf32>, %y: tensor<4x8x2xf32>) -> (tensor<4x8x2xf32>, tensor<4xf32>) {
  %r:2 = spacemap.graph dims [m = 4, n = 8, k = 2] ins(%a = %x, %b = %y : tensor<4xf32>, tensor<4x8x2xf32>) {
    // CHECK: %[[A:.+]] = spacemap.source %{{.+}} [m]
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    // CHECK: %[[B:.+]] = spacemap.source %{{.+}} [m, n, k]
    %1 = spacemap.source %b [m, n, k] : tensor<4x8x2xf32> -> !spacemap.space<[m, n, k], f32>
    // CHECK: %[[BROADCAST:.+]] = spacemap.one_to_all %[[A]] along [n, k] : <[m], f32> -> <[m, n, k], f32>
    %2 = spacemap.one_to_all %0 along [k] : !spacemap.space<[m], f32> -> !spacemap.space<[m, k], f32>
    %3 = spacemap.one_to_all %2 along [n] : !spacemap.space<[m, k], f32> -> !spacemap.space<[m, n, k], f32>
    %none = spacemap.one_to_all %3 along [] : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n, k], f32>
    // CHECK: %[[SUM:.+]] = spacemap.all_to_one %[[B]] along [n, k] sum : <[m, n, k], f32> -> <[m], f32>
    %4 = spacemap.all_to_one %1 along [k] sum : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
    %5 = spacemap.all_to_one %4 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    %same = spacemap.all_to_one %5 along [] max : !spacemap.space<[m], f32> -> !spacemap.space<[m], f32>
    // CHECK: spacemap.output %[[BROADCAST]] [m, n, k], %[[SUM]] [m] :
    spacemap.output %none [m, n, k], %same [m] : !spacemap.space<[m, n, k], f32>, !spacemap.space<[m], f32>
  } -> (tensor<4x8x2xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4x8x2xf32>, tensor<4xf32>
}

// -----

// Different reducers, or another use of what is between them, keep two mappings apart.
// CHECK-LABEL: func.func @keep_reductions(
func.func @keep_reductions(%y: tensor<4x8x2xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = spacemap.graph dims [m = 4, n = 8, k = 2] ins(%b = %y : tensor<4x8x2xf32>) {
    %1 = spacemap.source %b [m, n, k] : tensor<4x8x2xf32> -> !spacemap.space<[m, n, k], f32>
    // CHECK: %[[MAX:.+]] = spacemap.all_to_one %{{.+}} along [k] max
    %2 = spacemap.all_to_one %1 along [k] max : !spacemap.space<[m, n, k], f32> -> !spacemap.space<[m, n], f32>
    // CHECK: %[[SUM:.+]] = spacemap.all_to_one %[[MAX]] along [n] sum
    %3 = spacemap.all_to_one %2 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    // CHECK: %[[MAX2:.+]] = spacemap.all_to_one %[[MAX]] along [n] max
    %4 = spacemap.all_to_one %2 along [n] max : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    // CHECK: spacemap.output %[[MAX]] [m, n], %[[SUM]] [m], %[[MAX2]] [m]
    spacemap.output %2 [m, n], %3 [m], %4 [m]
      : !spacemap.space<[m, n], f32>, !spacemap.space<[m], f32>, !spacemap.space<[m], f32>
  } -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @map_operands(
func.func @map_operands(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: spacemap.graph dims [m = 4] ins(%[[A:.+]] = %{{.+}} : tensor<4xf32>) {
  %r = spacemap.graph dims [m = 4] ins(%a = %x, %b = %y, %c = %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[S:.+]] = spacemap.source %[[A]]
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %1 = spacemap.source %b [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    // CHECK: spacemap.map (%[[P:.+]] = %[[S]] : !spacemap.space<[m], f32>) {
    // CHECK-NEXT: arith.mulf %[[P]], %[[P]]
    %2 = spacemap.map (%u = %1, %p = %0, %v = %1, %q = %0 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>,
                       !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
      %3 = arith.mulf %p, %q : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m], f32>
    spacemap.output %2 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @constants_and_identities(
func.func @constants_and_identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    // CHECK: %[[S:.+]] = spacemap.source
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %1 = spacemap.map () {
      %c = arith.constant 2.0 : f32
      spacemap.yield %c : f32
    } -> !spacemap.space<[], f32>
    %2 = spacemap.one_to_all %1 along [m] : !spacemap.space<[], f32> -> !spacemap.space<[m], f32>
    %3 = spacemap.map (%p = %0 : !spacemap.space<[m], f32>) {
      spacemap.yield %p : f32
    } -> !spacemap.space<[m], f32>
    // CHECK-NEXT: %[[M:.+]] = spacemap.map (%[[P:.+]] = %[[S]] : !spacemap.space<[m], f32>) {
    // CHECK-NEXT: %[[C:.+]] = arith.constant 2.0
    // CHECK-NEXT: arith.mulf %[[P]], %[[C]]
    %4 = spacemap.map (%p = %3, %q = %2 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
      %5 = arith.mulf %p, %q : f32
      spacemap.yield %5 : f32
    } -> !spacemap.space<[m], f32>
    // CHECK: spacemap.output %[[M]] [m]
    spacemap.output %4 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Unused and equal results go, and with them what only they need: sources, inputs, dimensions.
// CHECK-LABEL: func.func @graph_results(
// CHECK-SAME:      %[[X:.+]]: tensor<4x?xf32>, %[[Y:.+]]: tensor<7xf32>, %[[D:.+]]: index)
func.func @graph_results(%x: tensor<4x?xf32>, %y: tensor<7xf32>, %d: index)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<7xf32>) {
  // CHECK: %[[R:.+]] = spacemap.graph dims [m = 4, n = %[[D]]] ins(%{{.+}} = %[[X]] : tensor<4x?xf32>)
  // CHECK-SAME: blocks [m = 2] attributes {fusion.name = "k"} {
  %r:4 = spacemap.graph dims [k = 7, e = 3, m = 4, n = %d] ins(%a = %x, %b = %y : tensor<4x?xf32>, tensor<7xf32>)
      blocks [k = 1, m = 2] attributes {fusion.name = "k"} {
    %0 = spacemap.source %a [m, n] : tensor<4x?xf32> -> !spacemap.space<[m, n], f32>
    %1 = spacemap.source %b [k] : tensor<7xf32> -> !spacemap.space<[k], f32>
    %2 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    // CHECK: spacemap.output %{{.+}} [m] : !spacemap.space<[m], f32>
    spacemap.output %2 [m], %2 [m], %1 [k], %0 [m, n]
      : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>, !spacemap.space<[k], f32>, !spacemap.space<[m, n], f32>
  // CHECK-NEXT: } -> tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<7xf32>, tensor<4x?xf32>)
  // CHECK: return %[[R]], %[[R]], %[[Y]]
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<7xf32>
}

// -----

// A transposed source is no copy.
// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: spacemap.graph
  %r = spacemap.graph dims [m = 4, n = 4] ins(%a = %x : tensor<4x4xf32>) {
    %0 = spacemap.source %a [m, n] : tensor<4x4xf32> -> !spacemap.space<[m, n], f32>
    spacemap.output %0 [n, m] : !spacemap.space<[m, n], f32>
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @dead_graph(
// CHECK-NEXT: return
func.func @dead_graph(%x: tensor<4xf32>) {
  %r = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    spacemap.output %0 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return
}

// -----

// The second state feeds only itself; the third is needed by the first; of what is collected one is used.
// CHECK-LABEL: func.func @temporal_states(
func.func @temporal_states(%x: tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
  %r:2 = spacemap.graph dims [n = 16] ins(%a = %x : tensor<16xf32>) {
    // CHECK: %[[ZERO:.+]] = spacemap.map () {
    %zero = spacemap.map () {
      %c = arith.constant 0.0 : f32
      spacemap.yield %c : f32
    } -> !spacemap.space<[], f32>
    // CHECK: %[[T:.+]]:3 = spacemap.temporal along n by 4 (%[[S0:.+]] = %[[ZERO]], %[[S2:.+]] = %[[ZERO]] :
    // CHECK-SAME: !spacemap.space<[], f32>, !spacemap.space<[], f32>) attributes {fusion.name = "loop"} {
    %t:5 = spacemap.temporal along n by 4
        (%s0 = %zero, %s1 = %zero, %s2 = %zero
         : !spacemap.space<[], f32>, !spacemap.space<[], f32>, !spacemap.space<[], f32>)
        attributes {fusion.name = "loop"} {
      // CHECK-NEXT: %[[SRC:.+]] = spacemap.source
      // CHECK-NEXT: %[[MAX:.+]] = spacemap.all_to_one %[[SRC]] along [n] max
      // CHECK-NEXT: %[[M0:.+]] = spacemap.map (%{{.+}} = %[[S0]], %{{.+}} = %[[S2]]
      // CHECK-NOT: spacemap.map
      %0 = spacemap.source %a [n] : tensor<16xf32> -> !spacemap.space<[n], f32>
      %1 = spacemap.all_to_one %0 along [n] max : !spacemap.space<[n], f32> -> !spacemap.space<[], f32>
      %2 = spacemap.map (%p = %s0, %q = %s2 : !spacemap.space<[], f32>, !spacemap.space<[], f32>) {
        %3 = arith.addf %p, %q : f32
        spacemap.yield %3 : f32
      } -> !spacemap.space<[], f32>
      %4 = spacemap.map (%p = %s1, %q = %1 : !spacemap.space<[], f32>, !spacemap.space<[], f32>) {
        %5 = arith.mulf %p, %q : f32
        spacemap.yield %5 : f32
      } -> !spacemap.space<[], f32>
      %6 = spacemap.map (%p = %0 : !spacemap.space<[n], f32>) {
        %7 = math.exp %p : f32
        spacemap.yield %7 : f32
      } -> !spacemap.space<[n], f32>
      // CHECK: spacemap.next %[[M0]], %[[MAX]] : !spacemap.space<[], f32>, !spacemap.space<[], f32>
      // CHECK-SAME: collect %[[SRC]] : !spacemap.space<[n], f32>
      spacemap.next %2, %4, %1 : !spacemap.space<[], f32>, !spacemap.space<[], f32>, !spacemap.space<[], f32>
        collect %6, %0 : !spacemap.space<[n], f32>, !spacemap.space<[n], f32>
    } -> (!spacemap.space<[], f32>, !spacemap.space<[], f32>, !spacemap.space<[], f32>,
          !spacemap.space<[n], f32>, !spacemap.space<[n], f32>)
    // CHECK: spacemap.output %[[T]]#0 [], %[[T]]#2 [n]
    spacemap.output %t#0 [], %t#4 [n] : !spacemap.space<[], f32>, !spacemap.space<[n], f32>
  } -> (tensor<f32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<16xf32>
}

// -----

// CHECK-LABEL: func.func @dead_temporal(
func.func @dead_temporal(%x: tensor<16xf32>) -> tensor<16xf32> {
  %r = spacemap.graph dims [n = 16] ins(%a = %x : tensor<16xf32>) {
    // CHECK-NOT: spacemap.temporal
    %t = spacemap.temporal along n by 4 () {
      %0 = spacemap.source %a [n] : tensor<16xf32> -> !spacemap.space<[n], f32>
      spacemap.next collect %0 : !spacemap.space<[n], f32>
    } -> !spacemap.space<[n], f32>
    %1 = spacemap.source %a [n] : tensor<16xf32> -> !spacemap.space<[n], f32>
    %2 = spacemap.map (%p = %1 : !spacemap.space<[n], f32>) {
      %3 = math.exp %p : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[n], f32>
    spacemap.output %2 [n] : !spacemap.space<[n], f32>
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
