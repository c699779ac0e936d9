//===- AssignLayouts.cpp - Spread the operations of a kernel --------------===//

#include "fusion/GPU/Passes.h"

#include "LayoutPlan.h"
#include "fusion/Target/GpuChip.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_GPUASSIGNLAYOUTS
#include "fusion/GPU/Passes.h.inc"

LogicalResult KernelOps::collect(scf::ForallOp forall) {
  WalkResult walk = forall.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      for (auto [state, init, next, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), yield.getOperands(), loop.getResults()))
        if (isa<RankedTensorType>(state.getType())) {
          unite(state, init);
          unite(state, next);
          unite(state, result);
        }
      return WalkResult::advance();
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || isTransparent(linalgOp))
      return WalkResult::advance();
    ComputingOp computing;
    computing.op = linalgOp;
    FailureOr<SmallVector<int64_t>> shape = getLoopShape(linalgOp);
    if (failed(shape))
      return WalkResult::interrupt();
    computing.shape = *shape;
    computing.bodyCost = std::max<int64_t>(1, llvm::range_size(linalgOp.getBlock()->without_terminator()));
    computing.contraction = matchContraction(linalgOp);
    auto addAccess = [&](OpOperand &operand, Value tile, bool isResult) {
      ComputingOp::Access access;
      access.tile = tile;
      access.isResult = isResult;
      FailureOr<SmallVector<unsigned>> dims = getDims(linalgOp.getMatchingIndexingMap(&operand));
      if (failed(dims))
        return;
      access.dims = *dims;
      access.memory = getTileAccess(operand.get());
      Type type = getElementTypeOrSelf(tile.getType());
      access.bytes = type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) : 8;
      computing.accesses.push_back(access);
    };
    for (OpOperand &operand : linalgOp->getOpOperands())
      if (!computing.contraction && isa<RankedTensorType>(operand.get().getType()) &&
          linalgOp.payloadUsesValueFromOperand(&operand))
        addAccess(operand, operand.get(), /*isResult=*/false);
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      addAccess(init, linalgOp.getTiedOpResult(&init), /*isResult=*/true);
    ops.push_back(std::move(computing));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

Value KernelOps::getLeader(Value tile) const {
  // A slice of the first elements has the registers of the whole.
  while (auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (getTileAccess(tile).tensor || slice.getSourceType().getRank() != slice.getType().getRank())
      break;
    tile = slice.getSource();
  }
  auto leader = classes.findLeader(tile.getAsOpaquePointer());
  return leader == classes.member_end() ? tile : Value::getFromOpaquePointer(*leader);
}

/// Positions with 16-byte access along `contiguous` first, then from the innermost dimension.
static SmallVector<unsigned> getOrder(unsigned rank, int contiguous) {
  SmallVector<unsigned> order;
  if (contiguous >= 0)
    order.push_back(contiguous);
  for (unsigned dim = rank; dim-- > 0;)
    if (int(dim) != contiguous)
      order.push_back(dim);
  return order;
}

LayoutPlan makePlan(const KernelOps &kernel, int64_t numWarps, ArrayRef<std::pair<Operation *, Layout>> anchors) {
  LayoutPlan plan;
  plan.numWarps = numWarps;
  llvm::DenseMap<Value, Layout> tiles;
  auto assign = [&](const ComputingOp &op, const Layout &layout) {
    plan.layouts[op.op] = layout;
    for (const ComputingOp::Access &access : op.accesses)
      tiles.try_emplace(kernel.getLeader(access.tile), layout.project(access.dims));
  };
  for (auto &[anchor, layout] : anchors)
    for (const ComputingOp &op : kernel.ops)
      if (op.op == anchor)
        assign(op, layout);
  while (plan.layouts.size() < kernel.ops.size()) {
    // Next is who shares most of its loops with what is known, the first of them.
    const ComputingOp *next = nullptr;
    const ComputingOp::Access *shared = nullptr;
    int64_t most = -1;
    for (const ComputingOp &op : kernel.ops) {
      if (plan.layouts.contains(op.op))
        continue;
      for (const ComputingOp::Access &access : op.accesses) {
        if (!tiles.contains(kernel.getLeader(access.tile)))
          continue;
        int64_t score = access.dims.size() == op.shape.size() ? 100 : int64_t(access.dims.size());
        if (score > most) {
          most = score;
          next = &op;
          shared = &access;
        }
      }
    }
    if (next) {
      assign(*next, tiles.lookup(kernel.getLeader(shared->tile)).expand(next->shape.size(), shared->dims, next->shape));
      continue;
    }
    for (const ComputingOp &op : kernel.ops)
      if (!plan.layouts.contains(op.op)) {
        assign(op, getBlockedLayout(op.shape, getOrder(op.shape.size(), -1), 1, numWarps, /*warpsFirst=*/false));
        break;
      }
  }
  plan.cost = getCost(kernel, plan);
  return plan;
}

namespace {

int64_t getPoints(ArrayRef<int64_t> shape) {
  int64_t points = 1;
  for (int64_t extent : shape)
    points *= extent;
  return points;
}

/// Whether a row of the result of `op` is needed as a whole: by a reduction along it, or by another contraction.
bool isRowNeeded(const KernelOps &kernel, const ComputingOp &op) {
  if (llvm::count_if(kernel.ops, [](const ComputingOp &other) { return other.contraction.has_value(); }) > 1)
    return true;
  return llvm::any_of(kernel.ops, [&](const ComputingOp &other) {
    return !other.contraction && other.op.getNumReductionLoops() > 0 &&
           getPoints(other.shape) >= op.shape[op.contraction->rowDim] * op.shape[op.contraction->columnDim];
  });
}

/// How a contraction's result is spread by a grid of warps.
Layout getResultLayout(const ComputingOp &op, int64_t warpRows, int64_t warpColumns, const GpuChip &chip) {
  const Contraction &contraction = *op.contraction;
  int64_t rows = op.shape[contraction.rowDim], columns = op.shape[contraction.columnDim];
  Layout result;
  if (contraction.hasMatrixInstruction(chip)) {
    // Pairs of column tiles: one load of matrices, and half an operand of the next contraction.
    result = getMmaAccumulator(rows, llvm::alignTo(columns, 16 * warpColumns), warpRows, warpColumns);
  } else {
    int64_t bytes = llvm::divideCeil(contraction.factorType.getIntOrFloatBitWidth(), 8);
    result = getBlockedLayout({rows, columns}, {1, 0}, columns % 4 == 0 ? std::max<int64_t>(16 / bytes, 1) : 1,
                              warpRows * warpColumns, /*warpsFirst=*/false);
  }
  return result.expand(3, {contraction.rowDim, contraction.columnDim}, op.shape);
}

/// The accumulators decide. One contraction alone gets a grid of warps that is about square; where rows are needed as
/// a whole, each stays in one warp.
std::optional<LayoutPlan> planContractions(const KernelOps &kernel, const GpuChip &chip) {
  const ComputingOp *largest = nullptr;
  for (const ComputingOp &op : kernel.ops)
    if (op.contraction && (!largest || getPoints(op.shape) > getPoints(largest->shape)))
      largest = &op;
  if (!largest)
    return std::nullopt;
  int64_t rows = largest->shape[largest->contraction->rowDim],
          columns = largest->shape[largest->contraction->columnDim];
  // A warp has 128 accumulators in each lane at most, and 32 x 32 elements at least; a multiprocessor has four
  // schedulers.
  constexpr int64_t mostElements = 32 * 128, leastElements = 32 * 32;
  int64_t numWarps = 1;
  while (numWarps < 8 && rows * columns > numWarps * (numWarps < 4 ? leastElements : mostElements))
    numWarps *= 2;
  int64_t warpRows = 1, warpColumns = 1;
  if (isRowNeeded(kernel, *largest)) {
    while (2 * warpRows <= 8 && 2 * warpRows * 16 <= rows && (warpRows < 4 || warpRows * 64 <= rows))
      warpRows *= 2;
  } else {
    while (warpRows * warpColumns < numWarps)
      (rows * warpColumns >= columns * warpRows ? warpRows : warpColumns) *= 2;
  }
  SmallVector<std::pair<Operation *, Layout>, 1> anchors;
  for (const ComputingOp &op : kernel.ops)
    if (op.contraction)
      anchors.emplace_back(op.op, getResultLayout(op, warpRows, warpColumns, chip));
  return makePlan(kernel, warpRows * warpColumns, anchors);
}

/// The best of all ways to spread the largest operation for access to one of its tiles.
LayoutPlan findPlan(const KernelOps &kernel, const GpuChip &chip) {
  const ComputingOp *largest = &kernel.ops.front();
  for (const ComputingOp &op : kernel.ops)
    if (getPoints(op.shape) > getPoints(largest->shape))
      largest = &op;
  SmallVector<std::pair<int, int64_t>> accesses = {{-1, 1}};
  for (const ComputingOp::Access &access : largest->accesses)
    if (access.memory.contiguous >= 0) {
      int dim = access.dims[access.memory.contiguous];
      for (int64_t vector = access.memory.vector; vector >= 1; vector /= 2)
        if (!llvm::is_contained(accesses, std::pair(dim, vector)))
          accesses.emplace_back(dim, vector);
    }
  if (std::optional<LayoutPlan> plan = planContractions(kernel, chip))
    return *plan;
  std::optional<LayoutPlan> best;
  for (auto [contiguous, vector] : accesses)
    for (int64_t numWarps : {1, 2, 4, 8, 16})
      for (bool warpsFirst : {false, true}) {
        Layout layout =
            getBlockedLayout(largest->shape, getOrder(largest->shape.size(), contiguous), vector, numWarps, warpsFirst);
        LayoutPlan plan = makePlan(kernel, numWarps, {{largest->op.getOperation(), layout}});
        if (!best || plan.cost < best->cost)
          best = std::move(plan);
      }
  return *best;
}

struct AssignLayouts : impl::GPUAssignLayoutsBase<AssignLayouts> {
  using GPUAssignLayoutsBase::GPUAssignLayoutsBase;

  void runOnOperation() override {
    llvm::Expected<GpuChip> target = getGpuChip(chip);
    if (!target) {
      getOperation().emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }
    WalkResult walk = getOperation().walk([&](scf::ForallOp forall) {
      if (!isKernel(forall))
        return WalkResult::advance();
      KernelOps kernel;
      if (failed(kernel.collect(forall)))
        return WalkResult::interrupt();
      Builder builder(&getContext());
      if (kernel.ops.empty()) {
        forall->setAttr(warpsAttr, builder.getI64IntegerAttr(4));
        return WalkResult::advance();
      }
      LayoutPlan plan = findPlan(kernel, *target);
      forall->setAttr(warpsAttr, builder.getI64IntegerAttr(plan.numWarps));
      for (auto &[op, layout] : plan.layouts)
        op->setAttr(layoutAttr, builder.getStringAttr(layout.print()));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace fusion
