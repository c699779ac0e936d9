//===- BulkCopy.cpp - Tensor copies (TMA) -----------------------------------===//

#include "BulkCopy.h"

#include "Access.h"
#include "Functions.h"
#include "Mbarrier.h"
#include "WarpGroup.h"

#include <cstring>

using namespace fusion::emulator;

const char *fusion::emulator::encodeTensorMap(const FusionTensorMap &map, void *encoded) {
  if (reinterpret_cast<uintptr_t>(encoded) % 64 != 0)
    return "the tensor map itself must be aligned to 64 bytes";
  if (map.rank < 1 || map.rank > 5)
    return "the rank must be 1 to 5";
  if (map.element_bytes != 1 && map.element_bytes != 2 && map.element_bytes != 4 && map.element_bytes != 8)
    return "elements must have 1, 2, 4 or 8 bytes";
  if (reinterpret_cast<uintptr_t>(map.address) % 16 != 0)
    return "the tensor must be aligned to 16 bytes";
  uint32_t spans[] = {0, 32, 64, 128};
  if (map.swizzle < 0 || map.swizzle > 3)
    return "the swizzle must be one of FUSION_SWIZZLE_...";
  EncodedTensorMap result = {};
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (map.extents[d] == 0 || map.extents[d] > uint64_t(1) << 32)
      return "extents must be 1 to 2^32";
    if (map.box[d] == 0 || map.box[d] > 256)
      return "extents of the box must be 1 to 256";
    if (d > 0 && (map.strides[d] % 16 != 0 || map.strides[d] >= uint64_t(1) << 40))
      return "strides must be multiples of 16 bytes below 2^40";
    result.extents[d] = map.extents[d];
    result.box[d] = map.box[d];
    if (d > 0)
      result.strides[d - 1] = map.strides[d];
  }
  uint32_t inner = map.box[0] * map.element_bytes;
  if (inner % 16 != 0)
    return "rows of the box must be multiples of 16 bytes";
  if (map.swizzle != FUSION_SWIZZLE_NONE && inner > spans[map.swizzle])
    return "rows of the box must not be longer than the span of the swizzle";
  result.magic = EncodedTensorMap::expectedMagic;
  result.address = reinterpret_cast<uint64_t>(map.address);
  result.rank = map.rank;
  result.elementBytes = map.element_bytes;
  result.swizzle = map.swizzle;
  std::memset(encoded, 0, 128);
  std::memcpy(encoded, &result, sizeof(result));
  return nullptr;
}

static EncodedTensorMap readMap(Thread &thread, const Site &site, uint64_t address, uint32_t rank) {
  const char *data = reinterpret_cast<const char *>(address);
  Place place = locate(thread, site, data, Space::Generic, 128, 64);
  EncodedTensorMap map;
  if (!place.allocation)
    thread.block->report(FindingKind::InvalidOperation, thread, site,
                         "needs a tensor map in global or parameter memory", true);
  std::memcpy(&map, place.address, sizeof(map));
  if (map.magic != EncodedTensorMap::expectedMagic)
    thread.block->report(FindingKind::InvalidOperation, thread, site, "is given something that is no tensor map", true);
  if (map.rank != rank)
    thread.block->report(FindingKind::InvalidOperation, thread, site,
                         "has " + std::to_string(rank) + " coordinates, its tensor map is of rank " +
                             std::to_string(map.rank),
                         true);
  return map;
}

namespace {
/// Up to 16 bytes of the box: where they are in shared memory, and the part of them that lies in the tensor.
struct Chunk {
  uint32_t target;
  char *source;
  uint32_t bytes, validBytes;
};

/// Calls `body` for every chunk of the box.
template <typename Body>
void forEachChunk(const EncodedTensorMap &map, uint32_t base, const int32_t *coordinates, Body body) {
  uint32_t innerBytes = map.box[0] * map.elementBytes;
  uint64_t rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d)
    rows *= map.box[d];
  uint32_t mask = map.swizzle == FUSION_SWIZZLE_NONE ? 0 : (2u << (map.swizzle - 1)) - 1;
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, offset = 0;
    bool isInside = true;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t at = int64_t(coordinates[d]) + int64_t(rest % map.box[d]);
      rest /= map.box[d];
      isInside &= at >= 0 && uint64_t(at) < map.extents[d];
      offset += uint64_t(at) * map.strides[d - 1];
    }
    for (uint32_t inner = 0; inner < innerBytes; inner += 16) {
      uint32_t target = base + uint32_t(row) * innerBytes + inner;
      target ^= (target >> 7 & mask) << 4;
      // Elements of the chunk that exist are contiguous: those from `first` on.
      int64_t first = int64_t(coordinates[0]) + inner / map.elementBytes;
      for (uint32_t element = 0; element < 16 / map.elementBytes; ++element) {
        int64_t at = first + element;
        bool exists = isInside && at >= 0 && uint64_t(at) < map.extents[0];
        char *source = reinterpret_cast<char *>(map.address + offset + uint64_t(at) * map.elementBytes);
        // Whole chunks in one piece.
        if (element == 0 && exists && uint64_t(at) + 16 / map.elementBytes <= map.extents[0]) {
          body(Chunk{target, source, 16, 16});
          break;
        }
        body(Chunk{target + element * map.elementBytes, exists ? source : nullptr, map.elementBytes,
                   exists ? map.elementBytes : 0});
      }
    }
  }
}
} // namespace

static void checkTarget(Thread &thread, const Site &site, const EncodedTensorMap &map, uint64_t address,
                        uint32_t &offset, uint32_t &bytes) {
  bytes = map.elementBytes;
  for (uint32_t d = 0; d < map.rank; ++d)
    bytes *= map.box[d];
  offset = locateShared(thread, site, address, bytes, 128);
}

static void countTraffic(Block &block, const Site &site, uint64_t bytes, uint64_t tensorBytes) {
  SiteTraffic &traffic = block.launch.traffic.get(site);
  ++traffic.warps;
  ++traffic.lanes;
  traffic.bytes += bytes;
  traffic.sharedBytes += bytes;
  traffic.globalBytes += tensorBytes;
  traffic.sectors += (tensorBytes + 31) / 32;
  traffic.idealSectors += (tensorBytes + 31) / 32;
}

/// Operands: target, mbarrier, tensor map, coordinates.
static void load(Thread &thread, const Site &site, const uint64_t *in) {
  Block &block = *thread.block;
  uint32_t rank = site.params[0];
  EncodedTensorMap map = readMap(thread, site, in[2], rank);
  uint32_t offset = 0, bytes = 0;
  checkTarget(thread, site, map, in[0], offset, bytes);
  int32_t coordinates[5];
  for (uint32_t d = 0; d < rank; ++d)
    coordinates[d] = int32_t(in[3 + d]);
  Mbarrier &mbarrier = getMbarrier(thread, site, in[1]);
  BulkTransfer transfer;
  transfer.bytes = bytes;
  transfer.thread = &thread;
  transfer.site = &site;
  transfer.seen = thread.seen;
  transfer.phase = mbarrier.phase;
  Viewer viewer{block.getMbarrierAgent(mbarrier.slot), uint32_t(mbarrier.phase) + 1, uint16_t(thread.index),
                thread.seen->data()};
  uint64_t tensorBytes = 0;
  forEachChunk(map, offset, coordinates, [&](const Chunk &chunk) {
    if (chunk.validBytes) {
      Place place = locate(thread, site, chunk.source, Space::Global, chunk.validBytes, 1);
      touchGlobal(thread, site, *place.allocation, chunk.source, chunk.validBytes, AccessKind::Read);
      tensorBytes += chunk.validBytes;
    }
    touchShared(thread, site, chunk.target, chunk.bytes, AccessKind::PendingWrite, viewer);
    transfer.runs.push_back({chunk.target, chunk.source, chunk.bytes});
  });
  countTraffic(block, site, bytes, tensorBytes);
  mbarrier.transfers.push_back(std::move(transfer));
}

/// Operands: source in shared memory, tensor map, coordinates.
static void store(Thread &thread, const Site &site, const uint64_t *in) {
  Block &block = *thread.block;
  uint32_t rank = site.params[0];
  EncodedTensorMap map = readMap(thread, site, in[1], rank);
  uint32_t offset = 0, bytes = 0;
  checkTarget(thread, site, map, in[0], offset, bytes);
  int32_t coordinates[5];
  for (uint32_t d = 0; d < rank; ++d)
    coordinates[d] = int32_t(in[2 + d]);
  uint64_t tensorBytes = 0;
  forEachChunk(map, offset, coordinates, [&](const Chunk &chunk) {
    checkProxyFence(thread, site, chunk.target, chunk.bytes);
    touchShared(thread, site, chunk.target, chunk.bytes, AccessKind::PendingRead);
    thread.openReads.push_back({chunk.target, chunk.bytes, thread.clock, &site});
    if (!chunk.validBytes)
      return;
    Place place = locate(thread, site, chunk.source, Space::Global, chunk.validBytes, 1);
    touchGlobal(thread, site, *place.allocation, chunk.source, chunk.validBytes, AccessKind::Write);
    std::memcpy(chunk.source, block.shared.getBase() + chunk.target, chunk.validBytes);
    tensorBytes += chunk.validBytes;
  });
  countTraffic(block, site, bytes, tensorBytes);
}

void fusion::emulator::runBulkCopy(Thread &thread, const Site &site, const uint64_t *in) {
  Block &block = *thread.block;
  if (block.launch.chip.version < 90)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "needs sm_90; the emulated chip is " + block.launch.chip.name, true);
  switch (site.kind) {
  case OpKind::TmaLoad:
    return load(thread, site, in);
  case OpKind::TmaStore:
    return store(thread, site, in);
  case OpKind::TmaPrefetch:
    readMap(thread, site, in[0], site.params[0]);
    return;
  case OpKind::BulkCommit:
    thread.readGroups.push_back(std::move(thread.openReads));
    thread.openReads.clear();
    return;
  default:
    while (thread.readGroups.size() > site.params[0]) {
      for (const PendingRead &read : thread.readGroups.front()) {
        block.shared.complete(read.offset, read.bytes, AccessKind::PendingRead, uint16_t(thread.index), read.clock);
        touchShared(thread, *read.site, read.offset, read.bytes, AccessKind::Read);
      }
      thread.readGroups.pop_front();
    }
  }
}
