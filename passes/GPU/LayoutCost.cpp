//===- LayoutCost.cpp - What a spreading of a kernel costs ----------------===//
//
// Counted in issue slots of one multiprocessor partition for all warps of a block. Only the order of plans matters.
//
//===------------------------------------------------------------------------===//

#include "LayoutPlan.h"

using namespace mlir;

namespace fusion {
namespace {

constexpr double memoryInstruction = 8, shuffleInstruction = 4, barrier = 40;
constexpr int64_t sectorBytes = 32;

/// Bytes in a row that the lanes of one access cover.
int64_t getRunBytes(const Layout &layout, int contiguous, int64_t vector, int64_t bytes) {
  if (contiguous < 0)
    return bytes;
  int64_t run = vector;
  for (CoordinateBit bit : layout.getLaneBits())
    if (bit.dim == contiguous && (int64_t(1) << bit.position) == run)
      run *= 2;
  return run * bytes;
}

double getMemoryCost(const Layout &layout, const ComputingOp::Access &access, int64_t numWarps) {
  int64_t vector = 1;
  if (access.memory.contiguous >= 0)
    vector = std::min(access.memory.vector, layout.getVectorLength(access.memory.contiguous));
  double accesses = double(layout.getNumRegisters()) / vector * numWarps;
  int64_t run = getRunBytes(layout, access.memory.contiguous, vector, access.bytes);
  double sectors = accesses * 32 * vector * access.bytes / std::min<int64_t>(run, sectorBytes);
  return accesses * memoryInstruction + sectors;
}

double getReductionCost(const Layout &loops, ArrayRef<unsigned> kept, int64_t numWarps) {
  auto isReduced = [&](CoordinateBit bit) {
    return !bit.isBroadcast() && !llvm::is_contained(kept, unsigned(bit.dim));
  };
  double results = loops.project(kept).getNumRegisters() * numWarps;
  double cost = llvm::count_if(loops.getLaneBits(), isReduced) * results * shuffleInstruction;
  if (int64_t warps = llvm::count_if(loops.getWarpBits(), isReduced))
    cost += results * (1 + (1 << warps)) * memoryInstruction / 2 + barrier * numWarps;
  return cost;
}

} // namespace

double getCost(const KernelOps &kernel, const LayoutPlan &plan) {
  double issued = 0;
  int64_t mostRegisters = 0;
  llvm::DenseMap<Value, SmallVector<Layout, 1>> held;
  for (const ComputingOp &op : kernel.ops) {
    const Layout &layout = plan.layouts.lookup(op.op);
    int64_t registers = layout.getNumRegisters();
    mostRegisters = std::max(mostRegisters, registers);
    issued += double(registers) * op.bodyCost * plan.numWarps;
    for (const ComputingOp::Access &access : op.accesses) {
      Layout mine = layout.project(access.dims);
      SmallVector<Layout, 1> &known = held[kernel.getLeader(access.tile)];
      if (access.isResult) {
        if (access.dims.size() < op.shape.size())
          issued += getReductionCost(layout, access.dims, plan.numWarps);
        if (access.memory.tensor)
          issued += getMemoryCost(mine, access, plan.numWarps);
        known.assign(1, mine);
        continue;
      }
      if (llvm::is_contained(known, mine))
        continue;
      if (access.memory.tensor) {
        issued += getMemoryCost(mine, access, plan.numWarps);
      } else if (!known.empty()) {
        Conversion conversion = getConversion(known.front(), mine);
        if (conversion == Conversion::Shuffle || conversion == Conversion::Shared)
          issued += (known.front().getNumRegisters() + mine.getNumRegisters()) * plan.numWarps * memoryInstruction +
                    barrier * plan.numWarps;
      }
      known.push_back(mine);
    }
  }
  // Many registers leave room for few warps, which then cannot hide how long memory takes.
  return issued * (1 + std::max<double>(0, mostRegisters - 16) / 32);
}

} // namespace fusion
