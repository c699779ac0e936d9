//===- BoundsCheck.h - What one operation requires at run time ----------------===//

#ifndef FUSION_PASSES_NORMALIZE_BOUNDSCHECK_H
#define FUSION_PASSES_NORMALIZE_BOUNDSCHECK_H

#include "ExtentFacts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace fusion {

/// Collects what an operation requires of its operands and asserts, in front of it, what the facts do not prove. What
/// was asserted is a fact from then on. The operations that state a condition which turned out to be proven are left
/// without uses, in `made`: facts know values by address, so the caller erases them when it no longer needs the facts.
class BoundsCheck {
public:
  BoundsCheck(mlir::Operation *op, ExtentFacts &facts, llvm::SmallVectorImpl<mlir::Operation *> &made);

  void require(mlir::arith::CmpIPredicate predicate, mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  void requireNotNegative(mlir::OpFoldResult value);
  /// One of several comparisons, all with predicate eq.
  void requireOneEqual(llvm::ArrayRef<std::pair<mlir::OpFoldResult, mlir::OpFoldResult>> pairs);

  /// `size` elements from `offset` on at distance `stride` lie within `extent`; also for a size of 0, whose offset is
  /// at most the extent.
  void requireRange(mlir::OpFoldResult offset, mlir::OpFoldResult size, mlir::OpFoldResult stride,
                    mlir::OpFoldResult extent);
  void requireIndex(mlir::Value index, mlir::OpFoldResult extent);

  /// A tensor of `type` with these dynamic extents fits into the memory of a machine. Extents of other tensors do.
  void requireMemory(mlir::RankedTensorType type, mlir::ValueRange extents);

  /// Asserts what was required since the last call.
  void emit(const llvm::Twine &message);

  mlir::OpFoldResult getExtent(mlir::Value tensor, int64_t axis);
  /// Element `i` of a shape, a tensor of integers of rank 1.
  mlir::OpFoldResult getElement(mlir::Value shape, int64_t i);
  mlir::OpFoldResult getIndex(int64_t value) { return builder.getIndexAttr(value); }
  mlir::OpFoldResult add(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult multiply(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  /// By a positive constant; rounds down, or up.
  mlir::OpFoldResult divide(mlir::OpFoldResult lhs, int64_t by, bool up);
  mlir::Value asValue(mlir::OpFoldResult value);

private:
  void addCondition(mlir::Value holds);
  /// Notes what the builder makes.
  struct Listener : mlir::OpBuilder::Listener {
    explicit Listener(llvm::SmallVectorImpl<mlir::Operation *> &made) : made(made) {}
    void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override { made.push_back(op); }
    llvm::SmallVectorImpl<mlir::Operation *> &made;
  };

  mlir::Operation *op;
  ExtentFacts &facts;
  Listener listener;
  mlir::OpBuilder builder;
  mlir::Value all;
};

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_BOUNDSCHECK_H
