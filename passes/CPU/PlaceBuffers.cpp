//===- PlaceBuffers.cpp - Static buffers for ragged tiles -------------------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUPLACEBUFFERS
#include "fusion/CPU/Passes.h.inc"

namespace {

/// A larger bound is no tile.
constexpr int64_t maxElements = int64_t(1) << 22;

/// Whether every use of the buffer, through views, can do with another layout.
bool canChangeLayout(Value buffer) {
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    if (isa<linalg::LinalgOp, memref::LoadOp, memref::StoreOp, memref::CopyOp, memref::DimOp>(user))
      continue;
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view || !canChangeLayout(view.getResult()))
      return false;
  }
  return true;
}

/// Replaces the buffer, and remakes the types of the views of it.
void replaceBuffer(OpBuilder &builder, Value from, Value to) {
  SmallVector<memref::SubViewOp> views;
  for (Operation *user : from.getUsers())
    if (auto view = dyn_cast<memref::SubViewOp>(user))
      views.push_back(view);
  from.replaceAllUsesWith(to);
  for (memref::SubViewOp view : views) {
    builder.setInsertionPoint(view);
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), cast<MemRefType>(to.getType()), view.getMixedOffsets(), view.getMixedSizes(),
        view.getMixedStrides());
    Value newView = memref::SubViewOp::create(builder, view.getLoc(), type, to, view.getMixedOffsets(),
                                              view.getMixedSizes(), view.getMixedStrides());
    replaceBuffer(builder, view, newView);
    view.erase();
  }
}

struct PlaceBuffers : impl::CPUPlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> allocs;
    getOperation().walk([&](memref::AllocOp alloc) {
      if (alloc->getParentOfType<scf::ForallOp>() && !alloc.getDynamicSizes().empty() &&
          alloc.getType().getLayout().isIdentity() && alloc.getSymbolOperands().empty())
        allocs.push_back(alloc);
    });
    for (memref::AllocOp alloc : allocs)
      bound(alloc);
  }

  void bound(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    SmallVector<int64_t> shape(type.getShape());
    int64_t elements = 1;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      if (ShapedType::isDynamic(extent)) {
        FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
            presburger::BoundType::UB, {alloc.getResult(), int64_t(d)}, /*stopCondition=*/nullptr, /*closedUB=*/true);
        if (failed(bound) || *bound < 0)
          return;
        extent = std::max<int64_t>(*bound, 1);
      }
      if (extent != 0 && elements > maxElements / extent)
        return;
      elements *= extent;
    }
    if (!canChangeLayout(alloc))
      return;
    OpBuilder builder(alloc);
    auto bounded = memref::AllocOp::create(builder, alloc.getLoc(), MemRefType::get(shape, type.getElementType()),
                                           ValueRange(), alloc.getAlignmentAttr());
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
        strides(shape.size(), builder.getIndexAttr(1));
    Value view = memref::SubViewOp::create(builder, alloc.getLoc(), bounded, offsets, alloc.getMixedSizes(), strides);
    replaceBuffer(builder, alloc, view);
    alloc.erase();
    ++numBounded;
  }
};

} // namespace
} // namespace fusion
