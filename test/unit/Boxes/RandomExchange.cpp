//===- RandomExchange.cpp - Exchanges for property tests --------------------===//

#include "RandomExchange.h"

using namespace fusion::boxes;
using namespace fusion::boxes::test;

static Placement makePlacement(Random &random, const std::vector<int64_t> &shape) {
  Placement placement;
  size_t rank = shape.size();
  for (int64_t k = draw(random, 0, 3); k > 0; --k)
    placement.domain.push_back(draw(random, 0, 9) == 0 ? 0 : draw(random, 1, 4));
  placement.mapping = Placement::Mapping(std::max<int64_t>(0, draw(random, -3, 2)));
  if (placement.mapping == Placement::Mapping::Root)
    placement.root = draw(random, 0, 4);
  Partition &partition = placement.partition;
  partition.kind = Partition::Kind(draw(random, 0, 5) == 0 ? 0 : draw(random, 0, 5) == 0 ? 2 : 1);
  size_t columns = placement.domain.size() + 1;
  if (partition.kind == Partition::Kind::Tiled) {
    for (size_t d = 0; d < rank; ++d) {
      partition.stride.push_back(draw(random, 1, 3));
      partition.size.push_back(draw(random, 0, 2) ? partition.stride[d] : draw(random, 0, 5));
      partition.offset.push_back(draw(random, 0, 1) ? 0 : draw(random, -3, 3));
      std::vector<int64_t> row(columns, 0);
      if (columns > 1 && draw(random, 0, 5))
        row[draw(random, 0, columns - 2)] = 1;
      if (draw(random, 0, 3) == 0)
        row[draw(random, 0, columns - 1)] = draw(random, -2, 2);
      partition.projection.insert(partition.projection.end(), row.begin(), row.end());
    }
  } else if (partition.kind == Partition::Kind::Boxes) {
    int64_t points = 1;
    for (int64_t extent : placement.domain)
      points *= extent;
    for (; points > 0; --points) {
      Box &box = partition.boxes.emplace_back();
      for (int64_t extent : shape) {
        box.lower.push_back(draw(random, -1, extent));
        box.upper.push_back(draw(random, -1, extent + 1));
      }
    }
  }
  return placement;
}

Exchange fusion::boxes::test::makeExchange(Random &random, bool reduction) {
  Exchange exchange;
  exchange.operation = reduction ? 1 : 0;
  exchange.partial = true;
  for (int64_t d = draw(random, 0, 4); d > 0; --d)
    exchange.shape.push_back(draw(random, 0, 19) == 0 ? 0 : draw(random, 1, 6));
  for (int64_t k = reduction ? 1 : draw(random, 1, 3); k > 0; --k)
    exchange.sources.push_back(makePlacement(random, exchange.shape));
  for (int64_t k = draw(random, 1, 3); k > 0; --k)
    exchange.targets.push_back(makePlacement(random, exchange.shape));
  return exchange;
}

std::vector<std::vector<int64_t>> fusion::boxes::test::listIndices(const Box &box) {
  std::vector<std::vector<int64_t>> indices = {{}};
  for (size_t d = 0; d < box.lower.size(); ++d) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &index : indices) {
      for (int64_t i = box.lower[d]; i < box.upper[d]; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

int64_t fusion::boxes::test::linearize(const std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  int64_t linear = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    linear = linear * shape[d] + index[d];
  return linear;
}

std::vector<bool> fusion::boxes::test::markElements(const Exchange &exchange, const Placement &placement, int64_t rank,
                                                    int64_t ranks) {
  const std::vector<int64_t> &shape = exchange.shape;
  Box whole = {std::vector<int64_t>(shape.size(), 0), shape};
  std::vector<std::vector<int64_t>> elements = listIndices(whole);
  std::vector<bool> marked(elements.size(), false);
  Box domain = {std::vector<int64_t>(placement.domain.size(), 0), placement.domain};
  std::vector<std::vector<int64_t>> points = listIndices(domain);
  for (size_t number = 0; number < points.size(); ++number) {
    if (placement.mapping == Placement::Mapping::Block && int64_t(number) * ranks / int64_t(points.size()) != rank)
      continue;
    if (placement.mapping == Placement::Mapping::Root && placement.root != rank)
      continue;
    const Partition &partition = placement.partition;
    for (size_t i = 0; i < elements.size(); ++i) {
      bool inside = true;
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t at = elements[i][d];
        if (partition.kind == Partition::Kind::Boxes)
          inside &= partition.boxes[number].lower[d] <= at && at < partition.boxes[number].upper[d];
        if (partition.kind != Partition::Kind::Tiled)
          continue;
        const int64_t *row = &partition.projection[d * (placement.domain.size() + 1)];
        int64_t begin = row[placement.domain.size()];
        for (size_t k = 0; k < placement.domain.size(); ++k)
          begin += row[k] * points[number][k];
        begin = begin * partition.stride[d] + partition.offset[d];
        inside &= begin <= at && at < begin + partition.size[d];
      }
      if (inside)
        marked[i] = true;
    }
  }
  return marked;
}
