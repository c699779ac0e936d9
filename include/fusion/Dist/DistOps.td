//===- DistOps.td - The dialect of partitioned tasks ---------*- tablegen -*-===//

#ifndef FUSION_DIST_OPS
#define FUSION_DIST_OPS

include "fusion/Dist/DistInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::fusion::dist";
  let summary = "Index tasks over partitioned stores";
  let description = [{
    A program is a stream of *index tasks* over *stores* (Diffuse, ASPLOS 2025). A store is a distributed array with
    reference semantics. An index task runs one *point task* for every point of a rectangular launch domain; each
    point touches one box of each store, given by a *partition*, with a *privilege*. Within one launch the point tasks
    are independent; launches take effect in program order.

    The text of a program does not grow with the number of points: domains, partitions and stores are symbolic.
    Parallelism, communication and fusion are decided from them by comparing partitions, never by enumerating points.

    A rank-0 store is a scalar. Every rank has its own copy, and a task whose stores are all scalars, on a domain of one
    point, is computed by every rank; unless it reduces: then it runs where its point does, like other launches.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Dist_Type<string name, string typeMnemonic> : TypeDef<Dist_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Dist_StoreType : Dist_Type<"Store", "store"> {
  let summary = "A distributed array of a fixed shape, by reference";
  let description = [{
    Example: `!dist.store<1000x1000xf64>`; a scalar store is `!dist.store<f64>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The type of the whole content.
    ::mlir::RankedTensorType getTensorType() const;
  }];
}

def Dist_TokenType : Dist_Type<"Token", "token"> {
  let summary = "An exchange that has started";
  let description = [{Example: `!dist.token`}];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Dist_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Dist_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Dist_NoneAttr : Dist_Attr<"None", "none", [DeclareAttrInterfaceMethods<Dist_PartitionInterface>]> {
  let summary = "The partition that gives every point the whole store";
  let description = [{Example: `#dist.none`}];
}

def Dist_TiledAttr : Dist_Attr<"Tiled", "tiled", [DeclareAttrInterfaceMethods<Dist_PartitionInterface>]> {
  let summary = "An affine tiling of a box of the store";
  let description = [{
    The box `[offset, offset + extent)` of the store is cut into tiles of extents `tile`; the last tile along a
    dimension may be shorter. Point `p` has the tile with the coordinates `projection(p)`, an empty one if there are
    no elements there:

        [ offset + projection(p) * tile, offset + min((projection(p) + 1) * tile, extent) )

    A result of the projection is a dimension of the launch domain or a constant. A view of a store (a slice) is
    nothing but an offset and an extent here, so all reasoning is on the root store.

    Example, rows of the interior of a 1000x1000 store, on a domain of 4 points:
    `#dist.tiled<[250, 998] offset [1, 1] extent [998, 998] by (d0) -> (d0, 0)>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, ArrayRefParameter<"int64_t">:$offset,
                        ArrayRefParameter<"int64_t">:$extent, "::mlir::AffineMap":$projection);
  let assemblyFormat = [{
    `<` `[` $tile `]` `offset` ` ` `[` $offset `]` `extent` ` ` `[` $extent `]` `by` $projection `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getTile().size(); }
    /// Tiles along dimension `dim`.
    int64_t getNumColors(unsigned dim) const;
    /// Coordinates of the tile of `point`.
    ::llvm::SmallVector<int64_t> project(::llvm::ArrayRef<int64_t> point) const;
  }];
}

def Dist_ImageKind : I32EnumAttr<"ImageKind", "how the values of a store point into another", [
    I32EnumAttrCase<"Points", 0, "points">,
    I32EnumAttrCase<"Range", 1, "range">
  ]> {
  let cppNamespace = "::fusion::dist";
}

def Dist_ImageAttr : Dist_Attr<"Image", "image", [DeclareAttrInterfaceMethods<Dist_PartitionInterface>]> {
  let summary = "The part of a store that the values of other arguments point at";
  let description = [{
    A data-dependent partition of the first dimension: at point `p` it is the smallest interval that holds all
    coordinates found in the boxes of other arguments of the same launch at `p`; further dimensions are whole.
    `points a`: the integers in argument `a` are the coordinates. `range a, b`: element `i` of arguments `a` and `b`
    is the half-open range `[a_i, b_i)`, as in the row pointers of a sparse matrix.

    Example, for column indices that are argument 2: `#dist.image<points 2>`
  }];
  let parameters = (ins EnumParameter<Dist_ImageKind>:$kind, ArrayRefParameter<"unsigned">:$arguments);
  let assemblyFormat = "`<` $kind $arguments `>`";
  let genVerifyDecl = 1;
}

def Dist_PrivilegeKind : I32EnumAttr<"PrivilegeKind", "what a task does with an argument", [
    I32EnumAttrCase<"Read", 0, "read">,
    I32EnumAttrCase<"Write", 1, "write">,
    I32EnumAttrCase<"ReadWrite", 2, "read_write">,
    I32EnumAttrCase<"Reduce", 3, "reduce">
  ]> {
  let cppNamespace = "::fusion::dist";
}

def Dist_PrivilegeAttr : Dist_Attr<"Privilege", "privilege"> {
  let summary = "What a task does with an argument";
  let description = [{
    `read`: only reads. `write`: defines every element of its box and reads none. `read_write`: both; also for writes
    of some elements only. `reduce<op>`: combines contributions into the old elements with `op`, which is associative
    and commutative (`sum`, `prod`, `max`, `min`, `maxnum`, `minnum`, `maxu`, `minu`, `and`, `or`, `xor`).

    Example: `#dist.privilege<reduce<sum>>`
  }];
  let parameters = (ins "::fusion::dist::PrivilegeKind":$kind,
                        DefaultValuedParameter<"::fusion::spacemap::Reducer",
                                               "::fusion::spacemap::Reducer::Sum">:$reducer);
  let builders = [AttrBuilder<(ins "::fusion::dist::PrivilegeKind":$kind), [{
    return $_get($_ctxt, kind, ::fusion::spacemap::Reducer::Sum);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool reads() const { return getKind() == PrivilegeKind::Read || getKind() == PrivilegeKind::ReadWrite; }
    bool writes() const { return getKind() == PrivilegeKind::Write || getKind() == PrivilegeKind::ReadWrite; }
    bool reduces() const { return getKind() == PrivilegeKind::Reduce; }
    /// As it stands in operations: `read`, `reduce<sum>`.
    void printKeyword(::llvm::raw_ostream &os) const;
    /// Parses what printKeyword prints. Null, after an error, if that is not there.
    static PrivilegeAttr parseKeyword(::mlir::AsmParser &parser);
  }];
}

def Dist_PlacementAttr : Dist_Attr<"Placement", "placement"> {
  let summary = "Which point of a launch domain holds what of a store";
  let description = [{
    Example: `#dist.placement<#dist.none on [1]>` is the whole store at the one point of a domain, so on one rank.
  }];
  let parameters = (ins "::fusion::dist::PartitionInterface":$partition, ArrayRefParameter<"int64_t">:$domain);
  let assemblyFormat = "`<` $partition `on` ` ` `[` $domain `]` `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_TaskOp : Dist_Op<"task", [Symbol, IsolatedFromAbove]> {
  let summary = "A kind of task: what one point does with its boxes";
  let description = [{
    One argument for each store argument of a launch: a tensor with the content of the box. The body yields the new
    content of each argument that is written or reduced, in the order of the arguments. An argument with privilege
    `write` has no content: only its extents may be asked, and an operation may take it as destination that overwrites
    it. An argument with `reduce` starts as the identity of its operator, and what is yielded is combined with the
    store's content.

    Without a body the task is *opaque*: `external` names a C function of the calling convention in
    fusion/Runtime/Dist.h. An opaque task is never fused.

    Example:

    ```mlir
    module {
      dist.task @axpy(%a: tensor<f64> read, %x: tensor<?xf64> read, %y: tensor<?xf64> read_write) {
        %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                             iterator_types = ["parallel"]}
            ins(%a, %x : tensor<f64>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
        ^bb0(%s: f64, %u: f64, %v: f64):
          %1 = arith.mulf %s, %u : f64
          %2 = arith.addf %1, %v : f64
          linalg.yield %2 : f64
        } -> tensor<?xf64>
        dist.yield %0 : tensor<?xf64>
      }
      dist.task @spmv(tensor<?xi32> read, tensor<?xf64> write) external "spmv"
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, TypeArrayAttr:$argumentTypes,
                       ArrayAttr:$privileges, OptionalAttr<StrAttr>:$external);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// No body: a C function.
    bool isOpaque() { return getBody().empty(); }
    unsigned getNumTaskArguments() { return getPrivileges().size(); }
    ::fusion::dist::PrivilegeAttr getPrivilege(unsigned argument);
    ::mlir::RankedTensorType getArgumentType(unsigned argument);
    /// The arguments whose new content the body yields, in order.
    ::llvm::SmallVector<unsigned> getYieldedArguments();
  }];
}

def Dist_YieldOp : Dist_Op<"yield", [Pure, Terminator, HasParent<"TaskOp">]> {
  let summary = "The new content of what a task writes";
  let description = [{Example: `dist.yield %0, %1 : tensor<?xf64>, tensor<f64>`}];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Dist_LaunchOp : Dist_Op<"launch", [
    DeclareOpInterfaceMethods<Dist_AccessOpInterface, ["isReplicated"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "An index task: runs a task at every point of a domain";
  let description = [{
    A partition that is written must give different points disjoint boxes, and two arguments of one store of which one
    is written must have the same partition or lie apart. `replicated` lifts the first rule for scalar stores: every
    point computes the same scalars for itself.

    Example:

    ```mlir
    dist.task @axpy(tensor<f64> read, tensor<?xf64> read, tensor<?xf64> read_write) external "axpy"
    func.func @main(%t: tensor<1000xf64>) {
      %a = dist.create : !dist.store<f64>
      %x = dist.create : !dist.store<1000xf64>
      %y = dist.from_tensor %t : tensor<1000xf64> -> !dist.store<1000xf64>
      dist.launch @axpy on [4] (%a read #dist.none,
                                %x read #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>,
                                %y read_write #dist.tiled<[250] offset [0] extent [1000] by (d0) -> (d0)>)
          : !dist.store<f64>, !dist.store<1000xf64>, !dist.store<1000xf64>
      return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$task, DenseI64ArrayAttr:$domain, Variadic<Dist_StoreType>:$stores,
                       ArrayAttr:$privileges, ArrayAttr:$partitions, UnitAttr:$replicated);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Dist_FillOp : Dist_Op<"fill", [
    DeclareOpInterfaceMethods<Dist_AccessOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Sets every element of a view to a value of the host program";
  let description = [{
    Not counted as a task.

    Example: `dist.fill %c into %s by #dist.none on [1] : f64, !dist.store<8xf64>`
  }];
  let arguments = (ins AnyType:$value, Dist_StoreType:$store, Dist_PartitionInterface:$partition,
                       DenseI64ArrayAttr:$domain);
  let assemblyFormat = [{
    $value `into` $store `by` $partition `on` $domain attr-dict `:` type($value) `,` type($store)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Dist_CopyOp : Dist_Op<"copy", [
    DeclareOpInterfaceMethods<Dist_AccessOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Copies the box of a point from one store to another";
  let description = [{
    Not counted as a task. At every point the two boxes have the same extents.

    Example: `dist.copy %s by #dist.none to %t by #dist.none on [1] : !dist.store<8xf64>, !dist.store<8xf64>`
  }];
  let arguments = (ins Dist_StoreType:$source, Dist_PartitionInterface:$sourcePartition, Dist_StoreType:$target,
                       Dist_PartitionInterface:$targetPartition, DenseI64ArrayAttr:$domain);
  let assemblyFormat = [{
    $source `by` $sourcePartition `to` $target `by` $targetPartition `on` $domain attr-dict `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

def Dist_CreateOp : Dist_Op<"create", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A new store; its elements are undefined";
  let description = [{Example: `%s = dist.create : !dist.store<1000xf64>`}];
  let arguments = (ins);
  let results = (outs Res<Dist_StoreType, "", [MemAlloc]>:$store);
  let assemblyFormat = "attr-dict `:` type($store)";
}

def Dist_FromTensorOp : Dist_Op<"from_tensor"> {
  let summary = "A new store with the content of a tensor";
  let description = [{
    Under several ranks the tensor is that of the first; its parts are sent to where they are needed.

    Example: `%s = dist.from_tensor %t : tensor<1000xf64> -> !dist.store<1000xf64>`
  }];
  let arguments = (ins AnyRankedTensor:$tensor);
  let results = (outs Res<Dist_StoreType, "", [MemAlloc, MemWrite]>:$store);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($store)";
  let hasVerifier = 1;
}

def Dist_ToTensorOp : Dist_Op<"to_tensor"> {
  let summary = "The content of a store, now";
  let description = [{
    Under several ranks every rank has the content of a scalar; that of any other store only the first rank has, the
    tensor of the others is undefined.

    Example: `%t = dist.to_tensor %s : !dist.store<1000xf64> -> tensor<1000xf64>`
  }];
  let arguments = (ins Arg<Dist_StoreType, "", [MemRead]>:$store);
  let results = (outs AnyRankedTensor:$tensor);
  let assemblyFormat = "$store attr-dict `:` type($store) `->` type($tensor)";
  let hasVerifier = 1;
}

def Dist_ViewOp : Dist_Op<"view", [Pure]> {
  let summary = "A box of a store as a store of its own";
  let description = [{
    Writes go through to the source. Uses by launches, fills and copies are rewritten to the root store when the
    program is canonicalised: the view becomes offset and extent of the partition.

    Example: `%v = dist.view %s [1, 1] : !dist.store<10x10xf64> -> !dist.store<8x8xf64>`
  }];
  let arguments = (ins Dist_StoreType:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs Dist_StoreType:$view);
  let assemblyFormat = "$source $offsets attr-dict `:` type($source) `->` type($view)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

def Dist_PlacementArrayAttr : TypedArrayAttrBase<Dist_PlacementAttr, "placements">;

class Dist_ExchangeBase<string mnemonic, list<Trait> traits = []> : Dist_Op<mnemonic, traits> {
  let arguments = (ins Arg<Dist_StoreType, "", [MemRead, MemWrite]>:$store, Dist_PlacementArrayAttr:$sources,
                       Dist_PlacementArrayAttr:$targets,
                       Arg<Variadic<Dist_StoreType>, "", [MemRead]>:$given,
                       DefaultValuedAttr<TypedArrayAttrBase<Dist_PartitionInterface, "partitions">, "{}">
                           :$givenPartitions);
  let assemblyFormat = [{
    $store `from` $sources `to` $targets (`given` `(` $given^ `by` $givenPartitions `)`)? attr-dict
    `:` type($store) (`,` type($given)^)?
  }];
  let hasVerifier = 1;
}

def Dist_ExchangeOp : Dist_ExchangeBase<"exchange"> {
  let summary = "Brings the current elements of a store to where they are needed";
  let description = [{
    `sources` say where the current elements are, the last one last: an element is current at the last placement that
    contains it, whatever the earlier ones hold. They are the placements of the writes so far, and of earlier exchanges.
    Afterwards every point of each target has the current elements of its box, too. Elements that no source contains
    have never been written; they are left alone. Made by the planning of communication: halo exchange, redistribution,
    gather, scatter and broadcast are all this operation with other placements.

    An exchange of a scalar gives it to every rank, whatever the targets are.

    A target that is an image refers to the stores `given`, by their partitions on the domain of the target, as it
    would to the arguments of a launch.

    Example:

    ```mlir
    %s = dist.create : !dist.store<8xf64>
    dist.exchange %s from [#dist.placement<#dist.none on [1]>]
        to [#dist.placement<#dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)> on [2]>] : !dist.store<8xf64>
    ```
  }];
}

def Dist_ExchangeStartOp : Dist_ExchangeBase<"exchange_start"> {
  let summary = "Starts an exchange";
  let description = [{
    Until the exchange is waited for, the boxes that are sent may not be written and the elements that arrive may not
    be read. `exchange_wait` ends it.

    Example:

    ```mlir
    %s = dist.create : !dist.store<8xf64>
    %t = dist.exchange_start %s from [#dist.placement<#dist.none on [1]>]
        to [#dist.placement<#dist.tiled<[4] offset [0] extent [8] by (d0) -> (d0)> on [2]>] : !dist.store<8xf64>
    ```
  }];
  let results = (outs Dist_TokenType:$token);
}

def Dist_ExchangeWaitOp : Dist_Op<"exchange_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until an exchange has ended";
  let description = [{Example: `dist.exchange_wait %t`}];
  let arguments = (ins Dist_TokenType:$token);
  let assemblyFormat = "$token attr-dict";
}

def Dist_AllReduceOp : Dist_Op<"all_reduce"> {
  let summary = "Combines the contributions of all ranks to a store";
  let description = [{
    Ends the reductions of the launches before it that reduce into the store with this operator, partition and domain:
    the old elements are combined with what each rank has gathered for its points, in the order of the ranks. Every rank
    has the result for the boxes of its points; that of a scalar every rank. Without such launches nothing changes. Made
    by the planning of communication.

    Example: `dist.all_reduce %s sum <#dist.none on [4]> : !dist.store<f64>`
  }];
  let arguments = (ins Arg<Dist_StoreType, "", [MemRead, MemWrite]>:$store, Dist_PrivilegeAttr:$reduction,
                       Dist_PlacementAttr:$placement);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // FUSION_DIST_OPS
