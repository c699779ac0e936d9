//===- SpaceMapOps.td - The space-mapping graph dialect ------*- tablegen -*-===//

#ifndef FUSION_SPACEMAP_OPS
#define FUSION_SPACEMAP_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

def SpaceMap_Dialect : Dialect {
  let name = "spacemap";
  let cppNamespace = "::fusion::spacemap";
  let summary = "Space-mapping graphs: what belongs to one kernel, and how it is sliced";
  let description = [{
    A space-mapping graph (SMG) describes a chain of tensor operators as *spaces* joined by typed *mappings*
    (SpaceFusion, EuroSys 2025). A space is a box over named dimensions; a mapping is One-to-One (`spacemap.map`),
    One-to-All (`spacemap.one_to_all`: one element feeds every element along a dimension) or All-to-One
    (`spacemap.all_to_one`: a reduction). Spaces are SSA values and mappings are operations, so the paper's graph is
    the SSA graph inside one `spacemap.graph`.

    The same operations describe the graph before and after slicing. Slicing adds block sizes to the graph (spatial:
    the grid of independent blocks) and `spacemap.temporal` loops inside it (the serial intra-blocks of a block).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Types and enums
//===----------------------------------------------------------------------===//

class SpaceMap_Type<string name, string typeMnemonic> : TypeDef<SpaceMap_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def SpaceMap_SpaceType : SpaceMap_Type<"Space", "space"> {
  let summary = "A box over named dimensions, with an element type";
  let description = [{
    The dimensions are names of the enclosing graph's dimensions, each at most once, in the graph's order. The
    extent of a dimension is the graph's, or the current block's or slice's where the graph is sliced.

    Example: `!spacemap.space<[m, l], f32>`; a scalar space is `!spacemap.space<[], f32>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "dimensions">:$dims, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<DimNames>($dims) `,` $elementType `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the space has dimension `dim`.
    bool hasDim(::mlir::StringAttr dim) const { return ::llvm::is_contained(getDims(), dim); }
  }];
}

def SpaceMap_Reducer : I32EnumAttr<"Reducer", "how an All-to-One mapping combines elements", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"MaxNum", 4, "maxnum">,
    I32EnumAttrCase<"MinNum", 5, "minnum">,
    I32EnumAttrCase<"MaxUnsigned", 6, "maxu">,
    I32EnumAttrCase<"MinUnsigned", 7, "minu">,
    I32EnumAttrCase<"And", 8, "and">,
    I32EnumAttrCase<"Or", 9, "or">,
    I32EnumAttrCase<"Xor", 10, "xor">
  ]> {
  let cppNamespace = "::fusion::spacemap";
}

def SpaceMap_GraphInput : AnyTypeOf<[AnyRankedTensor, AnySignlessIntegerOrIndex, AnyFloat]>;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class SpaceMap_Op<string mnemonic, list<Trait> traits = []> : Op<SpaceMap_Dialect, mnemonic, traits>;

/// An operation of the body of a graph or of a temporal loop.
def SpaceMap_InGraph : ParentOneOf<["GraphOp", "TemporalOp"]>;

def SpaceMap_GraphOp : SpaceMap_Op<"graph", [
    IsolatedFromAbove, AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"OutputOp">]> {
  let summary = "A space-mapping graph over tensors: one kernel once it is sliced";
  let description = [{
    Names the dimensions and their extents (static, or an index operand) and binds the inputs (tensors or scalars) to
    block arguments. The body is a graph of spaces and mappings; `spacemap.output` names the results.

    `blocks` holds the spatial slicing: for each listed dimension the extent of a block. Blocks run in parallel and
    are independent. A dimension that is not listed is whole in every block. Within a sliced graph all operations of
    the body act on the current block.

    Example:

    ```mlir
    // %x : tensor<8x16xf32>
    %sum = spacemap.graph dims [m = 8, n = 16] ins(%a = %x : tensor<8x16xf32>) blocks [m = 4] {
      %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !spacemap.space<[m, n], f32>
      %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
      spacemap.output %1 [m] : !spacemap.space<[m], f32>
    } -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<SpaceMap_GraphInput>:$inputs, Variadic<Index>:$dynamicExtents,
                       StrArrayAttr:$dimNames, DenseI64ArrayAttr:$staticExtents,
                       OptionalAttr<DenseI64ArrayAttr>:$blockSizes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Number of dimensions.
    unsigned getNumDims() { return getStaticExtents().size(); }
    /// Position of dimension `dim` in the graph's order, or -1.
    int64_t getDimIndex(::mlir::StringAttr dim);
    ::mlir::StringAttr getDimName(unsigned index);
    /// Extent of dimension `dim`; `ShapedType::kDynamic` where it is an operand.
    int64_t getStaticExtent(::mlir::StringAttr dim);
    /// The extent as an attribute or an operand of this op.
    ::mlir::OpFoldResult getExtent(::mlir::StringAttr dim);
    /// Block extent of dimension `dim`; 0 where the dimension is not spatially sliced.
    int64_t getBlockSize(::mlir::StringAttr dim);
    /// Block argument that stands for input `index`.
    ::mlir::BlockArgument getInputArgument(unsigned index) { return getBody().getArgument(index); }
    /// Sorts `dims` into the graph's order.
    void sortDims(::llvm::SmallVectorImpl<::mlir::StringAttr> &dims);
  }];
}

def SpaceMap_SourceOp : SpaceMap_Op<"source", [Pure, SpaceMap_InGraph]> {
  let summary = "The data space of a graph input";
  let description = [{
    Axis `i` of the tensor is the `i`-th dimension of the bracketed list; a scalar or rank-0 tensor has the empty
    list. Each use of an input may have its own source, with other dimensions. Inside `spacemap.temporal` along a
    dimension of the list, the source is the current slice.

    Example, a transposed view, as the graph lists `k` before `l`:

    ```mlir
    // dims [k = 16, l = 8]; %a : tensor<8x16xf32>
    %0 = spacemap.source %a [l, k] : tensor<8x16xf32> -> !spacemap.space<[k, l], f32>
    ```
  }];
  let arguments = (ins SpaceMap_GraphInput:$input, StrArrayAttr:$axes);
  let results = (outs SpaceMap_SpaceType:$result);
  let assemblyFormat = "$input custom<DimNames>($axes) attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def SpaceMap_IndexOp : SpaceMap_Op<"index", [Pure, SpaceMap_InGraph]> {
  let summary = "The coordinate along a dimension, in the whole graph's range";
  let description = [{
    Masks and positional terms are computed from coordinates, not loaded. Inside a block or a slice it still counts
    from the start of the dimension.

    Example:

    ```mlir
    // dims [m = 8]
    %i = spacemap.index m : !spacemap.space<[m], index>
    ```
  }];
  let arguments = (ins StrAttr:$dim);
  let results = (outs SpaceMap_SpaceType:$result);
  let assemblyFormat = "custom<DimName>($dim) attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def SpaceMap_OneToAllOp : SpaceMap_Op<"one_to_all", [Pure, SpaceMap_InGraph]> {
  let summary = "One-to-All mapping: each element feeds all elements along new dimensions";
  let description = [{
    Example:

    ```mlir
    // dims [m = 8, n = 16]; %0 : !spacemap.space<[m], f32>
    %1 = spacemap.one_to_all %0 along [n] : !spacemap.space<[m], f32> -> !spacemap.space<[m, n], f32>
    ```
  }];
  let arguments = (ins SpaceMap_SpaceType:$source, StrArrayAttr:$along);
  let results = (outs SpaceMap_SpaceType:$result);
  let assemblyFormat = "$source `along` custom<DimNames>($along) attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SpaceMap_AllToOneOp : SpaceMap_Op<"all_to_one", [Pure, SpaceMap_InGraph]> {
  let summary = "All-to-One mapping: reduces all elements along dimensions";
  let description = [{
    The reducers on floats: `max` and `min` propagate NaN, `maxnum` and `minnum` do not. On integers `max` and `min`
    are signed. A reduction over an empty range is the reducer's identity. The order of combination is not defined.

    Example:

    ```mlir
    // dims [m = 8, n = 16]; %0 : !spacemap.space<[m, n], f32>
    %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
    ```
  }];
  let arguments = (ins SpaceMap_SpaceType:$source, StrArrayAttr:$along, SpaceMap_Reducer:$reducer);
  let results = (outs SpaceMap_SpaceType:$result);
  let assemblyFormat = [{
    $source `along` custom<DimNames>($along) $reducer attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SpaceMap_MapOp : SpaceMap_Op<"map", [SpaceMap_InGraph, RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "One-to-One mapping: a scalar function of aligned spaces";
  let description = [{
    All operands and the result have the same dimensions. The body is a function of one element of each operand; it
    holds side-effect-free operations on scalars. Without operands it is a generator: a constant, say.

    Example:

    ```mlir
    // dims [m = 8, n = 16]; %0 : !spacemap.space<[m, n], f32>; %1 : !spacemap.space<[m, n], f32>
    %2 = spacemap.map (%a = %0, %b = %1 : !spacemap.space<[m, n], f32>, !spacemap.space<[m, n], f32>) {
      %3 = arith.addf %a, %b : f32
      spacemap.yield %3 : f32
    } -> !spacemap.space<[m, n], f32>
    ```
  }];
  let arguments = (ins Variadic<SpaceMap_SpaceType>:$operands);
  let results = (outs SpaceMap_SpaceType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def SpaceMap_YieldOp : SpaceMap_Op<"yield", [Pure, Terminator, HasParent<"MapOp">]> {
  let summary = "The value of a map's body";
  let description = [{Example: `spacemap.yield %3 : f32`}];
  let arguments = (ins Optional<AnyType>:$value);
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* for the implicit terminator; refused by the verifier of map */ }]>];
}

def SpaceMap_TemporalOp : SpaceMap_Op<"temporal", [RecursiveMemoryEffects, RecursivelySpeculatable,
    HasParent<"GraphOp">, SingleBlockImplicitTerminator<"NextOp">]> {
  let summary = "Temporal slicing: a serial loop over slices of one dimension";
  let description = [{
    Runs its body once per slice of `step` elements of dimension `dim` (the last slice may be shorter). Block
    arguments are the states, `inits` before the first slice; `spacemap.next` gives their values after the slice.
    States lack the sliced dimension. The results are the final states, followed by the collected spaces: those that
    keep the sliced dimension, put together from all slices.

    Values from outside that lack the sliced dimension may be used in the body; values that have it may not.

    Example:

    ```mlir
    // dims [m = 8, n = 16]; %a : tensor<8x16xf32>; %zero : !spacemap.space<[m], f32>
    %sum = spacemap.temporal along n by 4 (%s = %zero : !spacemap.space<[m], f32>) {
      %0 = spacemap.source %a [m, n] : tensor<8x16xf32> -> !spacemap.space<[m, n], f32>
      %1 = spacemap.all_to_one %0 along [n] sum : !spacemap.space<[m, n], f32> -> !spacemap.space<[m], f32>
      %2 = spacemap.map (%x = %s, %y = %1 : !spacemap.space<[m], f32>, !spacemap.space<[m], f32>) {
        %3 = arith.addf %x, %y : f32
        spacemap.yield %3 : f32
      } -> !spacemap.space<[m], f32>
      spacemap.next %2 : !spacemap.space<[m], f32>
    } -> !spacemap.space<[m], f32>
    ```
  }];
  let arguments = (ins Variadic<SpaceMap_SpaceType>:$inits, StrAttr:$dim, I64Attr:$step);
  let results = (outs Variadic<SpaceMap_SpaceType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Results that are collected along the sliced dimension.
    ::mlir::ResultRange getCollected() { return getResults().drop_front(getInits().size()); }
    /// Results that are final states.
    ::mlir::ResultRange getFinalStates() { return getResults().take_front(getInits().size()); }
  }];
}

def SpaceMap_NextOp : SpaceMap_Op<"next", [Pure, Terminator, HasParent<"TemporalOp">, AttrSizedOperandSegments]> {
  let summary = "The states after a slice, and what is collected from it";
  let description = [{Example: `spacemap.next %max, %sum : !s, !s collect %y : !t`}];
  let arguments = (ins Variadic<SpaceMap_SpaceType>:$states, Variadic<SpaceMap_SpaceType>:$collected);
  let assemblyFormat = [{
    ($states^ `:` type($states))? (`collect` $collected^ `:` type($collected))? attr-dict
  }];
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange(), ::mlir::ValueRange()); }]>];
}

def SpaceMap_SeenOp : SpaceMap_Op<"seen", [Pure, SpaceMap_InGraph]> {
  let summary = "How many elements of the sliced dimension have been seen, the current slice included";
  let description = [{
    Only inside `spacemap.temporal` along `dim`. With it a mean over the whole dimension can be tracked by the mean of
    what has been seen.

    Example:

    ```mlir
    // dims [n = 16]
    spacemap.temporal along n by 4 () {
      %n = spacemap.seen n : !spacemap.space<[], index>
    }
    ```
  }];
  let arguments = (ins StrAttr:$dim);
  let results = (outs SpaceMap_SpaceType:$result);
  let assemblyFormat = "custom<DimName>($dim) attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def SpaceMap_OutputOp : SpaceMap_Op<"output", [Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "The results of a graph";
  let description = [{
    Axis `j` of result `i` is the `j`-th dimension of the `i`-th bracketed list.

    Example: `spacemap.output %0 [n, m], %1 [m] : !spacemap.space<[m, n], f32>, !spacemap.space<[m], f32>`
  }];
  let arguments = (ins Variadic<SpaceMap_SpaceType>:$values, ArrayAttr:$axes);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange(), $_builder.getArrayAttr({})); }]>];
}

#endif // FUSION_SPACEMAP_OPS
