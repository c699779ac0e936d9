//===- TileBuilder.h - Ranges, slices and scratch of one kernel -*- C++ -*-===//

#ifndef FUSION_PASSES_TILES_TILEBUILDER_H
#define FUSION_PASSES_TILES_TILEBUILDER_H

#include "TilePlan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace fusion::tiles {

/// A tensor with one axis per dimension of `axes`, which has no dimension of tile extent 1.
struct Tile {
  Value tensor;
  llvm::SmallVector<StringAttr> axes;
  /// Private memory of the block, as opposed to a slice of an input, of a result or of a state.
  bool isScratch = false;
  unsigned level = 0;
};

/// The part of a dimension that a block or slice covers.
struct DimRange {
  mlir::OpFoldResult offset;
  mlir::OpFoldResult size;
  /// Largest size over all blocks or slices.
  mlir::OpFoldResult bound;
  /// Covers the whole dimension.
  bool isWhole = true;
};

/// Counts for the pass's statistics.
struct TileCounts {
  int64_t kernels = 0, tiles = 0, scratchBytes = 0;
};

/// Makes slices, scratch tiles and copies for the kernel of one graph. Level 0 builds in the block, level 1 in the body
/// of the current temporal loop.
class TileBuilder {
public:
  TileBuilder(spacemap::GraphOp graph, const TilePlan &plan, TileCounts &counts);

  mlir::OpBuilder &at(unsigned level) { return builders[level]; }
  /// Where scratch tiles are allocated: the first operation of the block.
  void setScratchPoint(mlir::Block *block) { scratchBlock = block; }

  void setRange(StringAttr dim, unsigned level, DimRange range) { ranges[level][dim] = range; }
  const DimRange &getRange(StringAttr dim, unsigned level);
  /// Forgets what belongs to the temporal loop that has been emitted.
  void leaveLoop();
  /// The range at `offset` of a dimension cut in pieces of `piece`.
  DimRange makeRange(unsigned level, mlir::Location loc, StringAttr dim, int64_t piece, Value offset);
  /// Static size of a dimension's largest piece, or `ShapedType::kDynamic`.
  int64_t getStaticBound(StringAttr dim, unsigned level);

  /// The tile of input `input`, whose axes are the dimensions `axes`. Cached per level.
  Tile getSource(spacemap::SourceOp source, unsigned level);
  /// The current part of `whole`, a tensor over all of `axes`.
  Tile slice(unsigned level, mlir::Location loc, Value whole, llvm::ArrayRef<StringAttr> axes, unsigned rangeLevel);
  /// Whether the tiles of `whole`, whose last axis is `columns`, are pieces of long rows (over 1 KiB). Consecutive rows
  /// of such a tile share neither pages nor, with power-of-two strides, cache sets: it is no place to work in
  /// repeatedly.
  bool isCutFromLongRows(mlir::RankedTensorType whole, StringAttr columns, unsigned level);
  /// The operands of a slice over `axes`: offsets, sizes and strides.
  struct SliceOperands {
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  };
  SliceOperands getSliceOperands(llvm::ArrayRef<StringAttr> axes, unsigned level);

  /// Whether a tile over `axes` is known to have no elements. It must not be sliced: a slice at offset 0 of an extent
  /// of 0 does not verify (MLIR 22).
  bool isEmpty(llvm::ArrayRef<StringAttr> axes, unsigned level);
  /// A tensor of no elements with the sizes of `axes`.
  Value makeEmpty(unsigned level, mlir::Location loc, llvm::ArrayRef<StringAttr> axes, mlir::Type elementType);

  /// A new scratch tile over `axes` (without those of tile extent 1) with the ranges of `level`.
  Tile makeScratch(unsigned level, mlir::Location loc, llvm::ArrayRef<StringAttr> axes, mlir::Type elementType);
  /// Copies `from` into `into`, which has the same dimensions, perhaps in another order.
  Tile copy(unsigned level, mlir::Location loc, const Tile &from, const Tile &into);

private:
  spacemap::GraphOp graph;
  const TilePlan &plan;
  TileCounts &counts;
  mlir::OpBuilder builders[2];
  mlir::Block *scratchBlock = nullptr;
  mlir::Operation *lastScratch = nullptr;
  llvm::DenseMap<StringAttr, DimRange> ranges[2];
  llvm::DenseMap<std::pair<Value, mlir::Attribute>, Tile> sources[2];
};

} // namespace fusion::tiles

#endif // FUSION_PASSES_TILES_TILEBUILDER_H
