//===- LayoutTest.cpp - The layout algebra, by enumeration ----------------===//

#include "fusion/Layout/Layout.h"

#include "gtest/gtest.h"

#include <map>

using namespace fusion;

namespace {

/// How often each element is held.
std::map<Layout::Point, int64_t> countHolders(const Layout &layout) {
  std::map<Layout::Point, int64_t> holders;
  for (int64_t warp = 0; warp < layout.getNumWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t number = 0; number < layout.getNumRegisters(); ++number)
        ++holders[layout.getPoint(number, lane, warp)];
  return holders;
}

/// Every element of the extents is held `copies` times, and nothing else is.
void expectCovers(const Layout &layout, int64_t copies) {
  ASSERT_TRUE(layout.isValid()) << layout.print();
  auto holders = countHolders(layout);
  int64_t elements = 1;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    elements *= layout.getExtent(dim);
  EXPECT_EQ(int64_t(holders.size()), elements) << layout.print();
  for (auto &[point, count] : holders) {
    EXPECT_EQ(count, copies) << layout.print();
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      EXPECT_LT(point[dim], layout.getExtent(dim));
  }
  for (int64_t number = 0; number < layout.getNumRegisters(); ++number)
    EXPECT_EQ(layout.findRegister(layout.getRegisterPart(number)), number);
  std::optional<Layout> parsed = Layout::parse(layout.print());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, layout);
}

} // namespace

TEST(Layout, BlockedIsABijection) {
  expectCovers(getBlockedLayout({1, 4096}, {1, 0}, 8, 8, false), 1);
  expectCovers(getBlockedLayout({2, 768}, {1, 0}, 8, 2, true), 1);
  expectCovers(getBlockedLayout({64, 64}, {1, 0}, 8, 4, true), 1);
  expectCovers(getBlockedLayout({64, 64}, {0, 1}, 4, 4, false), 1);
  expectCovers(getBlockedLayout({3, 5, 7}, {2, 1, 0}, 1, 2, false), 1);
}

TEST(Layout, BlockedCoversItsShape) {
  for (int64_t rows : {1, 2, 3, 8, 17})
    for (int64_t columns : {1, 7, 100, 768, 1000})
      for (int64_t vector : {1, 4})
        for (int64_t warps : {1, 2, 8})
          for (bool warpsFirst : {false, true}) {
            Layout layout = getBlockedLayout({rows, columns}, {1, 0}, vector, warps, warpsFirst);
            ASSERT_TRUE(layout.isValid()) << layout.print();
            EXPECT_EQ(layout.getNumWarps(), warps);
            EXPECT_GE(layout.getExtent(0), rows);
            EXPECT_GE(layout.getExtent(1), columns);
          }
}

TEST(Layout, SmallTilesAreBroadcast) {
  // Eight elements in pairs: four lanes, the other eight groups of lanes and two warps hold the same.
  expectCovers(getBlockedLayout({8}, {0}, 2, 2, false), 16);
  expectCovers(getBlockedLayout({}, {}, 1, 4, false), 128);
  expectCovers(getBlockedLayout({}, {}, 1, 1, true), 32);
}

TEST(Layout, BlockedVectorsAreContiguous) {
  Layout layout = getBlockedLayout({2, 4096}, {1, 0}, 8, 8, true);
  EXPECT_EQ(layout.getVectorLength(1), 8);
  EXPECT_EQ(layout.getVectorLength(0), 1);
  // Consecutive lanes access consecutive 16 bytes, and a row stays within four warps.
  EXPECT_EQ(layout.getPoint(0, 1, 0), Layout::Point({0, 8}));
}

/// The PTX ISA's tables: groupID = lane / 4, threadID_in_group = lane mod 4.
TEST(Layout, MmaFragmentsAreThoseOfThePtxIsa) {
  Layout c = getMmaAccumulator(16, 8, 1, 1), a = getMmaOperandA(16, 16, 1, 1), b = getMmaOperandB(16, 8, 1, 1);
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, thread = lane % 4;
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(c.getPoint(i, lane, 0), Layout::Point({i < 2 ? group : group + 8, thread * 2 + (i & 1)}));
    for (int64_t i = 0; i < 8; ++i)
      EXPECT_EQ(a.getPoint(i, lane, 0), Layout::Point({(i < 2 || (4 <= i && i < 6)) ? group : group + 8,
                                                       thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)}));
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(b.getPoint(i, lane, 0), Layout::Point({thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group}));
  }
}

TEST(Layout, Tf32FragmentsAreThoseOfThePtxIsa) {
  Layout a = getMmaOperandA32(16, 8, 1, 1), b = getMmaOperandB32(8, 8, 1, 1);
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, thread = lane % 4;
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(a.getPoint(i, lane, 0), Layout::Point({i % 2 == 0 ? group : group + 8, i < 2 ? thread : thread + 4}));
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_EQ(b.getPoint(i, lane, 0), Layout::Point({i == 0 ? thread : thread + 4, group}));
  }
}

TEST(Layout, FragmentsCoverTheirTiles) {
  expectCovers(getMmaAccumulator(128, 64, 4, 1), 1);
  expectCovers(getMmaAccumulator(128, 128, 2, 4), 1);
  // Operands are the same in all warps along the dimension that they lack.
  expectCovers(getMmaOperandA(128, 64, 2, 4), 4);
  expectCovers(getMmaOperandB(64, 128, 2, 4), 2);
  expectCovers(getMmaOperandA32(64, 24, 2, 2), 2);
  expectCovers(getMmaOperandB32(24, 64, 2, 2), 2);
  expectCovers(getWarpgroupAccumulator(128, 256, 2), 1);
}

/// Each warp of a group has the 16 rows that wgmma gives it.
TEST(Layout, WarpgroupRows) {
  Layout layout = getWarpgroupAccumulator(64, 64, 1);
  for (int64_t warp = 0; warp < 4; ++warp)
    EXPECT_EQ(layout.getPoint(0, 0, warp), Layout::Point({16 * warp, 0}));
}

TEST(Layout, SlicesBroadcastOverWhatTheyLack) {
  Layout accumulator = getMmaAccumulator(64, 32, 4, 1);
  Layout rows = accumulator.project({0}), columns = accumulator.project({1});
  expectCovers(rows, 4);
  expectCovers(columns, 8 * 4);
  EXPECT_EQ(rows.getNumRegisters(), 2);
  expectCovers(accumulator.project({}), 128);
}

TEST(Layout, TransposedTwiceIsTheSame) {
  Layout layout = getMmaOperandA(32, 48, 2, 1);
  EXPECT_NE(layout.project({1, 0}), layout);
  EXPECT_EQ(layout.project({1, 0}).project({1, 0}), layout);
}

TEST(Layout, ExpandedSlicesHoldAllOfTheNewDimension) {
  Layout rows = getMmaAccumulator(64, 32, 4, 1).project({0});
  Layout expanded = rows.expand(2, {0}, {64, 5});
  expectCovers(expanded, 4);
  EXPECT_EQ(expanded.project({0}), rows);
  EXPECT_EQ(expanded.getNumRegisters(), 10);
}

/// The joint of two chained contractions: two accumulator tiles side by side are one operand A.
TEST(Layout, AccumulatorBecomesOperandAWithinTheThread) {
  Layout accumulator = getMmaAccumulator(128, 64, 4, 1), operand = getMmaOperandA(128, 64, 4, 1);
  EXPECT_EQ(getConversion(accumulator, operand), Conversion::Registers);
  llvm::SmallVector<int64_t> map = getRegisterMap(accumulator, operand);
  for (int64_t lane : {0, 5, 31})
    for (auto [number, from] : llvm::enumerate(map))
      EXPECT_EQ(operand.getPoint(number, lane, 2), accumulator.getPoint(from, lane, 2));
  // With warps along the columns a row is in several warps.
  EXPECT_EQ(getConversion(getMmaAccumulator(64, 64, 2, 2), getMmaOperandA(64, 64, 2, 2)), Conversion::Shared);
}

TEST(Layout, OtherLanesNeedAShuffleAndOtherWarpsSharedMemory) {
  Layout row = getBlockedLayout({1, 256}, {1, 0}, 8, 1, false), other = getBlockedLayout({1, 256}, {1, 0}, 1, 1, false);
  EXPECT_EQ(getConversion(row, row), Conversion::None);
  EXPECT_EQ(getConversion(row, other), Conversion::Shuffle);
  EXPECT_EQ(getConversion(getBlockedLayout({8, 64}, {1, 0}, 1, 4, true), getBlockedLayout({8, 64}, {0, 1}, 1, 4, true)),
            Conversion::Shared);
}

TEST(Layout, WhatIsNoBijectionIsRefused) {
  EXPECT_FALSE(Layout({{0, 0}}, {{0, 0}}, {}, {1}).isValid());
  EXPECT_FALSE(Layout({{0, 1}}, {}, {}, {1}).isValid());
  EXPECT_FALSE(Layout({{1, 0}}, {}, {}, {1}).isValid());
  EXPECT_FALSE(Layout({CoordinateBit()}, {}, {}, {1}).isValid());
  EXPECT_FALSE(Layout({}, {}, {}, {0}).isValid());
}

TEST(Layout, MalformedTextIsRefused) {
  for (const char *text : {"", "regs[0.0]", "regs[0.0] lanes[] warps[]", "regs[x] lanes[] warps[] x[1]",
                           "regs[0.0] lanes[] warps[] x[1] y", "regs[0.1] lanes[] warps[] x[1]"})
    EXPECT_FALSE(Layout::parse(text)) << text;
}
