//===- Traffic.h - What memory sees of a kernel -------------------*- C++ -*-===//
//
// Threads run one after the other, hardware issues an access for the lanes of a warp together. So accesses are collected:
// lanes of a warp that are at the same site in the same trip of its innermost loop are one instruction, from which
// sectors, wavefronts and bank conflicts follow.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EMULATOR_TRAFFIC_H
#define FUSION_RUNTIME_EMULATOR_TRAFFIC_H

#include "fusion/Emulator/Abi.h"

#include <cstdint>
#include <vector>

namespace fusion::emulator {

/// Counters of one site.
struct SiteTraffic {
  /// Instructions of a warp, and lanes that took part.
  uint64_t warps = 0, lanes = 0;
  /// Bytes asked for, and those of them that distinct lanes share counted once.
  uint64_t bytes = 0;
  /// Global memory: 32-byte sectors touched, the least possible for the bytes, lanes that asked for 16 bytes.
  uint64_t globalBytes = 0, sectors = 0, idealSectors = 0, wideLanes = 0, globalLanes = 0;
  /// Shared memory: passes over the banks, the least possible.
  uint64_t sharedBytes = 0, wavefronts = 0, idealWavefronts = 0;
  /// Instructions that touch more sectors than their bytes need although it is not only that one range of bytes begins
  /// inside of a sector.
  uint64_t uncoalesced = 0;
};

class Traffic {
public:
  explicit Traffic(const KernelModule &module);

  /// A block of that many warps starts; `sharedBase` tells shared from global addresses.
  void beginBlock(unsigned warps, const char *sharedBase, uint64_t sharedBytes);
  void endBlock();

  /// An access of one lane. `lanes` are those that the warp has, `trip` the trip of the site's loop.
  void access(const Site &site, unsigned warp, unsigned lane, uint32_t lanes, uint64_t trip, const char *address);
  /// An access that a warp makes as a whole: 8 rows of 16 bytes in shared memory.
  void accessRows(const Site &site, const uint32_t *offsets, unsigned rows);
  /// Another operation of a warp.
  void operation(const Site &site, unsigned lanes) {
    ++counters[site.id].warps;
    counters[site.id].lanes += lanes;
  }
  /// Bytes moved by an operation that is not the access of a lane (TMA, wgmma).
  SiteTraffic &get(const Site &site) { return counters[site.id]; }

  const SiteTraffic &getCounters(uint32_t site) const { return counters[site]; }
  /// Executions by single lanes, trips of loops by single threads; written by compiled code.
  std::vector<uint64_t> laneCounts;
  std::vector<uint64_t> loopTrips;

private:
  struct Record {
    uint64_t trip;
    uint32_t lanes;
    const char *address[32];
  };
  /// The open records of a site in a warp, in the order of trips.
  struct Queue {
    std::vector<Record> records;
    /// Records before the first in `records`, and the next one for each lane.
    uint64_t removed = 0;
    uint64_t next[32] = {};
  };
  void account(const Site &site, const Record &record);

  const KernelModule &module;
  std::vector<SiteTraffic> counters;
  std::vector<Queue> queues;
  unsigned numWarps = 0;
  const char *sharedBase = nullptr;
  uint64_t sharedBytes = 0;
};

/// Passes over the 32 banks for accesses of `bytes` bytes at the given offsets by the lanes in `lanes`; `ideal` is what
/// the number of bytes alone needs.
unsigned countWavefronts(const uint32_t *offsets, uint32_t lanes, unsigned bytes, unsigned &ideal);
/// Distinct 32-byte sectors, the least number that the distinct bytes could fill, and whether they are one range.
unsigned countSectors(const char *const *addresses, uint32_t lanes, unsigned bytes, unsigned &ideal, bool &isRange);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_TRAFFIC_H
