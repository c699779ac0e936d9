//===- GenericRewriting.cpp - Rebuilding linalg.generic with other operands ---===//

#include "GenericRewriting.h"
#include "fusion/Analysis/FusibleOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {

bool isGenerator(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0 || op.getNumReductionLoops() != 0)
    return false;
  FailureOr<FusibleOp> fusible = analyzeFusible(op);
  return succeeded(fusible) && !fusible->readsInit;
}

bool boundsAllLoops(ArrayRef<AffineMap> maps) {
  if (maps.empty())
    return false;
  llvm::SmallBitVector bounded(maps.front().getNumDims());
  for (AffineMap map : maps)
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        bounded.set(dim.getPosition());
  return bounded.all();
}

SmallVector<AffineMap> mapsWithout(linalg::GenericOp op, const llvm::SmallBitVector &dropped) {
  SmallVector<AffineMap> maps;
  for (auto [index, map] : llvm::enumerate(op.getIndexingMapsArray()))
    if (index >= dropped.size() || !dropped.test(index))
      maps.push_back(map);
  return maps;
}

linalg::GenericOp dropInputs(RewriterBase &rewriter, linalg::GenericOp op, const llvm::SmallBitVector &dropped,
                             ArrayRef<Value> replacements) {
  SmallVector<Value> inputs;
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    if (!dropped.test(index))
      inputs.push_back(input);

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  auto result = linalg::GenericOp::create(rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(),
                                          rewriter.getAffineMapArrayAttr(mapsWithout(op, dropped)),
                                          op.getIteratorTypes(), op.getDocAttr(), op.getLibraryCallAttr());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    result->setDiscardableAttr(attribute.getName(), attribute.getValue());

  Block *body = op.getBody();
  for (unsigned index = op.getNumDpsInputs(); index-- > 0;) {
    if (!dropped.test(index))
      continue;
    if (index < replacements.size() && replacements[index])
      rewriter.replaceAllUsesWith(body->getArgument(index), replacements[index]);
    body->eraseArgument(index);
  }
  rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());
  rewriter.replaceOp(op, result.getResults());
  return result;
}

/// The tensor whose `axis` has the same extent by construction, as far up as that is plain to see.
static Value getExtentOrigin(Value tensor) {
  while (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
  return tensor;
}

OpFoldResult lookUpExtent(OpBuilder &builder, Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  if (auto empty = getExtentOrigin(tensor).getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[axis];
  return {};
}

bool isWholeAxis(Value tensor, int64_t axis, OpFoldResult offset, OpFoldResult size) {
  if (!isConstantIntValue(offset, 0))
    return false;
  OpBuilder builder(tensor.getContext());
  OpFoldResult extent = lookUpExtent(builder, tensor, axis);
  if (extent)
    return isEqualConstantIntOrValue(extent, size);
  auto dim = dyn_cast<Value>(size) ? cast<Value>(size).getDefiningOp<tensor::DimOp>() : nullptr;
  return dim && dim.getConstantIndex() == axis && getExtentOrigin(dim.getSource()) == getExtentOrigin(tensor);
}

OpFoldResult getExtent(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
  if (OpFoldResult known = lookUpExtent(builder, tensor, axis))
    return known;
  return tensor::DimOp::create(builder, loc, getExtentOrigin(tensor), axis).getResult();
}

Value createEmptyLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> dynamicExtents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dynamicExtents.push_back(cast<Value>(getExtent(builder, loc, tensor, axis)));
  return tensor::EmptyOp::create(builder, loc, type, dynamicExtents);
}

} // namespace fusion
