//===- WarpGroup.cpp - wgmma ------------------------------------------------===//
//
// The product is computed when the operation is issued. Its operands in shared memory may be read until the group is
// waited for, so until then nobody may write them. That nobody reads the accumulators before is checked by the compiler
// (lib/Emulator/WgmmaCheck.cpp), which knows where the registers are used.
//
//===------------------------------------------------------------------------===//

#include "WarpGroup.h"

#include "Access.h"
#include "Functions.h"
#include "Matrix.h"

#include <cstring>

using namespace fusion::emulator;

void fusion::emulator::checkProxyFence(Thread &thread, const Site &site, uint32_t offset, uint32_t bytes) {
  Block &block = *thread.block;
  const SharedAccess *bad = nullptr;
  SharedAccess copy;
  block.shared.forEachWrite(offset, bytes, [&](const SharedAccess &write) {
    if (write.agent >= block.threads.size())
      return;
    const Thread &writer = *block.threads[write.agent];
    if (writer.fencedClock < write.clock && (*thread.fencedSeen)[write.agent] < write.clock) {
      copy = write;
      bad = &copy;
    }
  });
  if (bad)
    block.report(FindingKind::SharedRace, thread, site,
                 "reads shared memory at offset " + std::to_string(offset) + " by the asynchronous proxy, where " +
                     block.threads[bad->agent]->describe() + " has written without fence.proxy.async",
                 false);
}

namespace {
/// A matrix descriptor (PTX ISA, 'Matrix descriptor format').
struct Descriptor {
  uint32_t start, leading, stride, swizzleBytes;
  bool hasBaseOffset;

  explicit Descriptor(uint64_t bits) {
    start = uint32_t(bits & 0x3fff) << 4;
    leading = uint32_t(bits >> 16 & 0x3fff) << 4;
    stride = uint32_t(bits >> 32 & 0x3fff) << 4;
    hasBaseOffset = (bits >> 49 & 7) != 0;
    uint32_t sizes[] = {0, 128, 64, 32};
    swizzleBytes = sizes[bits >> 62];
  }

  /// Where the element is whose coordinates are `outer` (along m or n) and `k`.
  uint32_t getOffset(uint32_t outer, uint32_t k, uint32_t elementBytes, bool isKMajor) const {
    uint32_t inner = (isKMajor ? k : outer) * elementBytes, row = isKMajor ? outer : k;
    if (swizzleBytes == 0) {
      uint32_t between16 = isKMajor ? leading : stride, between8 = isKMajor ? stride : leading;
      return start + row / 8 * between8 + inner / 16 * between16 + row % 8 * 16 + inner % 16;
    }
    uint32_t address = start + row / 8 * stride + row % 8 * swizzleBytes + inner % swizzleBytes;
    if (!isKMajor)
      address += inner / swizzleBytes * leading;
    // The hardware swizzles by bits of the address itself.
    return address ^ ((address >> 7 & (swizzleBytes / 16 - 1)) << 4);
  }
};
} // namespace

static uint64_t readElement(Block &block, uint32_t offset, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, block.shared.getBase() + offset, bytes);
  return bits;
}

/// Checks and decodes `rows` x `k` elements; remembers the reads.
static void readOperand(WarpGroup &group, Thread &thread, const Site &site, uint64_t bits, MatrixType type,
                        unsigned rows, unsigned k, bool isTransposed, double *values) {
  Block &block = *thread.block;
  Descriptor descriptor(bits);
  unsigned bytes = getBits(type) / 8;
  if (descriptor.hasBaseOffset)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "has a matrix descriptor with a base offset, which the emulator does not execute", true);
  uint16_t agent = block.getWarpGroupAgent(group.index);
  Viewer viewer{agent, group.clock, uint16_t(thread.index), thread.seen->data()};
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < k; ++column) {
      uint32_t offset = descriptor.getOffset(row, column, bytes, !isTransposed);
      // Neighbours lie in chunks of 16 bytes; each chunk is checked once.
      unsigned inner = isTransposed ? row : column;
      if (inner * bytes % 16 == 0) {
        locateShared(thread, site, offset, 16, 16);
        checkProxyFence(thread, site, offset, 16);
        touchShared(thread, site, offset, 16, AccessKind::PendingRead, viewer);
        group.openReads.push_back({offset, 16, group.clock, &site});
      }
      values[row * k + column] = decode(type, readElement(block, offset, bytes));
    }
}

static void multiply(WarpGroup &group, Block &block, const Site &site) {
  const unsigned n = site.params[0], k = site.params[1], m = 64;
  const MatrixType typeA = MatrixType(site.params[2]), typeB = MatrixType(site.params[3]);
  const MatrixType typeD = MatrixType(site.params[4]);
  const uint32_t flags = site.params[5];
  const bool fromRegisters = flags & 1, transA = flags & 2, transB = flags & 4, negA = flags & 8, negB = flags & 16;
  Thread &leader = *group.waiting.front();
  if (!group.hasFence)
    block.report(FindingKind::InvalidOperation, leader, site, "comes before any wgmma.fence", false);
  ++group.clock;
  unsigned perD = typeD == MatrixType::F16 ? 2 : 1, slotsD = m * n / warpGroupSize / perD;
  unsigned perA = 32 / getBits(typeA), slotsA = fromRegisters ? 4 : 1;

  // Operands: accumulators, A (registers or descriptor), B (descriptor), whether D is added.
  std::vector<double> a(m * k), b(n * k);
  auto slots = [](const Thread &thread) { return static_cast<const uint64_t *>(thread.in); };
  if (!fromRegisters)
    readOperand(group, leader, site, slots(leader)[slotsD], typeA, m, k, transA, a.data());
  readOperand(group, leader, site, slots(leader)[slotsD + slotsA], typeB, n, k, transB, b.data());
  for (Thread *thread : group.waiting) {
    unsigned warpRow = thread->index / warpSize % 4 * 16, lane = thread->header.lane;
    for (unsigned other = 0; other < 2; ++other)
      if ((other == 1 || !fromRegisters) &&
          slots(*thread)[slotsD + other * slotsA] != slots(leader)[slotsD + other * slotsA])
        block.report(FindingKind::InvalidOperation, *thread, site,
                     "has another matrix descriptor than the other threads of its group", true);
    for (unsigned r = 0; fromRegisters && r < 4; ++r)
      for (unsigned i = 0; i < perA; ++i)
        a[(warpRow + lane / 4 + 8 * (r % 2)) * k + lane % 4 * perA + i + r / 2 * 4 * perA] =
            decode(typeA, slots(*thread)[slotsD + r] >> (i * getBits(typeA)) & ((uint64_t(1) << getBits(typeA)) - 1));
  }
  double sign = negA != negB ? -1 : 1;
  // Accumulators, 64 rows of n.
  std::vector<double> d(size_t(m) * n);
  auto forEachAccumulator = [&](Thread &thread, auto body) {
    unsigned warpRow = thread.index / warpSize % 4 * 16, lane = thread.header.lane;
    for (unsigned i = 0; i < m * n / warpGroupSize; ++i)
      body(i, d[(warpRow + lane / 4 + 8 * (i / 2 % 2)) * n + i / 4 * 8 + lane % 4 * 2 + i % 2]);
  };
  unsigned bitsD = perD == 2 ? 16 : 32;
  uint64_t maskD = (uint64_t(1) << bitsD) - 1;
  for (Thread *thread : group.waiting)
    forEachAccumulator(*thread, [&](unsigned i, double &value) {
      bool accumulates = slots(*thread)[slotsD + slotsA + 1] & 0xffffffff;
      value = accumulates ? decode(typeD, slots(*thread)[i / perD] >> (i % perD * bitsD) & maskD) : 0;
    });
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      double sum = 0;
      for (unsigned x = 0; x < k; ++x)
        sum += a[i * k + x] * b[j * k + x];
      d[i * n + j] += sign * sum;
    }
  for (Thread *thread : group.waiting) {
    uint64_t *out = static_cast<uint64_t *>(thread->out);
    std::memset(out, 0, slotsD * sizeof(uint64_t));
    forEachAccumulator(*thread, [&](unsigned i, double &value) {
      out[i / perD] |= encodeAccumulator(typeD, value) << (i % perD * bitsD);
    });
  }
}

static void waitForGroups(WarpGroup &group, Block &block, uint32_t inFlight) {
  uint16_t agent = block.getWarpGroupAgent(group.index);
  uint32_t done = 0;
  while (group.readGroups.size() > inFlight) {
    for (const PendingRead &read : group.readGroups.front()) {
      block.shared.complete(read.offset, read.bytes, AccessKind::PendingRead, agent, read.clock);
      // Whoever comes after the wait of any of these threads may write now.
      SharedAccess unused;
      Viewer viewer{agent, read.clock, agent, group.waiting.front()->seen->data()};
      block.shared.touch(read.offset, read.bytes, AccessKind::Read, viewer, unused);
      done = std::max(done, read.clock);
    }
    group.readGroups.pop_front();
  }
  if (done == 0)
    return;
  for (Thread *thread : group.waiting) {
    auto seen = std::make_shared<std::vector<uint32_t>>(*thread->seen);
    (*seen)[agent] = std::max((*seen)[agent], done);
    thread->seen = seen;
  }
}

void fusion::emulator::runWarpGroup(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out) {
  Block &block = *thread.block;
  unsigned index = thread.index / warpGroupSize;
  if ((index + 1) * warpGroupSize > block.threads.size())
    block.report(FindingKind::InvalidOperation, thread, site, "needs a group of four whole warps", true);
  if (!block.launch.chip.hasArchitectureFeatures)
    block.report(FindingKind::InvalidOperation, thread, site,
                 "needs sm_90a; the emulated chip is " + block.launch.chip.name, true);
  while (block.warpGroups.size() <= index) {
    block.warpGroups.push_back(std::make_unique<WarpGroup>());
    block.warpGroups.back()->index = unsigned(block.warpGroups.size() - 1);
  }
  WarpGroup &group = *block.warpGroups[index];
  if (!group.waiting.empty() && group.waiting.front()->site != &site)
    block.report(FindingKind::MaskMismatch, thread, site,
                 "does not come together with its group of warps, which is at " + group.waiting.front()->site->name +
                     " " + group.waiting.front()->site->location,
                 true);
  thread.site = &site;
  thread.in = in;
  thread.out = out;
  group.waiting.push_back(&thread);
  if (group.waiting.size() < warpGroupSize) {
    block.wait(thread);
    thread.site = nullptr;
    return;
  }
  block.launch.traffic.operation(site, warpGroupSize);
  switch (site.kind) {
  case OpKind::Wgmma:
    multiply(group, block, site);
    break;
  case OpKind::WgmmaFence:
    group.hasFence = true;
    break;
  case OpKind::WgmmaCommit:
    group.readGroups.push_back(std::move(group.openReads));
    group.openReads.clear();
    break;
  default:
    waitForGroups(group, block, site.params[0]);
  }
  for (Thread *other : group.waiting)
    if (other != &thread)
      block.wake(*other);
  group.waiting.clear();
  thread.site = nullptr;
}
