//===- FusibleOp.cpp - Which linalg ops are globally ranged mappings ----------===//

#include "fusion/Analysis/FusibleOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using fusion::spacemap::Reducer;

namespace fusion {

bool isSpaceElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() >= 1 && integer.getWidth() <= 64;
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

std::optional<Reducer> getReducer(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Reducer>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Reducer::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Reducer::Prod; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return Reducer::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return Reducer::Min; })
      .Case<arith::MaxNumFOp>([](auto) { return Reducer::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return Reducer::MinNum; })
      .Case<arith::MaxUIOp>([](auto) { return Reducer::MaxUnsigned; })
      .Case<arith::MinUIOp>([](auto) { return Reducer::MinUnsigned; })
      .Case<arith::AndIOp>([](auto) { return Reducer::And; })
      .Case<arith::OrIOp>([](auto) { return Reducer::Or; })
      .Case<arith::XOrIOp>([](auto) { return Reducer::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

TypedAttr getUniformConstant(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto fill = dyn_cast<linalg::FillOp>(def)) {
      if (!fill.hasPureTensorSemantics())
        return {};
      TypedAttr scalar;
      if (matchPattern(fill.getInputs()[0], m_Constant(&scalar)) && isa<FloatAttr, IntegerAttr>(scalar))
        return scalar.getType() == getElementTypeOrSelf(value) ? scalar : TypedAttr();
      return {};
    }
    if (auto splat = dyn_cast<tensor::SplatOp>(def)) {
      TypedAttr scalar;
      if (matchPattern(splat.getInput(), m_Constant(&scalar)) && isa<FloatAttr, IntegerAttr>(scalar))
        return scalar;
      return {};
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat)
        return {};
      auto scalar = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
      return scalar && isa<FloatAttr, IntegerAttr>(scalar) ? scalar : TypedAttr();
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::CastOp>(def)) {
      value = def->getOperand(0);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def)) {
      value = slice.getSource();
    } else if (auto transpose = dyn_cast<linalg::TransposeOp>(def)) {
      if (!transpose.hasPureTensorSemantics())
        return {};
      value = transpose.getInput();
    } else {
      return {};
    }
    if (!isa<RankedTensorType>(value.getType()))
      return {};
  }
  return {};
}

namespace {

/// Collects why an op is not fusible; `fail` is the tail of every refusal.
struct Refusal {
  std::string *reason;
  LogicalResult operator()(const Twine &text) const {
    if (reason)
      *reason = text.str();
    return failure();
  }
};

/// The type of `operand` is a tensor without encoding or a scalar, of elements that spaces can hold.
bool hasSupportedType(Value operand) {
  Type type = operand.getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding() && isSpaceElementType(tensor.getElementType());
  return isSpaceElementType(type);
}

/// Each result of the operand's map is a loop of its own, or the constant 0 at an axis of extent 1.
LogicalResult checkMap(linalg::GenericOp op, OpOperand &operand, Refusal refuse) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumSymbols() != 0)
    return refuse("an indexing map has symbols");
  llvm::SmallBitVector seen(map.getNumDims());
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (seen.test(dim.getPosition()))
        return refuse("an indexing map uses one loop for two axes");
      seen.set(dim.getPosition());
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0)
      return refuse("an indexing map is no projection of the loops");
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type.getDimSize(axis) != 1)
      return refuse("an indexing map reads position 0 of an axis whose extent is not 1");
  }
  return success();
}

/// Parallel loops are exactly the loops of the output map, except that loops of extent 1 may be missing.
LogicalResult checkLoops(linalg::GenericOp op, Refusal refuse) {
  AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool written = output.isFunctionOfDim(loop);
    if (kind == utils::IteratorType::parallel && !written && ranges[loop] != 1)
      return refuse("a parallel loop is not an axis of the result");
    if (kind == utils::IteratorType::reduction && written)
      return refuse("a reduction loop is an axis of the result");
  }
  return success();
}

/// Only side-effect-free scalar arithmetic without regions.
LogicalResult checkBody(Block &body, Refusal refuse, SetVector<Value> &captures) {
  for (Operation &inner : body) {
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != &body) {
        if (!isSpaceElementType(operand.getType()))
          return refuse("its body reads a tensor of the function (" + inner.getName().getStringRef() + ")");
        captures.insert(operand);
      }
    if (isa<linalg::YieldOp, linalg::IndexOp>(inner))
      continue;
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
        !isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()))
      return refuse("its body holds " + inner.getName().getStringRef());
    if (!llvm::all_of(inner.getResultTypes(), isSpaceElementType))
      return refuse("its body computes values that are no scalars of a supported type");
  }
  return success();
}

/// Whether `value` is computed from `argument`, inside the body.
bool dependsOn(Value value, BlockArgument argument) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (current == argument)
      return true;
    if (!seen.insert(current).second)
      continue;
    Operation *def = current.getDefiningOp();
    if (def && def->getBlock() == argument.getOwner())
      llvm::append_range(worklist, def->getOperands());
  }
  return false;
}

/// Whether every element of `init` is the identity of `reducer`; either zero is one for a sum.
bool holdsIdentity(Value init, Reducer reducer) {
  TypedAttr uniform = getUniformConstant(init);
  if (!uniform)
    return false;
  auto real = dyn_cast<FloatAttr>(uniform);
  if (real && reducer == Reducer::Sum)
    return real.getValue().isZero();
  return uniform == spacemap::getIdentity(reducer, uniform.getType());
}

} // namespace

FailureOr<FusibleOp> analyzeFusible(linalg::GenericOp op, std::string *reason) {
  Refusal refuse{reason};
  if (!op.hasPureTensorSemantics())
    return refuse("it works on buffers");
  if (op.getNumDpsInits() != 1)
    return refuse("it has several results");
  if (!llvm::all_of(op->getOperands(), hasSupportedType))
    return refuse("an operand has an unsupported element type or encoding");
  for (OpOperand &operand : op->getOpOperands())
    if (failed(checkMap(op, operand, refuse)))
      return failure();
  if (failed(checkLoops(op, refuse)))
    return failure();
  Block &body = *op.getBody();
  SetVector<Value> captures;
  if (failed(checkBody(body, refuse, captures)))
    return failure();

  FusibleOp result;
  result.captures.assign(captures.begin(), captures.end());
  Value yielded = body.getTerminator()->getOperand(0);
  BlockArgument initArgument = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  if (op.getNumReductionLoops() == 0) {
    result.combined = yielded;
    result.readsInit = dependsOn(yielded, initArgument);
    return result;
  }

  Operation *combine = yielded.getDefiningOp();
  std::optional<Reducer> reducer;
  if (combine && combine->getBlock() == &body)
    reducer = getReducer(combine);
  if (!reducer || !llvm::is_contained(combine->getOperands(), initArgument))
    return refuse("its reduction is none of sum, prod, max, min, and, or, xor of the old value and a new one");
  if (!spacemap::isLegal(*reducer, yielded.getType()))
    return refuse("its reduction is not defined on its element type");
  result.reducer = reducer;
  result.combined = combine->getOperand(combine->getOperand(0) == initArgument ? 1 : 0);
  if (dependsOn(result.combined, initArgument))
    return refuse("what it reduces depends on the old value");
  result.readsInit = !holdsIdentity(op.getDpsInitOperand(0)->get(), *reducer);
  return result;
}

} // namespace fusion
