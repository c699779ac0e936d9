//===- LowerMath.cpp - Fast instructions for f32 functions ----------------===//

#include "fusion/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_GPULOWERMATH
#include "fusion/GPU/Passes.h.inc"

namespace {

Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, builder.getF32Type(), builder.getStringAttr(name), operands)
      .getResult(0);
}

Value makeF32(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}

struct LowerExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    constexpr float log2e = 1.44269504f;
    Value scaled = arith::MulFOp::create(rewriter, loc, op.getOperand(), makeF32(rewriter, loc, log2e));
    rewriter.replaceOp(op, callIntrinsic(rewriter, loc, "llvm.nvvm.ex2.approx.ftz.f32", scaled));
    return success();
  }
};

struct LowerExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(op, callIntrinsic(rewriter, op.getLoc(), "llvm.nvvm.ex2.approx.ftz.f32", op.getOperand()));
    return success();
  }
};

struct LowerRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(op, callIntrinsic(rewriter, op.getLoc(), "llvm.nvvm.rsqrt.approx.ftz.f", op.getOperand()));
    return success();
  }
};

struct LowerDivision : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType(), f32 = rewriter.getF32Type();
    if (type.isF16() || type.isBF16()) {
      auto widen = [&](Value value) { return arith::ExtFOp::create(rewriter, loc, f32, value).getResult(); };
      Value wide = arith::DivFOp::create(rewriter, loc, widen(op.getLhs()), widen(op.getRhs()));
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, wide);
      return success();
    }
    if (!type.isF32())
      return failure();
    Value reciprocal;
    if (FloatAttr constant; matchPattern(op.getRhs(), m_Constant(&constant))) {
      APFloat inverse(1.0f);
      inverse.divide(constant.getValue(), APFloat::rmNearestTiesToEven);
      // A reciprocal that is 0, infinite or a denormal number is not good enough.
      if (!inverse.isNormal())
        return failure();
      reciprocal = makeF32(rewriter, loc, inverse.convertToFloat());
    } else if (matchPattern(op.getLhs(), m_OneFloat())) {
      rewriter.replaceOp(op, callIntrinsic(rewriter, loc, "llvm.nvvm.div.full", {op.getLhs(), op.getRhs()}));
      return success();
    } else {
      reciprocal = callIntrinsic(rewriter, loc, "llvm.nvvm.div.full", {makeF32(rewriter, loc, 1.0f), op.getRhs()});
    }
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), reciprocal);
    return success();
  }
};

struct LowerAbs : OpRewritePattern<math::AbsIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::AbsIOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isInteger())
      return failure();
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(op.getType()));
    Value negative = arith::SubIOp::create(rewriter, loc, zero, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MaxSIOp>(op, op.getOperand(), negative);
    return success();
  }
};

struct LowerMath : impl::GPULowerMathBase<LowerMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    patterns.add<LowerExp, LowerExp2, LowerRsqrt, LowerDivision, LowerAbs>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace fusion
