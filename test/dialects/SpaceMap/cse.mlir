// Twice: graphs are compared before what is inside of them is simplified.
// RUN: fusion-opt %s --cse --cse | FileCheck %s

// Equal graphs are one; in a graph, equal sources, mappings and maps are one; unused ones go.
// CHECK-LABEL: func.func @equal_graphs(
func.func @equal_graphs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.+]] = spacemap.graph
  // CHECK-NEXT: %[[S:.+]] = spacemap.source
  // CHECK-NEXT: %[[M:.+]] = spacemap.map (%{{.+}} = %[[S]]
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: spacemap.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[N:.+]] = spacemap.map (%{{.+}} = %[[M]], %{{.+}} = %[[M]]
  // CHECK-NOT: spacemap.graph
  // CHECK: return %[[R]], %[[R]]
  %r = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %1 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %2 = spacemap.map (%p = %0 : !spacemap.space<[m], f32>) {
      %3 = math.exp %p : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m], f32>
    %4 = spacemap.map (%p = %1 : !spacemap.space<[m], f32>) {
      %5 = math.exp %p : f32
      spacemap.yield %5 : f32
    } -> !spacemap.space<[m], f32>
    %unused = spacemap.index m : !spacemap.space<[m], index>
    %6 = spacemap.map (%p = %2, %q = %4 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
      %7 = arith.mulf %p, %q : f32
      spacemap.yield %7 : f32
    } -> !spacemap.space<[m], f32>
    spacemap.output %6 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  %s = spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %2 = spacemap.map (%p = %0 : !spacemap.space<[m], f32>) {
      %3 = math.exp %p : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m], f32>
    %6 = spacemap.map (%p = %2, %q = %2 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
      %7 = arith.mulf %p, %q : f32
      spacemap.yield %7 : f32
    } -> !spacemap.space<[m], f32>
    spacemap.output %6 [m] : !spacemap.space<[m], f32>
  } -> tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}
