//===- ThreadContraction.cpp - Products of tiles in a thread --------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace fusion {
namespace {

/// Edges of mma.m16n8k16.
constexpr int64_t mmaRows = 16, mmaColumns = 8, mmaDepth = 16;

int64_t countBits(const Layout::Bits &bits, int dim) {
  return llvm::count_if(bits, [&](CoordinateBit bit) { return bit.dim == dim; });
}

} // namespace

/// Pairs of 16-bit elements as 32-bit registers.
SmallVector<Value> ThreadProgram::pack(ArrayRef<Value> elements) {
  SmallVector<Value> words;
  Type type = VectorType::get({2}, elements.front().getType());
  for (unsigned i = 0; i + 1 < elements.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(builder, loc, type);
    for (unsigned j = 0; j < 2; ++j)
      pair = LLVM::InsertElementOp::create(builder, loc, pair, elements[i + j], getI32(j));
    words.push_back(LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), pair));
  }
  return words;
}

SmallVector<Value> ThreadProgram::loadMatrices(Value address, unsigned count, bool isTransposed) {
  Type i32 = builder.getI32Type();
  Type type = count == 1 ? i32 : LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(count, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(builder, loc, type, address, count,
                                          isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                          NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {loaded};
  SmallVector<Value> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return words;
}

void ThreadProgram::multiplyMatrices(Type type, ArrayRef<Value> a, ArrayRef<Value> b, MutableArrayRef<Value> c) {
  Type f32 = builder.getF32Type();
  auto resultType = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, f32));
  Value result;
  if (type.isBF16()) {
    SmallVector<Value> operands(a);
    llvm::append_range(operands, b);
    llvm::append_range(operands, c);
    result = LLVM::CallIntrinsicOp::create(builder, loc, resultType,
                                           builder.getStringAttr("llvm.nvvm.mma.m16n8k16.row.col.bf16"), operands)
                 .getResult(0);
  } else {
    auto pairs = [&](ArrayRef<Value> words) {
      SmallVector<Value> result;
      for (Value word : words)
        result.push_back(LLVM::BitcastOp::create(builder, loc, VectorType::get({2}, type), word));
      return result;
    };
    std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
    std::array<NVVM::MMATypes, 2> types = {NVVM::MMATypes::f16, NVVM::MMATypes::f16};
    result = NVVM::MmaOp::create(builder, loc, resultType, pairs(a), pairs(b), ValueRange(SmallVector<Value>(c)),
                                 ArrayRef<int64_t>{mmaRows, mmaColumns, mmaDepth}, std::nullopt, std::nullopt, types,
                                 layouts);
  }
  for (unsigned i = 0; i < 4; ++i)
    c[i] = LLVM::ExtractValueOp::create(builder, loc, result, i);
}

/// The warp's part of a coordinate of `layout`, as i32; null where it is 0.
Value ThreadProgram::getWarpPart(const Layout &layout, unsigned dim) {
  SmallVector<int64_t> repeats(layout.getRank(), 1);
  return getThreadPart(Layout({}, {}, layout.getWarpBits(), repeats), dim);
}

/// a, for one step of the depth and all row tiles of the warp: four registers for each.
SmallVector<Value> ThreadProgram::loadOperandA(const SharedOperand &a, const Layout &accumulator, int64_t depth) {
  SmallVector<Value> words;
  // Lanes 0 to 7 and 8 to 15 point at the upper and lower rows, 16 to 31 at the right half.
  Value lowBits = arith::AndIOp::create(builder, loc, lane, getI32(7));
  Value rowHalf = arith::AndIOp::create(builder, loc, lane, getI32(8));
  Value depthHalf =
      arith::ShRUIOp::create(builder, loc, arith::AndIOp::create(builder, loc, lane, getI32(16)), getI32(1));
  Value warpRow = getWarpPart(accumulator, 0);
  for (int64_t tile = 0; tile < accumulator.getRepeat(0); ++tile) {
    int64_t row = tile * accumulator.getAtom(0);
    Value across = warpRow ? arith::AddIOp::create(builder, loc, rowHalf, warpRow).getResult() : rowHalf;
    Value address;
    if (a.isDepthContiguous)
      address = getSharedAddress(a, arith::AddIOp::create(builder, loc, across, lowBits), row, depthHalf, depth);
    else
      address = getSharedAddress(a, arith::AddIOp::create(builder, loc, depthHalf, lowBits), depth, across, row);
    llvm::append_range(words, loadMatrices(address, 4, !a.isDepthContiguous));
  }
  return words;
}

/// b, for one step of the depth and all column tiles of the warp: two registers for each.
SmallVector<Value> ThreadProgram::loadOperandB(const SharedOperand &b, const Layout &accumulator, int64_t depth) {
  SmallVector<Value> words;
  Value lowBits = arith::AndIOp::create(builder, loc, lane, getI32(7));
  Value depthHalf = arith::AndIOp::create(builder, loc, lane, getI32(8));
  Value warpColumn = getWarpPart(accumulator, 1);
  int64_t atom = accumulator.getAtom(1), numTiles = accumulator.getRepeat(1);
  for (int64_t tile = 0; tile < numTiles; tile += 2) {
    bool isPair = tile + 1 < numTiles;
    // Lanes 16 to 31 point at the next column tile.
    Value next = arith::ShRUIOp::create(builder, loc, lane, getI32(4));
    Value across = arith::MulIOp::create(builder, loc, next, getI32(atom));
    if (!isPair)
      across = getI32(0);
    if (warpColumn)
      across = arith::AddIOp::create(builder, loc, across, warpColumn);
    Value address;
    if (b.isDepthContiguous)
      address =
          getSharedAddress(b, arith::AddIOp::create(builder, loc, across, lowBits), tile * atom, depthHalf, depth);
    else
      address =
          getSharedAddress(b, arith::AddIOp::create(builder, loc, depthHalf, lowBits), depth, across, tile * atom);
    llvm::append_range(words, loadMatrices(address, isPair ? 4 : 2, !b.isDepthContiguous));
  }
  return words;
}

LogicalResult ThreadProgram::emitContraction(linalg::LinalgOp op, const Contraction &contraction,
                                             const Layout &layout) {
  Layout accumulator = layout.project({contraction.rowDim, contraction.columnDim});
  FailureOr<Fragment> start = getFragment(op.getDpsInits()[0], accumulator);
  if (failed(start))
    return failure();
  Fragment result = *start;
  LogicalResult emitted = contraction.hasMatrixInstruction(chip) ? emitMatrixProducts(op, contraction, result)
                                                                 : emitScalarProducts(op, contraction, result);
  if (failed(emitted))
    return failure();
  OpFoldResults extents = getExtents(op.getDpsInits()[0]);
  setFragment(op->getResult(0), std::move(result));
  extentsOf[op->getResult(0)] = std::move(extents);
  return success();
}

LogicalResult ThreadProgram::emitMatrixProducts(linalg::LinalgOp op, const Contraction &contraction, Fragment &result) {
  const Layout accumulator = result.layout;
  int64_t warpRows = int64_t(1) << countBits(accumulator.getWarpBits(), 0);
  int64_t warpColumns = int64_t(1) << countBits(accumulator.getWarpBits(), 1);
  if (accumulator != getMmaAccumulator(accumulator.getExtent(0), accumulator.getExtent(1), warpRows, warpColumns))
    return op->emitOpError("has a layout that is not that of its matrix instruction");
  FailureOr<SmallVector<int64_t>> shape = getLoopShape(op);
  if (failed(shape))
    return failure();
  int64_t depth = llvm::alignTo((*shape)[contraction.depthDim], mmaDepth);
  Value tileA = op->getOperand(contraction.operandA);
  int64_t numRows = accumulator.getRepeat(0), numColumns = accumulator.getRepeat(1);

  // a may be in registers already, in the form of the operand: the result of another contraction, or loaded before.
  SmallVector<Value> wordsA;
  std::optional<SharedOperand> a;
  if (auto known = operandsA.find({tileA.getAsOpaquePointer(), accumulator.print()}); known != operandsA.end()) {
    wordsA = known->second;
  } else if (std::optional<SmallVector<Value>> words = getRegisterOperand(op, contraction, accumulator, depth)) {
    wordsA = *words;
  } else {
    FailureOr<SharedOperand> shared = getSharedOperand(op, contraction, /*isA=*/true, accumulator.getExtent(0), depth);
    if (failed(shared))
      return failure();
    a = *shared;
  }
  FailureOr<SharedOperand> b = getSharedOperand(op, contraction, /*isA=*/false, accumulator.getExtent(1), depth);
  if (failed(b))
    return failure();
  for (int64_t step = 0; step < depth / mmaDepth; ++step) {
    SmallVector<Value> rows = a ? loadOperandA(*a, accumulator, step * mmaDepth)
                                : SmallVector<Value>(ArrayRef(wordsA).slice(step * numRows * 4, numRows * 4));
    SmallVector<Value> columns = loadOperandB(*b, accumulator, step * mmaDepth);
    for (int64_t column = 0; column < numColumns; ++column)
      for (int64_t row = 0; row < numRows; ++row)
        multiplyMatrices(contraction.narrowType, ArrayRef(rows).slice(row * 4, 4),
                         ArrayRef(columns).slice(column * 2, 2),
                         MutableArrayRef(result.values).slice((row * numColumns + column) * 4, 4));
  }
  return success();
}

/// a of a contraction from registers, where only their numbers change: by steps of the depth, then row tiles.
std::optional<SmallVector<Value>> ThreadProgram::getRegisterOperand(linalg::LinalgOp op, const Contraction &contraction,
                                                                    const Layout &accumulator, int64_t depth) {
  auto known = tiles.find(op->getOperand(contraction.operandA));
  if (known == tiles.end() || known->second.fragments.empty())
    return std::nullopt;
  int64_t warpRows = int64_t(1) << countBits(accumulator.getWarpBits(), 0);
  int64_t warpColumns = int64_t(1) << countBits(accumulator.getWarpBits(), 1);
  Layout operand = getMmaOperandA(accumulator.getExtent(0), depth, warpRows, warpColumns);
  Layout wanted = contraction.isTransposedA ? operand.project({1, 0}) : operand;
  OpFoldResults extents = getExtents(op->getOperand(contraction.operandA));
  unsigned depthDim = contraction.isTransposedA ? 0 : 1;
  for (const Fragment &fragment : known->second.fragments) {
    Conversion conversion = getConversion(fragment.layout, wanted);
    if (conversion != Conversion::None && conversion != Conversion::Registers)
      continue;
    SmallVector<Value> elements;
    for (int64_t step = 0; step < operand.getRepeat(1); ++step)
      for (int64_t row = 0; row < operand.getRepeat(0); ++row)
        for (int64_t i = 0; i < 8; ++i) {
          Layout::Point part = operand.getRegisterPart((row * operand.getRepeat(1) + step) * 8 + i);
          if (contraction.isTransposedA)
            std::swap(part[0], part[1]);
          int64_t number = *fragment.layout.findRegister(part);
          Value element = convertElement(fragment.values[number], contraction.narrowType);
          // Beyond the depth of the tile a register may hold anything.
          bool isNever = false;
          Value mask = getMask(fragment.layout, number, extents, depthDim, isNever);
          Value zero;
          if (isNever || mask)
            zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(contraction.narrowType));
          if (isNever)
            element = zero;
          else if (mask)
            element = arith::SelectOp::create(builder, loc, mask, element, zero);
          elements.push_back(element);
        }
    return pack(elements);
  }
  return std::nullopt;
}

Value ThreadProgram::convertElement(Value element, Type type) {
  if (element.getType() == type)
    return element;
  if (isa<FloatType>(type)) {
    if (element.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
      return arith::TruncFOp::create(builder, loc, type, element);
    return arith::ExtFOp::create(builder, loc, type, element);
  }
  return arith::ExtSIOp::create(builder, loc, type, element);
}

/// Without matrix instructions: each thread multiplies what its accumulators need, from shared memory, some steps of
/// the depth at a time.
LogicalResult ThreadProgram::emitScalarProducts(linalg::LinalgOp op, const Contraction &contraction, Fragment &result) {
  const Layout layout = result.layout;
  Type type = contraction.factorType;
  FailureOr<SmallVector<int64_t>> shape = getLoopShape(op);
  if (failed(shape))
    return failure();
  int64_t chunk = 16 / (type.getIntOrFloatBitWidth() / 8);
  int64_t depth = llvm::alignTo((*shape)[contraction.depthDim], chunk);
  FailureOr<SharedOperand> a = getSharedOperand(op, contraction, /*isA=*/true, layout.getExtent(0), depth);
  if (failed(a))
    return failure();
  FailureOr<SharedOperand> b = getSharedOperand(op, contraction, /*isA=*/false, layout.getExtent(1), depth);
  if (failed(b))
    return failure();
  auto loop = scf::ForOp::create(builder, loc, getI32(0), getI32(depth), getI32(chunk), result.values);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> sums(loop.getRegionIterArgs());
    // The registers of one axis are the same for each register of the other.
    auto loadFactors = [&](const SharedOperand &operand, unsigned axis,
                           DenseMap<int64_t, SmallVector<Value>> &factors) {
      Value thread = getThreadPart(layout, axis);
      if (!thread)
        thread = getI32(0);
      for (int64_t number = 0; number < layout.getNumRegisters(); ++number) {
        int64_t position = layout.getRegisterPart(number)[axis];
        if (factors.contains(position))
          continue;
        if (operand.isDepthContiguous) {
          Value loaded =
              loadAt(getSharedAddress(operand, thread, position, loop.getInductionVar(), 0), operand.type, chunk);
          for (int64_t i = 0; i < chunk; ++i)
            factors[position].push_back(
                convertElement(LLVM::ExtractElementOp::create(builder, loc, loaded, getI32(i)), type));
          continue;
        }
        int64_t run = std::min(chunk, layout.getVectorLength(axis));
        for (int64_t i = 0; i < chunk; ++i) {
          Value loaded =
              loadAt(getSharedAddress(operand, loop.getInductionVar(), i, thread, position), operand.type, run);
          for (int64_t j = 0; j < run; ++j) {
            Value element =
                run > 1 ? LLVM::ExtractElementOp::create(builder, loc, loaded, getI32(j)).getResult() : loaded;
            factors[position + j].push_back(convertElement(element, type));
          }
        }
      }
    };
    DenseMap<int64_t, SmallVector<Value>> rows, columns;
    loadFactors(*a, 0, rows);
    loadFactors(*b, 1, columns);
    bool isFloat = isa<FloatType>(type);
    for (int64_t i = 0; i < chunk; ++i)
      for (int64_t number = 0; number < layout.getNumRegisters(); ++number) {
        Layout::Point part = layout.getRegisterPart(number);
        Value x = rows[part[0]][i], y = columns[part[1]][i];
        sums[number] =
            isFloat ? arith::AddFOp::create(builder, loc, sums[number], arith::MulFOp::create(builder, loc, x, y))
                          .getResult()
                    : arith::AddIOp::create(builder, loc, sums[number], arith::MulIOp::create(builder, loc, x, y))
                          .getResult();
      }
    scf::YieldOp::create(builder, loc, sums);
  }
  result.values.assign(loop.getResults().begin(), loop.getResults().end());
  return success();
}

} // namespace fusion
