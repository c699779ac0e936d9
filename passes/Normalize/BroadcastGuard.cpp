//===- BroadcastGuard.cpp - Run-time broadcasts written as gathers ------------===//

#include "BroadcastGuard.h"

#include "GenericRewriting.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fusion {

namespace {

/// Reads one index of the body's `tensor.extract`.
std::optional<BroadcastGuard::Axis> matchAxis(Value index, Value source, unsigned axis, ExtentFacts &facts) {
  if (matchPattern(index, m_Zero()))
    return BroadcastGuard::Axis();
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    return BroadcastGuard::Axis{static_cast<unsigned>(loop.getDim()), false};
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getTrueValue(), m_Zero()))
    return std::nullopt;
  auto loop = select.getFalseValue().getDefiningOp<linalg::IndexOp>();
  auto comparison = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!loop || !comparison || comparison.getPredicate() != arith::CmpIPredicate::eq ||
      !(comparison.getLhs().getType().isIndex() || comparison.getLhs().getType().isInteger(64)))
    return std::nullopt;
  Polynomial extent = facts.getExtent(source, axis), one = Polynomial::constant(1);
  Polynomial lhs = facts.evaluate(comparison.getLhs()), rhs = facts.evaluate(comparison.getRhs());
  if (!(lhs == extent && rhs == one) && !(rhs == extent && lhs == one))
    return std::nullopt;
  return BroadcastGuard::Axis{static_cast<unsigned>(loop.getDim()), true};
}

bool isPlainBody(linalg::GenericOp op, Operation *extract) {
  return llvm::all_of(op.getBody()->without_terminator(), [&](Operation &inner) {
    return &inner == extract || (isMemoryEffectFree(&inner) && inner.getNumRegions() == 0);
  });
}

} // namespace

unsigned BroadcastGuard::getResultAxis(unsigned axis) const {
  linalg::GenericOp generic = op;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  return *map.getResultPosition(getAffineDimExpr(*axes[axis].loop, generic.getContext()));
}

Polynomial BroadcastGuard::getLoopExtent(ExtentFacts &facts, unsigned axis) const {
  linalg::GenericOp generic = op;
  return facts.getExtent(generic.getOutputs()[0], getResultAxis(axis));
}

std::optional<BroadcastGuard> matchBroadcastGuard(linalg::GenericOp op, ExtentFacts &facts) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return std::nullopt;
  auto extract = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract->getBlock() != op.getBody() || !isPlainBody(op, extract) ||
      op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
    return std::nullopt;

  BroadcastGuard guard{op, extract.getTensor(), {}};
  llvm::SmallBitVector seen(op.getNumLoops());
  for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
    std::optional<BroadcastGuard::Axis> matched = matchAxis(index, guard.source, axis, facts);
    if (!matched || (matched->loop && seen.test(*matched->loop)))
      return std::nullopt;
    if (matched->loop)
      seen.set(*matched->loop);
    guard.axes.push_back(*matched);
  }
  while (auto transpose = guard.source.getDefiningOp<linalg::TransposeOp>()) {
    if (!transpose.hasPureTensorSemantics())
      break;
    SmallVector<BroadcastGuard::Axis> axes(guard.axes.size());
    for (auto [axis, sourceAxis] : llvm::enumerate(transpose.getPermutation()))
      axes[sourceAxis] = guard.axes[axis];
    guard.source = transpose.getInput();
    guard.axes = std::move(axes);
  }
  return guard;
}

std::optional<unsigned> removeBroadcastGuard(OpBuilder &builder, const BroadcastGuard &guard, ExtentFacts &facts) {
  linalg::GenericOp op = guard.op;
  Location loc = op.getLoc();
  auto sourceType = cast<RankedTensorType>(guard.source.getType());
  Value init = op.getOutputs()[0];

  // Axes whose extent is that of the loop need no guard: an extent of 1 leaves no position but 0. What is left must be
  // dynamic, so that its type holds after broadcasting too.
  SmallVector<unsigned> open;
  for (auto [axis, access] : llvm::enumerate(guard.axes)) {
    if (!access.loop) {
      if (sourceType.getDimSize(axis) != 1)
        return std::nullopt;
      continue;
    }
    if (facts.getExtent(guard.source, axis) == guard.getLoopExtent(facts, axis))
      continue;
    if (!access.isGuarded || !sourceType.isDynamicDim(axis))
      return std::nullopt;
    open.push_back(axis);
  }

  // The branch for differing extents of an earlier run.
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  if (!open.empty() && branch && branch.getNumResults() == 1 && branch.thenYield().getOperand(0) == guard.source)
    return std::nullopt;

  builder.setInsertionPoint(op);
  Value source = guard.source;
  if (!open.empty()) {
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, source);
    Value equal;
    for (unsigned axis : open) {
      Value have = cast<Value>(shape[axis]);
      shape[axis] = getExtent(builder, loc, init, guard.getResultAxis(axis));
      Value want = getValueOrCreateConstantIndexOp(builder, loc, shape[axis]);
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, have, want);
      equal = equal ? arith::AndIOp::create(builder, loc, equal, same).getResult() : same;
    }
    auto keep = [&](OpBuilder &b, Location l) { scf::YieldOp::create(b, l, source); };
    auto broadcast = [&](OpBuilder &b, Location l) {
      Value empty = tensor::EmptyOp::create(b, l, shape, sourceType.getElementType());
      AffineMap identity = b.getMultiDimIdentityMap(sourceType.getRank());
      SmallVector<utils::IteratorType> parallel(sourceType.getRank(), utils::IteratorType::parallel);
      Value zero = arith::ConstantIndexOp::create(b, l, 0), one = arith::ConstantIndexOp::create(b, l, 1);
      SmallVector<Value> isOne(sourceType.getRank());
      for (unsigned axis : open) {
        Value extent = tensor::DimOp::create(b, l, source, axis);
        isOne[axis] = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, extent, one);
      }
      auto body = [&](OpBuilder &inner, Location at, ValueRange) {
        SmallVector<Value> position;
        for (unsigned axis = 0; axis < isOne.size(); ++axis) {
          Value index = linalg::IndexOp::create(inner, at, axis);
          position.push_back(isOne[axis] ? arith::SelectOp::create(inner, at, isOne[axis], zero, index).getResult()
                                         : index);
        }
        linalg::YieldOp::create(inner, at, tensor::ExtractOp::create(inner, at, source, position).getResult());
      };
      Value result =
          linalg::GenericOp::create(b, l, empty.getType(), ValueRange(), empty, identity, parallel, body).getResult(0);
      if (result.getType() != sourceType)
        result = tensor::CastOp::create(b, l, sourceType, result);
      scf::YieldOp::create(b, l, result);
    };
    source = scf::IfOp::create(builder, loc, equal, keep, broadcast).getResult(0);
    for (unsigned axis = 0; axis < guard.axes.size(); ++axis)
      facts.setExtent(source, axis, guard.axes[axis].loop ? guard.getLoopExtent(facts, axis) : Polynomial::constant(1));
  }

  // The source itself, or a copy with other axes.
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineExpr> reads;
  for (const BroadcastGuard::Axis &axis : guard.axes)
    reads.push_back(axis.loop ? getAffineDimExpr(*axis.loop, op.getContext())
                              : getAffineConstantExpr(0, op.getContext()));
  AffineMap read = AffineMap::get(op.getNumLoops(), 0, reads, op.getContext());
  Value result = source;
  if (read != written)
    result = linalg::GenericOp::create(
                 builder, loc, init.getType(), source, init, ArrayRef{read, written}, op.getIteratorTypesArray(),
                 [](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, args[0]); })
                 .getResult(0);
  if (result.getType() != op->getResultTypes()[0])
    result = tensor::CastOp::create(builder, loc, op->getResultTypes()[0], result);
  op->getResult(0).replaceAllUsesWith(result);
  return open.size();
}

} // namespace fusion
