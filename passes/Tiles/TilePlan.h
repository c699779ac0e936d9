//===- TilePlan.h - Which spaces of a graph become tiles --------*- C++ -*-===//
//
// Decides, before anything is emitted, which spaces of a `spacemap.graph` are kept in a tile and which are computed in
// the bodies of their consumers, and which reductions accumulate straight into a state.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PASSES_TILES_TILEPLAN_H
#define FUSION_PASSES_TILES_TILEPLAN_H

#include "fusion/SpaceMap/SpaceMap.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace fusion::tiles {

using mlir::StringAttr;
using mlir::Value;

/// `update = combine(kept, partial)`: the next value of a state is the corrected old one combined with the slice's
/// reduction, so the reduction can accumulate into the corrected state.
struct Accumulation {
  /// Result of a `spacemap.all_to_one`.
  Value partial;
  /// Result of a `spacemap.map`.
  Value update;
  /// The corrected old state, a scalar in the body of `update`.
  Value kept;
  /// Position of the state in the temporal loop.
  unsigned state;
};

/// What one operation computes: a space, or (with `scalar`) a value in the body of the map that makes the space.
struct Expression {
  Value space;
  Value scalar;
  /// Whether `space` itself is computed although it has a tile.
  bool open = false;
};

/// The decisions for one graph. Level 0 is the block, level 1 the slice of a temporal loop.
///
/// *Roots* are the spaces that get a tile of their own: results of reductions, what leaves the block or the slice, and
/// maps whose recomputation in every consumer would cost more than a load. The plan refers to the graph's values and is
/// valid while the graph is unchanged. Not thread-safe.
class TilePlan {
public:
  explicit TilePlan(spacemap::GraphOp graph);

  bool isRoot(Value value) const { return roots.contains(value); }
  /// Whether `value` is read from a tile: a root, a source, a state or the result of a temporal loop.
  bool hasTile(Value value) const;
  /// 1 where the value changes from slice to slice.
  unsigned getLevel(Value value) const { return variant.contains(value) ? 1 : 0; }
  /// Whether dimension `dim` has a static tile extent of 1.
  bool isUnit(StringAttr dim, unsigned level) const { return units[level].contains(dim); }
  /// `dims` without those of tile extent 1.
  llvm::SmallVector<StringAttr> dropUnits(llvm::ArrayRef<StringAttr> dims, unsigned level) const;
  /// The dimensions over which the operation that computes `root` iterates: those of its operand for a reduction.
  llvm::SmallVector<StringAttr> getIterationDims(Value root) const;

  /// The roots (and results of temporal loops, for their initial values) whose operation reads `value`.
  const llvm::SmallSetVector<Value, 4> &getConsumers(Value value) const;
  /// Whether `value` is also read by a terminator or initialises a state.
  bool isPinned(Value value) const { return pinned.contains(value); }

  /// The accumulation of which `value` is the update or the partial result, or null.
  const Accumulation *getAccumulation(Value value) const;
  /// The state that `value` is the next value of and whose tile it overwrites, if any.
  std::optional<unsigned> getState(Value value) const;

  /// Whether `value` is computed, directly or not, from `from`; no value depends on itself.
  bool dependsOn(Value value, Value from) const {
    return dependsOn(value, [&](Value other) { return other == from; });
  }
  /// Whether any value from which `value` is computed `isWanted`.
  bool dependsOn(Value value, llvm::function_ref<bool(Value)> isWanted) const;

  /// Calls `visit` for each space whose tile `expression` reads, once each, in a fixed order. `inlined` lists roots to
  /// look through.
  void visitLeaves(Expression expression, llvm::ArrayRef<Value> inlined, llvm::function_ref<void(Value)> visit) const;
  /// The expression of the operation that computes `root`.
  Expression getExpression(Value root) const;

private:
  void findUnits();
  void findVariants();
  void findRoots();
  void findAccumulations(spacemap::TemporalOp loop);
  unsigned getCost(Value value) const;
  bool mustBeRoot(Value value) const;
  bool pays(Value value) const;
  void recordConsumers(Value value);

  spacemap::GraphOp graph;
  /// Operations of the graph, those of a temporal loop before the loop itself.
  llvm::SmallVector<mlir::Operation *> order;
  llvm::DenseSet<Value> roots, variant, pinned, coordinates;
  llvm::DenseSet<StringAttr> units[2];
  llvm::DenseMap<Value, llvm::SmallSetVector<Value, 4>> consumers;
  llvm::SmallVector<std::unique_ptr<Accumulation>> accumulations;
  llvm::DenseMap<Value, unsigned> states;
};

/// The space that `operand`, an argument of the body of a map, stands for; null if it is not an argument of one.
Value getMapOperand(Value scalar);

} // namespace fusion::tiles

#endif // FUSION_PASSES_TILES_TILEPLAN_H
