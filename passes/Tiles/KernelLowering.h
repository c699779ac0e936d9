//===- KernelLowering.h - One graph to one kernel on tiles ------*- C++ -*-===//

#ifndef FUSION_PASSES_TILES_KERNELLOWERING_H
#define FUSION_PASSES_TILES_KERNELLOWERING_H

#include "TileBuilder.h"

#include <variant>

namespace fusion::tiles {

/// Replaces one graph by a tagged `scf.forall`. Emits a located error, and leaves the graph, if the slicing is not
/// legal.
class KernelLowering {
public:
  /// `isCautious` keeps the order of the graph: nothing is emitted early, be it to share a pass or to spare a copy.
  KernelLowering(spacemap::GraphOp graph, llvm::StringRef name, bool pack, bool isCautious, TileCounts &counts)
      : graph(graph), name(name), pack(pack), isCautious(isCautious), counts(counts), plan(graph),
        build(graph, plan, counts) {}

  mlir::LogicalResult run();
  /// After a failure: whether it was one to find an order, of which nothing has been reported. Never when cautious.
  bool mayRetry() const { return isStuck && !isCautious; }

private:
  //===--- The grid and the loops (KernelLowering.cpp) -------------------===//

  mlir::LogicalResult checkSlicing();
  /// Dimensions with more than one block, in the graph's order.
  llvm::SmallVector<StringAttr> getGridDims();
  /// Whether `value` is well computed in `slice` of `destination`: accumulators of long rows are not, which every slice
  /// of a loop reads and writes again.
  bool mayClaim(Value value, const Tile &slice, Value destination);
  mlir::LogicalResult emitBlock(mlir::Block *block, mlir::ValueRange destinations);
  /// Whether the result of the graph at `index` goes past the caches: it is larger than those of a core, nobody in the
  /// program reads it, and each row of its tiles consists of whole cache lines.
  bool isStreamed(unsigned index);
  /// The blocks' results of a reduction along a dimension that the grid cuts have one more axis, in front: the block.
  /// That dimension, or null.
  StringAttr getSplitDim();
  /// The reduction along it whose result is `output`, an operand of the graph's terminator; null if it is none.
  spacemap::AllToOneOp getPartial(Value output);
  /// How many partial results there are.
  mlir::OpFoldResult getNumPartials(mlir::OpBuilder &builder);
  TileBuilder::SliceOperands getResultSlice(Value value, llvm::ArrayRef<StringAttr> axes);
  /// The block's part of `destination`.
  Tile slicePartial(Value value, llvm::ArrayRef<StringAttr> axes, Value destination);
  /// Combines the blocks' partial results of `reduction` along the first axis of `partial`.
  Value combinePartial(spacemap::AllToOneOp reduction, Value partial);
  /// Marks the last of several passes over a tile of a large input: it fetches the next block's part.
  void markPrefetches();
  mlir::LogicalResult emitTemporal(spacemap::TemporalOp loop);
  /// Where the slices of `loop` end that this block needs; `end` if it needs all of them (SkipSlices.cpp).
  Value getSliceEnd(spacemap::TemporalOp loop, Value end);
  /// The tensor with which a state or a collected result starts.
  mlir::FailureOr<Tile> makeInitial(Value init, Value result);
  mlir::LogicalResult emitRootsOf(mlir::Block &block);

  //===--- Roots (TileEmission.cpp) --------------------------------------===//

  /// One result of an operation on tiles: a space, or a reduction into `destination`.
  struct Output {
    Expression expression;
    Tile destination;
    spacemap::AllToOneOp reduction;
  };

  mlir::LogicalResult reportCycle(Value value);
  /// Makes the tile of `root` and of all that it reads.
  mlir::LogicalResult ensure(Value root, llvm::ArrayRef<Value> inlined = {});
  mlir::LogicalResult emitMap(Value root, llvm::ArrayRef<Value> inlined);
  mlir::LogicalResult emitReduction(spacemap::AllToOneOp root);
  /// Corrects the old state in place; the reduction accumulates into the result.
  mlir::LogicalResult emitKept(const Accumulation &accumulation, llvm::ArrayRef<Value> inlined);
  /// Emits whoever reads the old value of state `state` before `next` overwrites it, or saves the old value.
  mlir::LogicalResult prepareOverwrite(unsigned state, Value next);
  mlir::LogicalResult ensureLeaves(Expression expression, llvm::ArrayRef<Value> inlined);
  /// Whether the operation that reads for `root` has been emitted.
  bool isDone(Value root) const { return done.contains(root); }
  bool dependsOnUnfinished(Value value) const;

  /// Whether `reader`, a consumer of some tile, has been emitted so far as it reads tiles.
  bool hasRead(Value reader) const;
  /// A scratch tile over `axes`: one that nobody reads any more, or a new one.
  Tile allocate(unsigned level, mlir::Location loc, llvm::ArrayRef<StringAttr> axes, mlir::Type elementType);
  /// The tile that `root` is computed into; a reduction's is initialised.
  mlir::FailureOr<Tile> makeDestination(Value root);
  mlir::FailureOr<Tile> makeReductionDestination(spacemap::AllToOneOp root);
  /// A space that is computed into a slice of a result, and element by element from `root`, so that `root` can be
  /// computed there as well; null if there is none.
  Value findLender(Value root);
  /// A scratch tile that `root` reads last and can overwrite.
  std::optional<Tile> findReusable(Value root, llvm::ArrayRef<Value> inlined);
  /// Adds to `outputs` the reductions of `root` that can be done in the same pass.
  mlir::LogicalResult mergeReductions(Value root, llvm::SmallVectorImpl<Output> &outputs);
  /// Adds to `outputs` other reductions over the dimensions of `root` that read the same whole tile.
  mlir::LogicalResult mergeSiblings(spacemap::AllToOneOp root, llvm::SmallVectorImpl<Output> &outputs);
  /// Whether nothing that `reduction` needs, but perhaps `except`, depends on what is being emitted.
  bool canReduceNow(spacemap::AllToOneOp reduction, Value except) const;
  void finishReduction(spacemap::AllToOneOp root, Tile tile);

  //===--- Operations (TileBodies.cpp, TilePacking.cpp) -------------------===//

  /// The tile of a leaf (`TilePlan::visitLeaves`); a scalar input has none.
  Tile getTile(Value leaf, unsigned level);
  /// Fills `tile` with a scalar.
  Tile fill(unsigned level, mlir::Location loc, Value scalar, const Tile &tile);
  /// One `linalg.generic` (or fill) for `outputs`; their new tiles.
  llvm::SmallVector<Tile> emitGeneric(unsigned level, mlir::Location loc, llvm::ArrayRef<StringAttr> iterationDims,
                                      llvm::ArrayRef<Output> outputs, llvm::ArrayRef<Value> inlined);
  /// Replaces operands of a contraction that are read along the wrong axis by packed copies.
  void packOperands(llvm::MutableArrayRef<std::pair<Value, Tile>> leaves, const Output &output, unsigned level);
  /// A copy of `tile`, the tile of `leaf`, with the order `axes`.
  Tile getPacked(Value leaf, const Tile &tile, llvm::ArrayRef<StringAttr> axes, mlir::Location loc);
  /// The part of `tile` in a copy of the whole operand that is made once for all blocks, with `columns` innermost, if
  /// that pays (HoistPacking.cpp).
  std::optional<Tile> getHoisted(Value leaf, const Tile &tile, StringAttr columns, spacemap::AllToOneOp reduction);
  /// Number of elements of the current temporal dimension seen after the current slice.
  Value getSeen(mlir::Location loc);

  friend struct BodyBuilder;

  spacemap::GraphOp graph;
  std::string name;
  bool pack, isCautious;
  /// An operation needs itself to be emitted first.
  bool isStuck = false;
  TileCounts &counts;
  TilePlan plan;
  TileBuilder build;

  llvm::DenseMap<Value, Tile> tiles;
  /// Slices of results (or of collected tensors) that a space is computed into.
  llvm::DenseMap<Value, Tile> claims;
  /// Spaces whose claim is written past the caches.
  llvm::DenseSet<Value> streamed;
  /// What was computed in the claimed slice of another space before that one (`findLender`).
  llvm::DenseMap<Value, Value> loans;
  /// Corrected states of accumulations, by update.
  llvm::DenseMap<Value, Tile> kept;
  /// Scratch tiles that may be reused, in the order of their making, each with the leaf that it is read for.
  llvm::SmallVector<std::pair<Value, Tile>> scratch;
  /// Packed copies by what they are copies of.
  llvm::DenseMap<Value, Tile> packed;
  /// The grid, once it is there, and what is packed in front of it, by input and layout.
  mlir::Operation *grid = nullptr;
  llvm::DenseMap<std::pair<Value, mlir::Attribute>, Value> hoisted;
  llvm::SetVector<Value> unfinished;
  llvm::DenseSet<Value> done;
  /// The current temporal loop, its slice's offset and the iteration arguments of its states.
  spacemap::TemporalOp currentLoop;
  Value seen;
  llvm::SmallVector<Tile> stateTiles;
  /// An error has been reported.
  bool isBroken = false;
};

} // namespace fusion::tiles

#endif // FUSION_PASSES_TILES_KERNELLOWERING_H
