//===- Build.h - From linalg ops to space-mapping graphs ------------------===//

#ifndef FUSION_PASSES_SPACES_BUILD_H
#define FUSION_PASSES_SPACES_BUILD_H

#include "fusion/Analysis/DimTable.h"
#include "fusion/Analysis/FusibleOp.h"
#include "fusion/Report/Remarks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace fusion::spacemap {

/// An operand of an operator, seen through reshapes, transposes and casts.
struct TracedValue {
  /// What remains when the reshapes are looked through.
  mlir::Value root;
  /// The dimensions of each axis of the root, and of the traced value itself.
  llvm::SmallVector<DimTable::Dims> rootAxes, axes;
};

/// An operator of a graph.
struct Operator {
  mlir::linalg::GenericOp op;
  FusibleOp fusible;
  /// The first graph in program order that it can be part of: graphs of one stage do not depend on each other.
  unsigned stage = 0;
  /// Dimensions of each loop.
  llvm::SmallVector<DimTable::Dims> loops;
  /// Inputs, then inits. Empty root: an init whose elements are not read.
  llvm::SmallVector<TracedValue> operands;
  /// Dimensions of each axis of the result.
  llvm::SmallVector<DimTable::Dims> resultAxes;
};

/// The operators of one block, their stages and the alignment of their dimensions.
class BlockAlignment {
public:
  explicit BlockAlignment(mlir::Block &block) : block(block) {}

  /// Finds the operators and aligns them.
  void run();

  /// Operators in program order.
  llvm::MapVector<mlir::Operation *, Operator> operators;
  DimTable table;
  /// How often alignment moved an operator to a later stage than its operands needed.
  unsigned numCuts = 0;
  /// What stood in the way of ops that are no operators, or operators of a later stage than their operands.
  llvm::DenseMap<mlir::Operation *, Refusal> refusals;
  /// The side effect that an operator has to wait for, where that is what decides its stage.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> barriers;

  /// The operators of each graph, in program order; graphs in an order that respects their dependences.
  std::vector<llvm::SmallVector<Operator *>> getGraphs();

  /// The operator that computes `value` in the same graph as `user`, or null.
  Operator *getProducer(mlir::Value value, const Operator &user);
  Operator *getProducer(mlir::Value value, unsigned stage);

  /// Looks through reshapes from `value` to its root; `stage` says which operators count as producers. Dimensions of
  /// roots from outside are new ones. None if the dimensions do not align.
  std::optional<TracedValue> trace(mlir::Value value, unsigned stage);

  /// The extent of axis `axis` of `value`: an attribute, or one `tensor.dim` for all who ask.
  mlir::OpFoldResult getExtent(mlir::Value value, int64_t axis);

private:
  /// The first stage of each operator, and the alignment of those of one stage.
  void assignStages();
  /// Operators that only later stages read move there: what stands before an opaque op by the order of the text alone
  /// joins the graph that uses it. True if there are any.
  bool findLaterStages();
  bool joinGraph(mlir::Operation &op, unsigned stage);
  /// None if the dimensions of the operands align.
  std::optional<Refusal> align(Operator &candidate);
  bool hasAliasConflict(const Operator &candidate) const;
  std::optional<llvm::SmallVector<DimTable::Dims>> forward(mlir::Operation *reshape,
                                                           llvm::ArrayRef<DimTable::Dims> axes);

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> notBefore;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> extents;
};

/// Whether `op` only renames or regroups dimensions.
bool isReshape(mlir::Operation *op);

/// The operand that a reshape renames.
mlir::Value getReshaped(mlir::Operation *op);

/// Remarks on all pairs of neighbouring ops of the block that are not in one graph. Before the graphs are built.
void explainBuild(mlir::Block &block, BlockAlignment &alignment);

} // namespace fusion::spacemap

#endif // FUSION_PASSES_SPACES_BUILD_H
