//===- ParallelizeOpaque.cpp - Threads for what no kernel holds -------------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUPARALLELIZEOPAQUE
#include "fusion/CPU/Passes.h.inc"

namespace {

/// Rows are cut into multiples of a cache line (of f32), so that two threads rarely write to the same one.
constexpr int64_t innermostGranularity = 16;

struct ParallelizeOpaque : impl::CPUParallelizeOpaqueBase<ParallelizeOpaque> {
  using CPUParallelizeOpaqueBase::CPUParallelizeOpaqueBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && !op->getParentOfType<scf::ForallOp>() &&
          !op->getParentOfType<linalg::LinalgOp>())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(tile(rewriter, op)))
        return signalPassFailure();
  }

  LogicalResult tile(IRRewriter &rewriter, linalg::LinalgOp op) {
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    int64_t work = 1;
    for (int64_t extent : extents) {
      // A loop of unknown extent counts as long.
      int64_t trips = ShapedType::isDynamic(extent) ? minimumWork.getValue() : extent;
      work = trips == 0 ? 0 : std::min(int64_t(1) << 40, work * std::min(trips, int64_t(1) << 20));
    }
    if (work < minimumWork)
      return success();

    rewriter.setInsertionPoint(op);
    auto tileable = dyn_cast<TilingInterface>(op.getOperation());
    if (!tileable)
      return success();
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    unsigned lastParallel = 0;
    for (auto [d, iterator] : llvm::enumerate(iterators))
      if (iterator == utils::IteratorType::parallel)
        lastParallel = d;
    SmallVector<OpFoldResult> sizes(extents.size(), rewriter.getIndexAttr(0));
    // Every block has at least the minimum of work.
    int64_t wanted = std::max<int64_t>(1, std::min<int64_t>(blocks, work / minimumWork));
    bool any = false;
    for (unsigned d = 0; d < extents.size() && wanted > 1; ++d) {
      if (iterators[d] != utils::IteratorType::parallel || extents[d] == 1)
        continue;
      int64_t granularity = d == lastParallel ? innermostGranularity : 1;
      if (ShapedType::isDynamic(extents[d])) {
        sizes[d] = getDynamicTile(rewriter, op, d, wanted, granularity);
        any = true;
        break;
      }
      int64_t tile = llvm::divideCeil(extents[d], std::min(wanted, extents[d]));
      tile = llvm::alignTo(tile, granularity);
      if (tile >= extents[d])
        continue;
      sizes[d] = rewriter.getIndexAttr(tile);
      wanted = llvm::divideCeil(wanted, llvm::divideCeil(extents[d], tile));
      any = true;
    }
    if (!any)
      return success();
    scf::SCFTilingOptions options;
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    options.setTileSizes(sizes);
    FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(rewriter, tileable, options);
    // An operation that refuses to be tiled runs as it is.
    if (failed(tiled))
      return success();
    rewriter.replaceOp(op, tiled->replacements);
    ++numTiled;
    return success();
  }

  /// max(1, ceil(extent / wanted)), rounded up.
  static OpFoldResult getDynamicTile(IRRewriter &rewriter, linalg::LinalgOp op, unsigned loop, int64_t wanted,
                                     int64_t granularity) {
    Location loc = op.getLoc();
    SmallVector<Range> domain = cast<TilingInterface>(op.getOperation()).getIterationDomain(rewriter);
    AffineExpr extent = rewriter.getAffineSymbolExpr(0);
    AffineExpr tile = extent.ceilDiv(wanted).ceilDiv(granularity) * granularity;
    AffineMap map = AffineMap::get(0, 1, {tile, rewriter.getAffineConstantExpr(granularity)}, rewriter.getContext());
    return affine::makeComposedFoldedAffineMax(rewriter, loc, map, {domain[loop].size});
  }
};

} // namespace
} // namespace fusion
