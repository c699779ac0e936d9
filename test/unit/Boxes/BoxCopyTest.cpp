//===- BoxCopyTest.cpp - Boxes between strided windows -----------------------===//

#include "RandomExchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace fusion::boxes;
using namespace fusion::boxes::test;

namespace {

/// A window with its memory: dimensions in any order, gaps between rows, some running backwards.
struct Array {
  Array(Random &random, const Box &room, int64_t elementBytes) {
    size_t rank = room.lower.size();
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    bool plain = draw(random, 0, 1);
    if (!plain)
      std::shuffle(order.begin(), order.end(), random);
    window.origin = room.lower;
    window.sizes.resize(rank);
    window.strides.resize(rank);
    int64_t stride = plain ? 1 : draw(random, 1, 2), first = 0;
    for (size_t k = rank; k-- > 0;) {
      size_t d = order[k];
      window.sizes[d] = room.upper[d] - room.lower[d];
      window.strides[d] = stride;
      stride *= window.sizes[d] + (plain ? 0 : draw(random, 0, 2));
      if (!plain && draw(random, 0, 3) == 0) {
        first += (window.sizes[d] - 1) * window.strides[d];
        window.strides[d] = -window.strides[d];
      }
    }
    memory.resize((stride + 1) * elementBytes);
    for (char &byte : memory)
      byte = char(random());
    window.data = memory.data() + first * elementBytes;
  }

  char *at(const std::vector<int64_t> &index, int64_t elementBytes) const {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += (index[d] - window.origin[d]) * window.strides[d];
    return window.data + offset * elementBytes;
  }

  std::vector<char> memory;
  Window window;
};

Box makeRoom(Random &random, const Box &box) {
  Box room = box;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    room.lower[d] -= draw(random, 0, 2);
    room.upper[d] += draw(random, 0, 2);
  }
  return room;
}

} // namespace

TEST(BoxCopy, MovesTheBoxAndNothingElse) {
  Random random(4);
  int contiguous = 0;
  for (int round = 0; round < 3000; ++round) {
    int64_t elementBytes = std::vector<int64_t>{1, 2, 4, 8, 3}[draw(random, 0, 4)];
    Box box;
    for (int64_t rank = draw(random, 0, 4); rank > 0; --rank) {
      box.lower.push_back(draw(random, -3, 3));
      box.upper.push_back(box.lower.back() + draw(random, 1, 4));
    }
    Array from(random, makeRoom(random, box), elementBytes), to(random, makeRoom(random, box), elementBytes);
    std::vector<char> expected = to.memory;
    for (const std::vector<int64_t> &index : listIndices(box))
      std::memcpy(expected.data() + (to.at(index, elementBytes) - to.memory.data()), from.at(index, elementBytes),
                  elementBytes);
    std::vector<char> before = to.memory;
    copyBox(box, from.window, to.window, elementBytes);
    EXPECT_EQ(to.memory, expected);

    // By way of a message.
    to.memory = before;
    std::vector<char> message(box.getVolume() * elementBytes);
    packBox(box, from.window, message.data(), elementBytes);
    if (const char *direct = getContiguous(box, from.window, elementBytes)) {
      ++contiguous;
      EXPECT_EQ(std::memcmp(direct, message.data(), message.size()), 0);
    }
    unpackBox(box, message.data(), to.window, elementBytes);
    EXPECT_EQ(to.memory, expected);
  }
  EXPECT_GT(contiguous, 100);
}

TEST(BoxCopy, KnowsWhatNeedsNoPacking) {
  std::vector<char> memory(64);
  Window window{memory.data(), {0, 0}, {4, 4}, {4, 1}};
  EXPECT_EQ(getContiguous({{1, 0}, {3, 4}}, window, 4), memory.data() + 16);
  EXPECT_EQ(getContiguous({{1, 1}, {2, 3}}, window, 4), memory.data() + 20);
  EXPECT_EQ(getContiguous({{1, 1}, {3, 3}}, window, 4), nullptr);
  EXPECT_EQ(getContiguous({{0, 1}, {4, 2}}, window, 4), nullptr);
}

TEST(BoxCopy, AnEmptyBoxMovesNothing) {
  Window nowhere{nullptr, {0, 0}, {0, 0}, {1, 1}};
  copyBox({{0, 0}, {0, 3}}, nowhere, nowhere, 8);
}
