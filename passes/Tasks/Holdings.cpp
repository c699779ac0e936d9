//===- Holdings.cpp - Where the current elements of a store are -------------===//

#include "Holdings.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

//===----------------------------------------------------------------------===//
// One placement
//===----------------------------------------------------------------------===//

Holding::Holding(StoreType type, PlacementAttr placement, bool everywhere, ArrayRef<std::pair<Value, Attribute>> given)
    : placement(placement), everywhere(everywhere), given(given) {
  SmallVector<std::optional<unsigned>> canonicalDims;
  for (int64_t extent : placement.getDomain()) {
    canonicalDims.push_back(std::nullopt);
    if (extent == 1)
      continue;
    canonicalDims.back() = domain.size();
    domain.push_back(extent);
  }
  auto tiled = dyn_cast<TiledAttr>(placement.getPartition());
  // An image is at most the whole store.
  exact = !isImage();
  llvm::SmallDenseSet<unsigned> used;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    Dim &known = dims.emplace_back();
    int64_t lower = 0, upper = size;
    if (tiled) {
      int64_t tile = tiled.getTile()[dim], extent = tiled.getExtent()[dim], offset = tiled.getOffset()[dim];
      auto bound = [&](int64_t color) { return offset + int64_t(std::min<__int128>(__int128(color) * tile, extent)); };
      AffineExpr color = tiled.getProjection().getResult(dim);
      auto domainDim = dyn_cast<AffineDimExpr>(color);
      std::optional<unsigned> canonical = domainDim ? canonicalDims[domainDim.getPosition()] : std::nullopt;
      if (canonical) {
        known = {canonical, offset, tile};
        lower = offset;
        upper = bound(domain[*canonical]);
        // A diagonal.
        exact &= used.insert(*canonical).second;
      } else {
        auto constant = dyn_cast<AffineConstantExpr>(color);
        int64_t value = constant ? constant.getValue() : 0;
        lower = bound(value);
        upper = bound(value + 1);
      }
    }
    hull.lower.push_back(lower);
    hull.upper.push_back(upper);
  }
}

bool Holding::mayMeet(const Holding &other) const { return !boxes::intersect(hull, other.hull).isEmpty(); }

bool Holding::keepsToItself(const Holding &other) const {
  if (!mayMeet(other) || other.everywhere)
    return true;
  if (other.isImage())
    return *this == other;
  // The box of an image counts as the whole store.
  if (everywhere || domain != other.domain)
    return false;
  for (auto [mine, its] : llvm::zip(dims, other.dims))
    if (its.domainDim && (mine.domainDim != its.domainDim || mine.offset != its.offset || mine.tile != its.tile))
      return false;
  return true;
}

bool Holding::isInside(const Holding &other) const {
  if (*this == other)
    return true;
  return other.exact && boxes::intersect(hull, other.hull) == hull && keepsToItself(other);
}

//===----------------------------------------------------------------------===//
// One store
//===----------------------------------------------------------------------===//

/// Moves what remains of `open` outside of `layer` to the next round. Returns whether they met.
static bool subtract(SmallVector<boxes::Box> &open, const Holding &layer) {
  bool met = false;
  SmallVector<boxes::Box> rest;
  for (boxes::Box &box : open) {
    if (boxes::intersect(box, layer.getHull()).isEmpty()) {
      rest.push_back(std::move(box));
      continue;
    }
    met = true;
    if (!layer.fillsHull()) {
      rest.push_back(std::move(box));
      continue;
    }
    for (boxes::Box &piece : boxes::subtract(box, layer.getHull()))
      rest.push_back(std::move(piece));
  }
  open = std::move(rest);
  return met;
}

bool StoreHoldings::isCurrent(const Holding &wanted) const {
  if (llvm::any_of(current, [&](const Holding &known) { return wanted.isInside(known); }))
    return true;
  SmallVector<boxes::Box> open;
  if (!wanted.getHull().isEmpty())
    open.push_back(wanted.getHull());
  for (const Holding &layer : llvm::reverse(layers))
    if (subtract(open, layer) && !wanted.keepsToItself(layer))
      return false;
  // What remains has never been written.
  return true;
}

Holdings StoreHoldings::getSources(ArrayRef<Holding> targets) const {
  SmallVector<boxes::Box> open;
  for (const Holding &target : targets)
    if (!target.getHull().isEmpty())
      open.push_back(target.getHull());
  Holdings sources;
  for (const Holding &layer : llvm::reverse(layers))
    if (subtract(open, layer))
      sources.insert(sources.begin(), layer);
  return sources;
}

void StoreHoldings::dropHiddenLayers() {
  Holdings kept;
  for (auto [index, layer] : llvm::enumerate(layers)) {
    SmallVector<boxes::Box> open;
    if (!layer.getHull().isEmpty())
      open.push_back(layer.getHull());
    for (const Holding &above : ArrayRef(layers).drop_front(index + 1))
      subtract(open, above);
    if (!open.empty())
      kept.push_back(layer);
  }
  layers = std::move(kept);
}

void StoreHoldings::noteExchange(const Holding &target) {
  if (!llvm::is_contained(current, target))
    current.push_back(target);
  if (target.isImage() || target.isEverywhere()) {
    // Every rank has the scalar.
    if (target.isEverywhere())
      layers.assign(1, target);
    return;
  }
  // The target is current in all of its elements, so it may stand at any height. Under the last writes, and over what
  // is on one rank only: a later exchange then takes from many ranks, and from the reader itself what no write has
  // changed.
  if (target.isSingle() || llvm::is_contained(layers, target))
    return;
  bool onTop = layers.empty() || layers.back().isSingle();
  layers.insert(onTop ? layers.end() : std::prev(layers.end()), target);
  dropHiddenLayers();
}

void StoreHoldings::noteWrite(const Holding &written) {
  llvm::erase(layers, written);
  layers.push_back(written);
  dropHiddenLayers();
  llvm::erase_if(current, [&](const Holding &known) { return !known.keepsToItself(written) || known == written; });
  current.push_back(written);
}

void StoreHoldings::forgetImagesOf(Value store) {
  llvm::erase_if(current, [&](const Holding &known) {
    return llvm::any_of(known.getGiven(), [&](const auto &given) { return given.first == store; });
  });
}

Holdings StoreHoldings::getMissingLayers(const StoreHoldings &other) const {
  Holdings shared, missing;
  for (const Holding &layer : layers)
    if (llvm::is_contained(other.layers, layer))
      shared.push_back(layer);
  const auto *next = shared.begin();
  bool sameOrder = true;
  for (const Holding &layer : other.layers)
    if (llvm::is_contained(shared, layer))
      sameOrder &= layer == *next++;
  // A layer over which another one has newer elements here, of which `other` says nothing, is old in part.
  auto isOutdated = [&](const Holding &layer) {
    return llvm::any_of(llvm::make_range(llvm::find(layers, layer) + 1, layers.end()), [&](const Holding &above) {
      return above.mayMeet(layer) && !llvm::is_contained(shared, above);
    });
  };
  for (const Holding &layer : other.layers)
    if (!sameOrder || !llvm::is_contained(shared, layer) || isOutdated(layer))
      missing.push_back(layer);
  return missing;
}

bool StoreHoldings::operator==(const StoreHoldings &other) const {
  auto holdsAll = [](ArrayRef<Holding> all, ArrayRef<Holding> some) {
    return llvm::all_of(some, [&](const Holding &one) { return llvm::is_contained(all, one); });
  };
  return layers == other.layers && pending == other.pending && holdsAll(current, other.current) &&
         holdsAll(other.current, current);
}
