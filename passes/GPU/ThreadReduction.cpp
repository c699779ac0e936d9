//===- ThreadReduction.cpp - Reductions across lanes and warps ------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fusion {

Value ThreadProgram::combine(Operation *combiner, Value left, Value right) {
  // A start that changes nothing.
  Attribute constant;
  if (std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
      neutral && matchPattern(left, m_Constant(&constant))) {
    auto number = dyn_cast<FloatAttr>(constant);
    // 0 + x is x, up to the sign of a zero.
    bool isZero = number && isa<arith::AddFOp>(combiner) && number.getValue().isZero();
    if (constant == *neutral || isZero)
      return right;
  }
  IRMapping map;
  map.map(combiner->getOperand(0), left);
  map.map(combiner->getOperand(1), right);
  return builder.clone(*combiner, map)->getResult(0);
}

/// The value of the lane whose number differs in the bits of `laneMask`.
Value ThreadProgram::shuffle(Value value, int64_t laneMask) {
  Type type = value.getType(), i32 = builder.getI32Type();
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, loc, word.getType(), getI32(-1), word, getI32(laneMask), getI32(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type == i32)
    return exchange(value);
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    return arith::IndexCastOp::create(builder, loc, type, shuffle(wide, laneMask));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type intType = builder.getIntegerType(bits);
  Value word = isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc, intType, value).getResult() : value;
  if (bits < 32) {
    word = exchange(arith::ExtUIOp::create(builder, loc, i32, word));
    word = arith::TruncIOp::create(builder, loc, intType, word);
  } else {
    Value low = exchange(arith::TruncIOp::create(builder, loc, i32, word));
    Value shift = getConstant(32, intType);
    Value high =
        exchange(arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, word, shift)));
    word = arith::OrIOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, intType, low),
        arith::ShLIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, intType, high), shift));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc, type, word).getResult() : word;
}

/// Each thread has the partial results of its own elements; afterwards all threads that hold an element of the result
/// have the whole. The order is the same in all of them, so they agree to the last bit.
Fragment ThreadProgram::reduceAcross(Fragment partial, const Layout &loops, ArrayRef<unsigned> kept,
                                     Operation *combiner) {
  auto isReduced = [&](CoordinateBit bit) {
    return !bit.isBroadcast() && !llvm::is_contained(kept, unsigned(bit.dim));
  };
  auto split = [&](const Layout::Bits &bits, SmallVectorImpl<unsigned> &reduced, SmallVectorImpl<unsigned> &others) {
    for (auto [i, bit] : llvm::enumerate(bits))
      if (isReduced(bit))
        reduced.push_back(i);
      else if (!bit.isBroadcast())
        others.push_back(i);
  };
  SmallVector<unsigned> lanes, otherLanes, warps, otherWarps;
  split(loops.getLaneBits(), lanes, otherLanes);
  split(loops.getWarpBits(), warps, otherWarps);
  for (unsigned bit : llvm::reverse(lanes))
    for (Value &value : partial.values)
      value = combine(combiner, value, shuffle(value, int64_t(1) << bit));
  if (warps.empty())
    return partial;

  // One row of shared memory per element of the result that the warps have in common, one column per warp.
  int64_t numColumns = int64_t(1) << warps.size();
  int64_t rowsOfRegister = int64_t(1) << (otherLanes.size() + otherWarps.size());
  Type type = partial.values.front().getType();
  GlobalTile tile;
  tile.elementType = type;
  int64_t bytes = type.isIndex() ? 8 : std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
  tile.pointer = allocateShared(int64_t(partial.values.size()) * rowsOfRegister * numColumns * bytes);
  Value row = gatherBits(lane, otherLanes);
  if (!otherWarps.empty())
    row = arith::AddIOp::create(
        builder, loc, row,
        arith::ShLIOp::create(builder, loc, gatherBits(warp, otherWarps), getI32(otherLanes.size())));
  auto toIndex = [&](Value number) -> OpFoldResult {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number).getResult();
  };
  OpFoldResult rowStart = multiply(toIndex(row), builder.getIndexAttr(numColumns));
  if (loopDepth > 0)
    emitBarrier();
  // One lane of those that hold the same writes. Warps that hold the same write the same.
  int64_t sameLanes = 31;
  for (unsigned bit : otherLanes)
    sameLanes &= ~(int64_t(1) << bit);
  int64_t sameWarps = numWarps - 1;
  for (unsigned bit : otherWarps)
    sameWarps &= ~(int64_t(1) << bit);
  for (unsigned bit : warps)
    sameWarps &= ~(int64_t(1) << bit);
  Value isWriter = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         arith::AndIOp::create(builder, loc, lane, getI32(sameLanes)), getI32(0));
  if (sameWarps != 0)
    isWriter = arith::AndIOp::create(builder, loc, isWriter,
                                     arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                                           arith::AndIOp::create(builder, loc, warp, getI32(sameWarps)),
                                                           getI32(0)));
  {
    auto branch = scf::IfOp::create(builder, loc, isWriter, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    OpFoldResult place = add(rowStart, toIndex(gatherBits(warp, warps)));
    Value pointer = offsetPointer(tile.pointer, type, place);
    for (auto [number, value] : llvm::enumerate(partial.values))
      storeAt(offsetPointer(pointer, type, builder.getIndexAttr(number * rowsOfRegister * numColumns)), {value});
  }
  emitBarrier();
  // A row is read by a layout of one dimension that no thread part moves.
  GlobalTile rowTile = tile;
  rowTile.pointer = offsetPointer(tile.pointer, type, rowStart);
  rowTile.strides = {builder.getIndexAttr(1)};
  rowTile.contiguous = 0;
  rowTile.vector = std::min<int64_t>(numColumns, std::max<int64_t>(16 / bytes, 1));
  Layout::Bits columns;
  for (unsigned bit = 0; bit < warps.size(); ++bit)
    columns.push_back({0, int(bit)});
  Layout all(columns, {}, {}, {1});
  for (auto [number, value] : llvm::enumerate(partial.values)) {
    GlobalTile here = rowTile;
    here.pointer = offsetPointer(rowTile.pointer, type, builder.getIndexAttr(number * rowsOfRegister * numColumns));
    Fragment parts = load(here, all, {builder.getIndexAttr(numColumns)});
    value = parts.values[0];
    for (Value part : ArrayRef(parts.values).drop_front())
      value = combine(combiner, value, part);
  }
  return partial;
}

} // namespace fusion
