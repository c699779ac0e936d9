//===- Check.h - The program that the tests run on several ranks -------------===//

#ifndef FUSION_TEST_RUNTIME_MPI_CHECK_H
#define FUSION_TEST_RUNTIME_MPI_CHECK_H

#include "fusion/Runtime/Mpi.h"

#include <cstdint>
#include <string>
#include <vector>

/// A memref descriptor of any rank.
struct Memref {
  /// `strides` in elements; `offset` of the first element.
  Memref(void *data, int64_t offset, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
    words = {int64_t(reinterpret_cast<intptr_t>(data)), int64_t(reinterpret_cast<intptr_t>(data)), offset};
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), strides.begin(), strides.end());
  }
  const void *get() const { return words.data(); }

  std::vector<int64_t> words;
};

/// Row-major without gaps.
Memref makeDense(void *data, const std::vector<int64_t> &sizes);

/// Ends the job with the text of the last error if the status is not FUSION_OK.
void require(FusionStatus status);

/// Random exchanges and reductions, compared with their definition. Ends the job at the first difference.
void checkRandom(uint32_t seed, int64_t rounds);

/// A failure on the last rank while the others wait. Returns the exit status if that rank is to end by itself.
int failOnOneRank(const std::string &how);

/// Ranks that disagree about a shape.
void disagree();

#endif // FUSION_TEST_RUNTIME_MPI_CHECK_H
