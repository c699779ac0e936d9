//===- Kernels.cpp - Opaque tasks that come with the run-time ---------------===//

#include "fusion/Runtime/Dist.h"

#include <algorithm>
#include <atomic>

namespace {

/// Rows that one thread takes at a time, at least.
constexpr int64_t rowsOfPiece = 1024;

template <typename Index, typename Element>
struct SparseProduct {
  const Index *rowBegin, *rowEnd, *columns;
  const Element *values, *x;
  Element *y;
  int64_t rows, firstEntry, numEntries, firstColumn, numColumns;
  /// Whether a row or a column was found outside of its tile.
  std::atomic<bool> isOutside{false};

  void run(int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t first = int64_t(rowBegin[row]) - firstEntry, last = int64_t(rowEnd[row]) - firstEntry;
      if (first < 0 || last > numEntries || first > last) {
        isOutside = true;
        return;
      }
      Element sum = 0;
      for (int64_t entry = first; entry < last; ++entry) {
        Index column = columns[entry];
        // Checked before the load: an index outside must not be read.
        uint64_t at = uint64_t(int64_t(column) - firstColumn);
        if (at >= uint64_t(numColumns)) {
          isOutside = true;
          return;
        }
        sum += values[entry] * x[at];
      }
      y[row] = sum;
    }
  }
};

template <typename Index, typename Element>
int32_t multiply(const FusionTile *tiles) {
  const FusionTile &columns = tiles[2], &x = tiles[4];
  SparseProduct<Index, Element> product;
  product.rowBegin = static_cast<const Index *>(tiles[0].data);
  product.rowEnd = static_cast<const Index *>(tiles[1].data);
  product.columns = static_cast<const Index *>(columns.data);
  product.values = static_cast<const Element *>(tiles[3].data);
  product.x = static_cast<const Element *>(x.data);
  product.y = static_cast<Element *>(tiles[5].data);
  product.rows = tiles[5].sizes[0];
  product.firstEntry = columns.offsets[0];
  product.numEntries = columns.sizes[0];
  product.firstColumn = x.offsets[0];
  product.numColumns = x.sizes[0];
  int64_t pieces = (product.rows + rowsOfPiece - 1) / rowsOfPiece;
  fusion_rt_parallel_for(
      [](void *argument, int64_t begin, int64_t end) {
        auto &work = *static_cast<SparseProduct<Index, Element> *>(argument);
        work.run(begin * rowsOfPiece, std::min(end * rowsOfPiece, work.rows));
      },
      &product, pieces);
  if (product.isOutside)
    return fusion_dist_task_error("a row pointer or a column index is outside of the part of the store that is held");
  return 0;
}

template <typename Element>
int32_t multiply(const FusionTile *tiles, int32_t count, int32_t element) {
  if (count != 6)
    return fusion_dist_task_error("a sparse product takes 6 stores: row begins, row ends, columns, values, x, y");
  for (int32_t i = 0; i < count; ++i)
    if (tiles[i].rank != 1)
      return fusion_dist_task_error("a sparse product takes one-dimensional stores");
  int32_t index = tiles[2].type;
  if (tiles[0].type != index || tiles[1].type != index || (index != FUSION_MPI_I32 && index != FUSION_MPI_I64))
    return fusion_dist_task_error("a sparse product takes indices of type i32, or of type i64");
  if (tiles[3].type != element || tiles[4].type != element || tiles[5].type != element)
    return fusion_dist_task_error("the values, x or y of a sparse product are not of the type in its name");
  if (tiles[0].sizes[0] != tiles[5].sizes[0] || tiles[1].sizes[0] != tiles[5].sizes[0])
    return fusion_dist_task_error("a sparse product takes as many row begins and row ends as elements of y");
  if (tiles[2].offsets[0] != tiles[3].offsets[0] || tiles[2].sizes[0] != tiles[3].sizes[0])
    return fusion_dist_task_error("a sparse product takes the same part of columns and values");
  return index == FUSION_MPI_I32 ? multiply<int32_t, Element>(tiles) : multiply<int64_t, Element>(tiles);
}

} // namespace

extern "C" {

int32_t fusion_spmv_csr_f32(const FusionTile *tiles, int32_t count) {
  return multiply<float>(tiles, count, FUSION_MPI_F32);
}

int32_t fusion_spmv_csr_f64(const FusionTile *tiles, int32_t count) {
  return multiply<double>(tiles, count, FUSION_MPI_F64);
}

} // extern "C"
