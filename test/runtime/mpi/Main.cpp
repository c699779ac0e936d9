//===- Main.cpp - The program that the tests run on several ranks ------------===//

#include "Check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

Memref makeDense(void *data, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return Memref(data, 0, sizes, strides);
}

void require(FusionStatus status) {
  if (status != FUSION_OK)
    fusion_mpi_fail(fusion_rt_last_error());
}

/// One line per rank, in their order.
static void printRanks() {
  char line[128];
  int32_t rank = fusion_mpi_rank(), size = fusion_mpi_size();
  if (size == 0)
    fusion_mpi_fail(fusion_rt_last_error());
  std::snprintf(line, sizeof(line), "rank %d of %d, %s", rank, size, fusion_mpi_implementation());
  std::vector<char> lines(size * sizeof(line));
  require(fusion_mpi_all_gather(line, lines.data(), sizeof(line)));
  for (int32_t i = 0; i < size && rank == 0; ++i)
    std::printf("%s\n", &lines[i * sizeof(line)]);
}

/// The bits of sums whose order matters: the same for each run and each implementation on as many ranks.
static void printSums() {
  for (int64_t count : {int64_t(5), int64_t(100000)}) {
    std::vector<float> values(count);
    uint32_t state = 12345 + fusion_mpi_rank();
    for (float &value : values) {
      state = state * 1664525u + 1013904223u;
      value = float(state >> 8) * 1e-3f - 5e3f;
    }
    require(fusion_mpi_reduce(FUSION_MPI_SUM, FUSION_MPI_F32, 1, makeDense(values.data(), {count}).get(),
                              FUSION_MPI_ALL_RANKS));
    uint64_t hash = 0;
    for (float value : values) {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = hash * 31 + bits;
    }
    std::vector<uint64_t> all(fusion_mpi_size());
    require(fusion_mpi_all_gather(&hash, all.data(), sizeof(hash)));
    for (uint64_t other : all)
      if (other != hash)
        fusion_mpi_fail("the ranks have different sums");
    if (fusion_mpi_rank() == 0)
      std::printf("%lld: %016llx\n", static_cast<long long>(count), static_cast<unsigned long long>(hash));
  }
}

int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "ranks") {
    printRanks();
  } else if (command == "random" && argc > 3) {
    if (argc > 4)
      fusion_mpi_set_chunk_bytes(std::atoll(argv[4]));
    checkRandom(std::atoi(argv[2]), std::atoll(argv[3]));
    printRanks();
  } else if (command == "sums") {
    printSums();
  } else if (command == "fail" && argc > 2) {
    return failOnOneRank(argv[2]);
  } else if (command == "disagree") {
    disagree();
  } else {
    std::fprintf(stderr, "usage: mpi-check ranks | random SEED ROUNDS [CHUNK] | sums | fail HOW | disagree\n");
    return 2;
  }
  return 0;
}
