//===- NarrowF64.cpp - f64 islands of f32 programs are computed in f32 --------===//

#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace fusion {
#define GEN_PASS_DEF_NARROWF64
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

bool isWide(Type type) { return getElementTypeOrSelf(type).isF64(); }
bool isWideTensor(Value value) { return isa<RankedTensorType>(value.getType()) && isWide(value.getType()); }

Type narrowed(Type type) {
  if (!isWide(type))
    return type;
  Type f32 = Float32Type::get(type.getContext());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(f32);
  return f32;
}

TypedAttr narrowed(FloatAttr attribute) {
  APFloat value = attribute.getValue();
  bool losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(Float32Type::get(attribute.getContext()), value);
}

/// Bodies of scalar arithmetic, without operations that look at a float's bits.
bool isNarrowableBody(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &inner) {
    return isa<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect>(inner.getDialect()) &&
           !isa<arith::BitcastOp>(inner) && inner.getNumRegions() == 0;
  });
}

bool isCandidate(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (!generic.hasPureTensorSemantics() || !isNarrowableBody(*generic.getBody()))
      return false;
    auto isWideOp = [](Operation &inner) { return llvm::any_of(inner.getResultTypes(), isWide); };
    return llvm::any_of(op->getOperandTypes(), isWide) || llvm::any_of(*generic.getBody(), isWideOp);
  }
  if (!llvm::any_of(op->getResults(), isWideTensor))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return isa<linalg::FillOp, linalg::TransposeOp>(op) && structured.hasPureTensorSemantics();
  return isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op);
}

struct NarrowF64 : fusion::impl::NarrowF64Base<NarrowF64> {
  using NarrowF64Base::NarrowF64Base;

  void runOnOperation() override {
    SetVector<Operation *> island;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isCandidate(op))
        island.insert(op);
    });
    // What an island reads and what reads it is in the island; the rest falls off until that holds.
    bool changed = true;
    while (changed) {
      changed = island.remove_if([&](Operation *op) {
        auto comesFromOutside = [&](Value operand) {
          return isWideTensor(operand) && !island.contains(operand.getDefiningOp());
        };
        auto isUsedOutside = [&](Operation *user) { return !isa<tensor::DimOp>(user) && !island.contains(user); };
        if (llvm::any_of(op->getOperands(), comesFromOutside))
          return true;
        return llvm::any_of(op->getResults(), [&](Value result) {
          return isWideTensor(result) && llvm::any_of(result.getUsers(), isUsedOutside);
        });
      });
    }
    // Empty tensors and constants alone are no island.
    IRMapping mapping;
    OpBuilder builder(&getContext());
    for (Operation *op : island)
      narrow(builder, op, mapping);
    for (Operation *op : llvm::reverse(island)) {
      for (Value result : op->getResults())
        result.replaceAllUsesWith(mapping.lookup(result));
      op->erase();
    }
    numNarrowed += island.size();
  }

private:
  static Value narrowScalar(OpBuilder &builder, Value value) {
    FloatAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return arith::ConstantOp::create(builder, value.getLoc(), narrowed(constant));
    return arith::TruncFOp::create(builder, value.getLoc(), builder.getF32Type(), value);
  }

  void narrow(OpBuilder &builder, Operation *op, IRMapping &mapping) {
    builder.setInsertionPoint(op);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = cast<SplatElementsAttr>(constant.getValue());
      auto type = cast<ShapedType>(narrowed(constant.getType()));
      Attribute value = narrowed(FloatAttr::get(splat.getElementType(), splat.getSplatValue<APFloat>()));
      mapping.map(op->getResult(0),
                  arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, value)).getResult());
      return;
    }
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      if (isWideTensor(operand))
        operands.map(operand, mapping.lookup(operand));
      else if (isWide(operand.getType()))
        operands.map(operand, narrowScalar(builder, operand));
      else
        operands.map(operand, mapping.lookupOrDefault(operand));
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    Operation *result = op->cloneWithoutRegions(operands);
    builder.insert(result);
    for (OpResult value : result->getResults())
      value.setType(narrowed(value.getType()));
    if (generic)
      narrowBody(builder, generic, cast<linalg::GenericOp>(result));
    else
      for (auto [from, to] : llvm::zip(op->getRegions(), result->getRegions()))
        cloneFillBody(builder, from, to);
    mapping.map(op->getResults(), result->getResults());
  }

  /// Fills and transposes only yield an argument.
  static void cloneFillBody(OpBuilder &builder, Region &from, Region &to) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
    for (BlockArgument argument : to.getArguments())
      argument.setType(narrowed(argument.getType()));
    for (Operation &inner : to.front())
      for (OpResult value : inner.getResults())
        value.setType(narrowed(value.getType()));
  }

  static void narrowBody(OpBuilder &builder, linalg::GenericOp from, linalg::GenericOp to) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&to.getRegion());
    IRMapping mapping;
    for (BlockArgument argument : from.getBody()->getArguments())
      mapping.map(argument, body->addArgument(narrowed(argument.getType()), argument.getLoc()));
    for (Operation &inner : *from.getBody()) {
      for (Value operand : inner.getOperands())
        if (isWide(operand.getType()) && !mapping.contains(operand))
          mapping.map(operand, narrowScalar(builder, operand));
      if (isa<arith::ExtFOp, arith::TruncFOp>(inner)) {
        // A conversion to or from f64 may be none in f32.
        Value operand = mapping.lookupOrDefault(inner.getOperand(0));
        if (operand.getType() == narrowed(inner.getResult(0).getType())) {
          mapping.map(inner.getResult(0), operand);
          continue;
        }
      }
      if (auto constant = dyn_cast<arith::ConstantOp>(inner); constant && constant.getType().isF64()) {
        Value value =
            arith::ConstantOp::create(builder, inner.getLoc(), narrowed(cast<FloatAttr>(constant.getValue())));
        mapping.map(inner.getResult(0), value);
        continue;
      }
      Operation *clone = builder.clone(inner, mapping);
      for (OpResult value : clone->getResults())
        value.setType(narrowed(value.getType()));
    }
  }
};

} // namespace
