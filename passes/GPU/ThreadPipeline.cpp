//===- ThreadPipeline.cpp - Copies ahead of the loop that needs them ------===//
//
// A loop's trip waits for its own operands, then starts the copies of the trip `stages - 1` ahead, into the buffer that
// the trip before has read. One barrier is enough for both: after it, all threads have left the trip before.
//
//===------------------------------------------------------------------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace fusion {
namespace {

/// Registers of a thread that an operand may occupy throughout a loop.
constexpr size_t mostHoisted = 32;

/// Collects what in the body of `loop` the place of `tile` depends on; false if it is more than where a slice is.
bool collectPlace(scf::ForOp loop, Value value, llvm::SetVector<Operation *> &places) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != loop.getBody() || argument == loop.getInductionVar();
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody())
    return !loop->isAncestor(op);
  bool isView = isa<tensor::ExtractSliceOp, linalg::TransposeOp, linalg::CopyOp>(op);
  bool isScalar = op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                  llvm::none_of(op->getOperandTypes(), [](Type type) { return isa<TensorType>(type); });
  if (!isView && !isScalar)
    return false;
  if (isa<tensor::EmptyOp>(op))
    return true;
  for (Value operand : op->getOperands())
    if (!collectPlace(loop, operand, places))
      return false;
  places.insert(op);
  return true;
}

} // namespace

SharedOperand ThreadProgram::getStage(const SharedOperand &operand, Value slot) {
  SharedOperand stage = operand;
  int64_t bytes = llvm::alignTo(operand.tile.getBytes(), 128);
  Value offset = arith::MulIOp::create(builder, loc, slot, getI32(bytes));
  stage.pointer = LLVM::GEPOp::create(builder, loc, operand.pointer.getType(), builder.getI8Type(), operand.pointer,
                                      ArrayRef<LLVM::GEPArg>{offset});
  return stage;
}

/// Extents in shared memory of an operand: as the accumulator's layout and the instruction round them up.
static FailureOr<std::pair<int64_t, int64_t>> getOperandExtents(linalg::LinalgOp op, const Contraction &contraction,
                                                                bool isA, const GpuChip &chip) {
  FailureOr<Layout> layout = getAssignedLayout(op);
  FailureOr<SmallVector<int64_t>> shape = getLoopShape(op);
  if (failed(layout) || failed(shape))
    return failure();
  int64_t granule = contraction.hasMatrixInstruction(chip)
                        ? 16
                        : std::max<int64_t>(1, 128 / contraction.factorType.getIntOrFloatBitWidth());
  return std::pair(layout->getExtent(isA ? contraction.rowDim : contraction.columnDim),
                   int64_t(llvm::alignTo((*shape)[contraction.depthDim], granule)));
}

LogicalResult ThreadProgram::prepareOperand(scf::ForOp loop, linalg::LinalgOp op, const Contraction &contraction,
                                            bool isA, CopyPipeline &pipeline) {
  Value tile = op->getOperand(isA ? contraction.operandA : contraction.operandB);
  if (!getTileAccess(tile).tensor || staged.contains(tile))
    return success();
  FailureOr<std::pair<int64_t, int64_t>> extents = getOperandExtents(op, contraction, isA, chip);
  if (failed(extents))
    return failure();
  auto [across, depth] = *extents;
  if (!loop->isAncestor(tile.getParentRegion()->getParentOp())) {
    // The same in all trips: once, before the loop.
    FailureOr<SharedOperand> operand = getSharedOperand(op, contraction, isA, across, depth);
    if (failed(operand))
      return failure();
    FailureOr<Layout> layout = getAssignedLayout(op);
    if (!isA || !contraction.hasMatrixInstruction(chip) || failed(layout))
      return success();
    Layout accumulator = layout->project({contraction.rowDim, contraction.columnDim});
    if (accumulator.getRepeat(0) * 4 * depth / 16 > int64_t(mostHoisted))
      return success();
    SmallVector<Value> words;
    for (int64_t step = 0; step < depth; step += 16)
      llvm::append_range(words, loadOperandA(*operand, accumulator, step));
    operandsA[{tile.getAsOpaquePointer(), accumulator.print()}] = words;
    return success();
  }
  SharedOperand operand = planSharedOperand(op, contraction, isA, across, depth);
  llvm::SetVector<Operation *> places;
  if (!operand.isAsync || !collectPlace(loop, tile, places))
    return success();
  for (auto &[known, form] : pipeline.operands)
    if (known == tile)
      return success();
  pipeline.operands.emplace_back(tile, operand);
  pipeline.places.insert_range(places);
  return success();
}

FailureOr<CopyPipeline> ThreadProgram::prepareLoop(scf::ForOp loop) {
  CopyPipeline pipeline;
  for (auto op : loop.getBody()->getOps<linalg::LinalgOp>()) {
    std::optional<Contraction> contraction = matchContraction(op);
    if (!contraction)
      continue;
    for (bool isA : {true, false})
      if (failed(prepareOperand(loop, op, *contraction, isA, pipeline)))
        return failure();
  }
  int64_t bytes = 0;
  for (auto &[tile, operand] : pipeline.operands)
    bytes += llvm::alignTo(operand.tile.getBytes(), 128);
  if (bytes == 0)
    return pipeline;
  int64_t stages = std::min(maxStages, (chip.sharedPerBlock - sharedBytes) / bytes);
  if (stages < 2) {
    pipeline.operands.clear();
    return pipeline;
  }
  pipeline.stages = stages;
  for (auto &[tile, operand] : pipeline.operands)
    operand.pointer = allocateShared(llvm::alignTo(operand.tile.getBytes(), 128) * stages, 128);
  return pipeline;
}

/// The copies for the trip at `position` of the loop, if there is one, as a group of their own.
LogicalResult ThreadProgram::emitCopiesAhead(scf::ForOp loop, const CopyPipeline &pipeline, Value position, Value upper,
                                             Value slot) {
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, position, upper);
  auto branch = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    auto savedTiles = tiles;
    auto savedExtents = extentsOf;
    IRMapping savedScalars = scalars;
    scalars.map(loop.getInductionVar(), position);
    for (Operation *op : pipeline.places)
      if (failed(emit(op)))
        return failure();
    for (auto &[tile, operand] : pipeline.operands)
      if (failed(emitAsyncCopy(tile, getStage(operand, slot))))
        return failure();
    tiles = std::move(savedTiles);
    extentsOf = std::move(savedExtents);
    scalars = std::move(savedScalars);
  }
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  return success();
}

LogicalResult ThreadProgram::emitFirstCopies(scf::ForOp loop, const CopyPipeline &pipeline, Value lower, Value upper,
                                             Value step) {
  Value position = lower;
  for (int64_t trip = 0; trip + 1 < pipeline.stages; ++trip) {
    if (failed(emitCopiesAhead(loop, pipeline, position, upper, getI32(trip))))
      return failure();
    position = arith::AddIOp::create(builder, loc, position, step);
  }
  return success();
}

LogicalResult ThreadProgram::emitNextCopies(scf::ForOp loop, const CopyPipeline &pipeline, Value position, Value upper,
                                            Value step, Value &readSlot, Value &writeSlot) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, builder.getI32IntegerAttr(pipeline.stages - 2));
  emitBarrier();
  for (auto &[tile, operand] : pipeline.operands)
    staged[tile] = getStage(operand, readSlot);
  Value ahead = position;
  for (int64_t trip = 0; trip + 1 < pipeline.stages; ++trip)
    ahead = arith::AddIOp::create(builder, loc, ahead, step);
  if (failed(emitCopiesAhead(loop, pipeline, ahead, upper, writeSlot)))
    return failure();
  // The buffers take turns.
  for (Value *slot : {&readSlot, &writeSlot}) {
    Value next = arith::AddIOp::create(builder, loc, *slot, getI32(1));
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next, getI32(pipeline.stages));
    *slot = arith::SelectOp::create(builder, loc, isLast, getI32(0), next);
  }
  return success();
}

} // namespace fusion
