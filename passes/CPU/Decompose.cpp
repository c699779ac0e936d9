//===- Decompose.cpp - Rewrite what bufferization does not know -------------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUDECOMPOSE
#include "fusion/CPU/Passes.h.inc"

namespace {

/// Splat constants above this become a fill.
constexpr int64_t largeSplat = 4096;

/// A generic without inputs over a new tensor; `body` computes one element from its coordinates.
Value buildFromCoordinates(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                           function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType(), type.getEncoding());
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, TypeRange(empty.getType()), ValueRange(), ValueRange(empty), maps,
                                iterators, [&](OpBuilder &inner, Location innerLoc, ValueRange) {
                                  SmallVector<Value> coordinates;
                                  for (int64_t d = 0; d < type.getRank(); ++d)
                                    coordinates.push_back(linalg::IndexOp::create(inner, innerLoc, d));
                                  linalg::YieldOp::create(inner, innerLoc, body(inner, innerLoc, coordinates));
                                });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, loc, type, result);
  return result;
}

/// The index vector at `position` of the leading dims of `indices`, as index values.
SmallVector<Value> readIndexVector(OpBuilder &builder, Location loc, Value indices, ValueRange position,
                                   int64_t count) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> where(position);
    where.push_back(arith::ConstantIndexOp::create(builder, loc, i));
    Value index = tensor::ExtractOp::create(builder, loc, indices, where);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index);
    result.push_back(index);
  }
  return result;
}

struct DecomposeGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType source = op.getSourceType(), type = op.getResultType();
    ArrayRef<int64_t> gathered = op.getGatherDims();
    int64_t leading = op.getIndicesType().getRank() - 1;
    bool reduced = type.getRank() == leading + source.getRank() - int64_t(gathered.size());

    // Result dim -> source dim of the trailing part.
    SmallVector<int64_t> kept;
    for (int64_t d = 0; d < source.getRank(); ++d)
      if (!llvm::is_contained(gathered, d) || !reduced)
        kept.push_back(d);
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < leading; ++d)
      sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getIndices(), d));
    for (int64_t d : kept)
      sizes.push_back(llvm::is_contained(gathered, d) ? OpFoldResult(rewriter.getIndexAttr(1))
                                                      : tensor::getMixedSize(rewriter, loc, op.getSource(), d));

    Value result = buildFromCoordinates(
        rewriter, loc, type, sizes, [&](OpBuilder &b, Location l, ValueRange coordinates) -> Value {
          SmallVector<Value> vector =
              readIndexVector(b, l, op.getIndices(), coordinates.take_front(leading), gathered.size());
          SmallVector<Value> position(source.getRank());
          for (auto [i, d] : llvm::enumerate(kept))
            position[d] = coordinates[leading + i];
          for (auto [d, index] : llvm::zip_equal(gathered, vector))
            position[d] = index;
          return tensor::ExtractOp::create(b, l, op.getSource(), position);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct DecomposeScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ScatterOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType dest = op.getDestType(), source = op.getSourceType();
    ArrayRef<int64_t> scattered = op.getScatterDims();
    int64_t leading = op.getIndicesType().getRank() - 1;
    bool reduced = source.getRank() == leading + dest.getRank() - int64_t(scattered.size());

    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    SmallVector<Value> lower(leading, zero), upper, step(leading, one);
    for (int64_t d = 0; d < leading; ++d)
      upper.push_back(tensor::DimOp::create(rewriter, loc, op.getIndices(), d));

    auto insert = [&](OpBuilder &b, Location l, ValueRange position, Value into) -> Value {
      SmallVector<Value> vector = readIndexVector(b, l, op.getIndices(), position, scattered.size());
      // One slice of the source: leading coordinates fixed, the rest whole.
      SmallVector<OpFoldResult> sourceOffsets(position.begin(), position.end());
      SmallVector<OpFoldResult> sourceSizes(leading, b.getIndexAttr(1)), offsets, sizes;
      SmallVector<int64_t> sliceShape;
      int64_t sourceDim = leading;
      for (int64_t d = 0; d < dest.getRank(); ++d) {
        auto it = llvm::find(scattered, d);
        bool isScattered = it != scattered.end();
        OpFoldResult size = isScattered ? OpFoldResult(b.getIndexAttr(1)) : tensor::getMixedSize(b, l, op.getDest(), d);
        offsets.push_back(isScattered ? OpFoldResult(vector[it - scattered.begin()]) : OpFoldResult(b.getIndexAttr(0)));
        sizes.push_back(size);
        if (isScattered && reduced)
          continue;
        sourceOffsets.push_back(b.getIndexAttr(0));
        sourceSizes.push_back(size);
        sliceShape.push_back(source.getDimSize(sourceDim++));
      }
      SmallVector<OpFoldResult> sourceStrides(source.getRank(), b.getIndexAttr(1));
      SmallVector<OpFoldResult> strides(dest.getRank(), b.getIndexAttr(1));
      auto sliceType = RankedTensorType::get(sliceShape, source.getElementType());
      Value slice =
          tensor::ExtractSliceOp::create(b, l, sliceType, op.getSource(), sourceOffsets, sourceSizes, sourceStrides);
      return tensor::InsertSliceOp::create(b, l, slice, into, offsets, sizes, strides);
    };
    Value result;
    if (leading == 0) {
      result = insert(rewriter, loc, {}, op.getDest());
    } else {
      scf::LoopNest nest =
          scf::buildLoopNest(rewriter, loc, lower, upper, step, ValueRange(op.getDest()),
                             [&](OpBuilder &b, Location l, ValueRange position, ValueRange state) -> scf::ValueVector {
                               return {insert(b, l, position, state[0])};
                             });
      result = nest.results[0];
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct DecomposeBitcast : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::BitcastOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getSource());
    rewriter.replaceOp(
        op, buildFromCoordinates(rewriter, loc, type, sizes, [&](OpBuilder &b, Location l, ValueRange position) {
          Value element = tensor::ExtractOp::create(b, l, op.getSource(), position);
          return arith::BitcastOp::create(b, l, type.getElementType(), element).getResult();
        }));
    return success();
  }
};

struct DecomposeAggregated : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op, PatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op->getOperand(0).getType()))
      return failure();
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results) || results->size() != op->getNumResults())
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

/// Where control flow was lifted, a value that no path makes.
struct EmptyPoison : OpRewritePattern<ub::PoisonOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ub::PoisonOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    SmallVector<OpFoldResult> sizes;
    for (int64_t extent : type.getShape())
      sizes.push_back(rewriter.getIndexAttr(ShapedType::isDynamic(extent) ? 0 : extent));
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, type.getElementType(), type.getEncoding());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(rewriter, op.getLoc(), type, empty);
    rewriter.replaceOp(op, empty);
    return success();
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

struct FillLargeSplat : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!type || !splat || type.getNumElements() * 8 <= largeSplat || op.use_empty())
      return failure();
    auto element = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
    if (!element)
      return failure();
    Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), element);
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, scalar, empty);
    return success();
  }
};

/// Upstream writes each operand of a concatenation with tensor.insert_slice, which refuses the offset 0 in an axis of
/// extent 0. Where there is nothing to write, nothing is written.
struct DropEmptyConcatOperands : OpRewritePattern<tensor::ConcatOp> {
  explicit DropEmptyConcatOperands(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto isEmpty = [](Type type) { return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0); };
    RankedTensorType type = op.getResultType();
    if (isEmpty(type)) {
      ReifiedRankedShapedTypeDims shapes;
      if (failed(reifyResultShapes(rewriter, op, shapes)))
        return failure();
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, shapes[0], type.getElementType());
      return success();
    }
    SmallVector<Value> inputs(
        llvm::make_filter_range(op.getInputs(), [&](Value input) { return !isEmpty(input.getType()); }));
    if (inputs.empty() || inputs.size() == op.getInputs().size())
      return failure();
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, type, op.getDim(), inputs);
    return success();
  }
};

bool isInParallelLoop(Operation *op) { return op->getParentOfType<scf::ForallOp>() != nullptr; }

struct Decompose : impl::CPUDecomposeBase<Decompose> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet decompose(context);
    decompose.add<DropEmptyConcatOperands, DecomposeGather, DecomposeScatter, DecomposeBitcast, DecomposeAggregated,
                  EmptyPoison, LowerPack, LowerUnPack>(context);
    linalg::populateDecomposeWinogradOpsPatterns(decompose);
    linalg::populateDecomposePadPatterns(decompose);
    linalg::populateElementwiseToLinalgConversionPatterns(decompose);
    tensor::populateDecomposeTensorConcatPatterns(decompose);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(decompose), config)))
      return signalPassFailure();

    // Only outside of kernels: the destinations that a tile program names are chosen with care.
    RewritePatternSet splats(context);
    linalg::populateElementwiseOpsFusionPatterns(splats, [](OpOperand *) { return false; });
    if (failed(applyOutside(std::move(splats), [](Operation *op) { return isa<linalg::GenericOp>(op); })))
      return signalPassFailure();
    RewritePatternSet fills(context);
    fills.add<FillLargeSplat>(context);
    if (failed(applyOutside(std::move(fills), [](Operation *op) { return isa<arith::ConstantOp>(op); })))
      return signalPassFailure();
  }

  LogicalResult applyOutside(RewritePatternSet &&patterns, function_ref<bool(Operation *)> wanted) {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (wanted(op) && !isInParallelLoop(op))
        ops.push_back(op);
    });
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    return applyOpPatternsGreedily(ops, std::move(patterns), config);
  }
};

} // namespace
} // namespace fusion
