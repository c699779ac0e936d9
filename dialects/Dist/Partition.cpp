//===- Partition.cpp - Partitions of stores -------------------------------===//

#include "fusion/Dist/Dist.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion::dist;

int64_t fusion::dist::getNumPoints(ArrayRef<int64_t> domain) {
  int64_t points = 1;
  for (int64_t extent : domain)
    if (llvm::MulOverflow(points, extent, points))
      return std::numeric_limits<int64_t>::max();
  return points;
}

//===----------------------------------------------------------------------===//
// None
//===----------------------------------------------------------------------===//

LogicalResult NoneAttr::verifyFor(ArrayRef<int64_t>, ArrayRef<int64_t>, function_ref<InFlightDiagnostic()>) const {
  return success();
}

bool NoneAttr::covers(ArrayRef<int64_t>, ArrayRef<int64_t> domain) const { return getNumPoints(domain) > 0; }

bool NoneAttr::isDisjoint(ArrayRef<int64_t> domain) const { return getNumPoints(domain) <= 1; }

//===----------------------------------------------------------------------===//
// Tiled
//===----------------------------------------------------------------------===//

LogicalResult TiledAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
                                ArrayRef<int64_t> offset, ArrayRef<int64_t> extent, AffineMap projection) {
  if (offset.size() != tile.size() || extent.size() != tile.size() || projection.getNumResults() != tile.size())
    return emitError() << "a tiling has a tile, an offset, an extent and a projection of one rank, but theirs are "
                       << tile.size() << ", " << offset.size() << ", " << extent.size() << " and "
                       << projection.getNumResults();
  for (int64_t size : tile)
    if (size < 1)
      return emitError() << "a tile has extents of at least 1, not " << size;
  for (int64_t start : offset)
    if (start < 0)
      return emitError() << "the offset of a tiling is not negative, but " << start << " is given";
  for (int64_t size : extent)
    if (size < 0)
      return emitError() << "the extent of a tiling is not negative, but " << size << " is given";
  if (projection.getNumSymbols() != 0)
    return emitError() << "a projection has no symbols";
  for (AffineExpr result : projection.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(result);
    if (isa<AffineDimExpr>(result) || (constant && constant.getValue() >= 0))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << result;
    return emitError() << "a result of a projection is a dimension of the launch domain or a constant of at least 0, "
                       << "not " << text;
  }
  return success();
}

int64_t TiledAttr::getNumColors(unsigned dim) const { return llvm::divideCeil(getExtent()[dim], getTile()[dim]); }

SmallVector<int64_t> TiledAttr::project(ArrayRef<int64_t> point) const {
  return getProjection().compose(SmallVector<int64_t>(point));
}

LogicalResult TiledAttr::verifyFor(ArrayRef<int64_t> shape, ArrayRef<int64_t> domain,
                                   function_ref<InFlightDiagnostic()> emitError) const {
  if (getTile().size() != shape.size())
    return emitError() << "a partition with tiles of rank " << getTile().size() << " does not fit a store of rank "
                       << shape.size();
  if (getProjection().getNumDims() != domain.size())
    return emitError() << "the projection takes points of rank " << getProjection().getNumDims()
                       << ", but the launch domain has rank " << domain.size();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (getOffset()[dim] > size || getExtent()[dim] > size - getOffset()[dim])
      return emitError() << "the partition leaves the store: along dimension " << dim << " it takes elements from "
                         << getOffset()[dim] << " on, " << getExtent()[dim] << " of them, and the store has " << size;
    // Where the tile of the last point ends, if it is not cut off.
    AffineExpr color = getProjection().getResult(dim);
    int64_t end = 0;
    if (auto domainDim = dyn_cast<AffineDimExpr>(color))
      end = domain[domainDim.getPosition()];
    else if (auto constant = dyn_cast<AffineConstantExpr>(color))
      end = constant.getValue();
    if (llvm::AddOverflow<int64_t>(end, 1, end) || llvm::MulOverflow(end, getTile()[dim], end) ||
        llvm::AddOverflow(end, getOffset()[dim], end))
      return emitError() << "the coordinates of the tiles along dimension " << dim << " do not fit into 64 bits";
  }
  return success();
}

bool TiledAttr::covers(ArrayRef<int64_t> shape, ArrayRef<int64_t> domain) const {
  if (getNumPoints(domain) == 0)
    return false;
  llvm::SmallDenseSet<unsigned> used;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (getOffset()[dim] != 0 || getExtent()[dim] != size)
      return false;
    // The image of the domain must be the whole box of colors.
    AffineExpr result = getProjection().getResult(dim);
    int64_t reached = 1;
    if (auto domainDim = dyn_cast<AffineDimExpr>(result)) {
      // A diagonal, unless there is nothing along it.
      if (!used.insert(domainDim.getPosition()).second && getNumColors(dim) > 1)
        return false;
      reached = domain[domainDim.getPosition()];
    } else if (cast<AffineConstantExpr>(result).getValue() != 0) {
      return false;
    }
    if (reached < getNumColors(dim))
      return false;
  }
  return true;
}

bool TiledAttr::isDisjoint(ArrayRef<int64_t> domain) const {
  if (getNumPoints(domain) <= 1)
    return true;
  // The projection is injective if every dimension along which points differ is a result.
  for (auto [position, size] : llvm::enumerate(domain)) {
    if (size == 1)
      continue;
    AffineExpr dim = getAffineDimExpr(position, getContext());
    if (!llvm::is_contained(getProjection().getResults(), dim))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Image
//===----------------------------------------------------------------------===//

LogicalResult ImageAttr::verify(function_ref<InFlightDiagnostic()> emitError, ImageKind kind,
                                ArrayRef<unsigned> arguments) {
  unsigned wanted = kind == ImageKind::Points ? 1 : 2;
  if (arguments.size() != wanted)
    return emitError() << "an image of kind '" << stringifyImageKind(kind) << "' names " << wanted
                       << " argument(s), not " << arguments.size();
  return success();
}

LogicalResult ImageAttr::verifyFor(ArrayRef<int64_t> shape, ArrayRef<int64_t>,
                                   function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.empty())
    return emitError() << "an image partitions the first dimension of a store, and a scalar store has none";
  return success();
}

bool ImageAttr::covers(ArrayRef<int64_t>, ArrayRef<int64_t>) const { return false; }

bool ImageAttr::isDisjoint(ArrayRef<int64_t> domain) const { return getNumPoints(domain) <= 1; }

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

PartitionInterface fusion::dist::composeWithView(PartitionInterface partition, ArrayRef<int64_t> domain,
                                                 ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets) {
  MLIRContext *context = partition.getContext();
  if (shape.empty())
    return partition;
  if (isa<NoneAttr>(partition)) {
    // One tile, the same for every point. A tile has at least one element along each dimension, the view maybe none.
    SmallVector<int64_t> tile;
    for (int64_t size : shape)
      tile.push_back(std::max<int64_t>(size, 1));
    SmallVector<AffineExpr> zeros(shape.size(), getAffineConstantExpr(0, context));
    return TiledAttr::get(context, tile, offsets, shape, AffineMap::get(domain.size(), 0, zeros, context));
  }
  auto tiled = dyn_cast<TiledAttr>(partition);
  if (!tiled)
    return nullptr;
  SmallVector<int64_t> moved;
  for (auto [inner, outer] : llvm::zip(tiled.getOffset(), offsets))
    moved.push_back(inner + outer);
  return TiledAttr::get(context, tiled.getTile(), moved, tiled.getExtent(), tiled.getProjection());
}
