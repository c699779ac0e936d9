//===- BoxArithmetic.cpp - Boxes and the tiles of placements ----------------===//

#include "fusion/Analysis/BoxPlan.h"

#include <algorithm>
#include <set>

using namespace fusion::boxes;

bool Box::isEmpty() const {
  for (size_t d = 0; d < lower.size(); ++d)
    if (lower[d] >= upper[d])
      return true;
  return false;
}

int64_t Box::getVolume() const {
  int64_t volume = 1;
  for (size_t d = 0; d < lower.size(); ++d)
    volume *= std::max<int64_t>(upper[d] - lower[d], 0);
  return volume;
}

std::string fusion::boxes::toString(const Box &box) {
  std::string text = "[";
  for (size_t d = 0; d < box.lower.size(); ++d)
    text += (d ? ", " : "") + std::to_string(box.lower[d]) + ":" + std::to_string(box.upper[d]);
  return text + "]";
}

Box fusion::boxes::intersect(const Box &left, const Box &right) {
  Box box = left;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    box.lower[d] = std::max(left.lower[d], right.lower[d]);
    box.upper[d] = std::min(left.upper[d], right.upper[d]);
  }
  return box;
}

std::vector<Box> fusion::boxes::subtract(const Box &box, const Box &hole) {
  if (box.isEmpty())
    return {};
  if (intersect(box, hole).isEmpty())
    return {box};
  std::vector<Box> rest;
  Box core = box;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    if (core.lower[d] < hole.lower[d]) {
      rest.push_back(core);
      rest.back().upper[d] = hole.lower[d];
      core.lower[d] = hole.lower[d];
    }
    if (hole.upper[d] < core.upper[d]) {
      rest.push_back(core);
      rest.back().lower[d] = hole.upper[d];
      core.upper[d] = hole.upper[d];
    }
  }
  return rest;
}

Partition fusion::boxes::makeTiling(std::vector<int64_t> tile, std::vector<int64_t> offset) {
  Partition partition;
  partition.kind = Partition::Kind::Tiled;
  partition.stride = tile;
  size_t rank = tile.size();
  partition.size = std::move(tile);
  partition.offset = std::move(offset);
  partition.projection.assign(rank * (rank + 1), 0);
  for (size_t d = 0; d < rank; ++d)
    partition.projection[d * (rank + 1) + d] = 1;
  return partition;
}

std::pair<int64_t, int64_t> fusion::boxes::getBlock(int64_t points, int64_t rank, int64_t ranks) {
  auto bound = [&](int64_t r) { return int64_t((__int128(points) * r + ranks - 1) / ranks); };
  return {bound(rank), bound(rank + 1)};
}

static Box getWholeBox(const std::vector<int64_t> &shape) { return {std::vector<int64_t>(shape.size(), 0), shape}; }

static int64_t getPointCount(const Placement &placement) {
  int64_t points = 1;
  for (int64_t extent : placement.domain)
    points *= extent;
  return points;
}

static std::vector<int64_t> delinearize(int64_t index, const std::vector<int64_t> &domain) {
  std::vector<int64_t> point(domain.size());
  for (size_t k = domain.size(); k-- > 0;) {
    point[k] = index % domain[k];
    index /= domain[k];
  }
  return point;
}

Box fusion::boxes::getBounds(const std::vector<int64_t> &shape, const Placement &placement,
                             const std::vector<int64_t> &point) {
  const Partition &partition = placement.partition;
  Box box = getWholeBox(shape);
  switch (partition.kind) {
  case Partition::Kind::None:
    break;
  case Partition::Kind::Tiled: {
    size_t columns = placement.domain.size() + 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      // Wide, so that no description can overflow; the clamped bounds fit again.
      const int64_t *row = &partition.projection[d * columns];
      __int128 colour = row[columns - 1];
      for (size_t k = 0; k + 1 < columns; ++k)
        colour += __int128(row[k]) * point[k];
      __int128 lower = colour * partition.stride[d] + partition.offset[d];
      auto clamp = [&](__int128 bound) { return int64_t(std::clamp<__int128>(bound, 0, shape[d])); };
      box.lower[d] = clamp(lower);
      box.upper[d] = clamp(lower + partition.size[d]);
    }
    break;
  }
  case Partition::Kind::Boxes: {
    int64_t index = 0;
    for (size_t k = 0; k < point.size(); ++k)
      index = index * placement.domain[k] + point[k];
    box = intersect(box, partition.boxes[index]);
    break;
  }
  }
  return box;
}

std::vector<Box> fusion::boxes::getBoxes(const std::vector<int64_t> &shape, const Placement &placement, int64_t rank,
                                         int64_t ranks) {
  int64_t points = getPointCount(placement);
  std::pair<int64_t, int64_t> range = {0, points};
  if (placement.mapping == Placement::Mapping::Block)
    range = getBlock(points, rank, ranks);
  else if (placement.mapping == Placement::Mapping::Root && rank != placement.root)
    range.second = 0;
  // All points have the same box.
  if (placement.partition.kind == Partition::Kind::None)
    range.second = std::min(range.second, range.first + 1);

  std::vector<Box> boxes;
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> seen;
  for (int64_t index = range.first; index < range.second; ++index) {
    Box box = getBounds(shape, placement, delinearize(index, placement.domain));
    if (!box.isEmpty() && seen.emplace(box.lower, box.upper).second)
      boxes.push_back(std::move(box));
  }
  return boxes;
}
