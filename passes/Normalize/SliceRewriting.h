//===- SliceRewriting.h - Slices of results from slices of operands -----------===//

#ifndef FUSION_PASSES_NORMALIZE_SLICEREWRITING_H
#define FUSION_PASSES_NORMALIZE_SLICEREWRITING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {

/// Offsets and sizes of a slice with unit strides, one each per axis of the sliced tensor.
struct Box {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
};

Box getBox(mlir::tensor::ExtractSliceOp slice);

/// The slice of `tensor`, of the same rank. Fills, splats and empty tensors are made anew at the smaller size.
mlir::Value createSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, const Box &box);

/// Adds `offset` to the position along `loop` that the body reads.
void shiftIndex(mlir::linalg::GenericOp op, unsigned loop, mlir::OpFoldResult offset);

/// Moves the slices of the one result of `op` to its operands, if that computes nothing twice, and returns how many
/// were moved. Then `op` may be gone.
unsigned pushSlicesAbove(mlir::Operation *op);

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_SLICEREWRITING_H
