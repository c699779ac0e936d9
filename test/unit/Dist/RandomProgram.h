//===- RandomProgram.h - Random programs of the dist dialect ------*- C++ -*-===//
//
// All elements are integers that wrap: every order of reduction gives the same bits.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNIT_DIST_RANDOMPROGRAM_H
#define FUSION_TEST_UNIT_DIST_RANDOMPROGRAM_H

#include <cstdint>
#include <string>

namespace fusion {

struct RandomProgramOptions {
  /// Tasks with bodies that read an image: what they compute depends on the box being the smallest one.
  bool images = false;
  unsigned operations = 14;
};

/// The text of a program with the function @main, which takes nothing and gives the content of every store.
std::string makeRandomProgram(uint64_t seed, const RandomProgramOptions &options = {});

} // namespace fusion

#endif // FUSION_TEST_UNIT_DIST_RANDOMPROGRAM_H
