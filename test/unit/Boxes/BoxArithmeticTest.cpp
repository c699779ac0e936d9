//===- BoxArithmeticTest.cpp ------------------------------------------------===//

#include "RandomExchange.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace fusion::boxes;
using namespace fusion::boxes::test;

static Box makeBox(Random &random, size_t rank) {
  Box box;
  for (size_t d = 0; d < rank; ++d) {
    box.lower.push_back(draw(random, 0, 4));
    box.upper.push_back(box.lower[d] + draw(random, -1, 4));
  }
  return box;
}

static std::set<std::vector<int64_t>> getSet(const Box &box) {
  std::vector<std::vector<int64_t>> indices = listIndices(box);
  return {indices.begin(), indices.end()};
}

TEST(BoxArithmetic, DifferencesAndIntersectionsAreThoseOfSets) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    size_t rank = draw(random, 0, 4);
    Box left = makeBox(random, rank), right = makeBox(random, rank);
    std::set<std::vector<int64_t>> both = getSet(intersect(left, right)), rest;
    std::vector<Box> pieces = subtract(left, right);
    EXPECT_LE(pieces.size(), std::max<size_t>(1, 2 * rank));
    for (const Box &piece : pieces)
      for (const std::vector<int64_t> &index : listIndices(piece))
        EXPECT_TRUE(rest.insert(index).second) << "pieces overlap";
    for (const std::vector<int64_t> &index : listIndices(left)) {
      bool inRight = getSet(right).count(index);
      EXPECT_EQ(both.count(index), inRight);
      EXPECT_EQ(rest.count(index), !inRight);
    }
    EXPECT_EQ(both.size() + rest.size(), listIndices(left).size());
    EXPECT_EQ(int64_t(listIndices(left).size()), left.getVolume());
    EXPECT_EQ(left.isEmpty(), left.getVolume() == 0);
  }
}

// Fig. 3 of the paper: a 4x4 store in quadrants, rows, and four interior cells.
TEST(BoxArithmetic, TilesOfThePaper) {
  std::vector<int64_t> shape = {4, 4};
  Placement quadrants{Placement::Mapping::Block, 0, {2, 2}, makeTiling({2, 2}, {0, 0})};
  EXPECT_EQ(toString(getBounds(shape, quadrants, {1, 0})), "[2:4, 0:2]");
  Placement rows{Placement::Mapping::Block, 0, {4, 1}, makeTiling({1, 4}, {0, 0})};
  EXPECT_EQ(toString(getBounds(shape, rows, {2, 0})), "[2:3, 0:4]");
  Placement cells{Placement::Mapping::Block, 0, {2, 2}, makeTiling({1, 1}, {1, 1})};
  EXPECT_EQ(toString(getBounds(shape, cells, {1, 0})), "[2:3, 1:2]");
  // A vector tiled by 2 on a 2x2 domain, with proj(p) = (p[0],): the columns of processors have the same tile.
  Placement replicated{Placement::Mapping::Block, 0, {2, 2}, makeTiling({2}, {0})};
  replicated.partition.projection = {1, 0, 0};
  EXPECT_EQ(toString(getBounds({4}, replicated, {1, 0})), "[2:4]");
  EXPECT_EQ(toString(getBounds({4}, replicated, {1, 1})), "[2:4]");
}

TEST(BoxArithmetic, TilesAreClampedToTheStore) {
  Placement placement{Placement::Mapping::Block, 0, {4}, makeTiling({3}, {-1})};
  EXPECT_EQ(toString(getBounds({7}, placement, {0})), "[0:2]");
  EXPECT_EQ(toString(getBounds({7}, placement, {2})), "[5:7]");
  EXPECT_TRUE(getBounds({7}, placement, {3}).isEmpty());
  placement.partition.stride = {std::numeric_limits<int64_t>::max()};
  EXPECT_TRUE(getBounds({7}, placement, {3}).isEmpty());
}

TEST(BoxArithmetic, BlocksCoverAllPointsInOrder) {
  for (int64_t points = 0; points < 20; ++points) {
    for (int64_t ranks = 1; ranks < 9; ++ranks) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        auto [begin, end] = getBlock(points, rank, ranks);
        EXPECT_EQ(begin, next);
        EXPECT_LE(end - begin, points / ranks + 1);
        next = end;
      }
      EXPECT_EQ(next, points);
    }
  }
}
