//===- BoxWordsTest.cpp - Exchanges as words ---------------------------------===//

#include "RandomExchange.h"

#include <gtest/gtest.h>

using namespace fusion::boxes;
using namespace fusion::boxes::test;

TEST(BoxWords, AllSurvivesEncoding) {
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    Exchange exchange = makeExchange(random, round % 2);
    exchange.fold = draw(random, 0, 1);
    exchange.partial = draw(random, 0, 1);
    exchange.elementType = draw(random, 0, 8);
    std::vector<int64_t> words = encode(exchange);
    Exchange decoded;
    std::string error;
    ASSERT_TRUE(decode(words.data(), words.size(), decoded, error)) << error;
    EXPECT_EQ(encode(decoded), words);
    EXPECT_EQ(decoded.fold, exchange.fold);
    EXPECT_EQ(decoded.partial, exchange.partial);
    EXPECT_EQ(decoded.shape, exchange.shape);
    ASSERT_EQ(decoded.targets.size(), exchange.targets.size());
    // A part of it is an error, whatever the part.
    for (size_t length = 0; length < words.size(); ++length) {
      Exchange part;
      EXPECT_FALSE(decode(words.data(), length, part, error));
      EXPECT_FALSE(error.empty());
    }
  }
}

static std::string getError(std::vector<int64_t> words) {
  Exchange exchange;
  std::string error;
  EXPECT_FALSE(decode(words.data(), words.size(), exchange, error));
  return error;
}

TEST(BoxWords, ErrorsNameTheWord) {
  EXPECT_EQ(getError({}), "the description ends before its operation");
  EXPECT_EQ(getError({0, 4}), "word 1 of the description, flags, is 4; accepted is 0 to 3");
  EXPECT_EQ(getError({0, 0, 7, -1}), "word 3 of the description, rank of the store, is -1; accepted is 0 to 64");
  EXPECT_EQ(getError({0, 0, 7, 1, -5}), "word 4 of the description, extent of the store, is -5; accepted is 0 or more");
  EXPECT_EQ(getError({0, 0, 7, 2, int64_t(1) << 40, int64_t(1) << 40}), "the extents of the store are too large");
  EXPECT_EQ(getError({0, 0, 7, 0, 0}), "word 4 of the description, number of sources, is 0; accepted is 1 or more");
  EXPECT_EQ(getError({1, 0, 7, 0, 2}), "word 4 of the description, number of sources, is 2; accepted is 1 to 1");
  EXPECT_EQ(getError({0, 0, 7, 0, 1, 3}), "word 5 of the description, mapping, is 3; accepted is 0 to 2");
  EXPECT_EQ(getError({0, 0, 7, 0, 1, 0, 0, 0, 4}),
            "word 8 of the description, kind of partition, is 4; accepted is 0 to 2");
  EXPECT_EQ(getError({0, 0, 7, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9}), "the description has 15 words, but ends after 14");
}
