//===- OperationTest.cpp - Shuffles, votes, conversions, approximations -----===//

#include "WarpRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace fusion::test;

namespace {
/// A scalar function on up to 32 arguments.
std::vector<uint64_t> apply(const std::string &name, const std::string &operandType, const std::string &resultType,
                            const std::vector<std::vector<uint64_t>> &arguments) {
  LaneValues in;
  for (size_t lane = 0; lane < 32; ++lane)
    in[lane] = arguments[std::min(lane, arguments.size() - 1)];
  std::vector<std::string> types(arguments[0].size(), operandType);
  LaneValues out = runIntrinsic(name, types, {resultType}, in);
  std::vector<uint64_t> results;
  for (size_t i = 0; i < arguments.size(); ++i)
    results.push_back(out[i][0]);
  return results;
}
} // namespace

// The pseudo-code of shfl.sync in the PTX ISA.
TEST(Shuffle, AllModes) {
  for (const char *mode : {"idx", "up", "down", "bfly"})
    for (uint32_t b : {0u, 1u, 3u, 8u, 16u, 31u})
      for (uint32_t c : {0x1fu, 0x0u, 0x181fu, 0x1800u, 0x101fu, 0x0fu}) {
        LaneValues in;
        for (unsigned lane = 0; lane < 32; ++lane)
          in[lane] = {0xffffffff, 100 + lane, b, c};
        LaneValues out = runIntrinsic(std::string("llvm.nvvm.shfl.sync.") + mode + ".i32p", {"i32", "i32", "i32", "i32"},
                                      {"i32", "i1"}, in);
        for (uint32_t lane = 0; lane < 32; ++lane) {
          uint32_t cval = c & 31, mask = c >> 8 & 31;
          int maxLane = int((lane & mask) | (cval & ~mask)), minLane = int(lane & mask), j = 0;
          bool pval = false;
          std::string name = mode;
          if (name == "up") {
            j = int(lane) - int(b);
            pval = j >= maxLane;
          } else if (name == "down") {
            j = int(lane) + int(b);
            pval = j <= maxLane;
          } else if (name == "bfly") {
            j = int(lane ^ b);
            pval = j <= maxLane;
          } else {
            j = minLane | int(b & ~mask);
            pval = j <= maxLane;
          }
          if (!pval)
            j = int(lane);
          EXPECT_EQ(uint32_t(out[lane][0]), uint32_t(100 + j)) << mode << " b " << b << " c " << c << " lane " << lane;
          EXPECT_EQ(out[lane][1] & 1, uint64_t(pval));
        }
      }
}

TEST(Vote, Ballot) {
  LaneValues in;
  for (unsigned lane = 0; lane < 32; ++lane)
    in[lane] = {0xffffffff, lane % 3 == 0};
  LaneValues ballot = runIntrinsic("llvm.nvvm.vote.ballot.sync", {"i32", "i1"}, {"i32"}, in);
  LaneValues all = runIntrinsic("llvm.nvvm.vote.all.sync", {"i32", "i1"}, {"i1"}, in);
  LaneValues any = runIntrinsic("llvm.nvvm.vote.any.sync", {"i32", "i1"}, {"i1"}, in);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(uint32_t(ballot[lane][0]), 0x49249249u);
    EXPECT_EQ(all[lane][0] & 1, 0u);
    EXPECT_EQ(any[lane][0] & 1, 1u);
  }
}

TEST(Redux, SignedMinimumAndSum) {
  LaneValues in;
  for (unsigned lane = 0; lane < 32; ++lane)
    in[lane] = {uint32_t(int32_t(lane) - 20), 0xffffffff};
  LaneValues sum = runIntrinsic("llvm.nvvm.redux.sync.add", {"i32", "i32"}, {"i32"}, in);
  LaneValues least = runIntrinsic("llvm.nvvm.redux.sync.min", {"i32", "i32"}, {"i32"}, in);
  LaneValues unsignedLeast = runIntrinsic("llvm.nvvm.redux.sync.umin", {"i32", "i32"}, {"i32"}, in);
  EXPECT_EQ(int32_t(sum[7][0]), 496 - 640);
  EXPECT_EQ(int32_t(least[7][0]), -20);
  EXPECT_EQ(int32_t(unsignedLeast[7][0]), 0);
}

TEST(Match, Any) {
  LaneValues in;
  for (unsigned lane = 0; lane < 32; ++lane)
    in[lane] = {0xffffffff, lane / 8};
  LaneValues out = runIntrinsic("llvm.nvvm.match.any.sync.i32", {"i32", "i32"}, {"i32"}, in);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(uint32_t(out[lane][0]), 0xffu << (lane / 8 * 8));
}

TEST(Elect, OneLane) {
  LaneValues in;
  for (auto &lane : in)
    lane = {0xfffffff0};
  for (unsigned lane = 0; lane < 32; ++lane)
    in[lane] = {0xffffffff};
  LaneValues out = runIntrinsic("llvm.nvvm.elect.sync", {"i32"}, {"i32", "i1"}, in);
  unsigned elected = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    elected += out[lane][1] & 1;
  EXPECT_EQ(elected, 1u);
}

// cvt.rn: to nearest, ties to even; the first operand goes to the upper half.
TEST(Conversions, PairsToHalf) {
  auto out = apply("llvm.nvvm.ff2f16x2.rn", "float", "<2 x half>",
                   {{bitsOf(1.0f), bitsOf(-2.0f)},
                    {bitsOf(1 + 0x1p-11f), bitsOf(1 + 0x1.8p-10f)},   // a tie down to even, a tie up to even
                    {bitsOf(65519.0f), bitsOf(65520.0f)},             // the largest number; the first infinity
                    {bitsOf(0x1p-25f), bitsOf(0x1.8p-25f)},           // half of the least subnormal; more than half
                    {bitsOf(NAN), bitsOf(-INFINITY)}});
  EXPECT_EQ(uint32_t(out[0]), 0x3c00c000u);
  EXPECT_EQ(uint32_t(out[1]), 0x3c003c02u);
  EXPECT_EQ(uint32_t(out[2]), 0x7bff7c00u);
  EXPECT_EQ(uint32_t(out[3]), 0x00000001u);
  EXPECT_EQ(uint32_t(out[4]), 0x7ffffc00u);
}

TEST(Conversions, PairsToBrain) {
  auto out = apply("llvm.nvvm.ff2bf16x2.rn", "float", "<2 x bfloat>",
                   {{bitsOf(1 + 0x1p-8f), bitsOf(1 + 0x1.8p-7f)}, {bitsOf(1e-40f), bitsOf(3.4e38f)}});
  EXPECT_EQ(uint32_t(out[0]), 0x3f803f82u);
  EXPECT_EQ(uint32_t(out[1]), 0x00017f80u);
}

// cvt.rna.tf32: ties away from zero, 10 bits of mantissa.
TEST(Conversions, Tf32) {
  auto out = apply("llvm.nvvm.f2tf32.rna", "float", "i32",
                   {{bitsOf(1 + 0x1p-11f)}, {bitsOf(-(1 + 0x1p-11f))}, {bitsOf(1 + 0x1.ffp-12f)}, {bitsOf(INFINITY)}});
  EXPECT_EQ(floatOf(out[0]), 1 + 0x1p-10f);
  EXPECT_EQ(floatOf(out[1]), -(1 + 0x1p-10f));
  EXPECT_EQ(floatOf(out[2]), 1.0f);
  EXPECT_EQ(floatOf(out[3]), INFINITY);
}

TEST(Conversions, ToIntegersSaturate) {
  auto out = apply("llvm.nvvm.f2i.rn", "float", "i32",
                   {{bitsOf(2.5f)}, {bitsOf(-3.5f)}, {bitsOf(3e9f)}, {bitsOf(-3e9f)}, {bitsOf(NAN)}});
  EXPECT_EQ(int32_t(out[0]), 2);
  EXPECT_EQ(int32_t(out[1]), -4);
  EXPECT_EQ(int32_t(out[2]), INT32_MAX);
  EXPECT_EQ(int32_t(out[3]), INT32_MIN);
  EXPECT_EQ(int32_t(out[4]), 0);
}

// Directed rounding, and flushing of subnormal numbers.
TEST(Arithmetic, RoundingAndFlushing) {
  uint64_t one = bitsOf(1.0f), tiny = bitsOf(0x1p-30f), subnormal = bitsOf(0x1p-140f);
  EXPECT_EQ(floatOf(apply("llvm.nvvm.fma.rm.f", "float", "float", {{one, one, bitsOf(-0x1p-30f)}})[0]), 1 - 0x1p-24f);
  EXPECT_EQ(floatOf(apply("llvm.nvvm.fma.rp.f", "float", "float", {{one, one, tiny}})[0]), 1 + 0x1p-23f);
  EXPECT_EQ(floatOf(apply("llvm.nvvm.fma.rn.f", "float", "float", {{one, one, tiny}})[0]), 1.0f);
  EXPECT_EQ(floatOf(apply("llvm.nvvm.fma.rn.f", "float", "float", {{one, subnormal, 0}})[0]), 0x1p-140f);
  EXPECT_EQ(floatOf(apply("llvm.nvvm.fma.rn.ftz.f", "float", "float", {{one, subnormal, 0}})[0]), 0.0f);
}

// The bounds of the PTX ISA: 2^-22 relative for ex2, one unit for rcp, 2^-22.9 for rsqrt; exact special values.
TEST(Approximations, WithinBounds) {
  std::vector<std::vector<uint64_t>> points;
  for (int i = 0; i < 32; ++i)
    points.push_back({bitsOf(float(i) * 0.37f - 5.0f)});
  auto out = apply("llvm.nvvm.ex2.approx.ftz.f32", "float", "float", points);
  for (int i = 0; i < 32; ++i) {
    double want = std::exp2(double(floatOf(points[i][0])));
    EXPECT_NEAR(floatOf(out[i]), want, want * 0x1p-22);
  }
  auto special = apply("llvm.nvvm.ex2.approx.ftz.f32", "float", "float",
                       {{bitsOf(-INFINITY)}, {bitsOf(INFINITY)}, {bitsOf(0.0f)}, {bitsOf(-127.0f)}, {bitsOf(NAN)}});
  EXPECT_EQ(floatOf(special[0]), 0.0f);
  EXPECT_EQ(floatOf(special[1]), INFINITY);
  EXPECT_EQ(floatOf(special[2]), 1.0f);
  EXPECT_EQ(floatOf(special[3]), 0.0f);
  EXPECT_TRUE(std::isnan(floatOf(special[4])));
  auto roots = apply("llvm.nvvm.rsqrt.approx.ftz.f", "float", "float", {{bitsOf(4.0f)}, {bitsOf(0.0f)}});
  EXPECT_EQ(floatOf(roots[0]), 0.5f);
  EXPECT_EQ(floatOf(roots[1]), INFINITY);
}
