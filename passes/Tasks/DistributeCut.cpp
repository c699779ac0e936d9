//===- DistributeCut.cpp - How the loops of an operation become points ----===//

#include "Distribute.h"

#include "fusion/Analysis/FusibleOp.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

int64_t LoopCut::getTile(unsigned loop) const {
  int64_t points = isCut(loop) ? domain[pointDims[loop]] : 1;
  return std::max<int64_t>(llvm::divideCeil(extents[loop], points), 1);
}

std::optional<spacemap::Reducer> fusion::dist::getCombiner(linalg::LinalgOp op, unsigned index) {
  Block *body = op.getBlock();
  BlockArgument old = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  Operation *combine = body->getTerminator()->getOperand(index).getDefiningOp();
  if (!combine || !old.hasOneUse() || *old.user_begin() != combine)
    return std::nullopt;
  return getReducer(combine);
}

/// Why the loops cannot be cut so; empty if they can.
static std::string findObstacle(linalg::LinalgOp op, const LoopCut &cut) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool cutsReduction = false;
  for (unsigned loop = 0; loop < iterators.size(); ++loop)
    cutsReduction |= cut.isCut(loop) && iterators[loop] != utils::IteratorType::parallel;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr subscript : map.getResults()) {
      if (isa<AffineDimExpr, AffineConstantExpr>(subscript))
        continue;
      for (unsigned loop = 0; loop < iterators.size(); ++loop)
        if (cut.isCut(loop) && subscript.isFunctionOfDim(loop))
          return "a subscript that is no loop depends on it";
    }
    if (!op.isDpsInit(&operand))
      continue;
    if (!map.isProjectedPermutation())
      return "a result is not written through loops only";
    for (unsigned loop = 0; loop < iterators.size(); ++loop)
      if (cut.isCut(loop) && iterators[loop] == utils::IteratorType::parallel && !map.isFunctionOfDim(loop))
        return "a result does not have the loop";
    if (cutsReduction && !getCombiner(op, operand.getOperandNumber() - op.getNumDpsInputs()))
      return "its reduction is none of the known operators";
  }
  // An index counts from the start of the box.
  for (Operation &inner : *op.getBlock())
    if (auto index = dyn_cast<linalg::IndexOp>(inner); index && cut.isCut(index.getDim()))
      return "the body uses its index";
  return {};
}

FailureOr<LoopCut> fusion::dist::cutLoops(linalg::LinalgOp op, ArrayRef<int64_t> domain,
                                          std::optional<ArrayRef<int64_t>> dims) {
  LoopCut cut;
  cut.domain = llvm::to_vector(domain);
  cut.extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  cut.pointDims.assign(iterators.size(), -1);
  LoopCut whole = cut;
  whole.domain = {1};
  if (dims) {
    if (dims->size() != domain.size())
      return op.emitOpError("has 'dist.dims' of ") << dims->size() << " loops; it needs one for each of the "
                                                   << domain.size() << " dimensions of the launch domain, or -1";
    for (auto [position, loop] : llvm::enumerate(*dims)) {
      if (loop < -1 || loop >= int64_t(iterators.size()))
        return op.emitOpError("has 'dist.dims' with ") << loop << ", but there are " << iterators.size() << " loops";
      if (loop < 0) {
        if (domain[position] > 1)
          return op.emitOpError("leaves dimension ")
                 << position << " of the launch domain without a loop, so its points would do the same";
        continue;
      }
      if (cut.pointDims[loop] >= 0)
        return op.emitOpError("has loop ") << loop << " in 'dist.dims' twice";
      cut.pointDims[loop] = position;
    }
    std::string obstacle = findObstacle(op, cut);
    if (!obstacle.empty())
      return op.emitOpError("cannot be cut along the loops of 'dist.dims': ") << obstacle;
    return cut;
  }
  unsigned position = 0;
  for (auto kind : {utils::IteratorType::parallel, utils::IteratorType::reduction})
    for (unsigned loop = 0; loop < iterators.size() && position < domain.size(); ++loop)
      if (iterators[loop] == kind)
        cut.pointDims[loop] = position++;
  if (position < domain.size() || !findObstacle(op, cut).empty())
    return whole;
  return cut;
}

PartitionInterface fusion::dist::getPartition(const LoopCut &cut, AffineMap map, const StoredTensor &tensor,
                                              RankedTensorType type) {
  MLIRContext *context = map.getContext();
  bool isWhole = cast<StoreType>(tensor.store.getType()).getShape() == type.getShape();
  SmallVector<int64_t> tile;
  SmallVector<AffineExpr> colors;
  for (auto [subscript, extent] : llvm::zip(map.getResults(), type.getShape())) {
    auto loop = dyn_cast<AffineDimExpr>(subscript);
    bool isCut = loop && cut.isCut(loop.getPosition());
    isWhole &= !isCut;
    tile.push_back(isCut ? cut.getTile(loop.getPosition()) : std::max<int64_t>(extent, 1));
    colors.push_back(isCut ? getAffineDimExpr(cut.pointDims[loop.getPosition()], context)
                           : getAffineConstantExpr(0, context));
  }
  if (isWhole)
    return NoneAttr::get(context);
  return TiledAttr::get(context, tile, tensor.offsets, type.getShape(),
                        AffineMap::get(cut.domain.size(), 0, colors, context));
}

RankedTensorType fusion::dist::getBoxType(const LoopCut &cut, AffineMap map, RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [subscript, extent] : llvm::zip(map.getResults(), shape))
    if (auto loop = dyn_cast<AffineDimExpr>(subscript); loop && cut.isCut(loop.getPosition()))
      extent = ShapedType::kDynamic;
  return RankedTensorType::get(shape, type.getElementType());
}
