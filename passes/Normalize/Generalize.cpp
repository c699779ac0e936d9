//===- Generalize.cpp - Named operations on tensors become linalg.generic -----===//

#include "GenericRewriting.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace fusion {
#define GEN_PASS_DEF_GENERALIZE
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// Named linalg operations whose accesses are projections of the loops. Convolutions and poolings are not: their maps
/// add loops. Fills and transposes keep their names.
struct GeneralizeNamed : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(op) || !op.hasPureTensorSemantics())
      return failure();
    auto isProjection = [](AffineMap map) { return map.isProjectedPermutation(/*allowZeroInResults=*/true); };
    if (!llvm::all_of(op.getIndexingMapsArray(), isProjection))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Softmax along one axis, spelled as exporters spell it. The maximum starts at minus infinity, so that it is a plain
/// reduction; a row that holds a NaN, or nothing but minus infinity, gives NaN everywhere, as the operation itself
/// does.
struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
    if (!type || op->getNumResults() != 1 || !isa<FloatType>(type.getElementType()))
      return failure();
    Location loc = op.getLoc();
    auto elementType = cast<FloatType>(type.getElementType());
    int64_t rank = type.getRank(), axis = op.getDimension();
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    AffineMap row = identity.dropResult(axis);
    SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel), reduction = parallel;
    reduction[axis] = utils::IteratorType::reduction;

    SmallVector<OpFoldResult> rowShape;
    for (int64_t i = 0; i < rank; ++i)
      if (i != axis)
        rowShape.push_back(fusion::getExtent(rewriter, loc, op.getInput(), i));
    Value emptyRow = tensor::EmptyOp::create(rewriter, loc, rowShape, elementType);
    Value empty = fusion::createEmptyLike(rewriter, loc, op.getInput());
    auto resultType = cast<RankedTensorType>(empty.getType());

    auto reduce = [&](Value source, const APFloat &init, auto combine) {
      Value scalar = arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(elementType, init));
      Value filled = linalg::FillOp::create(rewriter, loc, scalar, emptyRow).getResult(0);
      return linalg::GenericOp::create(rewriter, loc, filled.getType(), source, filled, ArrayRef{identity, row},
                                       reduction,
                                       [&](OpBuilder &b, Location l, ValueRange args) {
                                         linalg::YieldOp::create(b, l, combine(b, l, args[0], args[1]));
                                       })
          .getResult(0);
    };
    auto map = [&](ValueRange sources, ArrayRef<AffineMap> maps, auto compute) {
      return linalg::GenericOp::create(
                 rewriter, loc, resultType, sources, empty, maps, parallel,
                 [&](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, compute(b, l, args)); })
          .getResult(0);
    };

    const llvm::fltSemantics &semantics = elementType.getFloatSemantics();
    Value max = reduce(op.getInput(), APFloat::getInf(semantics, /*Negative=*/true),
                       [](OpBuilder &b, Location l, Value in, Value out) -> Value {
                         return arith::MaximumFOp::create(b, l, in, out);
                       });
    Value shifted =
        map({op.getInput(), max}, {identity, row, identity}, [](OpBuilder &b, Location l, ValueRange args) -> Value {
          return arith::SubFOp::create(b, l, args[0], args[1]);
        });
    Value exponential = map(shifted, {identity, identity}, [](OpBuilder &b, Location l, ValueRange args) -> Value {
      return math::ExpOp::create(b, l, args[0]);
    });
    Value sum =
        reduce(exponential, APFloat::getZero(semantics), [](OpBuilder &b, Location l, Value in, Value out) -> Value {
          return arith::AddFOp::create(b, l, in, out);
        });
    Value quotient =
        map({exponential, sum}, {identity, row, identity}, [](OpBuilder &b, Location l, ValueRange args) -> Value {
          return arith::DivFOp::create(b, l, args[0], args[1]);
        });
    if (quotient.getType() != op->getResultTypes()[0])
      quotient = tensor::CastOp::create(rewriter, loc, op->getResultTypes()[0], quotient);
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

/// An elementwise scalar operation applied to tensors. Scalar operands, such as the condition of a select between two
/// tensors, are captured.
struct GeneralizeElementwise : RewritePattern {
  explicit GeneralizeElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 || op->getNumRegions() != 0)
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResultTypes()[0]);
    if (!type || type.getEncoding())
      return failure();
    SmallVector<Value> tensors;
    for (Value operand : op->getOperands()) {
      auto operandType = dyn_cast<RankedTensorType>(operand.getType());
      if (operandType && operandType.getRank() != type.getRank())
        return failure();
      if (operandType)
        tensors.push_back(operand);
      else if (isa<ShapedType>(operand.getType()))
        return failure();
    }
    if (tensors.empty())
      return failure();

    Location loc = op->getLoc();
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      shape.push_back(type.isDynamicDim(axis) ? fusion::getExtent(rewriter, loc, tensors.front(), axis)
                                              : OpFoldResult(rewriter.getIndexAttr(type.getDimSize(axis))));
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
    SmallVector<AffineMap> maps(tensors.size() + 1, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto body = [&](OpBuilder &b, Location l, ValueRange args) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(
            isa<RankedTensorType>(operand.getType()) ? args[llvm::find(tensors, operand) - tensors.begin()] : operand);
      OperationState state(l, op->getName(), operands, type.getElementType(), op->getAttrs());
      linalg::YieldOp::create(b, l, b.create(state)->getResults());
    };
    auto generic = linalg::GenericOp::create(rewriter, loc, empty.getType(), tensors, empty, maps, iterators, body);
    Value result = generic.getResult(0);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A tensor made from one scalar is a fill.
struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, PatternRewriter &rewriter) const override {
    if (op.getType().getEncoding())
      return failure();
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

/// `tensor.generate` computes each element from its position.
struct GenerateToGeneric : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GenerateOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getEncoding() || !op.getBody().hasOneBlock())
      return failure();
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

struct Generalize : fusion::impl::GeneralizeBase<Generalize> {
  using GeneralizeBase::GeneralizeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeSoftmax, GeneralizeElementwise, SplatToFill, GenerateToGeneric>(&getContext());
    patterns.add<GeneralizeNamed>(&getContext());
    unsigned before = countGenerics();
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    numGeneralized += countGenerics() - before;
  }

private:
  unsigned countGenerics() {
    unsigned count = 0;
    getOperation()->walk([&](linalg::GenericOp) { ++count; });
    return count;
  }
};

} // namespace
