//===- CombineTest.cpp - Reduction operators on all element types -------------===//

#include "fusion/Runtime/HalfFloat.h"
#include "fusion/Runtime/Mpi.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

template <typename Value>
std::vector<Value> combine(int32_t op, int32_t type, const std::vector<std::vector<Value>> &inputs) {
  std::vector<const void *> pointers;
  for (const std::vector<Value> &input : inputs)
    pointers.push_back(input.data());
  std::vector<Value> result(inputs[0].size());
  EXPECT_EQ(fusion_mpi_combine(op, type, pointers.data(), pointers.size(), result.data(), result.size()), FUSION_OK);
  return result;
}

/// Of single elements.
template <typename Value>
Value fold(int32_t op, int32_t type, std::vector<Value> values) {
  std::vector<std::vector<Value>> inputs;
  for (Value value : values)
    inputs.push_back({value});
  return combine(op, type, inputs)[0];
}

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

} // namespace

template <typename Value>
static void checkIntegers(int32_t type) {
  std::mt19937_64 random(type);
  for (int round = 0; round < 50; ++round) {
    std::vector<Value> values;
    for (int i = 0; i < 5; ++i)
      values.push_back(Value(random() >> (random() % 64)));
    auto expect = [&](int32_t op, auto apply) {
      Value expected = std::accumulate(values.begin() + 1, values.end(), values[0], apply);
      EXPECT_EQ(fold(op, type, values), expected) << "op " << op << ", type " << type;
    };
    using Unsigned = std::make_unsigned_t<Value>;
    expect(FUSION_MPI_SUM, [](Value a, Value b) { return Value(uint64_t(a) + uint64_t(b)); });
    expect(FUSION_MPI_PRODUCT, [](Value a, Value b) { return Value(uint64_t(a) * uint64_t(b)); });
    expect(FUSION_MPI_MIN, [](Value a, Value b) { return std::min(a, b); });
    expect(FUSION_MPI_MAX, [](Value a, Value b) { return std::max(a, b); });
    expect(FUSION_MPI_UMIN, [](Value a, Value b) { return Value(std::min(Unsigned(a), Unsigned(b))); });
    expect(FUSION_MPI_UMAX, [](Value a, Value b) { return Value(std::max(Unsigned(a), Unsigned(b))); });
    expect(FUSION_MPI_AND, [](Value a, Value b) { return Value(a & b); });
    expect(FUSION_MPI_OR, [](Value a, Value b) { return Value(a | b); });
    expect(FUSION_MPI_XOR, [](Value a, Value b) { return Value(a ^ b); });
    expect(FUSION_MPI_LAND, [](Value a, Value b) { return Value(a && b); });
    expect(FUSION_MPI_LOR, [](Value a, Value b) { return Value(a || b); });
  }
  EXPECT_EQ(fold<Value>(FUSION_MPI_LAND, type, {100, 2, 4}), 1);
  EXPECT_EQ(fold<Value>(FUSION_MPI_LOR, type, {2}), 1) << "also one rank alone gives 0 or 1";
}

TEST(Combine, Integers) {
  checkIntegers<int8_t>(FUSION_MPI_I8);
  checkIntegers<int16_t>(FUSION_MPI_I16);
  checkIntegers<int32_t>(FUSION_MPI_I32);
  checkIntegers<int64_t>(FUSION_MPI_I64);
}

// All inputs of two 1-bit integers, where a signed 1 is -1.
TEST(Combine, SingleBits) {
  auto expectTable = [](int32_t op, std::vector<int8_t> table) {
    std::vector<std::vector<int8_t>> inputs = {{0, 0, 1, 1}, {0, 1, 0, 1}};
    EXPECT_EQ(combine(op, FUSION_MPI_I1, inputs), table) << op;
  };
  expectTable(FUSION_MPI_SUM, {0, 1, 1, 0});
  expectTable(FUSION_MPI_PRODUCT, {0, 0, 0, 1});
  expectTable(FUSION_MPI_MIN, {0, 1, 1, 1});
  expectTable(FUSION_MPI_MAX, {0, 0, 0, 1});
  expectTable(FUSION_MPI_UMIN, {0, 0, 0, 1});
  expectTable(FUSION_MPI_UMAX, {0, 1, 1, 1});
  expectTable(FUSION_MPI_AND, {0, 0, 0, 1});
  expectTable(FUSION_MPI_OR, {0, 1, 1, 1});
  expectTable(FUSION_MPI_XOR, {0, 1, 1, 0});
  expectTable(FUSION_MPI_LAND, {0, 0, 0, 1});
  expectTable(FUSION_MPI_LOR, {0, 1, 1, 1});
}

TEST(Combine, FloatsFromLeftToRight) {
  // From right to left it would be 1.
  EXPECT_EQ(fold<double>(FUSION_MPI_SUM, FUSION_MPI_F64, {1, 1e17, -1e17}), 0.0);
  EXPECT_EQ(fold<float>(FUSION_MPI_SUM, FUSION_MPI_F32, {1, 1e9f, -1e9f}), 0.0f);
  EXPECT_EQ(fold<double>(FUSION_MPI_PRODUCT, FUSION_MPI_F64, {3, 0.5, -4}), -6.0);
  EXPECT_EQ(fold<double>(FUSION_MPI_MIN, FUSION_MPI_F64, {3, -1, 2}), -1.0);
  EXPECT_EQ(fold<float>(FUSION_MPI_MAX, FUSION_MPI_F32, {3, -1, 2}), 3.0f);
}

TEST(Combine, NotANumberAndSignedZero) {
  EXPECT_TRUE(std::isnan(fold<double>(FUSION_MPI_MIN, FUSION_MPI_F64, {1, notANumber, 2})));
  EXPECT_TRUE(std::isnan(fold<double>(FUSION_MPI_MAX, FUSION_MPI_F64, {notANumber, 1})));
  EXPECT_EQ(fold<double>(FUSION_MPI_MINNUM, FUSION_MPI_F64, {3, notANumber, 2}), 2.0);
  EXPECT_EQ(fold<double>(FUSION_MPI_MAXNUM, FUSION_MPI_F64, {notANumber, 3, 2}), 3.0);
  EXPECT_TRUE(std::isnan(fold<double>(FUSION_MPI_MAXNUM, FUSION_MPI_F64, {notANumber, notANumber})));
  EXPECT_TRUE(std::signbit(fold<double>(FUSION_MPI_MIN, FUSION_MPI_F64, {0.0, -0.0})));
  EXPECT_FALSE(std::signbit(fold<double>(FUSION_MPI_MAX, FUSION_MPI_F64, {-0.0, 0.0})));
}

TEST(Combine, SixteenBitsAreRoundedOnce) {
  auto half = [](double value) { return fusion_rt_double_to_half(value); };
  auto brain = [](double value) { return fusion_rt_double_to_brain(value); };
  // In f16, 2048 + 1 is 2048 each time; bf16 has 256 + 1 = 256.
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_SUM, FUSION_MPI_F16, {half(2048), half(1), half(1)}), half(2050));
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_SUM, FUSION_MPI_BF16, {brain(256), brain(1), brain(1)}), brain(258));
  // An intermediate result that f16 cannot hold.
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_SUM, FUSION_MPI_F16, {half(60000), half(60000), half(-60000)}), half(60000));
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_PRODUCT, FUSION_MPI_BF16, {brain(3), brain(-2)}), brain(-6));
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_MIN, FUSION_MPI_F16, {half(3), half(-2)}), half(-2));
  EXPECT_EQ(fold<uint16_t>(FUSION_MPI_MAXNUM, FUSION_MPI_BF16, {brain(notANumber), brain(-2)}), brain(-2));
}

// An element's bits do not depend on where it is: slices are combined apart from each other.
TEST(Combine, LongArraysLikeSingleElements) {
  std::mt19937 random(7);
  for (int32_t type = FUSION_MPI_I1; type <= FUSION_MPI_F64; ++type) {
    int64_t bytes = fusion_mpi_type_size(type), count = 1500;
    std::vector<std::vector<char>> inputs(3, std::vector<char>(count * bytes));
    for (std::vector<char> &input : inputs)
      for (char &byte : input)
        byte = char(type == FUSION_MPI_I1 ? random() & 1 : random());
    std::vector<const void *> pointers = {inputs[0].data(), inputs[1].data(), inputs[2].data()};
    for (int32_t op = FUSION_MPI_SUM; op <= FUSION_MPI_LOR; ++op) {
      std::vector<char> whole(count * bytes), single(bytes);
      if (fusion_mpi_combine(op, type, pointers.data(), 3, whole.data(), count) != FUSION_OK)
        continue;
      for (int64_t i = 0; i < count; ++i) {
        std::vector<const void *> one;
        for (const std::vector<char> &input : inputs)
          one.push_back(input.data() + i * bytes);
        fusion_mpi_combine(op, type, one.data(), 3, single.data(), 1);
        ASSERT_EQ(std::memcmp(single.data(), whole.data() + i * bytes, bytes), 0) << "op " << op << ", type " << type;
      }
    }
  }
}

TEST(Combine, Errors) {
  double value = 1;
  const void *input = &value;
  auto expectError = [&](int32_t op, int32_t type, int64_t inputs, const char *text) {
    EXPECT_EQ(fusion_mpi_combine(op, type, &input, inputs, &value, 1), FUSION_INVALID_ARGUMENT);
    EXPECT_STREQ(fusion_rt_last_error(), text);
  };
  expectError(FUSION_MPI_SUM, 9, 1, "unknown element type; accepted are 0 (i1) to 8 (f64)");
  expectError(14, FUSION_MPI_F64, 1, "unknown reduction operator; accepted are 1 (sum) to 13 (lor)");
  expectError(FUSION_MPI_XOR, FUSION_MPI_F64, 1, "umin, umax, and, or, xor, land and lor reduce integers only");
  expectError(FUSION_MPI_MINNUM, FUSION_MPI_I64, 1, "minnum and maxnum reduce floats only");
  expectError(FUSION_MPI_SUM, FUSION_MPI_F64, 0, "fusion_mpi_combine: at least one input and no negative count");
  EXPECT_EQ(fusion_mpi_type_size(9), 0);
}
