//===- VectorizeTranspose.cpp - Transposing copies ----------------------------------------------------------------===//
//
// A copy whose source is contiguous along one loop and whose destination is along another works on square blocks:
// vectors are read along the source's loop, transposed in registers, and written along the destination's.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {

/// Interleaves pieces of `size` elements of both vectors within blocks of `block` elements, from the lower or the upper
/// half of each block: one unpack instruction.
static Value unpack(ImplicitLocOpBuilder &b, Value first, Value second, int64_t block, int64_t size, bool upper) {
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (int64_t start = 0; start < lanes; start += block)
    for (int64_t piece = 0; piece < block / 2; piece += size)
      for (int64_t source : {int64_t(0), lanes})
        for (int64_t element = 0; element < size; ++element)
          mask.push_back(source + start + (upper ? block / 2 : 0) + piece + element);
  return vector::ShuffleOp::create(b, first, second, mask);
}

/// The even or odd 128-bit pieces (`size` elements) of `first`, then those of `second`.
static Value pickPieces(ImplicitLocOpBuilder &b, Value first, Value second, int64_t size, bool odd) {
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (int64_t source : {int64_t(0), lanes})
    for (int64_t piece = odd ? 1 : 0; piece < lanes / size; piece += 2)
      for (int64_t element = 0; element < size; ++element)
        mask.push_back(source + piece * size + element);
  return vector::ShuffleOp::create(b, first, second, mask);
}

/// Transposes as many vectors as each has lanes. First blocks of 128 bits square, then the 128-bit pieces.
static void transposeInRegisters(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &rows, unsigned elementBits) {
  int64_t lanes = rows.size(), square = 128 / elementBits;
  SmallVector<Value> columns(lanes);
  // columns[c * groups + g]: piece p holds element p * square + c of the rows of group g.
  int64_t groups = lanes / square;
  for (int64_t g = 0; g < groups; ++g) {
    SmallVector<Value> x(rows.begin() + g * square, rows.begin() + (g + 1) * square);
    if (square == 2) {
      for (int64_t c = 0; c < 2; ++c)
        columns[c * groups + g] = unpack(b, x[0], x[1], square, 1, c == 1);
      continue;
    }
    for (int64_t half = 0; half < 2; ++half) {
      Value low = unpack(b, x[0], x[1], square, 1, half == 1);
      Value high = unpack(b, x[2], x[3], square, 1, half == 1);
      for (int64_t c = 0; c < 2; ++c)
        columns[(2 * half + c) * groups + g] = unpack(b, low, high, square, 2, c == 1);
    }
  }
  // Sorting pieces by the bits of their number, lowest first, turns (group, piece) into (piece, group).
  for (int64_t c = 0; c < square; ++c) {
    SmallVector<Value> x(columns.begin() + c * groups, columns.begin() + (c + 1) * groups);
    SmallVector<int64_t> pieceOf(groups, 0);
    for (int64_t width = groups, bit = 1; width > 1; width /= 2, bit *= 2) {
      SmallVector<Value> next;
      SmallVector<int64_t> nextPiece;
      for (int64_t odd = 0; odd < 2; ++odd)
        for (int64_t start = 0; start < groups; start += width)
          for (int64_t i = 0; i < width; i += 2) {
            next.push_back(pickPieces(b, x[start + i], x[start + i + 1], square, odd == 1));
            nextPiece.push_back(pieceOf[start + i] + odd * bit);
          }
      x = next;
      pieceOf = nextPiece;
      // Runs of width / 2 vectors now hold the same pieces.
    }
    for (int64_t i = 0; i < groups; ++i)
      rows[pieceOf[i] * square + c] = x[i];
  }
}

namespace {
struct BlockLoops {
  ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  unsigned along, across; // contiguous loops of the source and of the destination
  unsigned lanes;

  /// One block. Null counts stand for a whole block.
  void block(ValueRange offsets, Value alongCount, Value acrossCount) {
    const Access &source = nest.accesses[0], &target = nest.accesses[1];
    Type element = computeType(source.element);
    // Shuffles of narrow integers are made on 32 bits.
    bool widen = isa<IntegerType>(element) && bitWidth(element) < 32;
    LaneMask alongMask = alongCount ? firstLanes(b, alongCount, lanes) : LaneMask();
    LaneMask acrossMask = acrossCount ? firstLanes(b, acrossCount, lanes) : LaneMask();
    auto lanesAre = [&](bool on) -> Value {
      return arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), on));
    };
    SmallVector<Value> rows;
    for (unsigned row = 0; row < lanes; ++row) {
      LaneMask mask = alongMask;
      if (acrossCount) {
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, acrossCount,
                                             arith::ConstantIndexOp::create(b, row).getResult());
        mask.lanes = arith::SelectOp::create(b, inside, alongMask ? alongMask.lanes : lanesAre(true), lanesAre(false));
      }
      Value offset = advance(b, offsets[0], b.getIndexAttr(row), source.strides[across]);
      Value loaded = loadVector(b, source, offset, b.getIndexAttr(1), lanes, mask);
      rows.push_back(widen ? arith::ExtUIOp::create(b, VectorType::get({lanes}, b.getI32Type()), loaded).getResult()
                           : loaded);
    }
    transposeInRegisters(b, rows, std::max(32u, bitWidth(element)));
    for (unsigned row = 0; row < lanes; ++row) {
      scf::IfOp guard;
      if (alongCount) {
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, alongCount,
                                             arith::ConstantIndexOp::create(b, row).getResult());
        guard = scf::IfOp::create(b, inside);
        b.setInsertionPointToStart(guard.thenBlock());
      }
      Value value = rows[row];
      if (widen)
        value = arith::TruncIOp::create(b, VectorType::get({lanes}, element), value);
      else if (isa<FloatType>(element))
        value = convertFloat(b, value, computeType(target.element));
      storeVector(b, value, target, advance(b, offsets[1], b.getIndexAttr(row), target.strides[along]),
                  b.getIndexAttr(1), acrossMask);
      if (guard)
        b.setInsertionPointAfter(guard);
    }
  }

  /// A loop over blocks of `loop`; `body` gets the offsets and the count of a partial block, null for whole ones.
  void blocks(unsigned loop, ValueRange offsets, llvm::function_ref<void(ValueRange, Value)> body) {
    OpFoldResult extent = nest.extents[loop];
    std::optional<int64_t> constant = getConstantIntValue(extent);
    OpFoldResult end;
    if (constant) {
      end = b.getIndexAttr(*constant - *constant % lanes);
    } else {
      Value total = materialize(b, extent);
      Value rest = arith::RemUIOp::create(b, total, arith::ConstantIndexOp::create(b, lanes));
      end = arith::SubIOp::create(b, total, rest).getResult();
    }
    if (!constant || *constant >= lanes) {
      scf::ForOp main = openLoop(b, b.getIndexAttr(0), end, lanes);
      body(at(offsets, loop, main.getInductionVar()), Value());
      closeLoop(b, main);
    }
    if (constant && *constant % lanes == 0)
      return;
    // At most one step.
    scf::ForOp tail = openLoop(b, end, extent, lanes);
    Value count = constant ? arith::ConstantIndexOp::create(b, *constant % lanes).getResult()
                           : arith::SubIOp::create(b, materialize(b, extent), tail.getInductionVar()).getResult();
    body(at(offsets, loop, tail.getInductionVar()), count);
    closeLoop(b, tail);
  }

  SmallVector<Value> at(ValueRange offsets, unsigned loop, Value iv) {
    SmallVector<Value> moved;
    for (auto [offset, access] : llvm::zip_equal(offsets, nest.accesses))
      moved.push_back(advance(b, offset, iv, access.strides[loop]));
    return moved;
  }
};
} // namespace

LogicalResult vectorizeTranspose(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target) {
  if (nest.accesses.size() != 2 || nest.numInputs != 1)
    return failure();
  const Access &source = nest.accesses[0], &destination = nest.accesses[1];
  // The body hands its argument on, at most converted between floating-point types.
  Value value = nest.body->getTerminator()->getOperand(0);
  while (value.getDefiningOp() && value.getDefiningOp()->getBlock() == nest.body &&
         isa<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (value != nest.body->getArgument(0))
    return failure();
  // A conversion through a type that is narrower than both ends would be lost.
  if (bitWidth(computeType(source.element)) != bitWidth(computeType(destination.element)))
    return failure();
  int along = -1, across = -1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (destination.absent(loop))
      return failure();
    if (destination.unit(loop))
      across = loop;
    else if (source.unit(loop))
      along = loop;
  }
  if (along < 0 || across < 0 || source.unit(across) || source.absent(across))
    return failure();
  // Not worth a block if there is next to nothing along one of its sides.
  unsigned lanes = target.lanes(bitWidth(computeType(source.element)));
  for (int loop : {along, across})
    if (std::optional<int64_t> extent = getConstantIntValue(nest.extents[loop]); extent && *extent < 3)
      return failure();

  BlockLoops loops{b, nest, unsigned(along), unsigned(across), lanes};
  SmallVector<Value> offsets;
  for (const Access &access : nest.accesses)
    offsets.push_back(access.offset ? access.offset : arith::ConstantIndexOp::create(b, 0).getResult());
  SmallVector<scf::ForOp> outer;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (int(loop) == along || int(loop) == across)
      continue;
    outer.push_back(openLoop(b, b.getIndexAttr(0), nest.extents[loop], 1));
    offsets = loops.at(offsets, loop, outer.back().getInductionVar());
  }
  loops.blocks(across, offsets, [&](ValueRange rowOffsets, Value acrossCount) {
    loops.blocks(along, rowOffsets, [&](ValueRange blockOffsets, Value alongCount) {
      loops.block(blockOffsets, alongCount, acrossCount);
    });
  });
  for (scf::ForOp loop : llvm::reverse(outer))
    closeLoop(b, loop);
  return success();
}

} // namespace fusion::cpu
