//===- GuardTest.cpp - Guarded calls ----------------------------------------===//

#include "fusion/Runtime/Device.h"
#include "fusion/Runtime/Runtime.h"

#include "gtest/gtest.h"

#include <string>
#include <thread>

namespace {

uint64_t getLiveBytes() {
  FusionMemoryStatistics statistics;
  fusion_rt_memory_statistics(&statistics);
  return statistics.live_bytes;
}

} // namespace

TEST(Guard, RunsTheFunction) {
  int value = 0;
  EXPECT_EQ(fusion_rt_invoke([](void *v) { *static_cast<int *>(v) = 3; }, &value), FUSION_OK);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(fusion_rt_invoke(nullptr, nullptr), FUSION_INVALID_ARGUMENT);
}

TEST(Guard, FailureEndsTheCallAndFreesItsMemory) {
  uint64_t before = getLiveBytes();
  int reached = 0;
  FusionStatus status = fusion_rt_invoke(
      [](void *r) {
        fusion_rt_alloc(100);
        fusion_rt_free(fusion_rt_alloc(200));
        ++*static_cast<int *>(r);
        fusion_rt_assert_fail("index out of range");
        ++*static_cast<int *>(r);
      },
      &reached);
  EXPECT_EQ(status, FUSION_ASSERTION_FAILED);
  EXPECT_STREQ(fusion_rt_last_error(), "index out of range");
  EXPECT_STREQ(fusion_rt_status_name(status), "assertion failed");
  EXPECT_STREQ(fusion_rt_status_name(static_cast<FusionStatus>(FUSION_KERNEL_FAULTY)), "kernel faulty");
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(getLiveBytes(), before);
}

TEST(Guard, MemoryOfASuccessfulCallIsTheCallers) {
  void *block = nullptr;
  EXPECT_EQ(fusion_rt_invoke([](void *b) { *static_cast<void **>(b) = fusion_rt_alloc(100); }, &block), FUSION_OK);
  ASSERT_NE(block, nullptr);
  uint64_t with = getLiveBytes();
  fusion_rt_free(block);
  EXPECT_EQ(getLiveBytes(), with - 100);
}

TEST(Guard, InnerFailureStopsAtTheInnerCall) {
  uint64_t before = getLiveBytes();
  int outcome = 0;
  FusionStatus status = fusion_rt_invoke(
      [](void *o) {
        // Left by a successful inner call: the outer one's to clean up.
        fusion_rt_invoke([](void *) { fusion_rt_alloc(10); }, nullptr);
        *static_cast<int *>(o) = fusion_rt_invoke([](void *) { fusion_rt_assert_fail("inner"); }, nullptr);
        fusion_rt_assert_fail("outer");
      },
      &outcome);
  EXPECT_EQ(outcome, FUSION_ASSERTION_FAILED);
  EXPECT_EQ(status, FUSION_ASSERTION_FAILED);
  EXPECT_STREQ(fusion_rt_last_error(), "outer");
  EXPECT_EQ(getLiveBytes(), before);
}

TEST(Guard, FailureInAnyRangeReachesTheCaller) {
  for (int threads : {1, 2, 4}) {
    ASSERT_EQ(fusion_rt_set_thread_count(threads), FUSION_OK);
    uint64_t before = getLiveBytes();
    FusionStatus status = fusion_rt_invoke(
        [](void *) {
          fusion_rt_alloc(1000);
          fusion_rt_parallel_for(
              [](void *, int64_t begin, int64_t end) {
                void *scratch = fusion_rt_alloc(10);
                for (; begin < end; ++begin)
                  if (begin == 77)
                    fusion_rt_assert_fail("at 77");
                fusion_rt_free(scratch);
              },
              nullptr, 1000);
          // Not reached: the failure ends the call.
          fusion_rt_assert_fail("went on");
        },
        nullptr);
    EXPECT_EQ(status, FUSION_ASSERTION_FAILED);
    EXPECT_STREQ(fusion_rt_last_error(), "at 77");
    EXPECT_EQ(getLiveBytes(), before);
  }
  fusion_rt_set_thread_count(0);
}

TEST(Guard, LoopOutsideOfAGuardReturnsTheStatus) {
  for (int threads : {1, 2}) {
    fusion_rt_set_thread_count(threads);
    EXPECT_EQ(fusion_rt_parallel_for([](void *, int64_t, int64_t) { fusion_rt_assert_fail("no"); }, nullptr, 10),
              FUSION_ASSERTION_FAILED);
    EXPECT_STREQ(fusion_rt_last_error(), "no");
  }
  fusion_rt_set_thread_count(0);
}

TEST(Guard, ErrorTextIsPerThread) {
  fusion_rt_invoke([](void *) { fusion_rt_assert_fail("mine"); }, nullptr);
  std::string other = "?";
  std::thread([&] { other = fusion_rt_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STREQ(fusion_rt_last_error(), "mine");
}

TEST(Guard, LongTextIsCut) {
  static std::string text(5000, 'x');
  fusion_rt_invoke([](void *) { fusion_rt_assert_fail(text.c_str()); }, nullptr);
  EXPECT_EQ(std::string(fusion_rt_last_error()), std::string(1023, 'x'));
}

TEST(Guard, LackOfMemoryEndsTheCall) {
  EXPECT_EQ(fusion_rt_invoke([](void *) { fusion_rt_alloc(size_t(1) << 62); }, nullptr), FUSION_OUT_OF_MEMORY);
  EXPECT_EQ(fusion_rt_alloc(size_t(1) << 62), nullptr);
  EXPECT_EQ(fusion_rt_aligned_alloc(4096, 64, ""), nullptr);
}
