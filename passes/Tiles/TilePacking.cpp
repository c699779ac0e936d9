//===- TilePacking.cpp - Operands of contractions ------------------------===//

#include "KernelLowering.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

Tile KernelLowering::getPacked(Value leaf, const Tile &tile, ArrayRef<StringAttr> axes, Location loc) {
  Tile known = packed.lookup(tile.tensor);
  if (known.tensor && ArrayRef(known.axes) == axes)
    return known;
  Type elementType = cast<RankedTensorType>(tile.tensor.getType()).getElementType();
  Tile result = build.copy(tile.level, loc, tile, allocate(tile.level, loc, axes, elementType));
  packed[tile.tensor] = result;
  scratch.push_back({leaf, result});
  return result;
}

void KernelLowering::packOperands(MutableArrayRef<std::pair<Value, Tile>> leaves, const Output &output,
                                  unsigned level) {
  // From this many rows on the copy is paid back: when it makes strided access contiguous, or only denser.
  constexpr int64_t kMinRowsToTranspose = 4, kMinRowsToCopy = 8;

  AllToOneOp reduction = output.reduction;
  ArrayRef<StringAttr> axes = output.destination.axes;
  if (reduction.getReducer() != Reducer::Sum || axes.empty() || leaves.size() != 2)
    return;
  auto isReduced = [&](StringAttr dim) { return llvm::is_contained(reduction.getAlong(), dim); };
  StringAttr columns = axes.back();
  for (unsigned side : {0u, 1u}) {
    Tile &right = leaves[side].second;
    const Tile &left = leaves[1 - side].second;
    if (!llvm::is_contained(right.axes, columns) || llvm::is_contained(left.axes, columns) ||
        llvm::none_of(right.axes, isReduced) || llvm::none_of(left.axes, isReduced))
      continue;
    // How often each element of the right-hand tile is used.
    int64_t rows = 1;
    for (StringAttr dim : left.axes)
      if (!isReduced(dim) && !llvm::is_contained(right.axes, dim)) {
        int64_t bound = build.getStaticBound(dim, level);
        rows = ShapedType::isDynamic(bound) ? std::max(rows, kMinRowsToCopy) : rows * bound;
      }
    SmallVector<StringAttr> order;
    for (bool wantReduced : {false, true})
      for (StringAttr dim : right.axes)
        if (dim != columns && isReduced(dim) == wantReduced)
          order.push_back(dim);
    order.push_back(columns);

    auto source = leaves[side].first.getDefiningOp<SourceOp>();
    if (right.axes.back() != columns) {
      if (rows < kMinRowsToTranspose)
        return;
    } else if (!pack || rows < kMinRowsToCopy || !source ||
               !build.isCutFromLongRows(cast<RankedTensorType>(source.getInput().getType()), columns, level)) {
      return;
    }
    if (std::optional<Tile> panels = getHoisted(leaves[side].first, right, columns, reduction))
      right = *panels;
    else
      right = getPacked(leaves[side].first, right, order, reduction.getLoc());
    return;
  }
}
