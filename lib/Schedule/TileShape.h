//===- TileShape.h - Extents of tiles under a schedule --------------------===//

#ifndef FUSION_LIB_SCHEDULE_TILESHAPE_H
#define FUSION_LIB_SCHEDULE_TILESHAPE_H

#include "fusion/Schedule/Schedule.h"

namespace fusion {

/// Extents of the dimensions of a graph, whole and within one slice of one block.
class TileShape {
public:
  TileShape(spacemap::GraphOp graph, const Schedule &schedule) {
    for (auto [index, extent] : llvm::enumerate(graph.getStaticExtents())) {
      mlir::StringAttr dim = graph.getDimName(index);
      int64_t whole = mlir::ShapedType::isDynamic(extent) ? assumedExtent : extent;
      int64_t tile = whole;
      if (index < schedule.blocks.size() && schedule.blocks[index] > 0)
        tile = std::min(tile, schedule.blocks[index]);
      if (dim == schedule.temporal)
        tile = std::min(tile, schedule.step);
      wholes[dim] = whole;
      tiles[dim] = tile;
    }
  }

  int64_t getWhole(mlir::StringAttr dim) const { return wholes.lookup(dim); }
  int64_t getTile(mlir::StringAttr dim) const { return tiles.lookup(dim); }
  /// How many tiles cover dimension `dim`.
  int64_t getCount(mlir::StringAttr dim) const {
    int64_t tile = getTile(dim);
    return tile == 0 ? 0 : llvm::divideCeil(getWhole(dim), tile);
  }
  /// Elements of the tile of a space.
  int64_t getTileElements(spacemap::SpaceType space) const {
    int64_t elements = 1;
    for (mlir::StringAttr dim : space.getDims())
      elements *= getTile(dim);
    return elements;
  }

private:
  llvm::SmallDenseMap<mlir::StringAttr, int64_t> wholes, tiles;
};

/// Bytes of one element in memory.
inline int64_t getElementBytes(mlir::Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

} // namespace fusion

#endif // FUSION_LIB_SCHEDULE_TILESHAPE_H
