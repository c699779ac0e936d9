//===- RanksTest.cpp - The interface of the ranks on one rank ------------------===//
//
// More ranks: test/runtime/mpi.
//
//===---------------------------------------------------------------------------===//

#include "fusion/Analysis/BoxPlan.h"
#include "fusion/Runtime/Mpi.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace fusion::boxes;

namespace {

/// A copy of a 4x6 store from one layout to another.
Exchange makeCopy() {
  Exchange exchange;
  exchange.elementType = FUSION_MPI_F32;
  exchange.shape = {4, 6};
  exchange.sources.push_back({Placement::Mapping::Block, 0, {2, 2}, makeTiling({2, 3}, {0, 0})});
  exchange.targets.push_back({Placement::Mapping::Everywhere, 0, {}, {}});
  return exchange;
}

const FusionMpiPlan *plan(const Exchange &exchange) {
  std::vector<int64_t> words = encode(exchange);
  const FusionMpiPlan *result = nullptr;
  EXPECT_EQ(fusion_mpi_plan(words.data(), words.size(), &result), FUSION_OK) << fusion_rt_last_error();
  return result;
}

std::string getPlanError(const Exchange &exchange) {
  std::vector<int64_t> words = encode(exchange);
  const FusionMpiPlan *result = nullptr;
  EXPECT_EQ(fusion_mpi_plan(words.data(), words.size(), &result), FUSION_INVALID_ARGUMENT);
  return fusion_rt_last_error();
}

struct Matrix {
  Matrix(int64_t rows, int64_t columns, int64_t rowStride) : values(rows * rowStride) {
    descriptor = {values.data(), values.data(), 0, {rows, columns}, {rowStride, 1}};
  }
  const void *get() const { return &descriptor; }

  struct {
    float *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } descriptor;
  std::vector<float> values;
};

} // namespace

TEST(Ranks, OneWithoutALauncher) {
  EXPECT_EQ(fusion_mpi_init(), FUSION_OK);
  EXPECT_EQ(fusion_mpi_rank(), 0);
  EXPECT_EQ(fusion_mpi_size(), 1);
  EXPECT_STREQ(fusion_mpi_implementation(), "none");
  FusionMpiLauncher launcher = fusion_mpi_launcher();
  EXPECT_STREQ(launcher.implementation, "none");
  EXPECT_EQ(launcher.rank, 0);
  EXPECT_EQ(launcher.size, 1);
  int value = 5, all = 0;
  EXPECT_EQ(fusion_mpi_barrier(), FUSION_OK);
  EXPECT_EQ(fusion_mpi_broadcast(&value, sizeof(value), 0), FUSION_OK);
  EXPECT_EQ(fusion_mpi_all_gather(&value, &all, sizeof(value)), FUSION_OK);
  EXPECT_EQ(all, 5);
}

TEST(Ranks, ACopyBetweenWindowsWithGapsAndOrigins) {
  Matrix from(4, 6, 9), to(6, 8, 8);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 6; ++j)
      from.values[i * 9 + j] = float(10 * i + j);
  int64_t origin[] = {-1, -2};
  fusion_mpi_reset_statistics();
  FusionMpiExchange *exchange = nullptr;
  ASSERT_EQ(fusion_mpi_start(plan(makeCopy()), from.get(), nullptr, to.get(), origin, &exchange), FUSION_OK);
  ASSERT_EQ(fusion_mpi_wait(exchange), FUSION_OK);
  for (int64_t i = -1; i < 5; ++i) {
    for (int64_t j = -2; j < 6; ++j) {
      bool inside = i >= 0 && i < 4 && j >= 0;
      EXPECT_EQ(to.values[(i + 1) * 8 + j + 2], inside ? float(10 * i + j) : 0.0f);
    }
  }
  FusionMpiStatistics statistics;
  ASSERT_EQ(fusion_mpi_statistics(&statistics), FUSION_OK);
  EXPECT_EQ(statistics.exchanges, 1u);
  EXPECT_EQ(statistics.messages, 0u);
  EXPECT_EQ(statistics.bytes_copied, 4u * 6 * sizeof(float));
}

TEST(Ranks, APlanIsKept) {
  Exchange exchange = makeCopy();
  exchange.shape = {4, 5};
  fusion_mpi_reset_statistics();
  const FusionMpiPlan *first = plan(exchange);
  EXPECT_EQ(plan(exchange), first);
  exchange.shape = {4, 7};
  exchange.partial = true;
  EXPECT_NE(plan(exchange), first);
  FusionMpiStatistics statistics;
  ASSERT_EQ(fusion_mpi_statistics(&statistics), FUSION_OK);
  EXPECT_EQ(statistics.plans, 2u);
  uint64_t messages = 9, bytes = 9;
  EXPECT_EQ(fusion_mpi_plan_traffic(first, true, &messages, &bytes), FUSION_OK);
  EXPECT_EQ(messages + bytes, 0u);
}

TEST(Ranks, ADescriptionThatIsWrong) {
  Exchange exchange = makeCopy();
  exchange.elementType = 9;
  EXPECT_EQ(getPlanError(exchange), "fusion_mpi_plan: element type 9; accepted are 0 (i1) to 8 (f64)");
  exchange = makeCopy();
  exchange.operation = FUSION_MPI_XOR;
  EXPECT_EQ(getPlanError(exchange), "fusion_mpi_plan: umin, umax, and, or, xor, land and lor reduce integers only");
  exchange = makeCopy();
  exchange.sources[0].mapping = Placement::Mapping::Root;
  exchange.sources[0].root = 1;
  EXPECT_EQ(getPlanError(exchange), "fusion_mpi_plan: a placement is on rank 1, but there are only 1 ranks");
  exchange = makeCopy();
  exchange.shape = {5, 6};
  EXPECT_EQ(getPlanError(exchange),
            "exchange of a store of shape [5, 6]: the elements [4:5, 0:6] are needed, but no rank "
            "holds them");
  const FusionMpiPlan *none = nullptr;
  int64_t word = -1;
  EXPECT_EQ(fusion_mpi_plan(&word, 1, &none), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(fusion_rt_last_error()).rfind("fusion_mpi_plan: word 0 of the description, operation", 0), 0u);
  EXPECT_EQ(fusion_mpi_plan(nullptr, 0, &none), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_plan: no words, or no place for the plan");
}

TEST(Ranks, WindowsThatAreTooSmall) {
  Matrix whole(4, 6, 6), small(4, 5, 5);
  const FusionMpiPlan *copy = plan(makeCopy());
  EXPECT_EQ(fusion_mpi_exchange(copy, small.get(), nullptr, whole.get(), nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(),
               "exchange of a store of shape [4, 6]: [0:4, 0:6] of the source window is used, but "
               "it is only [0:4, 0:5]");
  EXPECT_EQ(fusion_mpi_exchange(copy, whole.get(), nullptr, nullptr, nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "exchange of a store of shape [4, 6]: no target window, but [0:4, 0:6] of it is "
                                       "used");
  Exchange fold = makeCopy();
  fold.operation = FUSION_MPI_SUM;
  fold.fold = true;
  EXPECT_EQ(fusion_mpi_exchange(plan(fold), whole.get(), nullptr, whole.get(), nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "exchange of a store of shape [4, 6]: to fold, source and target must differ");
  EXPECT_EQ(fusion_mpi_exchange(nullptr, whole.get(), nullptr, whole.get(), nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_start: no plan, or no place for the exchange");
}

TEST(Ranks, OtherArgumentsThatAreWrong) {
  int value = 0;
  EXPECT_EQ(fusion_mpi_broadcast(&value, sizeof(value), 1), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_broadcast: 4 bytes from rank 1");
  EXPECT_EQ(fusion_mpi_all_gather(nullptr, &value, 4), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_all_gather: 4 bytes");
  EXPECT_EQ(fusion_mpi_reduce(FUSION_MPI_SUM, FUSION_MPI_F32, 1, nullptr, 3), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_reduce: no array, rank 1, root 3");
  EXPECT_EQ(fusion_mpi_init_with(nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_init_with: no communicator");
  fusion_mpi_init();
  EXPECT_EQ(fusion_mpi_init_with(&value), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_init_with: the ranks are in use already");
  EXPECT_EQ(fusion_mpi_statistics(nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_statistics: no place for the result");
  EXPECT_EQ(fusion_mpi_plan_traffic(nullptr, 0, nullptr, nullptr), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_plan_traffic: no plan, or no place for the result");
}

TEST(Ranks, FinalizeWaitsForNoExchange) {
  Matrix from(4, 6, 6), to(4, 6, 6);
  FusionMpiExchange *exchange = nullptr;
  ASSERT_EQ(fusion_mpi_start(plan(makeCopy()), from.get(), nullptr, to.get(), nullptr, &exchange), FUSION_OK);
  EXPECT_EQ(fusion_mpi_finalize(), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_finalize: exchanges have not been waited for");
  ASSERT_EQ(fusion_mpi_wait(exchange), FUSION_OK);
  EXPECT_EQ(fusion_mpi_wait(nullptr), FUSION_OK);
  EXPECT_EQ(fusion_mpi_finalize(), FUSION_OK);
}

static void exchangeWrongly(void *reached) {
  fusion_mpi_exchange(nullptr, nullptr, nullptr, nullptr, nullptr);
  *static_cast<bool *>(reached) = true;
}

// Generated code does not look at statuses.
TEST(Ranks, AFailureEndsTheGuardedCall) {
  bool reached = false;
  EXPECT_EQ(fusion_mpi_invoke(exchangeWrongly, &reached), FUSION_INVALID_ARGUMENT);
  EXPECT_STREQ(fusion_rt_last_error(), "fusion_mpi_start: no plan, or no place for the exchange");
  EXPECT_FALSE(reached);
  // The lock was not left behind.
  EXPECT_EQ(fusion_mpi_barrier(), FUSION_OK);
  EXPECT_EQ(fusion_mpi_invoke(nullptr, nullptr), FUSION_INVALID_ARGUMENT);
}

// Sizes above 2^31, without the memory: the arithmetic of lists and bytes.
TEST(Ranks, LargeStores) {
  Exchange exchange;
  exchange.elementType = FUSION_MPI_F64;
  exchange.shape = {3000000000, 5};
  exchange.sources.push_back({Placement::Mapping::Block, 0, {4, 1}, makeTiling({750000000, 5}, {0, 0})});
  exchange.targets.push_back({Placement::Mapping::Root, 0, {}, {}});
  Traffic traffic = countTraffic(exchange, 4);
  EXPECT_EQ(traffic.messages, 3u);
  EXPECT_EQ(traffic.elements, uint64_t(11250000000));
  RankPlan lists = planRank(exchange, 3, 4);
  ASSERT_EQ(lists.sends.size(), 1u);
  EXPECT_EQ(toString(lists.sends[0].boxes[0]), "[2250000000:3000000000, 0:5]");
  char start;
  Window window{&start, {0, 0}, {3000000000, 5}, {5, 1}};
  EXPECT_EQ(getContiguous(lists.sends[0].boxes[0], window, 8) - window.data, 2250000000 * 5 * 8);
}
