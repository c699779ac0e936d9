//===- Spatial.cpp - Legal spatial dimensions -----------------------------===//

#include "fusion/Schedule/Spatial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

llvm::DenseSet<Value> fusion::getInputLikeSpaces(GraphOp graph) {
  llvm::DenseSet<Value> result;
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isInput = isa<SourceOp, IndexOp>(op);
    bool isFunction = isa<MapOp, OneToAllOp>(op) &&
                      llvm::all_of(op->getOperands(), [&](Value operand) { return result.contains(operand); });
    if (isInput || isFunction)
      result.insert(op->getResult(0));
  });
  return result;
}

SmallVector<StringAttr> fusion::getLegalSpatialDims(GraphOp graph) {
  llvm::DenseSet<Value> inputLike = getInputLikeSpaces(graph);
  llvm::SmallPtrSet<Attribute, 8> illegal;
  auto requireDims = [&](SpaceType type) {
    for (Attribute dim : graph.getDimNames())
      if (!type.hasDim(cast<StringAttr>(dim)))
        illegal.insert(dim);
  };
  graph.getBody().walk([&](Operation *op) {
    if (auto reduce = dyn_cast<AllToOneOp>(op)) {
      illegal.insert_range(reduce.getAlong());
      requireDims(reduce.getType());
    } else if (auto broadcast = dyn_cast<OneToAllOp>(op)) {
      if (!inputLike.contains(broadcast.getSource()))
        illegal.insert_range(broadcast.getAlong());
    } else if (auto map = dyn_cast<MapOp>(op)) {
      if (!inputLike.contains(map))
        requireDims(map.getType());
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      for (Value value : output.getValues())
        requireDims(cast<SpaceType>(value.getType()));
    }
  });
  SmallVector<StringAttr> legal;
  for (Attribute dim : graph.getDimNames())
    if (!illegal.contains(dim))
      legal.push_back(cast<StringAttr>(dim));
  return legal;
}

SmallVector<StringAttr> fusion::getSplitDims(GraphOp graph) {
  llvm::DenseSet<Value> inputLike = getInputLikeSpaces(graph);
  auto isSplittable = [&](StringAttr dim) {
    bool isLegal = true, isReduced = false;
    auto isPartial = [&](Value value) {
      auto reduce = value.getDefiningOp<AllToOneOp>();
      return reduce && llvm::is_contained(reduce.getAlong(), dim);
    };
    graph.getBody().walk([&](Operation *op) {
      if (isa<TemporalOp>(op)) {
        isLegal = false;
      } else if (auto reduce = dyn_cast<AllToOneOp>(op)) {
        if (!isPartial(reduce)) {
          isLegal &= reduce.getType().hasDim(dim);
          return;
        }
        // Partial results of 16 bits would be rounded once more.
        Type element = reduce.getType().getElementType();
        isLegal &= llvm::all_of(reduce->getUsers(), llvm::IsaPred<OutputOp>) && !element.isF16() && !element.isBF16();
        isReduced = true;
      } else if (auto broadcast = dyn_cast<OneToAllOp>(op)) {
        if (!inputLike.contains(broadcast.getSource()))
          isLegal &= !llvm::is_contained(broadcast.getAlong(), dim);
      } else if (auto map = dyn_cast<MapOp>(op)) {
        if (!inputLike.contains(map))
          isLegal &= map.getType().hasDim(dim);
      } else if (auto output = dyn_cast<OutputOp>(op)) {
        for (Value value : output.getValues())
          isLegal &= cast<SpaceType>(value.getType()).hasDim(dim) || isPartial(value);
      }
    });
    return isLegal && isReduced;
  };
  SmallVector<StringAttr> dims;
  auto consider = [&](StringAttr dim) {
    if (!llvm::is_contained(dims, dim) && isSplittable(dim))
      dims.push_back(dim);
  };
  for (auto source : graph.getBody().getOps<SourceOp>())
    for (StringAttr dim : getNames(source.getAxes()))
      consider(dim);
  return dims;
}

MapOp fusion::getContractionProduct(AllToOneOp op) {
  auto map = op.getSource().getDefiningOp<MapOp>();
  if (!map || map.getNumOperands() < 2 || op.getReducer() != Reducer::Sum)
    return {};
  // The last thing that the body does is to multiply; casts of the factors may come before.
  Value yielded = cast<YieldOp>(map.getBody().front().getTerminator()).getValue();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp, arith::AndIOp>(yielded.getDefiningOp()))
    return {};
  unsigned numPartial = llvm::count_if(
      map.getOperands(), [](Value operand) { return isa_and_nonnull<OneToAllOp>(operand.getDefiningOp()); });
  return numPartial >= 2 ? map : MapOp();
}

MappingCounts fusion::countMappings(GraphOp graph) {
  MappingCounts counts;
  graph.getBody().walk([&](Operation *op) {
    if (isa<OneToAllOp>(op)) {
      ++counts.oneToAll;
    } else if (auto reduce = dyn_cast<AllToOneOp>(op)) {
      ++counts.allToOne;
    } else if (auto map = dyn_cast<MapOp>(op)) {
      bool isIterationSpace = map->hasOneUse() && isa<AllToOneOp>(*map->user_begin()) &&
                              getContractionProduct(cast<AllToOneOp>(*map->user_begin()));
      if (!isIterationSpace)
        counts.oneToOne +=
            llvm::count_if(map.getOperands(), [](Value operand) { return !operand.getDefiningOp<OneToAllOp>(); });
    }
  });
  return counts;
}
