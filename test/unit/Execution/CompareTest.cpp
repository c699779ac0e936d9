//===- CompareTest.cpp - When a result is right -----------------------------===//

#include "fusion/Execution/Compare.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fusion;

namespace {

HostArray make(std::initializer_list<double> values, ElementKind kind = ElementKind::F32) {
  auto array = llvm::cantFail(HostArray::create(kind, {int64_t(values.size())}));
  int64_t at = 0;
  for (double value : values)
    array.setDouble(at++, value);
  return array;
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  EXPECT_TRUE(compare(make({1.0, 100.0}), make({1.0, 101.0}), {0.01, 0}).ok);
  EXPECT_TRUE(compare(make({0.5}), make({0.0}), {0, 0.5}).ok);
  EXPECT_FALSE(compare(make({0.6}), make({0.0}), {0.1, 0.5}).ok);
  EXPECT_TRUE(compare(make({11.5}), make({10.0}), {0.1, 0.5}).ok);
  // Relative to what is wanted, not to what came.
  EXPECT_FALSE(compare(make({12.0}), make({10.0}), {0.19, 0}).ok);
}

TEST(Compare, NanAndInfinities) {
  double nan = std::nan(""), inf = HUGE_VAL;
  EXPECT_TRUE(compare(make({nan, inf, -inf}), make({nan, inf, -inf}), {}).ok);
  EXPECT_FALSE(compare(make({nan}), make({1.0}), {1e9, 1e9}).ok);
  EXPECT_FALSE(compare(make({1.0}), make({nan}), {1e9, 1e9}).ok);
  EXPECT_FALSE(compare(make({inf}), make({-inf}), {1e9, 1e9}).ok);
  EXPECT_FALSE(compare(make({inf}), make({1.0}), {1e9, 1e9}).ok);
  // A relative tolerance times infinity must not accept every number.
  EXPECT_FALSE(compare(make({1.0}), make({inf}), {1e-5, 0}).ok);
  EXPECT_TRUE(std::isinf(compare(make({nan}), make({1.0}), {}).maxAbsError));
}

TEST(Compare, IntegersAreExact) {
  HostArray big = HostArray::scalar(ElementKind::I64, (int64_t(1) << 60) + 1);
  HostArray near = HostArray::scalar(ElementKind::I64, int64_t(1) << 60);
  EXPECT_FALSE(compare(big, near, {1, 1e9}).ok);
  EXPECT_TRUE(compare(big, big, {}).ok);
}

TEST(Compare, SaysWhereAndHowMuch) {
  Comparison comparison = compare(make({1, 2, 4, 8}), make({1, 2, 3, 4}), {});
  EXPECT_EQ(comparison.numWrong, 2);
  EXPECT_EQ(comparison.maxAbsError, 4);
  EXPECT_EQ(comparison.maxRelError, 1);
  EXPECT_NE(comparison.problem.find("2 of 4 elements differ; first at [2]: got 4, want 3"), std::string::npos)
      << comparison.problem;
}

TEST(Compare, TypesAndShapes) {
  EXPECT_EQ(compare(make({1, 2}), make({1, 2, 3}), {}).problem, "got 2xf32, want 3xf32");
  EXPECT_EQ(compare(make({1}), make({1}, ElementKind::F64), {}).problem, "got 1xf32, want 1xf64");
  EXPECT_TRUE(compare(make({}), make({}), {}).ok);
}

} // namespace
