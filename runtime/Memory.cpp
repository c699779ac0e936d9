//===- Memory.cpp - An allocator that keeps its buffers warm ----------------===//
//
// Blocks carry a header of 64 bytes. Sizes are rounded up to classes with at most 1/8 of waste; a freed block waits in
// the list of its class. One mutex for everything: a kernel allocates once per range of blocks, not per element.
//
//===------------------------------------------------------------------------===//

#include "Guard.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

using namespace fusion::runtime;

namespace fusion::runtime {

/// In front of every block. Linked either in the list of a guard (live), or in that of a class and by age (kept).
struct alignas(64) Block {
  size_t requested;
  size_t capacity;
  Guard *guard;
  Block *previous;
  Block *next;
  Block *older;
  Block *newer;
  uint32_t sizeClass;
};
static_assert(sizeof(Block) == 64, "the user's bytes must stay aligned to 64");

} // namespace fusion::runtime

namespace {

constexpr size_t alignment = 64;
constexpr size_t hugePage = size_t(2) << 20;
constexpr unsigned smallestBits = 8;
constexpr unsigned stepsBits = 3;
constexpr unsigned classCount = (64 - smallestBits) << stepsBits;
/// As much may be kept without regard to what the program ever used at once.
constexpr size_t keptAnyway = size_t(64) << 20;

struct Heap {
  std::mutex mutex;
  Block *kept[classCount] = {};
  Block *oldest = nullptr;
  Block *newest = nullptr;
  FusionMemoryStatistics statistics = {};
  size_t liveCapacity = 0;
  size_t highestCapacity = 0;
};

/// Never destroyed: worker threads and hosts may free blocks while the process ends.
Heap &heap() {
  static Heap *instance = new Heap;
  return *instance;
}

struct SizeClass {
  unsigned index;
  size_t capacity;
};

/// The class of a size below 2^62: 8 classes per power of two.
SizeClass classOf(size_t bytes) {
  size_t size = std::max(bytes, size_t(1) << smallestBits);
  unsigned bits = 63 - __builtin_clzll(size);
  unsigned shift = bits - stepsBits;
  size_t capacity = ((size + (size_t(1) << shift) - 1) >> shift) << shift;
  bits = 63 - __builtin_clzll(capacity);
  unsigned step = (capacity >> (bits - stepsBits)) & ((1u << stepsBits) - 1);
  return {((bits - smallestBits) << stepsBits) + step, capacity};
}

Block *takeFromSystem(size_t capacity) {
  size_t bytes = capacity + sizeof(Block);
  bool large = bytes >= 2 * hugePage;
  size_t granularity = large ? hugePage : alignment;
  bytes = (bytes + granularity - 1) / granularity * granularity;
  void *memory = std::aligned_alloc(granularity, bytes);
#if defined(__linux__)
  if (memory && large)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<Block *>(memory);
}

void link(Block *&list, Block *block) {
  block->previous = nullptr;
  block->next = list;
  if (list)
    list->previous = block;
  list = block;
}

void unlink(Block *&list, Block *block) {
  if (block->previous)
    block->previous->next = block->next;
  else
    list = block->next;
  if (block->next)
    block->next->previous = block->previous;
}

void keep(Heap &h, Block *block) {
  link(h.kept[block->sizeClass], block);
  block->older = h.newest;
  block->newer = nullptr;
  (h.newest ? h.newest->newer : h.oldest) = block;
  h.newest = block;
  h.statistics.kept_bytes += block->capacity;
}

void unkeep(Heap &h, Block *block) {
  unlink(h.kept[block->sizeClass], block);
  (block->older ? block->older->newer : h.oldest) = block->newer;
  (block->newer ? block->newer->older : h.newest) = block->older;
  h.statistics.kept_bytes -= block->capacity;
}

/// Returns the oldest kept blocks to the system until no more than `bytes` are kept.
void trim(Heap &h, size_t bytes) {
  while (h.oldest && h.statistics.kept_bytes > bytes) {
    Block *block = h.oldest;
    unkeep(h, block);
    std::free(block);
  }
}

void freeLocked(Heap &h, Block *block) {
  if (block->guard)
    unlink(block->guard->blocks, block);
  h.statistics.live_bytes -= block->requested;
  h.liveCapacity -= block->capacity;
  keep(h, block);
  // No more than the program once needed at the same time.
  trim(h, std::max(keptAnyway, h.highestCapacity));
}

Block *allocate(size_t bytes) {
  if (bytes >> 62)
    return nullptr;
  SizeClass sizeClass = classOf(bytes);
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  Block *block = h.kept[sizeClass.index];
  if (block) {
    unkeep(h, block);
  } else {
    block = takeFromSystem(sizeClass.capacity);
    if (!block) {
      trim(h, 0);
      block = takeFromSystem(sizeClass.capacity);
    }
    if (!block)
      return nullptr;
    ++h.statistics.fresh_mappings;
  }
  block->requested = bytes;
  block->capacity = sizeClass.capacity;
  block->sizeClass = sizeClass.index;
  block->guard = currentGuard();
  if (block->guard)
    link(block->guard->blocks, block);
  ++h.statistics.allocations;
  h.statistics.live_bytes += bytes;
  h.statistics.peak_bytes = std::max(h.statistics.peak_bytes, h.statistics.live_bytes);
  h.liveCapacity += sizeClass.capacity;
  h.highestCapacity = std::max(h.highestCapacity, h.liveCapacity);
  return block;
}

} // namespace

void fusion::runtime::freeBlocks(Guard &guard) {
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  while (Block *block = guard.blocks)
    freeLocked(h, block);
}

void fusion::runtime::releaseBlocks(Guard &guard) {
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  // What an inner call leaves behind belongs to the call around it.
  while (Block *block = guard.blocks) {
    unlink(guard.blocks, block);
    block->guard = guard.outer;
    if (guard.outer)
      link(guard.outer->blocks, block);
  }
}

extern "C" {

void *fusion_rt_alloc(size_t bytes) { return fusion_rt_aligned_alloc(alignment, bytes, ""); }

void *fusion_rt_aligned_alloc(size_t wanted, size_t bytes, const char *place) {
  Block *block = wanted <= alignment ? allocate(bytes) : nullptr;
  if (block)
    return block + 1;
  char text[maxMessage];
  if (wanted > alignment)
    std::snprintf(text, sizeof(text), "%san alignment above 64 bytes is not supported", place ? place : "");
  else
    std::snprintf(text, sizeof(text), "%sout of memory: %zu bytes are wanted", place ? place : "", bytes);
  raise(FUSION_OUT_OF_MEMORY, text);
  return nullptr;
}

void fusion_rt_free(void *memory) {
  if (!memory)
    return;
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  freeLocked(h, static_cast<Block *>(memory) - 1);
}

FusionStatus fusion_rt_memory_statistics(FusionMemoryStatistics *statistics) {
  if (!statistics)
    return report(FUSION_INVALID_ARGUMENT, "fusion_rt_memory_statistics: no place for the result");
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  *statistics = h.statistics;
  return FUSION_OK;
}

void fusion_rt_reset_memory_statistics(void) {
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  h.statistics.peak_bytes = h.statistics.live_bytes;
  h.statistics.allocations = 0;
  h.statistics.fresh_mappings = 0;
}

void fusion_rt_trim(void) {
  Heap &h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  trim(h, 0);
}

} // extern "C"
