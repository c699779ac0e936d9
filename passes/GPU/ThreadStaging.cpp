//===- ThreadStaging.cpp - Operands of contractions in shared memory ------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {
namespace {

constexpr int64_t chunkBytes = 16;

int64_t getElementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

} // namespace

/// The address of an element whose coordinates are the sum of a part of the thread and a constant. The parts of a
/// column must not have bits in common if the tile is swizzled.
Value ThreadProgram::getSharedAddress(const SharedOperand &operand, Value row, int64_t rowConstant, Value column,
                                      int64_t columnConstant) {
  const SharedTile &tile = operand.tile;
  int64_t bytes = getElementBytes(operand.type);
  auto i32 = [&](int64_t value) { return getI32(value); };
  Value offset = arith::MulIOp::create(builder, loc, row, i32(tile.pitch));
  int64_t constant = rowConstant * tile.pitch;
  Value columnBytes = arith::MulIOp::create(builder, loc, column, i32(bytes));
  if (tile.phases == 1) {
    offset = arith::AddIOp::create(builder, loc, offset, columnBytes);
    constant += columnConstant * bytes;
  } else {
    Value phase = row;
    if (rowConstant % (tile.rowsPerPhase * tile.phases) != 0)
      phase = arith::AddIOp::create(builder, loc, row, i32(rowConstant));
    phase = arith::DivUIOp::create(builder, loc, phase, i32(tile.rowsPerPhase));
    phase = arith::AndIOp::create(builder, loc, phase, i32(tile.phases - 1));
    // Chunks are exchanged by xor; of the constant chunk the low bits are exchanged, the high ones are an offset.
    int64_t chunk = columnConstant * bytes / chunkBytes, low = chunk % tile.phases;
    Value exchanged = arith::XOrIOp::create(builder, loc, columnBytes,
                                            arith::ShLIOp::create(builder, loc, phase, i32(llvm::Log2_64(chunkBytes))));
    exchanged = arith::XOrIOp::create(builder, loc, exchanged, i32(low * chunkBytes));
    offset = arith::AddIOp::create(builder, loc, offset, exchanged);
    constant += (chunk - low) * chunkBytes + columnConstant * bytes % chunkBytes;
  }
  Value pointer = LLVM::GEPOp::create(builder, loc, operand.pointer.getType(), builder.getI8Type(), operand.pointer,
                                      ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(constant)});
}

/// Where a tile goes. `across` and `depth` are the extents that will be read.
SharedOperand ThreadProgram::planSharedOperand(linalg::LinalgOp op, const Contraction &contraction, bool isA,
                                               int64_t across, int64_t depth) {
  Value tile = op->getOperand(isA ? contraction.operandA : contraction.operandB);
  SharedOperand operand;
  bool isMatrix = contraction.hasMatrixInstruction(chip);
  operand.type = isMatrix ? contraction.narrowType : contraction.factorType;
  // Without matrix instructions factors are widened where they are used.
  Type stored = getElementTypeOrSelf(tile.getType());
  if (!isMatrix && stored.getIntOrFloatBitWidth() < operand.type.getIntOrFloatBitWidth())
    operand.type = stored;
  // Dimension 0 of the tile is the depth.
  operand.isDepthFirst = isA ? contraction.isTransposedA : !contraction.isTransposedB;
  TileAccess access = getTileAccess(tile);
  unsigned depthDim = operand.isDepthFirst ? 0 : 1;
  // As in memory, so that 16 bytes can be copied at a time; from registers, along the depth.
  operand.isDepthContiguous = access.contiguous < 0 || access.contiguous == int(depthDim);
  int64_t rows = operand.isDepthContiguous ? across : depth, columns = operand.isDepthContiguous ? depth : across;
  operand.tile = getSharedTile(rows, columns * getElementBytes(operand.type));
  if (!isMatrix) {
    operand.tile.phases = operand.tile.rowsPerPhase = 1;
    operand.tile.pitch = operand.tile.rowBytes + chunkBytes;
  }
  operand.isAsync = chip.hasAsyncCopy && access.tensor && stored == operand.type &&
                    access.vector * getElementBytes(stored) == chunkBytes;
  return operand;
}

FailureOr<SharedOperand> ThreadProgram::getSharedOperand(linalg::LinalgOp op, const Contraction &contraction, bool isA,
                                                         int64_t across, int64_t depth) {
  Value tile = op->getOperand(isA ? contraction.operandA : contraction.operandB);
  SharedOperand operand = planSharedOperand(op, contraction, isA, across, depth);
  if (auto known = staged.find(tile); known != staged.end() && known->second.hasFormOf(operand))
    return known->second;
  if (contraction.hasMatrixInstruction(chip) && !isConflictFree(operand.tile))
    return op->emitOpError() << "has an operand of " << operand.tile.rows << " rows of " << operand.tile.rowBytes
                             << " bytes, for which shared memory has bank conflicts";
  operand.pointer = allocateShared(operand.tile.getBytes(), 128);
  // The previous trip of a loop may still be reading.
  if (loopDepth > 0)
    emitBarrier();
  if (operand.isAsync) {
    if (failed(emitAsyncCopy(tile, operand)))
      return failure();
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, builder.getI32IntegerAttr(0));
  } else if (failed(emitCopyThroughRegisters(tile, operand))) {
    return failure();
  }
  emitBarrier();
  return staged[tile] = operand;
}

/// The layout in which the block's threads move a tile, over the extents in shared memory.
Layout ThreadProgram::getCopyLayout(const SharedOperand &operand, int64_t vector) {
  int64_t columns = operand.tile.rowBytes / getElementBytes(operand.type);
  SmallVector<int64_t, 2> shape = {operand.tile.rows, columns};
  SmallVector<unsigned, 2> order = {1, 0};
  if (operand.isDepthFirst == operand.isDepthContiguous) {
    std::swap(shape[0], shape[1]);
    std::swap(order[0], order[1]);
  }
  return getBlockedLayout(shape, order, vector, numWarps, /*warpsFirst=*/false);
}

/// The address in shared memory of the element at register `number` of a layout of the tile.
Value ThreadProgram::getSharedAddress(const SharedOperand &operand, const Layout &layout, int64_t number) {
  unsigned columnDim = operand.isDepthFirst == operand.isDepthContiguous ? 0 : 1, rowDim = 1 - columnDim;
  Layout::Point part = layout.getRegisterPart(number);
  Value row = getThreadPart(layout, rowDim), column = getThreadPart(layout, columnDim);
  return getSharedAddress(operand, row ? row : getI32(0), part[rowDim], column ? column : getI32(0), part[columnDim]);
}

/// Extents of the tile in shared memory, in the order of the tile's dimensions.
ThreadProgram::OpFoldResults ThreadProgram::getSharedExtents(const SharedOperand &operand) {
  int64_t columns = operand.tile.rowBytes / getElementBytes(operand.type);
  OpFoldResults extents = {builder.getIndexAttr(operand.tile.rows), builder.getIndexAttr(columns)};
  if (operand.isDepthFirst == operand.isDepthContiguous)
    std::swap(extents[0], extents[1]);
  return extents;
}

/// 16 bytes at a time, without registers. What is outside of the tile is filled with zeros.
LogicalResult ThreadProgram::emitAsyncCopy(Value tile, const SharedOperand &operand) {
  FailureOr<TileState *> state = getState(tile);
  if (failed(state))
    return failure();
  GlobalTile global = *(*state)->global;
  OpFoldResults extents = getExtents(tile), room = getSharedExtents(operand);
  Layout layout = getCopyLayout(operand, chunkBytes / getElementBytes(operand.type));
  int64_t vector = chunkBytes / getElementBytes(operand.type);
  Value isOwner = getOwner(layout);
  for (int64_t number = 0; number < layout.getNumRegisters(); number += vector) {
    bool isNever = false, isOutside = false;
    Value hasRoom = getMask(layout, number, room, {0, 1}, isNever);
    if (isNever)
      continue;
    if (isOwner)
      hasRoom = hasRoom ? arith::AndIOp::create(builder, loc, hasRoom, isOwner).getResult() : isOwner;
    OpBuilder::InsertionGuard guard(builder);
    if (hasRoom) {
      auto branch = scf::IfOp::create(builder, loc, hasRoom, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Value isInside = getMask(layout, number, extents, {0, 1}, isOutside), size;
    if (isOutside)
      size = getI32(0);
    else if (isInside)
      size = arith::SelectOp::create(builder, loc, isInside, getI32(chunkBytes), getI32(0));
    // An address outside of the tensor is not formed.
    Value source = getAddress(global, layout, number);
    if (isOutside)
      source = global.pointer;
    else if (isInside)
      source = arith::SelectOp::create(builder, loc, isInside, source, global.pointer);
    NVVM::CpAsyncOp::create(
        builder, loc, getSharedAddress(operand, layout, number), source, builder.getI32IntegerAttr(chunkBytes),
        NVVM::LoadCacheModifierKindAttr::get(builder.getContext(), NVVM::LoadCacheModifierKind::CG), size);
  }
  return success();
}

void ThreadProgram::storeWithinRoom(const SharedOperand &operand, const Layout &layout, int64_t number,
                                    const OpFoldResults &room, Value isOwner, ArrayRef<Value> values) {
  bool isNever = false;
  Value hasRoom = getMask(layout, number, room, {0, 1}, isNever);
  if (isNever)
    return;
  if (isOwner)
    hasRoom = hasRoom ? arith::AndIOp::create(builder, loc, hasRoom, isOwner).getResult() : isOwner;
  OpBuilder::InsertionGuard guard(builder);
  if (hasRoom) {
    auto branch = scf::IfOp::create(builder, loc, hasRoom, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  storeAt(getSharedAddress(operand, layout, number), values);
}

void ThreadProgram::clearShared(const SharedOperand &operand) {
  int64_t vector = chunkBytes / getElementBytes(operand.type);
  Layout layout = getCopyLayout(operand, vector);
  OpFoldResults room = getSharedExtents(operand);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(operand.type));
  Value isOwner = getOwner(layout);
  for (int64_t number = 0; number < layout.getNumRegisters(); number += vector)
    storeWithinRoom(operand, layout, number, room, isOwner, SmallVector<Value>(vector, zero));
  emitBarrier();
}

LogicalResult ThreadProgram::emitCopyThroughRegisters(Value tile, const SharedOperand &operand) {
  FailureOr<TileState *> state = getState(tile);
  if (failed(state))
    return failure();
  int64_t vector = std::max<int64_t>(1, chunkBytes / getElementBytes(operand.type));
  Layout layout = getCopyLayout(operand, vector);
  bool hasRegisters = !(*state)->fragments.empty();
  if (hasRegisters)
    layout = (*state)->fragments.front().layout;
  FailureOr<Fragment> found = getFragment(tile, layout);
  if (failed(found))
    return failure();
  Fragment fragment = *found;
  unsigned columnDim = operand.isDepthFirst == operand.isDepthContiguous ? 0 : 1;
  int64_t run = std::min(vector, layout.getVectorLength(columnDim));
  OpFoldResults room = getSharedExtents(operand), extents = getExtents(tile);
  // Registers beyond the tile may hold anything; what is multiplied must be 0 there.
  for (int64_t number = 0; number < layout.getNumRegisters(); ++number) {
    Value &value = fragment.values[number];
    value = convertElement(value, operand.type);
    if (!hasRegisters)
      continue;
    bool isOutside = false;
    Value isInside = getMask(layout, number, extents, {0, 1}, isOutside);
    if (!isInside && !isOutside)
      continue;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(operand.type));
    value = isOutside ? zero : arith::SelectOp::create(builder, loc, isInside, value, zero).getResult();
  }
  // What the layout does not reach but the contraction reads.
  if (layout.getExtent(0) < *getConstantIntValue(room[0]) || layout.getExtent(1) < *getConstantIntValue(room[1]))
    clearShared(operand);
  Value isOwner = getOwner(layout);
  for (int64_t number = 0; number < layout.getNumRegisters(); number += run)
    storeWithinRoom(operand, layout, number, room, isOwner, ArrayRef(fragment.values).slice(number, run));
  return success();
}

} // namespace fusion
