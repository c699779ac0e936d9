//===- Kernels.cpp - Opaque tasks that come with the run-time ---------------===//

#include "fusion/Runtime/Dist.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <type_traits>

namespace {

/// Rows that one thread takes at a time: what is checked is still near when it is used.
constexpr int64_t rowsOfPiece = 512;

template <typename Index, typename Element>
struct SparseProduct {
  const Index *rowBegin, *rowEnd, *columns;
  const Element *values, *x;
  Element *y;
  int64_t rows, firstEntry, numEntries, firstColumn, numColumns;
  bool isChecked;
  /// Whether a row or a column was found outside of its tile.
  std::atomic<bool> isOutside{false};

  void run(int64_t begin, int64_t end) {
    if (!isChecked && !check(begin, end)) {
      isOutside = true;
      return;
    }
    const Index *column = columns - firstEntry;
    const Element *value = values - firstEntry, *from = x - firstColumn;
    for (int64_t row = begin; row < end; ++row) {
      Element sum = 0;
      for (int64_t entry = rowBegin[row], last = rowEnd[row]; entry < last; ++entry)
        sum += value[entry] * from[column[entry]];
      y[row] = sum;
    }
  }

private:
  /// Whether the rows refer to what the tiles have. Written so that it becomes vector code: the sum is bound by memory,
  /// and a check of each entry next to its use is not free.
  bool check(int64_t begin, int64_t end) const {
    int64_t first = firstEntry + numEntries, last = firstEntry, gaps = 0;
    for (int64_t row = begin; row < end; ++row) {
      int64_t from = rowBegin[row], to = rowEnd[row];
      gaps |= to - from;
      first = std::min(first, from);
      last = std::max(last, to);
    }
    // A row that ends before it begins has no entries, but is an error of whoever made it.
    if (gaps < 0 || first < firstEntry || last > firstEntry + numEntries)
      return false;
    // Mostly the rows follow one another.
    return last - first == getNumEntries(begin, end) ? checkColumns(first, last) : checkEach(begin, end);
  }

  int64_t getNumEntries(int64_t begin, int64_t end) const {
    int64_t entries = 0;
    for (int64_t row = begin; row < end; ++row)
      entries += int64_t(rowEnd[row]) - int64_t(rowBegin[row]);
    return entries;
  }

  bool checkEach(int64_t begin, int64_t end) const {
    for (int64_t row = begin; row < end; ++row)
      if (!checkColumns(rowBegin[row], rowEnd[row]))
        return false;
    return true;
  }

  bool checkColumns(int64_t first, int64_t last) const {
    // Neither difference overflows for a column that is not negative. The sign of any is that of all.
    using Bits = std::make_unsigned_t<Index>;
    auto lowest = Bits(firstColumn), highest = Bits(firstColumn + numColumns - 1);
    auto *column = reinterpret_cast<const Bits *>(columns) - firstEntry;
    Bits signs = 0;
    for (int64_t entry = first; entry < last; ++entry)
      signs |= column[entry] | (column[entry] - lowest) | (highest - column[entry]);
    return first >= last || (Index(signs) >= 0 && numColumns > 0);
  }
};

/// What the check of a product depends on.
struct CheckedProduct {
  uint64_t versions[3];
  const void *rows;
  int64_t numRows, firstEntry, numEntries, firstColumn, numColumns;

  bool operator==(const CheckedProduct &other) const {
    return std::equal(versions, versions + 3, other.versions) && rows == other.rows && numRows == other.numRows &&
           firstEntry == other.firstEntry && numEntries == other.numEntries && firstColumn == other.firstColumn &&
           numColumns == other.numColumns;
  }
};

/// The last products that were found right. A solver multiplies by the same few matrices again and again, and the check
/// takes a fourth of the time.
class CheckedProducts {
public:
  bool contains(const CheckedProduct &product) const {
    return std::find(std::begin(products), std::end(products), product) != std::end(products);
  }
  void add(const CheckedProduct &product) { products[next++ % numKept] = product; }

private:
  static constexpr unsigned numKept = 16;
  CheckedProduct products[numKept] = {};
  unsigned next = 0;
};
thread_local CheckedProducts checkedProducts;

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
  CheckedProduct checked = {{tiles[0].version, tiles[1].version, columns.version},
                            product.rowBegin,
                            product.rows,
                            product.firstEntry,
                            product.numEntries,
                            product.firstColumn,
                            product.numColumns};
  product.isChecked = checkedProducts.contains(checked);
  int64_t pieces = (product.rows + rowsOfPiece - 1) / rowsOfPiece;
  fusion_rt_parallel_for(
      [](void *argument, int64_t begin, int64_t end) {
        auto &work = *static_cast<SparseProduct<Index, Element> *>(argument);
        work.run(begin * rowsOfPiece, std::min(end * rowsOfPiece, work.rows));
      },
      &product, pieces);
  if (product.isOutside)
    return fusion_dist_task_error("a row pointer or a column index is outside of the part of the store that is held");
  if (!product.isChecked)
    checkedProducts.add(checked);
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
