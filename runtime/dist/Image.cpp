//===- Image.cpp - What the values of other stores point at -----------------===//

#include "Words.h"

#include "../Guard.h"

#include <algorithm>
#include <alloca.h>
#include <cstring>

using namespace fusion::runtime;
using namespace fusion::runtime::dist;

/// Half-open, empty at first.
namespace {
struct Interval {
  int64_t begin = INT64_MAX, end = INT64_MIN;

  void add(int64_t first, int64_t last) {
    if (first >= last)
      return;
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
};
} // namespace

template <typename T>
static Interval scan(const char *first, const char *second, int64_t count) {
  auto *a = reinterpret_cast<const T *>(first), *b = reinterpret_cast<const T *>(second);
  Interval interval;
  for (int64_t i = 0; i < count; ++i)
    interval.add(int64_t(a[i]), b ? int64_t(b[i]) : int64_t(a[i]) + 1);
  return interval;
}

/// The interval of an image at the point for which the boxes of the given stores are known.
static Range getInterval(Partition image, int64_t extent, const Given *given, const Range *const *boxes) {
  int64_t first = image.coded[1];
  const char *data[2] = {nullptr, nullptr};
  int64_t count = boxes[first][0].size;
  for (int i = 0; i < (image.coded[0] == FUSION_DIST_RANGE ? 2 : 1); ++i) {
    const Given &source = given[image.coded[1 + i]];
    const Range *box = boxes[image.coded[1 + i]];
    count = std::min(count, box[0].size);
    data[i] = getAddress(source.store->window, 1, source.store->elementBytes, box);
  }
  Interval interval;
  switch (given[first].store->type) {
  case FUSION_MPI_I8:
    interval = scan<int8_t>(data[0], data[1], count);
    break;
  case FUSION_MPI_I16:
    interval = scan<int16_t>(data[0], data[1], count);
    break;
  case FUSION_MPI_I32:
    interval = scan<int32_t>(data[0], data[1], count);
    break;
  case FUSION_MPI_I64:
    interval = scan<int64_t>(data[0], data[1], count);
    break;
  default:
    raise(FUSION_INVALID_ARGUMENT, "an image refers to a store without integers");
  }
  // What lies outside is an error of the task that reads it, not of the exchange.
  int64_t begin = std::clamp<int64_t>(interval.begin, 0, extent), end = std::clamp<int64_t>(interval.end, 0, extent);
  return {begin, std::max<int64_t>(0, end - begin)};
}

Range *fusion::runtime::dist::gatherImage(FusionDistContext *context, const Placement &image, const Store &store,
                                          const Given *given, int64_t numGiven) {
  const Domain &domain = image.domain;
  int64_t numPoints = domain.getNumPoints(), ranks = context->ranks;
  // Ranks have different numbers of points, but send the same number of words.
  int64_t largest = (numPoints + ranks - 1) / ranks;
  auto *result = allocate<Range>(numPoints);
  auto *mine = allocate<Range>(largest);
  auto *all = allocate<Range>(largest * ranks);
  std::memset(mine, 0, size_t(largest) * sizeof(Range));
  auto *point = static_cast<int64_t *>(alloca(size_t(domain.rank + 1) * sizeof(int64_t)));
  auto **boxes = static_cast<Range **>(alloca(size_t(numGiven + 1) * sizeof(Range *)));
  for (int64_t i = 0; i < numGiven; ++i)
    boxes[i] = static_cast<Range *>(alloca(size_t(given[i].store->rank + 1) * sizeof(Range)));
  Points points = getPoints(*context, domain, /*everywhere=*/false);
  for (int64_t number = points.begin; number < points.end; ++number) {
    getCoordinates(domain, number, point);
    // A given store that is an image itself comes after those it refers to.
    for (int64_t i = 0; i < numGiven; ++i) {
      getBox(given[i].partition, given[i].store->rank, given[i].store->shape, point, boxes[i]);
      if (given[i].partition.kind == Partition::Image)
        boxes[i][0] = getInterval(given[i].partition, given[i].store->shape[0], given, boxes);
    }
    mine[number - points.begin] = getInterval(image.partition, store.shape[0], given, boxes);
  }
  fusion_mpi_all_gather(mine, all, largest * int64_t(sizeof(Range)));
  for (int32_t rank = 0; rank < ranks; ++rank) {
    int64_t begin, end;
    fusion_mpi_block(numPoints, rank, context->ranks, &begin, &end);
    std::copy(all + rank * largest, all + rank * largest + (end - begin), result + begin);
  }
  fusion_rt_free(mine);
  fusion_rt_free(all);
  return result;
}
