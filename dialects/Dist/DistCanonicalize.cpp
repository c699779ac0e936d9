//===- DistCanonicalize.cpp - Views become partitions of the root store ---===//

#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fusion::dist;

namespace {

/// The root store and the partition of it, if `store` is a view and the partition can be moved there.
struct OnRoot {
  Value store;
  PartitionInterface partition;
};

} // namespace

static std::optional<OnRoot> moveToRoot(Value store, PartitionInterface partition, ArrayRef<int64_t> domain) {
  auto view = store.getDefiningOp<ViewOp>();
  if (!view)
    return std::nullopt;
  PartitionInterface moved =
      composeWithView(partition, domain, cast<StoreType>(store.getType()).getShape(), view.getOffsets());
  if (!moved)
    return std::nullopt;
  return OnRoot{view.getSource(), moved};
}

static LogicalResult canonicalizeLaunch(LaunchOp op, PatternRewriter &rewriter) {
  SmallVector<Value> stores(op.getStores());
  SmallVector<Attribute> partitions(op.getPartitions().getValue());
  bool changed = false;
  for (auto [store, partition] : llvm::zip(stores, partitions)) {
    std::optional<OnRoot> root = moveToRoot(store, cast<PartitionInterface>(partition), op.getDomain());
    if (!root)
      continue;
    store = root->store;
    partition = root->partition;
    changed = true;
  }
  if (!changed)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getStoresMutable().assign(stores);
    op.setPartitionsAttr(rewriter.getArrayAttr(partitions));
  });
  return success();
}

void LaunchOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(canonicalizeLaunch);
}

static LogicalResult canonicalizeFill(FillOp op, PatternRewriter &rewriter) {
  std::optional<OnRoot> root = moveToRoot(op.getStore(), op.getPartition(), op.getDomain());
  if (!root)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getStoreMutable().assign(root->store);
    op.setPartitionAttr(root->partition);
  });
  return success();
}

void FillOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(canonicalizeFill); }

static LogicalResult canonicalizeCopy(CopyOp op, PatternRewriter &rewriter) {
  std::optional<OnRoot> source = moveToRoot(op.getSource(), op.getSourcePartition(), op.getDomain());
  std::optional<OnRoot> target = moveToRoot(op.getTarget(), op.getTargetPartition(), op.getDomain());
  if (!source && !target)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (source) {
      op.getSourceMutable().assign(source->store);
      op.setSourcePartitionAttr(source->partition);
    }
    if (target) {
      op.getTargetMutable().assign(target->store);
      op.setTargetPartitionAttr(target->partition);
    }
  });
  return success();
}

void CopyOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(canonicalizeCopy); }
