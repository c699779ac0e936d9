//===- Contraction.h - Products of tiles ----------------------------------===//

#ifndef FUSION_PASSES_GPU_CONTRACTION_H
#define FUSION_PASSES_GPU_CONTRACTION_H

#include "BlockProgram.h"
#include "fusion/Target/GpuChip.h"

namespace fusion {

/// c[m, n] += a[m, k] * b[k, n], whatever the order of dimensions in the tiles.
struct Contraction {
  unsigned rowDim, columnDim, depthDim;
  /// Numbers of the operands a and b of the operation.
  unsigned operandA, operandB;
  /// Whether a has the dimensions [k, m], and b [n, k].
  bool isTransposedA = false, isTransposedB = false;
  /// Type of the factors, to which each element is converted through the types of `steps`.
  mlir::Type factorType;
  llvm::SmallVector<mlir::Type, 2> stepsA, stepsB;
  /// The 16-bit type whose values all elements of the factors have, or null: such a contraction needs no wider
  /// multiplication.
  mlir::Type narrowType;
  mlir::Type resultType;

  /// Whether matrix instructions of the chip compute it: a 16-bit type, sums in f32.
  bool hasMatrixInstruction(const GpuChip &chip) const { return chip.hasMma16816 && narrowType && resultType.isF32(); }
};

/// The contraction that `op` is, or nothing.
std::optional<Contraction> matchContraction(mlir::linalg::LinalgOp op);

} // namespace fusion

#endif // FUSION_PASSES_GPU_CONTRACTION_H
