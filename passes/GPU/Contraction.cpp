//===- Contraction.cpp - Products of tiles --------------------------------===//

#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace fusion {
namespace {

/// The argument of the body that `value` is, converted through `steps`; null if it is anything else.
BlockArgument stripCasts(Value value, SmallVectorImpl<Type> &steps) {
  while (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp>(cast))
      return BlockArgument();
    steps.insert(steps.begin(), value.getType());
    value = cast->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// The 16-bit type that all elements of `tile` are values of, though stored wider.
Type getNarrowType(Value tile) {
  Type type = getElementTypeOrSelf(tile.getType());
  if (isNarrow(type))
    return type;
  auto result = dyn_cast<OpResult>(tile);
  auto op = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  if (!op || !type.isF32() || op.getNumReductionLoops() != 0)
    return Type();
  Value yielded = op.getBody()->getTerminator()->getOperand(result.getResultNumber());
  if (auto extend = yielded.getDefiningOp<arith::ExtFOp>(); extend && isNarrow(extend.getIn().getType()))
    return extend.getIn().getType();
  return Type();
}

Type getNarrowType(Value tile, ArrayRef<Type> steps) {
  for (Type step : steps)
    if (isNarrow(step))
      return step;
  return getNarrowType(tile);
}

} // namespace

std::optional<Contraction> matchContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  Operation *add = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  BlockArgument accumulator = op.getRegionOutputArgs()[0];
  unsigned other = add->getOperand(0) == accumulator ? 1 : 0;
  Operation *multiply = add->getOperand(other).getDefiningOp();
  if (add->getOperand(1 - other) != accumulator || !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return std::nullopt;

  Contraction found;
  SmallVector<Type, 2> steps[2];
  unsigned numbers[2];
  SmallVector<unsigned> dims[2];
  for (unsigned i = 0; i < 2; ++i) {
    BlockArgument argument = stripCasts(multiply->getOperand(i), steps[i]);
    if (!argument || argument.getOwner() != op.getBlock() || argument.getArgNumber() >= 2)
      return std::nullopt;
    numbers[i] = argument.getArgNumber();
    if (!isa<RankedTensorType>(op->getOperand(numbers[i]).getType()))
      return std::nullopt;
    FailureOr<SmallVector<unsigned>> operandDims = getDims(op.getMatchingIndexingMap(&op->getOpOperand(numbers[i])));
    if (failed(operandDims) || operandDims->size() != 2)
      return std::nullopt;
    dims[i] = *operandDims;
  }
  FailureOr<SmallVector<unsigned>> resultDims = getDims(op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]));
  if (failed(resultDims) || resultDims->size() != 2 || numbers[0] == numbers[1])
    return std::nullopt;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  found.depthDim = reduced[0];
  found.rowDim = (*resultDims)[0];
  found.columnDim = (*resultDims)[1];
  unsigned a = llvm::is_contained(dims[0], found.rowDim) ? 0 : 1, b = 1 - a;
  auto hasDims = [](ArrayRef<unsigned> dims, unsigned x, unsigned y) {
    return llvm::is_contained(dims, x) && llvm::is_contained(dims, y);
  };
  if (!hasDims(dims[a], found.rowDim, found.depthDim) || !hasDims(dims[b], found.columnDim, found.depthDim))
    return std::nullopt;
  found.operandA = numbers[a];
  found.operandB = numbers[b];
  found.isTransposedA = dims[a][0] == found.depthDim;
  found.isTransposedB = dims[b][0] == found.columnDim;
  found.stepsA = steps[a];
  found.stepsB = steps[b];
  found.factorType = multiply->getResult(0).getType();
  found.resultType = add->getResult(0).getType();
  if (found.factorType != found.resultType)
    return std::nullopt;
  Type narrowA = getNarrowType(op->getOperand(found.operandA), found.stepsA);
  Type narrowB = getNarrowType(op->getOperand(found.operandB), found.stepsB);
  if (narrowA == narrowB)
    found.narrowType = narrowA;
  return found;
}

} // namespace fusion
