//===- GenericRewriting.h - Rebuilding linalg.generic with other operands -----===//

#ifndef FUSION_PASSES_NORMALIZE_GENERICREWRITING_H
#define FUSION_PASSES_NORMALIZE_GENERICREWRITING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace fusion {

/// Whether `op` computes each element from its position and scalars alone.
bool isGenerator(mlir::linalg::GenericOp op);

/// Whether every loop is an axis of some operand, so that a `linalg.generic` with `maps` has loop bounds.
bool boundsAllLoops(llvm::ArrayRef<mlir::AffineMap> maps);

/// Replaces `op` by a generic without the inputs in `dropped`, and erases `op`. `replacements[i]` takes the place of
/// the i-th input's block argument; it is null for an input that is kept or not used. The insertion point of values in
/// `replacements` must dominate `op`. The caller has checked that the remaining maps bound all loops.
mlir::linalg::GenericOp dropInputs(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                                   const llvm::SmallBitVector &dropped, llvm::ArrayRef<mlir::Value> replacements = {});

/// The indexing maps of `op` without those of the inputs in `dropped`.
llvm::SmallVector<mlir::AffineMap> mapsWithout(mlir::linalg::GenericOp op, const llvm::SmallBitVector &dropped);

/// A `tensor.empty` of the type and run-time shape of `tensor`.
mlir::Value createEmptyLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

/// The extent of `axis` of `tensor` if it is static or the operand of a known producer; null if it takes a
/// `tensor.dim`.
mlir::OpFoldResult lookUpExtent(mlir::OpBuilder &builder, mlir::Value tensor, int64_t axis);

/// Whether the range from `offset` of `size` elements certainly is all of `axis` of `tensor`.
bool isWholeAxis(mlir::Value tensor, int64_t axis, mlir::OpFoldResult offset, mlir::OpFoldResult size);

/// The extent of `axis` of `tensor`: a constant where it is static, the operand of a known producer where there is one,
/// else a `tensor.dim`.
mlir::OpFoldResult getExtent(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, int64_t axis);

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_GENERICREWRITING_H
