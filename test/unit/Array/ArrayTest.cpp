//===- ArrayTest.cpp - Arrays against plain loops -------------------------------===//

#include "fusion/Array/Array.h"
#include "fusion/Array/Csr.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace fusion;

namespace {

using Values = std::vector<double>;

struct ArrayFixture : testing::Test {
  Session session;
  ArrayLibrary library{session};

  void expectError(const char *text, const std::function<void()> &call) {
    try {
      call();
      FAIL() << "no error: " << text;
    } catch (const SessionError &error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
};

TEST_F(ArrayFixture, BroadcastsAsNumPy) {
  Array matrix = library.from({2, 3}, {1, 2, 3, 4, 5, 6}), row = library.from({3}, {10, 20, 30}),
        column = library.from({2, 1}, {100, 200});
  EXPECT_EQ((matrix + row).toVector(), (Values{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ((matrix + column).toVector(), (Values{101, 102, 103, 204, 205, 206}));
  EXPECT_EQ((row + column).toVector(), (Values{110, 120, 130, 210, 220, 230}));
  expectError("cannot be broadcast", [&] { matrix + library.zeros({2}); });
  EXPECT_EQ((matrix(Slice(), 1) * matrix(Slice(), 2)).toVector(), (Values{6, 30}));
  EXPECT_EQ((matrix * matrix(1, 2)).toVector(), (Values{6, 12, 18, 24, 30, 36}));
}

TEST_F(ArrayFixture, SlicesAreViews) {
  Array a = library.arange(6);
  a(Slice(-3, std::nullopt)) += 10;
  EXPECT_EQ(a.toVector(), (Values{0, 1, 2, 13, 14, 15}));
  // The source overlaps the target.
  a(Slice(1, std::nullopt)).assign(a(Slice(std::nullopt, -1)));
  EXPECT_EQ(a.toVector(), (Values{0, 0, 1, 2, 13, 14}));
  a(Slice(0, 2)).assign(a(Slice(4, 6)));
  EXPECT_EQ(a.toVector(), (Values{13, 14, 1, 2, 13, 14}));
  a(2).assign(7);
  EXPECT_EQ(a(2).item(), 7);
  EXPECT_EQ(a(Slice(4, 2)).toVector(), Values());
  EXPECT_EQ(a(Slice(-100, 100)).getShape(), (Shape{6}));
  a += a;
  EXPECT_EQ(a(-1).item(), 28);
  expectError("index 6 is out of bounds for axis 0 with size 6", [&] { a(6); });
  expectError("too many indices", [&] { a(0, 0); });
  expectError("steps other than 1", [&] { a(Slice(std::nullopt, std::nullopt, -1)); });
  expectError("cannot be broadcast", [&] { a(Slice(0, 2)).assign(library.zeros({3})); });
  expectError("does not fit", [&] { a(Slice(0, 1)).assign(library.zeros({3})); });
}

TEST_F(ArrayFixture, PromotesTypes) {
  Array integers = library.from({3}, {1, 2, 4}, ElementType::I64), singles = library.from({3}, {1, 2, 4}, ElementType::F32);
  EXPECT_EQ((integers + 1).getType(), ElementType::I64);
  EXPECT_EQ((integers + 0.5).getType(), ElementType::F64);
  EXPECT_EQ((integers / 2).toVector(), (Values{0.5, 1, 2}));
  EXPECT_EQ((singles * 0.1).getType(), ElementType::F32);
  EXPECT_EQ((singles * 0.1).toVector()[0], double(1.0f * 0.1f));
  EXPECT_EQ((singles + integers).getType(), ElementType::F64);
  Array isLarge = integers > 1;
  EXPECT_EQ(isLarge.getType(), ElementType::Bool);
  EXPECT_EQ((isLarge & ~(integers == 4)).toVector(), (Values{0, 1, 0}));
  EXPECT_EQ((isLarge + 1).toVector(), (Values{1, 2, 2}));
  EXPECT_EQ(sum(isLarge).item(), 2);
  EXPECT_EQ(where(isLarge, integers, -1).toVector(), (Values{-1, 2, 4}));
  EXPECT_EQ(cast(library.from({3}, {-1.7, 0, 2.9}), ElementType::I64).toVector(), (Values{-1, 0, 2}));
  expectError("not cast to i64", [&] { integers += 0.5; });
  expectError("not subtracted", [&] { isLarge - isLarge; });
  expectError("array of booleans", [&] { where(integers, 1, 2); });
}

TEST_F(ArrayFixture, KeepsNaN) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Array a = library.from({3}, {1, nan, 3});
  EXPECT_TRUE(std::isnan(max(a).item()));
  EXPECT_TRUE(std::isnan(maximum(a, 2).toVector()[1]));
  EXPECT_EQ((a != a).toVector(), (Values{0, 1, 0}));
  EXPECT_EQ(max(a(Slice(2, 3))).item(), 3);
  EXPECT_EQ(min(library.from({2}, {5, -5}, ElementType::I64)).item(), -5);
  EXPECT_EQ(sum(library.zeros({0})).item(), 0);
  expectError("of no elements", [&] { max(library.zeros({0})); });
}

TEST_F(ArrayFixture, Products) {
  Array a = library.from({2, 3}, {1, 2, 3, 4, 5, 6}), x = library.from({3}, {1, 10, 100});
  EXPECT_EQ(matmul(a, x).toVector(), (Values{321, 654}));
  EXPECT_EQ(matmul(a, library.from({3, 1}, {1, 10, 100})).toVector(), (Values{321, 654}));
  EXPECT_EQ(dot(x, x).item(), 10101);
  EXPECT_EQ(dot(a(1), x).item(), 654);
  expectError("matmul of shapes (2, 3) and (2)", [&] { matmul(a, library.zeros({2})); });
  expectError("of one length", [&] { dot(x, library.zeros({2})); });
  // [2 0 1; 0 3 0]
  Csr sparse(session, 2, 3, {0, 2, 3}, {0, 2, 1}, {2, 1, 3});
  EXPECT_EQ(library.wrap(sparse.multiply((x + 0).getStore())).toVector(), (Values{102, 30}));
  expectError("as many f64", [&] { sparse.multiply(library.zeros({2}).getStore()); });
  expectError("no column 3", [&] { Csr(session, 1, 3, {0, 1}, {3}, {1}); });
}

TEST_F(ArrayFixture, RandomIsReproducible) {
  EXPECT_EQ(library.random({50}, 7).toVector(), library.random({5, 10}, 7).toVector());
  EXPECT_NE(library.random({50}, 7).toVector(), library.random({50}, 8).toVector());
}

/// The compiled code may round a product and a sum once.
void expectClose(const Values &got, const Values &want, unsigned seed) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-13 * (1 + std::abs(want[i]))) << "seed " << seed << ", element " << i;
}

/// Random programs of views, updates, dead values and reads against plain loops.
TEST(Array, RandomPrograms) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 generator(seed);
    auto pick = [&](int64_t count) { return int64_t(generator() % uint64_t(count)); };
    SessionOptions options;
    options.fuse = seed % 4 != 3;
    options.points = seed % 3 + 1;
    Session session(options);
    ArrayLibrary library(session);
    const int64_t n = 9;
    struct Both {
      Array array;
      Values values;
    };
    std::vector<Both> known;
    for (int i = 0; i < 3; ++i) {
      Array array = library.random({n}, seed * 3 + unsigned(i));
      known.push_back({array, array.toVector()});
    }
    for (int step = 0; step < 25; ++step) {
      Both &a = known[size_t(pick(int64_t(known.size())))], &b = known[size_t(pick(int64_t(known.size())))];
      int64_t width = 1 + pick(n - 1), from = pick(n - width + 1), to = pick(n - width + 1);
      Slice source(from, from + width), target(to, to + width);
      switch (pick(5)) {
      case 0: {
        Both made{a.array * b.array - 0.5, Values(n)};
        for (size_t i = 0; i < size_t(n); ++i)
          made.values[i] = a.values[i] * b.values[i] - 0.5;
        known[size_t(pick(int64_t(known.size())))] = made;
        break;
      }
      case 1: {
        a.array(target) += b.array(source);
        Values before = b.values;
        for (int64_t i = 0; i < width; ++i)
          a.values[size_t(to + i)] += before[size_t(from + i)];
        break;
      }
      case 2: {
        Array other = copy(b.array);
        a.array(target).assign(maximum(other(source), a.array(source)));
        Values left = b.values, right = a.values;
        for (int64_t i = 0; i < width; ++i)
          a.values[size_t(to + i)] = std::max(left[size_t(from + i)], right[size_t(from + i)]);
        break;
      }
      case 3:
        a.array(target).assign(0.25);
        std::fill_n(a.values.begin() + to, width, 0.25);
        break;
      default:
        expectClose(a.array.toVector(), a.values, seed);
      }
    }
    for (const Both &both : known)
      expectClose(both.array.toVector(), both.values, seed);
  }
}

} // namespace
