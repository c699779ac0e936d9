//===- Failures.cpp - One rank fails, the others wait -------------------------===//

#include "Check.h"

#include "fusion/Analysis/BoxPlan.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace fusion::boxes;

/// Rank 0's array of this many elements, to all.
static std::vector<int64_t> describeBroadcast(int64_t count) {
  Exchange exchange;
  exchange.elementType = FUSION_MPI_F64;
  exchange.shape = {count};
  exchange.sources.resize(1);
  exchange.sources[0].mapping = Placement::Mapping::Root;
  exchange.sources[0].root = fusion_mpi_size() - 1;
  exchange.targets.resize(1);
  exchange.targets[0].mapping = Placement::Mapping::Everywhere;
  return encode(exchange);
}

static void receiveFromLast() {
  std::vector<double> values(1000, fusion_mpi_rank());
  std::vector<int64_t> words = describeBroadcast(1000);
  const FusionMpiPlan *plan = nullptr;
  require(fusion_mpi_plan(words.data(), words.size(), &plan));
  Memref window = makeDense(values.data(), {1000});
  require(fusion_mpi_exchange(plan, window.get(), nullptr, window.get(), nullptr));
}

static void failInside(void *) {
  if (fusion_mpi_rank() == fusion_mpi_size() - 1)
    fusion_rt_assert_fail("index 7 is outside of a tensor of extent 5");
  receiveFromLast();
}

int failOnOneRank(const std::string &how) {
  bool isLast = fusion_mpi_rank() == fusion_mpi_size() - 1;
  if (how == "assert") {
    fusion_mpi_invoke(failInside, nullptr);
    return 0;
  }
  if (isLast && how == "kill")
    std::raise(SIGKILL);
  if (isLast && how == "message")
    fusion_mpi_fail("out of luck");
  if (isLast && how == "exit") {
    std::fprintf(stderr, "the host gives up\n");
    return 3;
  }
  receiveFromLast();
  return 0;
}

void disagree() {
  // The last rank sends less than the others expect.
  int64_t count = fusion_mpi_rank() == fusion_mpi_size() - 1 ? 10 : 12;
  std::vector<double> values(count);
  std::vector<int64_t> words = describeBroadcast(count);
  const FusionMpiPlan *plan = nullptr;
  require(fusion_mpi_plan(words.data(), words.size(), &plan));
  Memref window = makeDense(values.data(), {count});
  require(fusion_mpi_exchange(plan, window.get(), nullptr, window.get(), nullptr));
  require(fusion_mpi_barrier());
}
