//===- ParallelForTest.cpp - Parallel loops ---------------------------------===//

#include "fusion/Runtime/Runtime.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

class ParallelFor : public testing::Test {
protected:
  void TearDown() override {
    fusion_rt_set_thread_count(0);
    fusion_rt_set_executor(nullptr);
  }

  /// How often each block of a grid of `count` was worked on.
  static std::vector<int> run(int64_t count) {
    std::vector<std::atomic<int>> visits(count);
    EXPECT_EQ(fusion_rt_parallel_for(
                  [](void *context, int64_t begin, int64_t end) {
                    auto &v = *static_cast<std::vector<std::atomic<int>> *>(context);
                    for (; begin < end; ++begin)
                      ++v[begin];
                  },
                  &visits, count),
              FUSION_OK);
    return std::vector<int>(visits.begin(), visits.end());
  }
};

} // namespace

TEST_F(ParallelFor, EveryBlockOnce) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t count : {0, 1, 2, 7, 64, 1000}) {
      ASSERT_EQ(fusion_rt_set_thread_count(threads), FUSION_OK);
      EXPECT_EQ(fusion_rt_thread_count(), threads);
      EXPECT_EQ(run(count), std::vector<int>(count, 1)) << threads << " threads, " << count << " blocks";
    }
}

TEST_F(ParallelFor, ManyShortLoops) {
  fusion_rt_set_thread_count(4);
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(run(9), std::vector<int>(9, 1));
}

TEST_F(ParallelFor, NestedLoopsRunOnTheirThread) {
  fusion_rt_set_thread_count(4);
  std::atomic<int> sum{0};
  fusion_rt_parallel_for(
      [](void *context, int64_t begin, int64_t end) {
        for (; begin < end; ++begin) {
          std::thread::id self = std::this_thread::get_id();
          std::pair<std::atomic<int> *, std::thread::id> inner{static_cast<std::atomic<int> *>(context), self};
          fusion_rt_parallel_for(
              [](void *i, int64_t b, int64_t e) {
                auto &[total, owner] = *static_cast<decltype(inner) *>(i);
                if (std::this_thread::get_id() == owner)
                  *total += int(e - b);
              },
              &inner, 10);
        }
      },
      &sum, 100);
  EXPECT_EQ(sum, 1000);
}

TEST_F(ParallelFor, ConcurrentCallersDoNotWaitForEachOther) {
  fusion_rt_set_thread_count(3);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        good += run(50) == std::vector<int>(50, 1);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 2000);
}

TEST_F(ParallelFor, HostExecutor) {
  static int calls;
  calls = 0;
  FusionExecutor executor{nullptr, [](void *, int32_t tasks, void (*task)(void *, int32_t), void *argument) {
                            ++calls;
                            std::vector<std::thread> threads;
                            for (int32_t i = 0; i < tasks; ++i)
                              threads.emplace_back([=] { task(argument, i); });
                            for (std::thread &thread : threads)
                              thread.join();
                          }};
  ASSERT_EQ(fusion_rt_set_executor(&executor), FUSION_OK);
  fusion_rt_set_thread_count(3);
  EXPECT_EQ(run(100), std::vector<int>(100, 1));
  EXPECT_EQ(calls, 1);
  // A failure on a thread of the host reaches the caller as well.
  EXPECT_EQ(fusion_rt_parallel_for([](void *, int64_t, int64_t) { fusion_rt_assert_fail("host"); }, nullptr, 100),
            FUSION_ASSERTION_FAILED);
  EXPECT_STREQ(fusion_rt_last_error(), "host");
}

TEST_F(ParallelFor, BadArguments) {
  EXPECT_EQ(fusion_rt_set_thread_count(-1), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(fusion_rt_set_thread_count(1 << 20), FUSION_INVALID_ARGUMENT);
  EXPECT_EQ(fusion_rt_parallel_for(nullptr, nullptr, 4), FUSION_INVALID_ARGUMENT);
  EXPECT_GE(fusion_rt_thread_count(), 1);
}
