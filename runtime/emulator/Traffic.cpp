//===- Traffic.cpp - What memory sees of a kernel ---------------------------===//

#include "Traffic.h"

#include <algorithm>

using namespace fusion::emulator;

Traffic::Traffic(const KernelModule &module) : module(module) {
  counters.resize(module.sites.size());
  laneCounts.resize(module.sites.size());
  loopTrips.resize(module.loops.size());
}

void Traffic::beginBlock(unsigned warps, const char *base, uint64_t bytes) {
  numWarps = warps;
  sharedBase = base;
  sharedBytes = bytes;
  queues.resize(size_t(warps) * module.sites.size());
}

void Traffic::endBlock() {
  for (size_t i = 0; i < queues.size(); ++i) {
    Queue &queue = queues[i];
    for (const Record &record : queue.records)
      account(*module.sites[i / numWarps], record);
    queue.records.clear();
    queue.removed = 0;
    std::fill(std::begin(queue.next), std::end(queue.next), 0);
  }
}

void Traffic::access(const Site &site, unsigned warp, unsigned lane, uint32_t lanes, uint64_t trip,
                     const char *address) {
  Queue &queue = queues[size_t(site.id) * numWarps + warp];
  uint64_t at = std::max(queue.next[lane], queue.removed) - queue.removed;
  std::vector<Record> &records = queue.records;
  while (at < records.size() && records[at].trip < trip)
    ++at;
  if (at == records.size() || records[at].trip != trip) {
    records.insert(records.begin() + at, Record{trip, 0, {}});
    for (uint64_t &next : queue.next)
      if (next > queue.removed + at)
        ++next;
  }
  Record &record = records[at];
  record.lanes |= 1u << lane;
  record.address[lane] = address;
  queue.next[lane] = queue.removed + at + 1;
  // Whole instructions at the front are done with. Erasing in large steps keeps this linear.
  if (record.lanes != lanes || records.front().lanes != lanes)
    return;
  size_t whole = 0;
  while (whole < records.size() && records[whole].lanes == lanes)
    ++whole;
  if (whole < records.size() && whole < 64)
    return;
  for (size_t i = 0; i < whole; ++i)
    account(site, records[i]);
  records.erase(records.begin(), records.begin() + whole);
  queue.removed += whole;
}

void Traffic::accessRows(const Site &site, const uint32_t *offsets, unsigned rows) {
  unsigned ideal = 0;
  SiteTraffic &counter = counters[site.id];
  counter.wavefronts += countWavefronts(offsets, rows == 32 ? ~0u : (1u << rows) - 1, 16, ideal);
  counter.idealWavefronts += ideal;
  counter.sharedBytes += rows * 16;
  counter.bytes += rows * 16;
}

void Traffic::account(const Site &site, const Record &record) {
  SiteTraffic &counter = counters[site.id];
  unsigned numLanes = __builtin_popcount(record.lanes);
  ++counter.warps;
  counter.lanes += numLanes;
  counter.bytes += uint64_t(numLanes) * site.bytes;
  uint32_t sharedLanes = 0, globalLanes = 0, offsets[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(record.lanes >> lane & 1))
      continue;
    bool isShared = uint64_t(record.address[lane] - sharedBase) < sharedBytes;
    (isShared ? sharedLanes : globalLanes) |= 1u << lane;
    offsets[lane] = isShared ? uint32_t(record.address[lane] - sharedBase) : 0;
  }
  if (sharedLanes) {
    unsigned ideal = 0;
    counter.wavefronts += countWavefronts(offsets, sharedLanes, site.bytes, ideal);
    counter.idealWavefronts += ideal;
    counter.sharedBytes += uint64_t(__builtin_popcount(sharedLanes)) * site.bytes;
  }
  if (globalLanes) {
    unsigned ideal = 0, lanes = __builtin_popcount(globalLanes);
    bool isRange = false;
    unsigned sectors = countSectors(record.address, globalLanes, site.bytes, ideal, isRange);
    counter.sectors += sectors;
    counter.idealSectors += ideal;
    counter.globalLanes += lanes;
    counter.wideLanes += site.bytes == 16 ? lanes : 0;
    counter.globalBytes += uint64_t(lanes) * site.bytes;
    counter.uncoalesced += sectors > ideal && !isRange;
  }
}

unsigned fusion::emulator::countWavefronts(const uint32_t *offsets, uint32_t lanes, unsigned bytes, unsigned &ideal) {
  // An access of 8 or 16 bytes is made by half or a quarter of the warp at a time.
  unsigned group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  unsigned wavefronts = 0;
  ideal = 0;
  for (unsigned first = 0; first < 32; first += group) {
    // Distinct words; a word that several lanes ask for is read once.
    uint32_t words[32 * 2];
    unsigned numWords = 0;
    for (unsigned lane = first; lane < first + group; ++lane)
      if (lanes >> lane & 1)
        for (uint32_t word = offsets[lane] / 4; word * 4 < offsets[lane] + bytes; ++word)
          words[numWords++] = word;
    if (numWords == 0)
      continue;
    std::sort(words, words + numWords);
    numWords = unsigned(std::unique(words, words + numWords) - words);
    unsigned perBank[32] = {}, most = 0;
    for (unsigned i = 0; i < numWords; ++i)
      most = std::max(most, ++perBank[words[i] % 32]);
    wavefronts += most;
    ideal += (numWords + 31) / 32;
  }
  return wavefronts;
}

unsigned fusion::emulator::countSectors(const char *const *addresses, uint32_t lanes, unsigned bytes, unsigned &ideal,
                                        bool &isRange) {
  uintptr_t sectors[32 * 2];
  std::pair<uintptr_t, uintptr_t> ranges[32];
  unsigned numSectors = 0, numRanges = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uintptr_t first = reinterpret_cast<uintptr_t>(addresses[lane]);
    ranges[numRanges++] = {first, first + bytes};
    sectors[numSectors++] = first / 32;
    if ((first + bytes - 1) / 32 != first / 32)
      sectors[numSectors++] = first / 32 + 1;
  }
  std::sort(sectors, sectors + numSectors);
  numSectors = unsigned(std::unique(sectors, sectors + numSectors) - sectors);
  // Distinct bytes.
  std::sort(ranges, ranges + numRanges);
  uint64_t distinct = 0;
  uintptr_t end = ranges[0].first;
  isRange = true;
  for (unsigned i = 0; i < numRanges; ++i) {
    isRange &= ranges[i].first <= end;
    distinct += ranges[i].second - std::min(std::max(ranges[i].first, end), ranges[i].second);
    end = std::max(end, ranges[i].second);
  }
  ideal = unsigned((distinct + 31) / 32);
  return numSectors;
}
