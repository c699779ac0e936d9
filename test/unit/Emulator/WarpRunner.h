//===- WarpRunner.h - Runs one operation in one warp --------------*- C++ -*-===//

#ifndef FUSION_TEST_UNIT_EMULATOR_WARPRUNNER_H
#define FUSION_TEST_UNIT_EMULATOR_WARPRUNNER_H

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fusion::test {

/// The values of each lane, in slots of 8 bytes.
using LaneValues = std::array<std::vector<uint64_t>, 32>;

/// An f32 in the low half of a slot, and back.
inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float floatOf(uint64_t bits) {
  uint32_t low = uint32_t(bits);
  float value;
  std::memcpy(&value, &low, 4);
  return value;
}

/// Calls an intrinsic once with operands of its own in every lane, and returns the results; fails the test on an error.
/// Types are LLVM's, "i32", "<2 x half>". An operand type that begins with '=' is a literal: "=i32 3".
LaneValues runIntrinsic(const std::string &name, const std::vector<std::string> &operandTypes,
                        const std::vector<std::string> &resultTypes, const LaneValues &operands,
                        const std::string &chip = "sm_90a");

/// Runs kernel @k(ptr addrspace(1) in, ptr addrspace(1) out) of LLVM assembly in one warp.
LaneValues runKernel(const std::string &assembly, const LaneValues &operands, size_t numResults,
                     const std::string &chip = "sm_90a");

} // namespace fusion::test

#endif // FUSION_TEST_UNIT_EMULATOR_WARPRUNNER_H
