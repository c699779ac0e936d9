//===- DistInterfaces.td - What partitions and launches have in common -*- tablegen -*-===//

#ifndef FUSION_DIST_INTERFACES
#define FUSION_DIST_INTERFACES

include "mlir/IR/OpBase.td"

def Dist_PartitionInterface : AttrInterface<"PartitionInterface"> {
  let cppNamespace = "::fusion::dist";
  let description = [{
    A partition maps every point of a launch domain to a box of a store (Diffuse, section 3). Its size does not depend
    on the number of points, and two partitions are compared in constant time: they are equal exactly when the
    attributes are the same. All queries take constant time in the number of points, too; they are conservative.
  }];
  let methods = [
    InterfaceMethod<"Emits an error unless the partition fits a store of `shape` and a launch domain.",
      "::llvm::LogicalResult", "verifyFor",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$domain,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"Whether the boxes of all points together are known to be the whole store.",
      "bool", "covers", (ins "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$domain)>,
    InterfaceMethod<"Whether the boxes of any two points are known to have no element in common.",
      "bool", "isDisjoint", (ins "::llvm::ArrayRef<int64_t>":$domain)>,
  ];
}

def Dist_AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::fusion::dist";
  let description = [{
    An operation that runs once at every point of a launch domain and touches at point `p` the box `partition(p)` of
    each of its stores, with a privilege. Dependence analysis, fusion and the planning of communication see programs
    through this interface only.
  }];
  let methods = [
    InterfaceMethod<"Extents of the launch domain.", "::llvm::ArrayRef<int64_t>", "getLaunchDomain">,
    InterfaceMethod<"What is touched, in the order of the operands that are stores.",
      "::llvm::SmallVector<::fusion::dist::Access>", "getAccesses">,
    InterfaceMethod<[{
        Whether every point writes the same values to its own copy of the scalar stores that the op writes: what
        promotion of a scalar task to the domain of its group leaves behind.
      }], "bool", "isReplicated", (ins), "", "return false;">,
  ];
  let verify = "return ::fusion::dist::detail::verifyAccesses($_op);";
}

#endif // FUSION_DIST_INTERFACES
