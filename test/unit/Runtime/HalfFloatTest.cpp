//===- HalfFloatTest.cpp - Conversions of 16-bit floats ---------------------===//

#include "fusion/Runtime/HalfFloat.h"

#include "gtest/gtest.h"

#include <cmath>

TEST(HalfFloat, EveryValueSurvives) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float value = fusion_rt_half_to_float(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fusion_rt_half_to_float(fusion_rt_double_to_half(value))));
    else
      ASSERT_EQ(fusion_rt_double_to_half(value), bits);
  }
}

TEST(HalfFloat, RoundsToNearestEven) {
  EXPECT_EQ(fusion_rt_double_to_half(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(fusion_rt_double_to_half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(fusion_rt_double_to_half(1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(fusion_rt_double_to_half(65519.99), 0x7bff);
  EXPECT_EQ(fusion_rt_double_to_half(65520.0), 0x7c00);
  EXPECT_EQ(fusion_rt_double_to_half(-1e300), 0xfc00);
  EXPECT_EQ(fusion_rt_double_to_half(0x1p-25), 0x0000);
  EXPECT_EQ(fusion_rt_double_to_half(0x1.8p-25), 0x0001);
  EXPECT_EQ(fusion_rt_double_to_half(-0.0), 0x8000);
}

TEST(BrainFloat, RoundsOnce) {
  EXPECT_EQ(fusion_rt_double_to_brain(1.0), 0x3f80);
  EXPECT_EQ(fusion_rt_double_to_brain(1.0 + 0x1p-8), 0x3f80);
  // A first rounding to float would lose what decides the tie.
  EXPECT_EQ(fusion_rt_double_to_brain(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(fusion_rt_double_to_brain(1.0 + 3 * 0x1p-8 - 0x1p-40), 0x3f81);
  EXPECT_EQ(fusion_rt_double_to_brain(HUGE_VAL), 0x7f80);
  EXPECT_EQ(fusion_rt_double_to_brain(NAN) & 0x7fc0, 0x7fc0);
}
