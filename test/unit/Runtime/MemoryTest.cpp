//===- MemoryTest.cpp - The allocator that keeps buffers warm ---------------===//

#include "fusion/Runtime/Runtime.h"

#include "gtest/gtest.h"

#include <cstring>
#include <thread>
#include <vector>

namespace {

FusionMemoryStatistics getStatistics() {
  FusionMemoryStatistics statistics;
  EXPECT_EQ(fusion_rt_memory_statistics(&statistics), FUSION_OK);
  return statistics;
}

} // namespace

TEST(Memory, AlignedAndWritable) {
  for (size_t bytes = 0; bytes < (size_t(64) << 20); bytes = bytes * 3 / 2 + 1) {
    char *block = static_cast<char *>(fusion_rt_alloc(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 0x5a, bytes);
    fusion_rt_free(block);
  }
  fusion_rt_free(nullptr);
}

TEST(Memory, CountsWhatIsAskedFor) {
  fusion_rt_reset_memory_statistics();
  FusionMemoryStatistics before = getStatistics();
  void *a = fusion_rt_alloc(1000), *b = fusion_rt_alloc(500);
  fusion_rt_free(a);
  void *c = fusion_rt_alloc(200);
  FusionMemoryStatistics now = getStatistics();
  EXPECT_EQ(now.live_bytes - before.live_bytes, 700u);
  EXPECT_EQ(now.peak_bytes - before.live_bytes, 1500u);
  EXPECT_EQ(now.allocations, 3u);
  fusion_rt_free(b);
  fusion_rt_free(c);
  EXPECT_EQ(getStatistics().live_bytes, before.live_bytes);
  EXPECT_EQ(fusion_rt_memory_statistics(nullptr), FUSION_INVALID_ARGUMENT);
}

TEST(Memory, AFreedBlockIsUsedAgain) {
  fusion_rt_free(fusion_rt_alloc(10 << 20));
  fusion_rt_reset_memory_statistics();
  for (int i = 0; i < 100; ++i)
    fusion_rt_free(fusion_rt_alloc(10 << 20));
  EXPECT_EQ(getStatistics().fresh_mappings, 0u);
  EXPECT_GE(getStatistics().kept_bytes, uint64_t(10 << 20));
  fusion_rt_trim();
  EXPECT_EQ(getStatistics().kept_bytes, 0u);
}

TEST(Memory, KeepsNoMoreThanWasNeededAtOnce) {
  fusion_rt_trim();
  // One size after the other, 200 MiB alive at a time at most.
  for (size_t bytes = size_t(200) << 20; bytes > (size_t(100) << 20); bytes -= size_t(7) << 20)
    fusion_rt_free(fusion_rt_alloc(bytes));
  EXPECT_LE(getStatistics().kept_bytes, uint64_t(230) << 20);
  fusion_rt_trim();
}

TEST(Memory, ThreadsMayFreeEachOthersBlocks) {
  uint64_t before = getStatistics().live_bytes;
  std::vector<void *> blocks(1000);
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = fusion_rt_alloc(i * 7);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < blocks.size(); i += 4) {
        fusion_rt_free(blocks[i]);
        fusion_rt_free(fusion_rt_alloc(i));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(getStatistics().live_bytes, before);
}
