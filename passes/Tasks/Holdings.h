//===- Holdings.h - Where the current elements of a store are -----*- C++ -*-===//
//
// What the planning of communication knows of a store at a point of the program, independent of the number of ranks and
// in constant time in the number of points: points of one domain are compared dimension by dimension, never one by one.
// See docs/rationale/communication.md.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_TASKS_HOLDINGS_H
#define FUSION_PASSES_TASKS_HOLDINGS_H

#include "fusion/Analysis/BoxPlan.h"
#include "fusion/Dist/Dist.h"

namespace fusion::dist {

/// A partition on a domain, in a form in which points of two domains can be compared.
class Holding {
public:
  /// `everywhere`: a scalar that each rank has. `given` are the stores and partitions that an image refers to.
  Holding(StoreType type, PlacementAttr placement, bool everywhere = false,
          llvm::ArrayRef<std::pair<mlir::Value, mlir::Attribute>> given = {});

  PlacementAttr getPlacement() const { return placement; }
  bool isEverywhere() const { return everywhere; }
  bool isImage() const { return mlir::isa<ImageAttr>(placement.getPartition()); }
  /// On a domain of one point, so on one rank.
  bool isSingle() const { return domain.empty() && !everywhere; }
  llvm::ArrayRef<std::pair<mlir::Value, mlir::Attribute>> getGiven() const { return given; }
  /// All boxes lie inside; they fill it if `fillsHull`.
  const boxes::Box &getHull() const { return hull; }
  bool fillsHull() const { return exact; }

  /// Whether each element of a point's box that some point of `other` has is one that the same point, or a rank that
  /// has the same point, has in `other`. For boxes that do not meet it is true. Conservative.
  bool keepsToItself(const Holding &other) const;
  /// Whether each point's box lies inside of the same point's box of `other`. Conservative.
  bool isInside(const Holding &other) const;
  bool mayMeet(const Holding &other) const;

  bool operator==(const Holding &other) const {
    return placement == other.placement && everywhere == other.everywhere && given == other.given;
  }

private:
  /// Along one dimension of the store.
  struct Dim {
    /// The dimension of the canonical domain that says which tile a point has; none: all points have the same.
    std::optional<unsigned> domainDim;
    int64_t offset = 0, tile = 0;
  };

  PlacementAttr placement;
  bool everywhere;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Attribute>> given;
  /// Without dimensions of extent 1: they do not change which rank has a point.
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<Dim> dims;
  boxes::Box hull;
  bool exact = true;
};

using Holdings = llvm::SmallVector<Holding, 0>;

/// What is known of one store. Order matters nowhere but in `layers`.
struct StoreHoldings {
  /// An element is current at the last of these that contains it.
  Holdings layers;
  /// Every point has the current elements of its box.
  Holdings current;
  /// Contributions that wait for an all_reduce: operator and placement.
  llvm::SmallVector<std::pair<PrivilegeAttr, PlacementAttr>> pending;

  /// Whether every point of `wanted` is known to have the current elements of its box.
  bool isCurrent(const Holding &wanted) const;
  /// The layers that an exchange to `targets` may take elements from.
  Holdings getSources(llvm::ArrayRef<Holding> targets) const;
  /// After an exchange.
  void noteExchange(const Holding &target);
  void noteWrite(const Holding &written);
  /// After a write to a store that images refer to.
  void forgetImagesOf(mlir::Value store);

  /// Drops layers of which later ones have all elements.
  void dropHiddenLayers();

  /// The placements that must be made current here so that the layers of `other` say where current elements are. Those
  /// that are layers here in the same order say so already.
  Holdings getMissingLayers(const StoreHoldings &other) const;

  bool operator==(const StoreHoldings &other) const;
};

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_HOLDINGS_H
