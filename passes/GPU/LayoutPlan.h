//===- LayoutPlan.h - Layouts of all operations of a kernel ---------------===//

#ifndef FUSION_PASSES_GPU_LAYOUTPLAN_H
#define FUSION_PASSES_GPU_LAYOUTPLAN_H

#include "Contraction.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace fusion {

/// An operation that computes, with all that a choice of layouts depends on.
struct ComputingOp {
  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<int64_t> shape;
  /// Operations in its body that are instructions.
  int64_t bodyCost = 1;
  /// Its operands come through shared memory, in forms of their own.
  std::optional<Contraction> contraction;
  struct Access {
    mlir::Value tile;
    llvm::SmallVector<unsigned> dims;
    /// The tile is a view of global memory, or is stored to one.
    TileAccess memory;
    bool isResult = false;
    int64_t bytes = 4;
  };
  llvm::SmallVector<Access> accesses;
};

/// The operations of a kernel, in their order, and which of their tiles share registers.
class KernelOps {
public:
  mlir::LogicalResult collect(mlir::scf::ForallOp forall);

  std::vector<ComputingOp> ops;
  /// One value for all that share registers: the states of a loop, ragged slices of scratch.
  mlir::Value getLeader(mlir::Value tile) const;

private:
  void unite(mlir::Value a, mlir::Value b) { classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  llvm::EquivalenceClasses<const void *> classes;
};

/// One way of spreading a kernel.
struct LayoutPlan {
  int64_t numWarps = 1;
  llvm::MapVector<mlir::Operation *, Layout> layouts;
  double cost = 0;
};

/// The plan that starts from `anchors`: layouts of some operations. The others follow the tiles that they share with
/// them; what shares none gets a layout for coalesced access.
LayoutPlan makePlan(const KernelOps &kernel, int64_t numWarps,
                    llvm::ArrayRef<std::pair<mlir::Operation *, Layout>> anchors);

/// What the plan costs, in about issued instructions of a block times a factor for its registers.
double getCost(const KernelOps &kernel, const LayoutPlan &plan);

} // namespace fusion

#endif // FUSION_PASSES_GPU_LAYOUTPLAN_H
