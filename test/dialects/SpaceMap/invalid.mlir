// One test per message of the verifiers and parsers.
// RUN: fusion-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

// expected-error @+1 {{a space has elements of signless integer, index or float type, not 'tensor<4xf32>'}}
func.func private @elements(!spacemap.space<[m], tensor<4xf32>>)

// -----

// expected-error @+1 {{a space has elements of signless integer, index or float type, not 'si8'}}
func.func private @signed(!spacemap.space<[m], si8>)

// -----

// expected-error @+1 {{a space has each dimension once, but 'm' is listed twice}}
func.func private @twice(!spacemap.space<[m, n, m], f32>)

// -----

// expected-error @+1 {{a dimension of a space needs a name}}
func.func private @nameless(!spacemap.space<[m, ""], f32>)

// -----

//===----------------------------------------------------------------------===//
// graph
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'spacemap.graph' op has 2 dimension names but 1 extents}}
"spacemap.graph"() <{dimNames = ["m", "n"], staticExtents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0>}> ({
  spacemap.output
}) : () -> ()

// -----

// expected-error @+1 {{'spacemap.graph' op names dimension "m" twice}}
spacemap.graph dims [m = 4, m = 4] ins() {
}

// -----

// expected-error @+1 {{'spacemap.graph' op has a dimension without a name}}
spacemap.graph dims ["" = 4] ins() {
}

// -----

// expected-error @+1 {{'spacemap.graph' op dimension "m" has negative extent -1}}
spacemap.graph dims [m = -1] ins() {
}

// -----

// expected-error @+1 {{'spacemap.graph' op has 1 dynamic extents but 0 operands for them}}
"spacemap.graph"() <{dimNames = ["m"], staticExtents = array<i64: -9223372036854775808>, operandSegmentSizes = array<i32: 0, 0>}> ({
  spacemap.output
}) : () -> ()

// -----

// expected-error @+1 {{'spacemap.graph' op needs one block size per dimension}}
"spacemap.graph"() <{dimNames = ["m"], staticExtents = array<i64: 4>, blockSizes = array<i64: 1, 2>, operandSegmentSizes = array<i32: 0, 0>}> ({
  spacemap.output
}) : () -> ()

// -----

// expected-error @+1 {{'spacemap.graph' op block size of dimension "m" is negative}}
spacemap.graph dims [m = 4] ins() blocks [m = -2] {
}

// -----

// expected-error @+1 {{'k' is not a dimension of this graph}}
spacemap.graph dims [m = 4] ins() blocks [k = 2] {
}

// -----

// expected-error @+1 {{dimension 'm' has a block size already}}
spacemap.graph dims [m = 4] ins() blocks [m = 2, m = 4] {
}

// -----

func.func @bindings(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one type per binding}}
  spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>, tensor<4xf32>) {
  }
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{'spacemap.graph' op block arguments must have the types of the inputs}}
  "spacemap.graph"(%x) <{dimNames = ["m"], staticExtents = array<i64: 4>, operandSegmentSizes = array<i32: 1, 0>}> ({
    spacemap.output
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.index' op has dimension 'n', which the graph does not have}}
  %0 = spacemap.index n : !spacemap.space<[n], index>
}

// -----

func.func @order(%x: tensor<4x8xf32>) {
  spacemap.graph dims [m = 4, n = 8] ins(%a = %x : tensor<4x8xf32>) {
    // expected-error @+1 {{'spacemap.source' op has dimensions out of the graph's order in '!spacemap.space<[n, m], f32>'}}
    %0 = spacemap.source %a [m, n] : tensor<4x8xf32> -> !spacemap.space<[n, m], f32>
  }
  return
}

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'arith.constant' op is not an operation of a space-mapping graph}}
  %0 = arith.constant 1.0 : f32
}

// -----

spacemap.graph dims [m = 4] ins() {
  spacemap.temporal along m by 2 () {
    // expected-error @+1 {{'tensor.empty' op is not an operation of a space-mapping graph}}
    %0 = tensor.empty() : tensor<4xf32>
  }
}

// -----

"spacemap.graph"() <{dimNames = ["m"], staticExtents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0>}> ({
  // expected-error @+1 {{block with no terminator}}
  %0 = "spacemap.index"() <{dim = "m"}> : () -> !spacemap.space<[m], index>
}) : () -> ()

// -----

// expected-error @+2 {{'spacemap.graph' op expects regions to end with 'spacemap.output', found 'llvm.unreachable'}}
// expected-note @+1 {{in custom textual format, the absence of terminator implies 'spacemap.output'}}
"spacemap.graph"() <{dimNames = ["m"], staticExtents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0>}> ({
  llvm.unreachable
}) : () -> ()

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.graph' op is not an operation of a space-mapping graph}}
  spacemap.graph dims [m = 4] ins() {
  }
}

// -----

func.func @isolated(%x: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  spacemap.graph dims [m = 4] ins() {
    // expected-error @+1 {{using value defined outside the region}}
    %0 = spacemap.source %x [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// output
//===----------------------------------------------------------------------===//

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op has 1 values for 0 results}}
  spacemap.output %0 [m] : !spacemap.space<[m], index>
}

// -----

%r = spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op element type of '!spacemap.space<[m], index>' differs from that of the result 'tensor<4xi32>'}}
  spacemap.output %0 [m] : !spacemap.space<[m], index>
} -> tensor<4xi32>

// -----

%r = spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op the result has rank 2 but 1 axes are listed}}
  spacemap.output %0 [m] : !spacemap.space<[m], index>
} -> tensor<4x1xindex>

// -----

%r = spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op the result does not have the extent of dimension 'm'}}
  spacemap.output %0 [m] : !spacemap.space<[m], index>
} -> tensor<5xindex>

// -----

func.func @dynamic(%d: index) -> tensor<4xindex> {
  %r = spacemap.graph dims [m = %d] ins() {
    %0 = spacemap.index m : !spacemap.space<[m], index>
    // expected-error @+1 {{'spacemap.output' op the result does not have the extent of dimension 'm'}}
    spacemap.output %0 [m] : !spacemap.space<[m], index>
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

%r = spacemap.graph dims [m = 4, n = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op axes ["n"] are not the dimensions of '!spacemap.space<[m], index>'}}
  spacemap.output %0 [n] : !spacemap.space<[m], index>
} -> tensor<4xindex>

// -----

%r = spacemap.graph dims [m = 4, n = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  %1 = spacemap.one_to_all %0 along [n] : !spacemap.space<[m], index> -> !spacemap.space<[m, n], index>
  // expected-error @+1 {{'spacemap.output' op axes ["m", "m"] are not the dimensions of}}
  spacemap.output %1 [m, m] : !spacemap.space<[m, n], index>
} -> tensor<4x4xindex>

// -----

%r = spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op needs one list of axes per value}}
  "spacemap.output"(%0) <{axes = []}> : (!spacemap.space<[m], index>) -> ()
} -> tensor<4xindex>

// -----

%r = spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.output' op axes must be lists of dimension names}}
  "spacemap.output"(%0) <{axes = ["m"]}> : (!spacemap.space<[m], index>) -> ()
} -> tensor<4xindex>

// -----

// expected-error @+1 {{'spacemap.output' op expects parent op 'spacemap.graph'}}
spacemap.output

// -----

//===----------------------------------------------------------------------===//
// source
//===----------------------------------------------------------------------===//

func.func @outside(%x: tensor<4xf32>) {
  // expected-error @+1 {{'spacemap.source' op expects parent op to be one of 'spacemap.graph, spacemap.temporal'}}
  %0 = spacemap.source %x [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
  return
}

// -----

func.func @rank(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4, n = 4] ins(%a = %x : tensor<4xf32>) {
    // expected-error @+1 {{'spacemap.source' op the input has rank 1 but 2 axes are listed}}
    %0 = spacemap.source %a [m, n] : tensor<4xf32> -> !spacemap.space<[m, n], f32>
  }
  return
}

// -----

func.func @extent(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 5] ins(%a = %x : tensor<4xf32>) {
    // expected-error @+1 {{'spacemap.source' op the input does not have the extent of dimension 'm'}}
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
  }
  return
}

// -----

func.func @element_type(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    // expected-error @+1 {{'spacemap.source' op input and space differ in element type}}
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f64>
  }
  return
}

// -----

func.func @scalar(%x: f32) {
  spacemap.graph dims [m = 4] ins(%a = %x : f32) {
    // expected-error @+1 {{'spacemap.source' op a scalar input has no axes}}
    %0 = spacemap.source %a [m] : f32 -> !spacemap.space<[m], f32>
  }
  return
}

// -----

func.func @axes(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4, n = 4] ins(%a = %x : tensor<4xf32>) {
    // expected-error @+1 {{'spacemap.source' op axes ["n"] are not the dimensions of '!spacemap.space<[m], f32>'}}
    %0 = spacemap.source %a [n] : tensor<4xf32> -> !spacemap.space<[m], f32>
  }
  return
}

// -----

func.func @not_an_input(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    %1 = spacemap.all_to_one %0 along [m] sum : !spacemap.space<[m], f32> -> !spacemap.space<[], f32>
    %2 = spacemap.map (%s = %1 : !spacemap.space<[], f32>) {
      // expected-error @+1 {{'spacemap.source' op expects parent op to be one of 'spacemap.graph, spacemap.temporal'}}
      %3 = spacemap.source %s [] : f32 -> !spacemap.space<[], f32>
      spacemap.yield %s : f32
    } -> !spacemap.space<[], f32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// index and seen
//===----------------------------------------------------------------------===//

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.index' op gives a space of index type over dimension 'm' alone}}
  %0 = spacemap.index m : !spacemap.space<[m], i64>
}

// -----

spacemap.graph dims [m = 4] ins() {
  spacemap.temporal along m by 2 () {
    // expected-error @+1 {{'spacemap.seen' op gives a scalar space of index type}}
    %0 = spacemap.seen m : !spacemap.space<[m], index>
  }
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  spacemap.temporal along m by 2 () {
    // expected-error @+1 {{'spacemap.seen' op must be inside 'spacemap.temporal' along 'n'}}
    %0 = spacemap.seen n : !spacemap.space<[], index>
  }
}

// -----

//===----------------------------------------------------------------------===//
// one_to_all and all_to_one
//===----------------------------------------------------------------------===//

spacemap.graph dims [m = 4, n = 8] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.one_to_all' op changes the element type}}
  %1 = spacemap.one_to_all %0 along [n] : !spacemap.space<[m], index> -> !spacemap.space<[m, n], i64>
}

// -----

spacemap.graph dims [m = 4, n = 8] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.one_to_all' op dimension 'm' cannot be mapped along}}
  %1 = spacemap.one_to_all %0 along [m] : !spacemap.space<[m], index> -> !spacemap.space<[m], index>
}

// -----

spacemap.graph dims [m = 4, n = 8, k = 2] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.one_to_all' op dimensions of '!spacemap.space<[m, k], index>' are not those of '!spacemap.space<[m], index>' with ["n"]}}
  %1 = spacemap.one_to_all %0 along [n] : !spacemap.space<[m], index> -> !spacemap.space<[m, k], index>
}

// -----

spacemap.graph dims [m = 4, n = 8] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.all_to_one' op dimensions of '!spacemap.space<[m], index>' are not those of '!spacemap.space<[n], index>' with ["m"]}}
  %1 = spacemap.all_to_one %0 along [m] sum : !spacemap.space<[m], index> -> !spacemap.space<[n], index>
}

// -----

func.func @reducer(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    %0 = spacemap.source %a [m] : tensor<4xf32> -> !spacemap.space<[m], f32>
    // expected-error @+1 {{'spacemap.all_to_one' op reducer 'xor' is not defined on 'f32'}}
    %1 = spacemap.all_to_one %0 along [m] xor : !spacemap.space<[m], f32> -> !spacemap.space<[], f32>
  }
  return
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.all_to_one' op reducer 'maxnum' is not defined on 'index'}}
  %1 = spacemap.all_to_one %0 along [m] maxnum : !spacemap.space<[m], index> -> !spacemap.space<[], index>
}

// -----

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

spacemap.graph dims [m = 4, n = 8] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.map' op operands must have the dimensions of the result, but '!spacemap.space<[m], index>' differs from '!spacemap.space<[n], index>'}}
  %1 = spacemap.map (%a = %0 : !spacemap.space<[m], index>) {
    spacemap.yield %a : index
  } -> !spacemap.space<[n], index>
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{expected one type per operand}}
  %1 = spacemap.map (%a = %0, %b = %0 : !spacemap.space<[m], index>) {
    spacemap.yield %a : index
  } -> !spacemap.space<[m], index>
}

// -----

func.func @not_a_space(%x: tensor<4xf32>) {
  spacemap.graph dims [m = 4] ins(%a = %x : tensor<4xf32>) {
    // expected-error @+1 {{operands must be spaces, not 'tensor<4xf32>'}}
    %1 = spacemap.map (%b = %a : tensor<4xf32>) {
      spacemap.yield %b : f32
    } -> !spacemap.space<[m], f32>
  }
  return
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.map' op needs one block argument per operand}}
  %1 = "spacemap.map"(%0) ({
    %c = arith.constant 1 : index
    spacemap.yield %c : index
  }) : (!spacemap.space<[m], index>) -> !spacemap.space<[m], index>
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.map' op block arguments must have the element types of the operands}}
  %1 = "spacemap.map"(%0) ({
  ^bb0(%a: i64):
    %c = arith.constant 1 : index
    spacemap.yield %c : index
  }) : (!spacemap.space<[m], index>) -> !spacemap.space<[m], index>
}

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.map' op must yield one value of type 'f32'}}
  %0 = spacemap.map () {
    %c = arith.constant 1.0 : f64
    spacemap.yield %c : f64
  } -> !spacemap.space<[m], f32>
}

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.map' op must yield one value of type 'f32'}}
  %0 = spacemap.map () {
  } -> !spacemap.space<[m], f32>
}

// -----

func.func private @random() -> f32
spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.map () {
    // expected-error @+1 {{'func.call' op has side effects, which the body of 'spacemap.map' may not have}}
    %r = func.call @random() : () -> f32
    spacemap.yield %r : f32
  } -> !spacemap.space<[m], f32>
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.map () {
    // expected-error @+1 {{'tensor.empty' op makes something other than a scalar in the body of 'spacemap.map'}}
    %e = tensor.empty() : tensor<4xf32>
    %c = arith.constant 1.0 : f32
    spacemap.yield %c : f32
  } -> !spacemap.space<[m], f32>
}

// -----

func.func @captured(%x: f32) {
  spacemap.graph dims [m = 4] ins(%a = %x : f32) {
    %0 = spacemap.map () {
      // expected-error @+1 {{'spacemap.yield' op uses a value from outside of the body of 'spacemap.map'}}
      spacemap.yield %a : f32
    } -> !spacemap.space<[m], f32>
  }
  return
}

// -----

func.func @captured_in_region(%x: f32) {
  spacemap.graph dims [m = 4] ins(%a = %x : f32) {
    %0 = spacemap.index m : !spacemap.space<[m], index>
    %1 = spacemap.map (%i = %0 : !spacemap.space<[m], index>) {
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %i, %zero : index
      %v = scf.if %first -> f32 {
        %c = arith.constant 1.0 : f32
        scf.yield %c : f32
      } else {
        // expected-error @+1 {{'scf.yield' op uses a value from outside of the body of 'spacemap.map'}}
        scf.yield %a : f32
      }
      spacemap.yield %v : f32
    } -> !spacemap.space<[m], f32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// temporal and next
//===----------------------------------------------------------------------===//

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.temporal' op 'n' is not a dimension of the graph}}
  spacemap.temporal along n by 2 () {
  }
}

// -----

spacemap.graph dims [m = 4] ins() {
  // expected-error @+1 {{'spacemap.temporal' op needs a positive step, not 0}}
  spacemap.temporal along m by 0 () {
  }
}

// -----

spacemap.graph dims [m = 4] ins() blocks [m = 2] {
  // expected-error @+1 {{'spacemap.temporal' op slices dimension 'm', which is spatially sliced already}}
  spacemap.temporal along m by 2 () {
  }
}

// -----

// expected-error @+1 {{'spacemap.temporal' op expects parent op 'spacemap.graph'}}
spacemap.temporal along m by 2 () {
}

// -----

spacemap.graph dims [m = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  // expected-error @+1 {{'spacemap.temporal' op a state may not have the sliced dimension 'm'}}
  %1 = spacemap.temporal along m by 2 (%s = %0 : !spacemap.space<[m], index>) {
    spacemap.next %s : !spacemap.space<[m], index>
  } -> !spacemap.space<[m], index>
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  %0 = spacemap.index n : !spacemap.space<[n], index>
  // expected-error @+1 {{'spacemap.temporal' op block arguments must have the types of the initial states}}
  %1 = "spacemap.temporal"(%0) <{dim = "m", step = 2 : i64}> ({
    spacemap.next %0 : !spacemap.space<[n], index>
  }) : (!spacemap.space<[n], index>) -> !spacemap.space<[n], index>
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  "spacemap.temporal"() <{dim = "m", step = 2 : i64}> ({
    // expected-error @+1 {{block with no terminator}}
    %0 = "spacemap.index"() <{dim = "m"}> : () -> !spacemap.space<[m], index>
  }) : () -> ()
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  %0 = spacemap.index n : !spacemap.space<[n], index>
  %1 = spacemap.temporal along m by 2 (%s = %0 : !spacemap.space<[n], index>) {
    // expected-error @+1 {{'spacemap.next' op states must have the types of the initial states}}
    spacemap.next
  } -> !spacemap.space<[n], index>
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  %1 = spacemap.temporal along m by 2 () {
    %0 = spacemap.index n : !spacemap.space<[n], index>
    // expected-error @+1 {{'spacemap.next' op what is collected must have the sliced dimension 'm'}}
    spacemap.next collect %0 : !spacemap.space<[n], index>
  } -> !spacemap.space<[n], index>
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  // expected-error @+1 {{'spacemap.temporal' op results must have the types of the states, then of what is collected}}
  spacemap.temporal along m by 2 () {
    %0 = spacemap.index m : !spacemap.space<[m], index>
    spacemap.next collect %0 : !spacemap.space<[m], index>
  }
}

// -----

spacemap.graph dims [m = 4, n = 4] ins() {
  %0 = spacemap.index m : !spacemap.space<[m], index>
  spacemap.temporal along m by 2 () {
    // expected-error @+1 {{'spacemap.all_to_one' op uses a space with the sliced dimension 'm' that was made outside of the slices}}
    %1 = spacemap.all_to_one %0 along [m] sum : !spacemap.space<[m], index> -> !spacemap.space<[], index>
  }
}

// -----

// expected-error @+1 {{'spacemap.next' op expects parent op 'spacemap.temporal'}}
spacemap.next

// -----

// expected-error @+1 {{'spacemap.yield' op expects parent op 'spacemap.map'}}
spacemap.yield
