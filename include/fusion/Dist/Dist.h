//===- Dist.h - The dialect of partitioned tasks ----------------------------===//
//
// Source of the model: Diffuse (ASPLOS 2025), section 3. Operations are documented in DistOps.td.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_DIST_DIST_H
#define FUSION_DIST_DIST_H

#include "fusion/SpaceMap/SpaceMap.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fusion/Dist/DistDialect.h.inc"
#include "fusion/Dist/DistEnums.h.inc"

#include "fusion/Dist/DistAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/Dist/DistTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dist/DistAttrs.h.inc"

namespace fusion::dist {

/// One argument of a launch: at point `p` the box `partition(p)` of `store` is touched with `privilege`.
struct Access {
  mlir::Value store;
  PartitionInterface partition;
  PrivilegeAttr privilege;
};

namespace detail {
/// The rules that every launch, fill and copy obeys (Diffuse, section 3, with disjointness of what is written).
llvm::LogicalResult verifyAccesses(mlir::Operation *op);
} // namespace detail

} // namespace fusion::dist

#include "fusion/Dist/DistInterfaces.h.inc"

#define GET_OP_CLASSES
#include "fusion/Dist/DistOps.h.inc"

namespace fusion::dist {

/// The store that `store` is a view of; itself if it is none.
mlir::Value getRootStore(mlir::Value store);

/// Whether two partitions of one store are known to have no element in common, whatever the points are: the boxes that
/// they tile lie apart.
bool areApart(PartitionInterface a, PartitionInterface b);

/// Number of points of a domain, capped at the largest int64_t.
int64_t getNumPoints(llvm::ArrayRef<int64_t> domain);

/// The partition of the root store that gives each point what `partition` gives it of the view of `shape` at `offsets`.
/// Null for an image, whose coordinates are those of the view.
PartitionInterface composeWithView(PartitionInterface partition, llvm::ArrayRef<int64_t> domain,
                                   llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> offsets);

} // namespace fusion::dist

#endif // FUSION_DIST_DIST_H
