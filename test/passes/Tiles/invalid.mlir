// RUN: fusion-opt %s --spacemap-to-tiles --split-input-file --verify-diagnostics

!m = !spacemap.space<[m], f32>
!mn = !spacemap.space<[m, n], f32>

func.func @reduces_sliced(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = spacemap.graph dims [m = 8, n = 16] ins(%a = %x : tensor<8x16xf32>) blocks [m = 4, n = 8] {
    %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !mn
    // expected-error@+1 {{'spacemap.all_to_one' op reduces along 'n', which the graph slices spatially}}
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    %2 = spacemap.one_to_all %1 along [n] : !m -> !mn
    spacemap.output %2 [m, n] : !mn
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

!m = !spacemap.space<[m], f32>
!mn = !spacemap.space<[m, n], f32>

func.func @output_lacks_sliced(%x: tensor<8x16xf32>, %y: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  // expected-error@+1 {{'spacemap.graph' op is spatially sliced along 'n', which its result '!spacemap.space<[m], f32>' lacks: several blocks would write the same elements}}
  %r:2 = spacemap.graph dims [m = 8, n = 16] ins(%a = %x, %b = %y : tensor<8x16xf32>, tensor<8xf32>) blocks [m = 4, n = 8] {
    %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !mn
    %1 = spacemap.source %b [m] : tensor<8xf32> -> !m
    spacemap.output %0 [m, n], %1 [m] : !mn, !m
  } -> (tensor<8x16xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8x16xf32>, tensor<8xf32>
}

// -----

!m = !spacemap.space<[m], f32>
!mn = !spacemap.space<[m, n], f32>

// A single block along a dimension is not a slicing.
func.func @one_block(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %r = spacemap.graph dims [m = 8, n = 16] ins(%a = %x : tensor<8x16xf32>) blocks [m = 4, n = 16] {
    %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !mn
    %1 = spacemap.all_to_one %0 along [n] sum : !mn -> !m
    spacemap.output %1 [m] : !m
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
