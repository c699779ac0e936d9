//===- FinestShape.h - Between tensors and their finest dimensions --------===//

#ifndef FUSION_PASSES_SPACES_FINESTSHAPE_H
#define FUSION_PASSES_SPACES_FINESTSHAPE_H

#include "fusion/Analysis/DimTable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace fusion::spacemap {

/// A tensor type of `shape`, dynamic where an extent is no constant.
mlir::RankedTensorType getFinestType(llvm::ArrayRef<mlir::OpFoldResult> shape, mlir::Type elementType);

/// `value` with one axis per dimension: unit axes dropped, merged axes expanded. `axes` are the resolved dimensions of
/// each axis of `value`.
mlir::Value toFinest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     llvm::ArrayRef<DimTable::Dims> axes, const DimTable &table);

/// The inverse: a tensor of type `type` from one with one axis per dimension of `axes`.
mlir::Value fromFinest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<DimTable::Dims> axes, mlir::RankedTensorType type, const DimTable &table);

} // namespace fusion::spacemap

#endif // FUSION_PASSES_SPACES_FINESTSHAPE_H
