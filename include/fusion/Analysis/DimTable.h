//===- DimTable.h - Dimension alignment -----------------------------------===//
//
// One identity for each dimension across a fused graph (SpaceFusion, EuroSys 2025, section 4.1). An axis of a tensor
// is an ordered list of dimensions: empty for an axis of extent 1, several for a merged axis (`collapse_shape`).
// Unifying two lists splits dimensions until both sides consist of the same, finest ones.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_DIMTABLE_H
#define FUSION_ANALYSIS_DIMTABLE_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace fusion {

/// A union-find over dimensions with splitting and rollback. Not thread-safe; owns nothing of the IR.
class DimTable {
public:
  using Dim = unsigned;
  using Dims = llvm::SmallVector<Dim, 2>;

  /// A new dimension of extent `extent`: an index attribute, or a value that holds the extent at run time.
  Dim create(mlir::OpFoldResult extent);

  /// The dimensions of an axis of extent `extent`: none where it is known to be 1.
  Dims createAxis(mlir::OpFoldResult extent);

  /// The finest dimensions that `dims` stand for now, those of extent 1 left out.
  Dims resolve(llvm::ArrayRef<Dim> dims) const;

  mlir::OpFoldResult getExtent(Dim dim) const { return entries[dim].extent; }

  /// Makes two lists equal that are known to describe axes of equal extent. False if they cannot be: the table is then
  /// in a valid but partly unified state, for `rollback`.
  [[nodiscard]] bool unify(llvm::ArrayRef<Dim> lhs, llvm::ArrayRef<Dim> rhs);

  /// A mark of the present state, and the way back to it. Marks nest.
  struct Mark {
    size_t numEntries, numChanges;
  };
  Mark mark() const { return {entries.size(), changes.size()}; }
  void rollback(Mark mark);

private:
  struct Entry {
    mlir::OpFoldResult extent;
    /// Another dimension that this one is the same as, or none.
    std::optional<Dim> same;
    /// The finer dimensions that this one was split into, outermost first; empty if it was not.
    Dims parts;
  };
  struct Change {
    Dim dim;
    Entry before;
  };

  Entry &change(Dim dim);
  void split(Dim dim, llvm::ArrayRef<Dim> parts);

  std::vector<Entry> entries;
  std::vector<Change> changes;
};

} // namespace fusion

#endif // FUSION_ANALYSIS_DIMTABLE_H
