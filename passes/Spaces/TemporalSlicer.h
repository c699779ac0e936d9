//===- TemporalSlicer.h - Making the loops of a temporal plan ----*- C++ -*-===//

#ifndef FUSION_PASSES_SPACES_TEMPORALSLICER_H
#define FUSION_PASSES_SPACES_TEMPORALSLICER_H

#include "SpaceExpr.h"
#include "fusion/Spaces/TemporalSlice.h"

#include "mlir/IR/IRMapping.h"

namespace fusion::spacemap {

/// What stands for a reduction in the elements and updates of later ones while its loop runs. Any sequence of values is
/// right as long as the last is the true one (or is taken to it by `UpdatePlan::restore`).
struct StandIn {
  bool guardsIdentity = false; ///< something finite for an infinite identity
  bool guardsZero = false;     ///< 1 for 0
  bool extrapolates = false;   ///< a sum, scaled from the elements seen to all: a mean is that of what has been seen
};

/// A reduction while a loop is made.
struct Running {
  llvm::SmallVector<mlir::Value> states; ///< block arguments, null for counts; later the results of the loop
};

/// Slices one graph as a plan says.
class TemporalSlicer {
public:
  TemporalSlicer(GraphOp graph, const TemporalPlan &plan, int64_t step)
      : graph(graph), plan(plan), context(*plan.context), step(step), builder(graph.getContext()),
        running(plan.reductions.size()), standIns(plan.reductions.size()) {}

  mlir::LogicalResult run();

private:
  // Values outside of the loops.
  bool isSliced(mlir::Value space) { return llvm::is_contained(getDims(space), plan.dim); }
  bool dependsOnReductions(mlir::Value space);
  mlir::Value materializeOutside(mlir::Value space);
  mlir::Value getExtent();

  // One loop.
  mlir::LogicalResult makeLoop(unsigned pass);
  mlir::Value materializeInside(mlir::Value space, unsigned pass, mlir::IRMapping &inside, mlir::Operation *loop);
  bool isInside(mlir::Value space, unsigned pass, const mlir::IRMapping &inside);
  mlir::LogicalResult makeReduction(unsigned index, SpaceEmitter &emitter, mlir::IRMapping &inside, TemporalOp loop);
  mlir::LogicalResult emitFactors(algebra::Expr update, unsigned index, SpaceEmitter &emitter);
  mlir::Value restore(unsigned index, mlir::Value final, llvm::ArrayRef<mlir::Value> states);
  bool isRestoredByUsers(unsigned index);

  // Expressions.
  void chooseStandIns(unsigned pass);
  algebra::Expr getStandIn(unsigned index, algebra::Expr value, bool isOld = false, algebra::Expr current = {},
                           bool dominated = false);
  algebra::Expr toFloat(algebra::Expr indexLeaf, mlir::Type type);
  bool isCount(unsigned index, unsigned state);
  algebra::Expr getCount(unsigned index, unsigned state, bool isFinal);
  algebra::Expr getStateLeaf(unsigned index, unsigned state);
  /// The leaf that stands for a reduction in expressions of its loop.
  algebra::Expr getLeaf(unsigned index);

  GraphOp graph;
  const TemporalPlan &plan;
  algebra::ExprContext &context;
  int64_t step;
  mlir::OpBuilder builder;
  mlir::IRMapping outside;
  llvm::DenseMap<mlir::Value, bool> dependent;
  llvm::SmallDenseMap<mlir::Value, unsigned> positions;
  llvm::SmallVector<Running> running;
  llvm::SmallVector<StandIn> standIns;
  llvm::SmallPtrSet<mlir::Operation *, 8> restored;
  mlir::Value extent;
};

/// The number of elements of the sliced dimension before the current slice, or with it, as an expression.
algebra::Expr seenLeaf(algebra::ExprContext &context, bool isOld);
/// The extent of the sliced dimension where it is dynamic.
algebra::Expr extentLeaf(algebra::ExprContext &context);

} // namespace fusion::spacemap

#endif // FUSION_PASSES_SPACES_TEMPORALSLICER_H
