//===- SpaceMap.h - The space-mapping graph dialect -------------------------===//
//
// Source of the model: SpaceFusion (EuroSys 2025), sections 3 and 4. Operations are documented in SpaceMapOps.td.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_SPACEMAP_SPACEMAP_H
#define FUSION_SPACEMAP_SPACEMAP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fusion/SpaceMap/SpaceMapDialect.h.inc"
#include "fusion/SpaceMap/SpaceMapEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/SpaceMap/SpaceMapTypes.h.inc"

#define GET_OP_CLASSES
#include "fusion/SpaceMap/SpaceMapOps.h.inc"

namespace fusion::spacemap {

/// Whether `reducer` is defined on elements of `type`.
bool isLegal(Reducer reducer, mlir::Type type);

/// Whether floats that are all positive, or all not negative, are so when reduced.
bool keepsSign(Reducer reducer);

/// The identity of `reducer` on elements of `type` (0 for sum, -inf for a float maximum, ...). Null if not legal.
mlir::TypedAttr getIdentity(Reducer reducer, mlir::Type type);

/// Emits `lhs (reducer) rhs` on scalars or vectors of scalars.
mlir::Value createCombine(mlir::OpBuilder &builder, mlir::Location loc, Reducer reducer, mlir::Value lhs,
                          mlir::Value rhs);

/// The names in an array of strings.
llvm::SmallVector<mlir::StringAttr> getNames(mlir::ArrayAttr names);

} // namespace fusion::spacemap

#endif // FUSION_SPACEMAP_SPACEMAP_H
