//===- AssertDivisors.cpp - Divisions that have no quotient end the call ------===//

#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace fusion {
#define GEN_PASS_DEF_ASSERTDIVISORS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

bool isDivision(Operation *op) {
  return isSignedDivision(op) || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// The regions of named operations are not printed: nothing may be added to them.
bool isInNamedOp(Operation *op) {
  auto named = op->getParentOfType<linalg::LinalgOp>();
  return named && !isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(named);
}

struct AssertDivisors : fusion::impl::AssertDivisorsBase<AssertDivisors> {
  using AssertDivisorsBase::AssertDivisorsBase;

  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation()->walk([&](Operation *op) {
      if (isDivision(op) && op->getResult(0).getType().isIntOrIndex() && !isInNamedOp(op))
        divisions.push_back(op);
    });
    for (Operation *op : divisions)
      check(op);
  }

private:
  void check(Operation *op) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    Type type = rhs.getType();
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    APInt dividend, divisor;
    bool hasDividend = matchPattern(lhs, m_ConstantInt(&dividend));
    bool hasDivisor = matchPattern(rhs, m_ConstantInt(&divisor));
    bool mayBeZero = !hasDivisor || divisor.isZero();
    // The least number divided by -1 is not a number of the type.
    bool mayOverflow =
        isSignedDivision(op) && (!hasDivisor || divisor.isAllOnes()) && (!hasDividend || dividend.isMinSignedValue());
    OpBuilder builder(op);
    // Bodies of named operations have no places of their own.
    Location loc = isa<UnknownLoc>(op->getLoc()) ? op->getParentOp()->getLoc() : op->getLoc();
    auto constant = [&](const APInt &value) {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
    };
    auto compare = [&](Value value, const APInt &with) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, constant(with));
    };
    auto require = [&](Value holds, StringRef what) {
      cf::AssertOp::create(builder, loc, holds, ("'" + op->getName().getStringRef() + "' op " + what).str());
      ++numAsserts;
    };
    if (mayBeZero)
      require(compare(rhs, APInt::getZero(width)), "divides by zero");
    if (mayOverflow) {
      Value fits = compare(rhs, APInt::getAllOnes(width));
      if (!hasDividend)
        fits = arith::OrIOp::create(builder, loc, fits, compare(lhs, APInt::getSignedMinValue(width)));
      require(fits, "overflows");
    }
  }
};

} // namespace
