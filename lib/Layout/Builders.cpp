//===- Builders.cpp - The layouts that instructions and memory want -------===//

#include "fusion/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace fusion {
namespace {

/// Appends the bits `first`, `first + 1`, ... of `dim`.
void append(Layout::Bits &bits, int dim, int first, int count) {
  for (int i = 0; i < count; ++i)
    bits.push_back({dim, first + i});
}

int getLog2(int64_t number) { return Log2_64_Ceil(std::max<int64_t>(number, 1)); }

/// The fragment `atom` of one warp, repeated for the warps along rows, then columns, then in registers.
Layout tile(Layout::Bits registers, Layout::Bits lanes, ArrayRef<int64_t> atom, ArrayRef<int64_t> shape,
            ArrayRef<int64_t> warpGrid, ArrayRef<bool> distributed) {
  Layout::Bits warps;
  SmallVector<int64_t> repeats;
  SmallVector<int> numBits;
  for (unsigned dim = 0; dim < 2; ++dim) {
    int bits = getLog2(warpGrid[dim]);
    if (distributed[dim])
      append(warps, dim, getLog2(atom[dim]), bits);
    else
      warps.append(bits, CoordinateBit());
    numBits.push_back(getLog2(atom[dim]) + (distributed[dim] ? bits : 0));
  }
  for (unsigned dim = 0; dim < 2; ++dim)
    repeats.push_back(divideCeil(shape[dim], int64_t(1) << numBits[dim]));
  return Layout(std::move(registers), std::move(lanes), std::move(warps), repeats);
}

} // namespace

Layout getBlockedLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, int64_t vector, int64_t numWarps,
                        bool warpsFirst) {
  Layout::Bits registers, lanes, warps;
  SmallVector<int> used(shape.size(), 0);
  auto isCovered = [&](unsigned dim) { return (int64_t(1) << used[dim]) >= shape[dim]; };
  auto take = [&](Layout::Bits &bits, unsigned dim) { bits.push_back({int(dim), used[dim]++}); };
  if (!order.empty())
    for (int i = 0, count = Log2_64(std::max<int64_t>(vector, 1)); i < count; ++i)
      take(registers, order.front());
  int numWarpBits = getLog2(numWarps);
  int rows = 0;
  if (warpsFirst && !order.empty())
    for (unsigned dim : reverse(order.drop_front()))
      rows += getLog2(shape[dim]);
  // With rows enough for all warps, lanes stay within what is left of a row.
  auto fill = [&](Layout::Bits &bits, int count, ArrayRef<unsigned> dims) {
    for (unsigned dim : dims)
      while (int(bits.size()) < count && !isCovered(dim))
        take(bits, dim);
  };
  if (warpsFirst && !order.empty() && rows >= numWarpBits) {
    // Reserve the lowest bits for lanes: they are given first, warps take what follows.
    fill(lanes, 5, order.take_front(1));
    SmallVector<unsigned> outer(order.drop_front());
    Layout::Bits lanesOfRows = lanes;
    std::reverse(outer.begin(), outer.end());
    fill(warps, numWarpBits, outer);
    std::reverse(outer.begin(), outer.end());
    fill(lanes, 5, outer);
  } else {
    fill(lanes, 5, order);
    fill(warps, numWarpBits, order);
  }
  lanes.resize(5);
  warps.resize(numWarpBits);
  SmallVector<int64_t> repeats;
  for (auto [dim, extent] : enumerate(shape))
    repeats.push_back(std::max<int64_t>(1, divideCeil(extent, int64_t(1) << used[dim])));
  return Layout(std::move(registers), std::move(lanes), std::move(warps), repeats);
}

Layout getMmaAccumulator(int64_t rows, int64_t columns, int64_t warpRows, int64_t warpColumns) {
  return tile({{1, 0}, {0, 3}}, {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}}, {16, 8}, {rows, columns},
              {warpRows, warpColumns}, {true, true});
}

Layout getMmaOperandA(int64_t rows, int64_t depth, int64_t warpRows, int64_t warpColumns) {
  return tile({{1, 0}, {0, 3}, {1, 3}}, {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}}, {16, 16}, {rows, depth},
              {warpRows, warpColumns}, {true, false});
}

Layout getMmaOperandB(int64_t depth, int64_t columns, int64_t warpRows, int64_t warpColumns) {
  return tile({{0, 0}, {0, 3}}, {{0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}, {16, 8}, {depth, columns},
              {warpRows, warpColumns}, {false, true});
}

Layout getMmaOperandA32(int64_t rows, int64_t depth, int64_t warpRows, int64_t warpColumns) {
  return tile({{0, 3}, {1, 2}}, {{1, 0}, {1, 1}, {0, 0}, {0, 1}, {0, 2}}, {16, 8}, {rows, depth},
              {warpRows, warpColumns}, {true, false});
}

Layout getMmaOperandB32(int64_t depth, int64_t columns, int64_t warpRows, int64_t warpColumns) {
  return tile({{0, 2}}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}}, {8, 8}, {depth, columns}, {warpRows, warpColumns},
              {false, true});
}

Layout getWarpgroupAccumulator(int64_t rows, int64_t columns, int64_t warpgroups) {
  return getMmaAccumulator(rows, columns, 4 * warpgroups, 1);
}

} // namespace fusion
