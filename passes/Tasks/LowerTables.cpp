//===- LowerTables.cpp - What the run-time is told in numbers ---------------===//

#include "Lower.h"

#include "fusion/Runtime/Dist.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

std::optional<int64_t> fusion::dist::getElementCode(Type type) {
  if (type.isF16())
    return FUSION_MPI_F16;
  if (type.isBF16())
    return FUSION_MPI_BF16;
  if (type.isF32())
    return FUSION_MPI_F32;
  if (type.isF64())
    return FUSION_MPI_F64;
  if (type.isIndex())
    return FUSION_MPI_I64;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return FUSION_MPI_I1;
  case 8:
    return FUSION_MPI_I8;
  case 16:
    return FUSION_MPI_I16;
  case 32:
    return FUSION_MPI_I32;
  case 64:
    return FUSION_MPI_I64;
  default:
    return std::nullopt;
  }
}

int64_t fusion::dist::getReducerCode(spacemap::Reducer reducer, Type type) {
  switch (reducer) {
  case spacemap::Reducer::Sum:
    return FUSION_MPI_SUM;
  case spacemap::Reducer::Prod:
    return FUSION_MPI_PRODUCT;
  case spacemap::Reducer::Max:
    return FUSION_MPI_MAX;
  case spacemap::Reducer::Min:
    return FUSION_MPI_MIN;
  case spacemap::Reducer::MaxNum:
    return FUSION_MPI_MAXNUM;
  case spacemap::Reducer::MinNum:
    return FUSION_MPI_MINNUM;
  case spacemap::Reducer::MaxUnsigned:
    return FUSION_MPI_UMAX;
  case spacemap::Reducer::MinUnsigned:
    return FUSION_MPI_UMIN;
  case spacemap::Reducer::And:
    return FUSION_MPI_AND;
  case spacemap::Reducer::Or:
    return FUSION_MPI_OR;
  case spacemap::Reducer::Xor:
    return FUSION_MPI_XOR;
  }
  llvm_unreachable("every reducer is handled above");
}

int64_t fusion::dist::getIdentityBits(spacemap::Reducer reducer, Type type) {
  TypedAttr identity = spacemap::getIdentity(reducer, type);
  if (auto value = dyn_cast_or_null<FloatAttr>(identity))
    return value.getValue().bitcastToAPInt().getZExtValue();
  if (auto value = dyn_cast_or_null<IntegerAttr>(identity))
    return value.getValue().getZExtValue();
  return 0;
}

void fusion::dist::codePartition(PartitionInterface partition, SmallVectorImpl<int64_t> &words) {
  if (auto tiled = dyn_cast<TiledAttr>(partition)) {
    words.push_back(1);
    for (int64_t dim = 0; dim < tiled.getRank(); ++dim) {
      AffineExpr result = tiled.getProjection().getResult(dim);
      auto constant = dyn_cast<AffineConstantExpr>(result);
      words.append({tiled.getTile()[dim], tiled.getOffset()[dim], tiled.getExtent()[dim]});
      words.push_back(constant ? -1 - constant.getValue() : int64_t(cast<AffineDimExpr>(result).getPosition()));
    }
    return;
  }
  if (auto image = dyn_cast<ImageAttr>(partition)) {
    bool isRange = image.getKind() == ImageKind::Range;
    words.append({2, isRange ? FUSION_DIST_RANGE : FUSION_DIST_POINTS, int64_t(image.getArguments()[0]),
                  isRange ? int64_t(image.getArguments()[1]) : -1});
    return;
  }
  words.push_back(0);
}

void fusion::dist::codeDomain(ArrayRef<int64_t> domain, SmallVectorImpl<int64_t> &words) {
  words.push_back(domain.size());
  llvm::append_range(words, domain);
}

void fusion::dist::codePlacement(PlacementAttr placement, SmallVectorImpl<int64_t> &words) {
  codeDomain(placement.getDomain(), words);
  codePartition(placement.getPartition(), words);
}

SmallVector<int64_t> fusion::dist::getBoxShape(PartitionInterface partition, ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> domain) {
  auto tiled = dyn_cast<TiledAttr>(partition);
  SmallVector<int64_t> box(shape);
  // Of an image the rank holds the whole store.
  for (int64_t dim = 0; tiled && dim < tiled.getRank(); ++dim) {
    int64_t tile = tiled.getTile()[dim], extent = tiled.getExtent()[dim];
    AffineExpr result = tiled.getProjection().getResult(dim);
    int64_t first = 0, last = 0;
    if (auto constant = dyn_cast<AffineConstantExpr>(result))
      first = last = constant.getValue();
    else
      last = domain[cast<AffineDimExpr>(result).getPosition()] - 1;
    int64_t colors = tiled.getNumColors(dim);
    if (last < colors && (extent % tile == 0 || last + 1 < colors))
      box[dim] = tile;
    else if (first == last)
      box[dim] = first < colors ? extent - first * tile : 0;
    else
      box[dim] = ShapedType::kDynamic;
  }
  return box;
}
