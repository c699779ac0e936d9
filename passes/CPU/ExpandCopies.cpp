//===- ExpandCopies.cpp - Copies of buffers as structured operations --------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUEXPANDCOPIES
#include "fusion/CPU/Passes.h.inc"

namespace {

/// A contiguous copy of up to so many elements is cheaper inline than as a call.
constexpr int64_t inlineElements = 256;
/// A copy of fewer elements is not worth waking a thread.
constexpr int64_t parallelElements = 65536;
/// Number of blocks to aim at.
constexpr int64_t blocks = 64;

bool isContiguous(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity();
}

void emitCopy(OpBuilder &builder, Location loc, Value source, Value target) {
  int64_t rank = cast<MemRefType>(target.getType()).getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(builder, loc, ValueRange(source), ValueRange(target),
                            ArrayRef<AffineMap>{identity, identity}, iterators,
                            [](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, args[0]); });
}

/// The outermost dim that has more than one element, if the copy is large enough for several threads.
std::optional<int64_t> getParallelDim(memref::CopyOp copy, MemRefType type) {
  if (copy->getParentOfType<scf::ForallOp>())
    return std::nullopt;
  int64_t elements = 1;
  std::optional<int64_t> first;
  for (auto [d, extent] : llvm::enumerate(type.getShape())) {
    // A dim of unknown extent counts as long.
    elements *= ShapedType::isDynamic(extent) ? parallelElements : std::min(extent, parallelElements);
    elements = std::min(elements, parallelElements);
    if (extent != 1 && !first)
      first = d;
  }
  return elements == parallelElements ? first : std::nullopt;
}

void emitParallelCopy(OpBuilder &builder, Location loc, Value source, Value target, int64_t dim) {
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, target);
  OpFoldResult extent = sizes[dim];
  AffineExpr s0 = builder.getAffineSymbolExpr(0), s1 = builder.getAffineSymbolExpr(1),
             s2 = builder.getAffineSymbolExpr(2);
  AffineMap tileMap =
      AffineMap::get(0, 1, {s0.ceilDiv(blocks), builder.getAffineConstantExpr(1)}, builder.getContext());
  OpFoldResult tile = affine::makeComposedFoldedAffineMax(builder, loc, tileMap, {extent});
  OpFoldResult zero = builder.getIndexAttr(0);
  auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{zero}, ArrayRef<OpFoldResult>{extent},
                                    ArrayRef<OpFoldResult>{tile}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  OpFoldResult position = loop.getInductionVar(0);
  AffineMap sizeMap = AffineMap::get(0, 3, {s0, s1 - s2}, builder.getContext());
  sizes[dim] = affine::makeComposedFoldedAffineMin(builder, loc, sizeMap, {tile, extent, position});
  SmallVector<OpFoldResult> offsets(sizes.size(), zero), strides(sizes.size(), builder.getIndexAttr(1));
  offsets[dim] = position;
  Value from = memref::SubViewOp::create(builder, loc, source, offsets, sizes, strides);
  Value to = memref::SubViewOp::create(builder, loc, target, offsets, sizes, strides);
  emitCopy(builder, loc, from, to);
}

struct ExpandCopies : impl::CPUExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      Value source = copy.getSource(), target = copy.getTarget();
      if (source != target) {
        auto type = dyn_cast<MemRefType>(target.getType());
        if (!type || !isa<MemRefType>(source.getType())) {
          copy.emitOpError("copies a buffer of unknown rank, which cannot be compiled");
          return signalPassFailure();
        }
        OpBuilder builder(copy);
        bool small = type.hasStaticShape() && type.getNumElements() <= inlineElements;
        if (std::optional<int64_t> dim = getParallelDim(copy, type))
          emitParallelCopy(builder, copy.getLoc(), source, target, *dim);
        else if (isContiguous(source.getType()) && isContiguous(type) && !small)
          continue;
        else
          emitCopy(builder, copy.getLoc(), source, target);
      }
      copy.erase();
    }
  }
};

} // namespace
} // namespace fusion
