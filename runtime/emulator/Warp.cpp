//===- Warp.cpp - Operations of a warp --------------------------------------===//
//
// A lane that comes to such an operation waits until all lanes of its mask are there; the last one executes it for all.
//
//===------------------------------------------------------------------------===//

#include "Access.h"
#include "Functions.h"
#include "Matrix.h"

using namespace fusion::emulator;

namespace {
struct Operands {
  Block &block;
  Warp &warp;
  const Site &site;
  uint32_t mask;

  uint64_t in(unsigned lane, unsigned operand) const {
    return static_cast<const uint64_t *>(block.getThread(warp, lane).in)[operand];
  }
  void out(unsigned lane, unsigned result, uint64_t value) const {
    static_cast<uint64_t *>(block.getThread(warp, lane).out)[result] = value;
  }
  bool has(unsigned lane) const { return mask >> lane & 1; }
  template <typename Body>
  void forEachLane(Body body) const {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (has(lane))
        body(lane);
  }
};
} // namespace

/// PTX ISA, shfl.sync: operand c holds a segment mask in bits 8 to 12 and a clamp in bits 0 to 4.
static void shuffle(const Operands &op) {
  op.forEachLane([&](unsigned lane) {
    // Operands: mask, value, b, c.
    uint32_t b = uint32_t(op.in(lane, 2)) & 31, c = uint32_t(op.in(lane, 3));
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    int32_t source = 0;
    bool isValid = false;
    switch (op.site.params[0]) {
    case 0:
      source = int32_t(lowest | (b & ~segment));
      isValid = source <= int32_t(highest);
      break;
    case 1:
      source = int32_t(lane) - int32_t(b);
      isValid = source >= int32_t(highest);
      break;
    case 2:
      source = int32_t(lane + b);
      isValid = source <= int32_t(highest);
      break;
    default:
      source = int32_t(lane ^ b);
      isValid = source <= int32_t(highest);
    }
    if (!isValid)
      source = int32_t(lane);
    if (!op.has(unsigned(source)))
      op.block.report(FindingKind::MaskMismatch, op.block.getThread(op.warp, lane), op.site,
                      "takes its value from lane " + std::to_string(source) + ", which does not take part", true);
    op.out(lane, 0, op.in(unsigned(source), 1));
    if (op.site.params[1])
      op.out(lane, 1, isValid);
  });
}

static void vote(const Operands &op) {
  uint32_t ballot = 0;
  op.forEachLane([&](unsigned lane) { ballot |= uint32_t(op.in(lane, 1) & 1) << lane; });
  op.forEachLane([&](unsigned lane) {
    uint32_t results[] = {ballot == op.mask, ballot != 0, ballot == op.mask || ballot == 0, ballot};
    op.out(lane, 0, results[op.site.params[0]]);
  });
}

static uint32_t reduce(ReduxOp kind, uint32_t a, uint32_t b) {
  switch (kind) {
  case ReduxOp::Add:
    return a + b;
  case ReduxOp::UMin:
    return a < b ? a : b;
  case ReduxOp::UMax:
    return a > b ? a : b;
  case ReduxOp::SMin:
    return int32_t(a) < int32_t(b) ? a : b;
  case ReduxOp::SMax:
    return int32_t(a) > int32_t(b) ? a : b;
  case ReduxOp::And:
    return a & b;
  case ReduxOp::Or:
    return a | b;
  case ReduxOp::Xor:
    return a ^ b;
  }
  return 0;
}

static void redux(const Operands &op) {
  // Operands: value, mask.
  bool isFirst = true;
  uint32_t result = 0;
  op.forEachLane([&](unsigned lane) {
    uint32_t value = uint32_t(op.in(lane, 0));
    result = isFirst ? value : reduce(ReduxOp(op.site.params[0]), result, value);
    isFirst = false;
  });
  op.forEachLane([&](unsigned lane) { op.out(lane, 0, result); });
}

static void match(const Operands &op) {
  // Operands: mask, value.
  bool isAll = op.site.params[0];
  op.forEachLane([&](unsigned lane) {
    uint32_t equal = 0;
    op.forEachLane([&](unsigned other) { equal |= uint32_t(op.in(lane, 1) == op.in(other, 1)) << other; });
    op.out(lane, 0, isAll ? (equal == op.mask ? op.mask : 0) : equal);
    if (isAll)
      op.out(lane, 1, equal == op.mask);
  });
}

static void elect(const Operands &op) {
  unsigned leader = unsigned(__builtin_ctz(op.mask));
  op.forEachLane([&](unsigned lane) {
    op.out(lane, 0, leader);
    op.out(lane, 1, lane == leader);
  });
}

static void synchroniseWarp(const Operands &op) {
  std::vector<Arrival> arrivals;
  op.forEachLane([&](unsigned lane) { arrivals.push_back(op.block.arrive(op.block.getThread(op.warp, lane))); });
  Snapshot all = op.block.join(arrivals);
  op.forEachLane([&](unsigned lane) { op.block.getThread(op.warp, lane).seen = all; });
}

static void execute(const Operands &op) {
  op.block.launch.traffic.operation(op.site, unsigned(__builtin_popcount(op.mask)));
  switch (op.site.kind) {
  case OpKind::Shuffle:
    return shuffle(op);
  case OpKind::Vote:
    return vote(op);
  case OpKind::Redux:
    return redux(op);
  case OpKind::Match:
    return match(op);
  case OpKind::Elect:
    return elect(op);
  case OpKind::WarpSync:
    return synchroniseWarp(op);
  case OpKind::Ldmatrix:
    return loadMatrix(op.block, op.warp, op.site);
  case OpKind::Stmatrix:
    return storeMatrix(op.block, op.warp, op.site);
  case OpKind::Mma:
    return multiplyMatrices(op.block, op.warp, op.site);
  default:
    op.block.report(FindingKind::InvalidOperation, *getCurrentThread(), op.site,
                    "is an operation of a warp that the emulator does not execute", true);
  }
}

/// The operand that is the mask, or none where all lanes of the warp must take part.
static int getMaskOperand(const Site &site) {
  switch (site.kind) {
  case OpKind::Shuffle:
  case OpKind::Vote:
  case OpKind::Match:
  case OpKind::Elect:
  case OpKind::WarpSync:
    return 0;
  case OpKind::Redux:
    return 1;
  default:
    return -1;
  }
}

static std::string inHex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", value);
  return text;
}

void fusion::emulator::runWarpOperation(Thread &thread, const Site &site, const uint64_t *in, uint64_t *out) {
  Block &block = *thread.block;
  Warp &warp = block.getWarp(thread);
  unsigned self = thread.header.lane;
  int operand = getMaskOperand(site);
  uint32_t mask = operand < 0 ? fullMask : uint32_t(in[operand]);
  // A warp of a block whose size is no multiple of 32 has fewer lanes; masks with all bits are common all the same.
  if (operand >= 0 && mask == fullMask)
    mask = warp.lanes;
  if (mask & ~warp.lanes)
    block.report(FindingKind::MaskMismatch, thread, site,
                 operand < 0 ? std::string("needs a whole warp, but the block has none here")
                             : "has the mask " + inHex(mask) + ", which names lanes that the warp does not have",
                 true);
  if (!(mask >> self & 1))
    block.report(FindingKind::MaskMismatch, thread, site, "has the mask " + inHex(mask) + " without its own lane",
                 true);
  if (mask & warp.ended)
    block.report(FindingKind::MaskMismatch, thread, site,
                 "has the mask " + inHex(mask) + ", but of these lanes " + inHex(mask & warp.ended) + " have ended",
                 true);
  thread.site = &site;
  thread.mask = mask;
  thread.in = in;
  thread.out = out;
  bool areAllThere = true;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (lane == self || !(mask >> lane & 1))
      continue;
    Thread &other = block.getThread(warp, lane);
    if (!(warp.waiting >> lane & 1)) {
      areAllThere = false;
      continue;
    }
    if (other.site != &site && (other.mask >> self & 1))
      block.report(FindingKind::MaskMismatch, thread, site,
                   "waits for lane " + std::to_string(lane) + ", which waits at " + other.site->name + " " +
                       other.site->location + " for it: the lanes have diverged",
                   true);
    if (other.site != &site)
      areAllThere = false;
    else if (other.mask != mask)
      block.report(FindingKind::MaskMismatch, thread, site,
                   "has the mask " + inHex(mask) + ", lane " + std::to_string(lane) + " has " + inHex(other.mask),
                   true);
  }
  if (!areAllThere) {
    warp.waiting |= 1u << self;
    block.wait(thread);
    thread.site = nullptr;
    return;
  }
  execute(Operands{block, warp, site, mask});
  warp.waiting &= ~mask;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lane != self && (mask >> lane & 1))
      block.wake(block.getThread(warp, lane));
  thread.site = nullptr;
}
