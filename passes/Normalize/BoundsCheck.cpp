//===- BoundsCheck.cpp - What one operation requires at run time --------------===//

#include "BoundsCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {

BoundsCheck::BoundsCheck(Operation *op, ExtentFacts &facts, SmallVectorImpl<Operation *> &made)
    : op(op), facts(facts), listener(made),
      // Between the writes of scf.forall.in_parallel there is no place for anything else.
      builder(isa<tensor::ParallelInsertSliceOp>(op) ? op->getParentOp() : op, &listener) {}

Value BoundsCheck::asValue(OpFoldResult value) { return getValueOrCreateConstantIndexOp(builder, op->getLoc(), value); }

void BoundsCheck::addCondition(Value holds) {
  if (facts.evaluateCondition(holds) == true)
    return;
  all = all ? arith::AndIOp::create(builder, op->getLoc(), all, holds).getResult() : holds;
}

void BoundsCheck::require(arith::CmpIPredicate predicate, OpFoldResult lhs, OpFoldResult rhs) {
  // Folding would erase the condition under the eyes of the facts.
  addCondition(arith::CmpIOp::create(builder, op->getLoc(), predicate, asValue(lhs), asValue(rhs)));
}

void BoundsCheck::requireOneEqual(ArrayRef<std::pair<OpFoldResult, OpFoldResult>> pairs) {
  Value any;
  for (auto [lhs, rhs] : pairs) {
    Value equal =
        arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::eq, asValue(lhs), asValue(rhs)).getResult();
    any = any ? arith::OrIOp::create(builder, op->getLoc(), any, equal).getResult() : equal;
  }
  addCondition(any);
}

void BoundsCheck::requireNotNegative(OpFoldResult value) {
  if (isa<Value>(value))
    require(arith::CmpIPredicate::sge, value, getIndex(0));
}

void BoundsCheck::requireRange(OpFoldResult offset, OpFoldResult size, OpFoldResult stride, OpFoldResult extent) {
  if (llvm::all_of(ArrayRef{offset, size, stride, extent}, [](OpFoldResult part) { return isa<Attribute>(part); }))
    return;
  requireNotNegative(offset);
  requireNotNegative(size);
  if (isa<Value>(stride))
    require(arith::CmpIPredicate::sgt, stride, getIndex(0));
  OpFoldResult last = add(multiply(add(size, getIndex(-1)), stride), offset);
  require(arith::CmpIPredicate::slt, last, extent);
}

void BoundsCheck::requireIndex(Value index, OpFoldResult extent) {
  std::optional<int64_t> constant = getConstantIntValue(index), known = getConstantIntValue(extent);
  if (constant && known && *constant >= 0 && *constant < *known)
    return;
  require(arith::CmpIPredicate::sge, index, getIndex(0));
  require(arith::CmpIPredicate::slt, index, extent);
}

void BoundsCheck::requireMemory(RankedTensorType type, ValueRange extents) {
  if (llvm::all_of(extents, [&](Value extent) { return facts.isMadeOfExtents(extent); }))
    return;
  // In f64, which does not wrap around. The limit is that of static types.
  constexpr double maxBytes = double(int64_t(1) << 46);
  double fixed = type.getElementType().isIntOrFloat() ? llvm::divideCeil(type.getElementTypeBitWidth(), 8) : 8;
  for (int64_t extent : type.getShape())
    fixed *= ShapedType::isDynamic(extent) ? 1.0 : double(extent);
  Location loc = op->getLoc();
  Value product;
  for (Value extent : extents) {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), extent);
    Value factor = arith::SIToFPOp::create(builder, loc, builder.getF64Type(), wide);
    product = product ? arith::MulFOp::create(builder, loc, product, factor).getResult() : factor;
  }
  Value limit = arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(maxBytes / std::max(fixed, 1.0)));
  addCondition(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, product, limit));
}

void BoundsCheck::emit(const Twine &message) {
  if (!all)
    return;
  cf::AssertOp::create(builder, op->getLoc(), all, ("'" + op->getName().getStringRef() + "' op " + message).str());
  facts.addCondition(all);
  all = nullptr;
}

OpFoldResult BoundsCheck::getExtent(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return getIndex(type.getDimSize(axis));
  return tensor::DimOp::create(builder, op->getLoc(), tensor, axis).getResult();
}

OpFoldResult BoundsCheck::getElement(Value shape, int64_t i) {
  Location loc = op->getLoc();
  Value element;
  if (auto elements = shape.getDefiningOp<tensor::FromElementsOp>())
    element = elements.getElements()[i];
  else
    element = tensor::ExtractOp::create(builder, loc, shape, asValue(getIndex(i)));
  if (std::optional<int64_t> constant = getConstantIntValue(element))
    return getIndex(*constant);
  if (element.getType().isIndex())
    return element;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element).getResult();
}

OpFoldResult BoundsCheck::add(OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
  if (a && b)
    return getIndex(*a + *b);
  if (b == 0)
    return lhs;
  if (a == 0)
    return rhs;
  return arith::AddIOp::create(builder, op->getLoc(), asValue(lhs), asValue(rhs)).getResult();
}

OpFoldResult BoundsCheck::multiply(OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
  if (a && b)
    return getIndex(*a * *b);
  if (b == 1)
    return lhs;
  if (a == 1)
    return rhs;
  return arith::MulIOp::create(builder, op->getLoc(), asValue(lhs), asValue(rhs)).getResult();
}

OpFoldResult BoundsCheck::divide(OpFoldResult lhs, int64_t by, bool up) {
  if (by == 1)
    return lhs;
  if (std::optional<int64_t> constant = getConstantIntValue(lhs))
    return getIndex(up ? llvm::divideCeilSigned(*constant, by) : llvm::divideFloorSigned(*constant, by));
  Value divisor = asValue(getIndex(by));
  return up ? arith::CeilDivSIOp::create(builder, op->getLoc(), asValue(lhs), divisor).getResult()
            : arith::FloorDivSIOp::create(builder, op->getLoc(), asValue(lhs), divisor).getResult();
}

} // namespace fusion
