//===- ViewCoordinates.h - Positions through reshapes, transposes and slices --===//

#ifndef FUSION_PASSES_NORMALIZE_VIEWCOORDINATES_H
#define FUSION_PASSES_NORMALIZE_VIEWCOORDINATES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace fusion {

/// The operations between a tensor and the one whose elements it shows: reshapes, transposes, casts and slices with
/// unit strides.
class ViewChain {
public:
  /// Follows `tensor` up to the first value that is no view.
  explicit ViewChain(mlir::Value tensor);

  mlir::Value getOrigin() const { return origin; }

  /// For the element at `position` (index values) of the tensor, computes its position in the origin. Fails where that
  /// takes an extent that is not at hand.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> getOriginPosition(mlir::OpBuilder &builder, mlir::Location loc,
                                                                    llvm::ArrayRef<mlir::Value> position) const;

private:
  mlir::Value origin;
  /// From the tensor towards the origin.
  llvm::SmallVector<mlir::Operation *> views;
};

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_VIEWCOORDINATES_H
