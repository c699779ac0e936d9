//===- VectorizeReduction.cpp - Combiners of reductions -----------------------------------------------------------===//

#include "VectorizeReduction.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fusion::cpu {

static std::optional<Combiner::Kind> kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Combiner::Kind>>(op)
      .Case([](arith::AddFOp) { return Combiner::AddF; })
      .Case([](arith::MulFOp) { return Combiner::MulF; })
      .Case([](arith::MaximumFOp) { return Combiner::MaximumF; })
      .Case([](arith::MinimumFOp) { return Combiner::MinimumF; })
      .Case([](arith::MaxNumFOp) { return Combiner::MaxNumF; })
      .Case([](arith::MinNumFOp) { return Combiner::MinNumF; })
      .Case([](arith::AddIOp) { return Combiner::AddI; })
      .Case([](arith::MulIOp) { return Combiner::MulI; })
      .Case([](arith::MaxSIOp) { return Combiner::MaxSI; })
      .Case([](arith::MinSIOp) { return Combiner::MinSI; })
      .Case([](arith::MaxUIOp) { return Combiner::MaxUI; })
      .Case([](arith::MinUIOp) { return Combiner::MinUI; })
      .Case([](arith::AndIOp) { return Combiner::And; })
      .Case([](arith::OrIOp) { return Combiner::Or; })
      .Case([](arith::XOrIOp) { return Combiner::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

/// `select(cmpf(a, b), a, b)` with an ordered strict or non-strict comparison, in any order of acc and element. An
/// unordered comparison is not associative in the presence of NaN.
static FailureOr<Combiner> matchSelect(arith::SelectOp select, BlockArgument acc) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || !compare->hasOneUse() || compare->getBlock() != select->getBlock())
    return failure();
  bool greater;
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
    greater = true;
    break;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
    greater = false;
    break;
  default:
    return failure();
  }
  Value left = compare.getLhs(), right = compare.getRhs();
  Value element = left == acc ? right : left;
  if (element == acc || (left != acc && right != acc))
    return failure();
  bool picksLeft = select.getTrueValue() == left && select.getFalseValue() == right;
  bool picksRight = select.getTrueValue() == right && select.getFalseValue() == left;
  if (!picksLeft && !picksRight)
    return failure();
  // A NaN makes the comparison false: only where the accumulator is the false value does it survive a NaN, and only
  // then is the combination associative.
  if (select.getFalseValue() != acc)
    return failure();
  Combiner combiner;
  combiner.kind = greater == picksLeft ? Combiner::SelectMaxF : Combiner::SelectMinF;
  combiner.element = element;
  combiner.ops = {compare, select};
  return combiner;
}

FailureOr<Combiner> matchCombiner(Value yielded, BlockArgument acc) {
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getBlock() != acc.getOwner() || !op->hasOneUse())
    return failure();
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    FailureOr<Combiner> combiner = matchSelect(select, acc);
    if (failed(combiner) || std::distance(acc.use_begin(), acc.use_end()) != 2)
      return failure();
    return combiner;
  }
  if (!acc.hasOneUse() || *acc.user_begin() != op)
    return failure();
  std::optional<Combiner::Kind> kind = kindOf(op);
  if (!kind)
    return failure();
  Combiner combiner;
  combiner.kind = *kind;
  combiner.element = op->getOperand(0) == acc ? op->getOperand(1) : op->getOperand(0);
  combiner.ops = {op};
  return combiner;
}

Value combine(ImplicitLocOpBuilder &b, Combiner::Kind kind, Value acc, Value element) {
  // The sign of a zero maximum is not worth an instruction per vector.
  auto noSignedZeros = arith::FastMathFlags::nsz;
  switch (kind) {
  case Combiner::AddF:
    return arith::AddFOp::create(b, acc, element);
  case Combiner::MulF:
    return arith::MulFOp::create(b, acc, element);
  case Combiner::MaximumF:
    return arith::MaximumFOp::create(b, acc, element, noSignedZeros);
  case Combiner::MinimumF:
    return arith::MinimumFOp::create(b, acc, element, noSignedZeros);
  case Combiner::MaxNumF:
    return arith::MaxNumFOp::create(b, acc, element, noSignedZeros);
  case Combiner::MinNumF:
    return arith::MinNumFOp::create(b, acc, element, noSignedZeros);
  case Combiner::SelectMaxF:
  case Combiner::SelectMinF: {
    auto predicate = kind == Combiner::SelectMaxF ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value better = arith::CmpFOp::create(b, predicate, element, acc);
    return arith::SelectOp::create(b, better, element, acc);
  }
  case Combiner::AddI:
    return arith::AddIOp::create(b, acc, element);
  case Combiner::MulI:
    return arith::MulIOp::create(b, acc, element);
  case Combiner::MaxSI:
    return arith::MaxSIOp::create(b, acc, element);
  case Combiner::MinSI:
    return arith::MinSIOp::create(b, acc, element);
  case Combiner::MaxUI:
    return arith::MaxUIOp::create(b, acc, element);
  case Combiner::MinUI:
    return arith::MinUIOp::create(b, acc, element);
  case Combiner::And:
    return arith::AndIOp::create(b, acc, element);
  case Combiner::Or:
    return arith::OrIOp::create(b, acc, element);
  case Combiner::Xor:
    return arith::XOrIOp::create(b, acc, element);
  }
  llvm_unreachable("all kinds are handled");
}

TypedAttr neutralElement(ImplicitLocOpBuilder &b, Combiner::Kind kind, Type type) {
  auto infinity = [&](bool negative) {
    return b.getFloatAttr(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), negative));
  };
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  auto integer = [&](const APInt &value) { return b.getIntegerAttr(type, value); };
  switch (kind) {
  case Combiner::AddF:
    return b.getFloatAttr(type, -0.0);
  case Combiner::MulF:
    return b.getFloatAttr(type, 1.0);
  case Combiner::MaximumF:
  case Combiner::MaxNumF:
  case Combiner::SelectMaxF:
    return infinity(/*negative=*/true);
  case Combiner::MinimumF:
  case Combiner::MinNumF:
  case Combiner::SelectMinF:
    return infinity(/*negative=*/false);
  case Combiner::AddI:
  case Combiner::Or:
  case Combiner::Xor:
  case Combiner::MaxUI:
    return integer(APInt::getZero(width));
  case Combiner::MulI:
    return integer(APInt(width, 1));
  case Combiner::MaxSI:
    return integer(APInt::getSignedMinValue(width));
  case Combiner::MinSI:
    return integer(APInt::getSignedMaxValue(width));
  case Combiner::MinUI:
  case Combiner::And:
    return integer(APInt::getAllOnes(width));
  }
  llvm_unreachable("all kinds are handled");
}

Value combineLanes(ImplicitLocOpBuilder &b, Combiner::Kind kind, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane);
      high.push_back(lane + lanes);
    }
    Value lower = vector::ShuffleOp::create(b, vector, vector, low);
    Value upper = vector::ShuffleOp::create(b, vector, vector, high);
    vector = combine(b, kind, lower, upper);
  }
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}

} // namespace fusion::cpu
