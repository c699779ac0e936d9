//===- DistRun.h - Operations of the dist dialect, inside ---------*- C++ -*-===//

#ifndef FUSION_LIB_REFERENCE_DISTRUN_H
#define FUSION_LIB_REFERENCE_DISTRUN_H

#include "Machine.h"
#include "Store.h"

namespace fusion::reference {

/// A store argument of a launch at one point.
struct PointArgument {
  TensorValue content;
  /// Coordinates in the store (as the program sees it) of the content's first element.
  Shape origin;
};

mlir::FailureOr<StoreView> getStore(Machine &machine, mlir::Operation *op, mlir::Value value);

/// An uninitialised tensor (NaN, or a large negative number) of its own memory.
mlir::FailureOr<TensorValue> makePoisoned(Machine &machine, mlir::Operation *op, ScalarType type,
                                          llvm::ArrayRef<int64_t> shape);

/// old op element, element by element.
mlir::FailureOr<TensorValue> combine(Machine &machine, mlir::Operation *op, spacemap::Reducer reducer,
                                     mlir::Type elementType, TensorValue old, TensorValue element);

/// The coordinates of a point from its number in row-major order.
Shape getPoint(llvm::ArrayRef<int64_t> domain, int64_t number);
/// The rank of a point (docs/rationale/dist.md).
unsigned getRankOfPoint(int64_t number, int64_t numPoints, unsigned ranks);

/// The box of a store of `shape` that a partition, not an image, gives a point.
StoreBox getBox(llvm::ArrayRef<int64_t> shape, dist::PartitionInterface partition, llvm::ArrayRef<int64_t> point);
/// That of an image, from the contents of the arguments that it refers to.
mlir::FailureOr<StoreBox> getImageBox(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, dist::ImageAttr image,
                                      llvm::ArrayRef<PointArgument> arguments);

/// A copy of the content of a box (in the view's coordinates) on a rank. On simulated ranks an error if an element is
/// missing or old. `what` says who reads, for errors: "argument 1 at point [0]".
mlir::FailureOr<TensorValue> readBox(Machine &machine, mlir::Operation *op, const StoreView &view, const StoreBox &box,
                                     unsigned rank, const llvm::Twine &what);
/// Writes a box on a rank; `number` is that of the write.
mlir::LogicalResult writeBox(Machine &machine, mlir::Operation *op, const StoreView &view, const StoreBox &box,
                             unsigned rank, const TensorValue &content, int64_t number);

/// Runs the C function of an opaque task. Arguments that are written hold the new content afterwards.
mlir::LogicalResult runExternal(mlir::Operation *op, llvm::StringRef function,
                                llvm::MutableArrayRef<PointArgument> arguments);

mlir::LogicalResult runExchange(Machine &machine, dist::ExchangeOp op);
mlir::LogicalResult runExchange(Machine &machine, dist::ExchangeStartOp op);
mlir::LogicalResult runExchange(Machine &machine, dist::ExchangeWaitOp op);
mlir::LogicalResult runAllReduce(Machine &machine, dist::AllReduceOp op);

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_DISTRUN_H
