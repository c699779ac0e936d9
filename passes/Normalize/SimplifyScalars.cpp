//===- SimplifyScalars.cpp - Scalar arithmetic in the forms later stages know -===//

#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace fusion {
#define GEN_PASS_DEF_SIMPLIFYSCALARS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// Largest magnitude of an exponent that becomes a product: three squarings.
constexpr int64_t maxExponent = 8;

/// base^exponent by repeated squaring; an empty product is one, as for a power.
Value createPower(OpBuilder &builder, Location loc, Value base, int64_t exponent) {
  Type type = base.getType();
  bool isFloat = isa<FloatType>(type);
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    if (isFloat)
      return arith::MulFOp::create(builder, loc, lhs, rhs);
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  };
  auto getOne = [&]() -> Value { return arith::ConstantOp::create(builder, loc, builder.getOneAttr(type)); };
  Value product, square = base;
  for (uint64_t rest = std::abs(exponent); rest != 0; rest >>= 1) {
    if (rest & 1)
      product = product ? multiply(product, square) : square;
    if (rest > 1)
      square = multiply(square, square);
  }
  if (!product)
    return getOne();
  if (exponent < 0)
    return arith::DivFOp::create(builder, loc, getOne(), product);
  return product;
}

/// The whole number that `value` is known to be, if its magnitude is small.
std::optional<int64_t> getSmallWholeNumber(Value value) {
  APInt integer;
  APFloat real(0.0);
  if (matchPattern(value, m_ConstantInt(&integer))) {
    if (integer.getSignificantBits() > 32)
      return std::nullopt;
    int64_t number = integer.getSExtValue();
    return std::abs(number) <= maxExponent ? std::optional(number) : std::nullopt;
  }
  if (matchPattern(value, m_ConstantFloat(&real))) {
    double number = real.convertToDouble();
    if (std::abs(number) <= maxExponent && number == std::trunc(number))
      return static_cast<int64_t>(number);
  }
  return std::nullopt;
}

template <typename PowerOp>
struct ExpandPower : OpRewritePattern<PowerOp> {
  using OpRewritePattern<PowerOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(PowerOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isIntOrFloat())
      return failure();
    std::optional<int64_t> exponent = getSmallWholeNumber(op.getRhs());
    if (!exponent || (isa<IntegerType>(type) && *exponent < 0))
      return failure();
    Location loc = op.getLoc();
    auto floatType = dyn_cast<FloatType>(type);
    if (!floatType || floatType.getWidth() >= 32) {
      rewriter.replaceOp(op, createPower(rewriter, loc, op.getLhs(), *exponent));
      return success();
    }
    Value wide = arith::ExtFOp::create(rewriter, loc, rewriter.getF32Type(), op.getLhs());
    Value power = createPower(rewriter, loc, wide, *exponent);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, power);
    return success();
  }
};

/// The truncation of a constant is the constant rounded to nearest even, representable or not.
struct FoldTruncatedConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(op.getType());
    FloatAttr constant;
    if (!type || !matchPattern(op.getIn(), m_Constant(&constant)))
      return failure();
    if (op.getRoundingmode() && *op.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return failure();
    APFloat value = constant.getValue();
    bool losesInfo = false;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getFloatAttr(type, value));
    return success();
  }
};

/// A square root is correctly rounded, so that of a constant can be taken in f64 and rounded.
struct FoldSqrtOfConstant : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SqrtOp op, PatternRewriter &rewriter) const override {
    FloatAttr constant;
    if (!isa<Float16Type, BFloat16Type, Float32Type>(op.getType()) ||
        !matchPattern(op.getOperand(), m_Constant(&constant)))
      return failure();
    double argument = constant.getValueAsDouble();
    if (!(argument >= 0))
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getFloatAttr(op.getType(), std::sqrt(argument)));
    return success();
  }
};

/// Widening keeps order and equality, NaN included.
struct NarrowComparison : OpRewritePattern<arith::CmpFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpFOp op, PatternRewriter &rewriter) const override {
    auto widening = op.getLhs().getDefiningOp<arith::ExtFOp>();
    if (!widening)
      widening = op.getRhs().getDefiningOp<arith::ExtFOp>();
    if (!widening || !isa<FloatType>(widening.getIn().getType()))
      return failure();
    auto type = cast<FloatType>(widening.getIn().getType());
    Value lhs = narrow(rewriter, op.getLhs(), type), rhs = narrow(rewriter, op.getRhs(), type);
    if (!lhs || !rhs)
      return failure();
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, op.getPredicate(), lhs, rhs, op.getFastmath());
    return success();
  }

private:
  /// The value of `type` whose widening `value` is. Null if there is none.
  static Value narrow(PatternRewriter &rewriter, Value value, FloatType type) {
    if (auto extension = value.getDefiningOp<arith::ExtFOp>())
      return extension.getIn().getType() == type ? extension.getIn() : Value();
    FloatAttr constant;
    if (!matchPattern(value, m_Constant(&constant)) || constant.getValue().isNaN())
      return {};
    APFloat narrowed = constant.getValue();
    bool losesInfo = false;
    narrowed.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (losesInfo)
      return {};
    return arith::ConstantOp::create(rewriter, value.getLoc(), rewriter.getFloatAttr(type, narrowed));
  }
};

struct SimplifyScalars : fusion::impl::SimplifyScalarsBase<SimplifyScalars> {
  using SimplifyScalarsBase::SimplifyScalarsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandPower<math::FPowIOp>, ExpandPower<math::PowFOp>, ExpandPower<math::IPowIOp>,
                 FoldTruncatedConstant, FoldSqrtOfConstant, NarrowComparison>(&getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
