//===- Boxes.cpp - Boxes of points, and work on them ------------------------===//

#include "Context.h"

#include <algorithm>
#include <cstring>

using namespace fusion::runtime::dist;

int64_t Domain::getNumPoints() const {
  int64_t points = 1;
  for (int64_t d = 0; d < rank; ++d)
    points *= extents[d];
  return points;
}

Points fusion::runtime::dist::getPoints(const FusionDistContext &context, Domain domain, bool everywhere) {
  Points points = {0, domain.getNumPoints()};
  if (!everywhere && context.ranks > 1)
    fusion_mpi_block(points.end, context.rank, context.ranks, &points.begin, &points.end);
  return points;
}

void fusion::runtime::dist::getCoordinates(Domain domain, int64_t number, int64_t *coordinates) {
  for (int64_t d = domain.rank; d-- > 0;) {
    coordinates[d] = number % domain.extents[d];
    number /= domain.extents[d];
  }
}

/// The elements of the tiles [first, last] along a dimension.
static Range getTiles(const int64_t *coded, int64_t first, int64_t last) {
  int64_t tile = coded[0], offset = coded[1], extent = coded[2];
  // Compared before it is multiplied: a tile far outside must not overflow.
  int64_t colors = (extent + tile - 1) / tile;
  int64_t begin = first >= colors ? extent : first * tile;
  int64_t end = last + 1 >= colors ? extent : (last + 1) * tile;
  return {offset + begin, std::max<int64_t>(0, end - begin)};
}

void fusion::runtime::dist::getBox(Partition partition, int64_t rank, const int64_t *shape, const int64_t *point,
                                   Range *box) {
  for (int64_t d = 0; d < rank; ++d) {
    if (partition.kind != Partition::Tiled) {
      box[d] = {0, shape[d]};
      continue;
    }
    const int64_t *coded = partition.coded + 4 * d;
    int64_t color = coded[3] >= 0 ? point[coded[3]] : -1 - coded[3];
    box[d] = getTiles(coded, color, color);
  }
}

bool fusion::runtime::dist::getHull(const Placement &placement, int64_t rank, const int64_t *shape, Points points,
                                    Range *box) {
  if (points.begin >= points.end)
    return false;
  const Domain &domain = placement.domain;
  for (int64_t d = 0; d < rank; ++d) {
    if (placement.partition.kind != Partition::Tiled) {
      box[d] = {0, shape[d]};
      continue;
    }
    const int64_t *coded = placement.partition.coded + 4 * d;
    int64_t first = -1 - coded[3], last = first;
    if (int64_t k = coded[3]; k >= 0) {
      // Coordinates along k of a row-major range of points: an interval, or all of them where the range goes around.
      int64_t below = 1;
      for (int64_t i = k + 1; i < domain.rank; ++i)
        below *= domain.extents[i];
      int64_t lowest = points.begin / below, highest = (points.end - 1) / below;
      if (lowest / domain.extents[k] == highest / domain.extents[k]) {
        first = lowest % domain.extents[k];
        last = highest % domain.extents[k];
      } else {
        first = 0;
        last = domain.extents[k] - 1;
      }
    }
    box[d] = getTiles(coded, first, last);
  }
  return !isEmpty(box, rank);
}

bool fusion::runtime::dist::isEmpty(const Range *box, int64_t rank) {
  return std::any_of(box, box + rank, [](const Range &range) { return range.size <= 0; });
}

char *fusion::runtime::dist::getAddress(const Window &window, int64_t rank, int64_t elementBytes, const Range *box) {
  int64_t elements = 0;
  if (!isEmpty(box, rank))
    for (int64_t d = 0; d < rank; ++d)
      elements += (box[d].lower - window.box[d].lower) * window.strides[d];
  return window.data + elements * elementBytes;
}

void fusion::runtime::dist::writeDescriptor(int64_t *words, const Window &window, int64_t rank, int64_t elementBytes,
                                            const Range *box) {
  words[0] = words[1] = reinterpret_cast<int64_t>(getAddress(window, rank, elementBytes, box));
  words[2] = 0;
  for (int64_t d = 0; d < rank; ++d) {
    words[3 + d] = box[d].size;
    words[3 + rank + d] = window.strides[d];
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

/// Below this a thread is not worth waking.
constexpr int64_t bytesOfPiece = int64_t(1) << 18;

struct Rows {
  int64_t rank, elementBytes;
  Window source, target;
  const Range *sourceBox, *targetBox;
  RowFunction function;
  const void *context;
  /// Rows are cut into so many pieces of so many elements.
  int64_t pieces, pieceElements;

  void run(int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) {
      int64_t number = i / pieces, first = i % pieces * pieceElements;
      int64_t length = rank ? sourceBox[rank - 1].size : 1;
      int64_t from = rank ? (sourceBox[rank - 1].lower - source.box[rank - 1].lower) * source.strides[rank - 1] : 0;
      int64_t to = rank ? (targetBox[rank - 1].lower - target.box[rank - 1].lower) * target.strides[rank - 1] : 0;
      for (int64_t d = rank - 1; d-- > 0;) {
        int64_t at = number % sourceBox[d].size;
        number /= sourceBox[d].size;
        from += (sourceBox[d].lower + at - source.box[d].lower) * source.strides[d];
        to += (targetBox[d].lower + at - target.box[d].lower) * target.strides[d];
      }
      function(context, source.data + (from + first) * elementBytes, target.data + (to + first) * elementBytes,
               std::min(pieceElements, length - first));
    }
  }
};

} // namespace

void fusion::runtime::dist::forEachRow(int64_t rank, int64_t elementBytes, const Window &source, const Range *sourceBox,
                                       const Window &target, const Range *targetBox, RowFunction function,
                                       const void *context) {
  if (isEmpty(sourceBox, rank))
    return;
  int64_t length = rank ? sourceBox[rank - 1].size : 1, count = 1;
  for (int64_t d = 0; d + 1 < rank; ++d)
    count *= sourceBox[d].size;
  Rows rows = {rank, elementBytes, source, target, sourceBox, targetBox, function, context, 1, length};
  if (length * elementBytes > bytesOfPiece) {
    rows.pieceElements = bytesOfPiece / elementBytes;
    rows.pieces = (length + rows.pieceElements - 1) / rows.pieceElements;
  }
  if (count * length * elementBytes <= bytesOfPiece)
    return rows.run(0, count);
  fusion_rt_parallel_for(
      [](void *argument, int64_t begin, int64_t end) { static_cast<const Rows *>(argument)->run(begin, end); }, &rows,
      count * rows.pieces);
}

void fusion::runtime::dist::copyBox(int64_t rank, int64_t elementBytes, const Window &source, const Range *sourceBox,
                                    const Window &target, const Range *targetBox) {
  forEachRow(
      rank, elementBytes, source, sourceBox, target, targetBox,
      [](const void *bytes, const char *from, char *to, int64_t elements) {
        std::memcpy(to, from, size_t(elements * *static_cast<const int64_t *>(bytes)));
      },
      &elementBytes);
}

namespace {
struct Fill {
  int64_t elementBytes;
  uint64_t bits;
};
} // namespace

template <typename T>
static void fillRow(char *target, int64_t elements, uint64_t bits) {
  std::fill_n(reinterpret_cast<T *>(target), elements, T(bits));
}

void fusion::runtime::dist::fillBox(int64_t rank, int64_t elementBytes, const Window &target, const Range *box,
                                    uint64_t bits) {
  Fill fill = {elementBytes, bits};
  forEachRow(
      rank, elementBytes, target, box, target, box,
      [](const void *context, const char *, char *to, int64_t elements) {
        const Fill &what = *static_cast<const Fill *>(context);
        switch (what.elementBytes) {
        case 1:
          return fillRow<uint8_t>(to, elements, what.bits);
        case 2:
          return fillRow<uint16_t>(to, elements, what.bits);
        case 4:
          return fillRow<uint32_t>(to, elements, what.bits);
        default:
          return fillRow<uint64_t>(to, elements, what.bits);
        }
      },
      &fill);
}

namespace {
struct Combine {
  int32_t op, type;
};
} // namespace

void fusion::runtime::dist::combineBox(int32_t op, int32_t type, int64_t rank, int64_t elementBytes,
                                       const Window &source, const Range *sourceBox, const Window &target,
                                       const Range *targetBox) {
  Combine combine = {op, type};
  forEachRow(
      rank, elementBytes, source, sourceBox, target, targetBox,
      [](const void *context, const char *from, char *to, int64_t elements) {
        const Combine &what = *static_cast<const Combine *>(context);
        const void *inputs[] = {to, from};
        fusion_mpi_combine(what.op, what.type, inputs, 2, to, elements);
      },
      &combine);
}
