//===- SkipSlices.cpp - Slices of a loop that change nothing --------------===//
//
// A causal mask makes whole slices of keys irrelevant to a block of queries. Nothing here knows masks: a comparison of
// coordinates is assumed to have one value in a whole slice, the body of the loop is evaluated symbolically, and if
// each state then turns out to be its old self, slices in which the comparison has that value are left out of the loop.
//
// Elements that take part in arithmetic are taken to be finite, as in every kernel that skips masked elements:
// 0 * x is 0 here, and x - x as well.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

namespace {

/// A value of the loop's body at any point of the slice: a constant, or something with a number. Equal numbers are
/// equal values.
struct Symbol {
  std::optional<double> constant;
  unsigned number = 0;

  bool is(double value) const { return constant && *constant == value; }
  bool operator==(const Symbol &other) const { return constant == other.constant && number == other.number; }
  bool operator<(const Symbol &other) const {
    return std::tie(constant, number) < std::tie(other.constant, other.number);
  }
};

/// Evaluates spaces and scalars symbolically, assuming that `comparison` has the value `assumed`.
class Evaluator {
public:
  Evaluator(arith::CmpIOp comparison, bool assumed) { known[comparison.getResult()] = {double(assumed), 0}; }

  Symbol evaluate(Value value) {
    auto it = known.find(value);
    if (it != known.end())
      return it->second;
    Symbol symbol = compute(value);
    known[value] = symbol;
    return symbol;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  Symbol fresh() { return {std::nullopt, ++last}; }
  static Symbol makeConstant(double value) { return {value, 0}; }

  Symbol compute(Value value) {
    if (Value space = getMapOperand(value))
      return evaluate(space);
    Operation *op = value.getDefiningOp();
    if (!op)
      return fresh();
    if (auto map = dyn_cast<MapOp>(op))
      return evaluate(cast<YieldOp>(map.getBody().front().getTerminator()).getValue());
    if (auto broadcast = dyn_cast<OneToAllOp>(op))
      return evaluate(broadcast.getSource());
    if (auto reduction = dyn_cast<AllToOneOp>(op))
      return reduce(reduction);
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || !isPure(op) ||
        op->getNumRegions() != 0 || op->getNumResults() != 1)
      return fresh();
    return computeScalar(op);
  }

  Symbol reduce(AllToOneOp op) {
    Symbol source = evaluate(op.getSource());
    if (!source.constant)
      return fresh();
    switch (op.getReducer()) {
    case Reducer::Sum:
      return source.is(0) ? source : fresh();
    case Reducer::Prod:
      return source.is(1) ? source : fresh();
    case Reducer::Xor:
      return fresh();
    default:
      return source; // a slice is not empty, and these of equal values are that value
    }
  }

  Symbol computeScalar(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return makeConstant(number.getValueAsDouble());
      if (auto number = dyn_cast<IntegerAttr>(constant.getValue()); number && number.getValue().getBitWidth() == 1)
        return makeConstant(number.getValue().isOne());
      return fresh();
    }
    SmallVector<Symbol> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    // Of a selection by the same condition only one side matters.
    if (isa<arith::SelectOp>(op))
      for (unsigned side : {1u, 2u})
        if (auto inner = selections.find(operands[side].number);
            inner != selections.end() && !operands[side].constant && inner->second.front() == operands[0])
          operands[side] = inner->second[side];
    if (std::optional<Symbol> simple = simplify(op, operands))
      return *simple;
    std::string attributes;
    llvm::raw_string_ostream(attributes) << op->getAttrDictionary() << op->getResult(0).getType();
    auto [it, isNew] = numbers.try_emplace({op->getName().getStringRef().str() + attributes, operands}, Symbol());
    if (isNew)
      it->second = fresh();
    if (isa<arith::SelectOp>(op))
      selections[it->second.number] = operands;
    return it->second;
  }

  std::optional<Symbol> simplify(Operation *op, ArrayRef<Symbol> operands) {
    // An operation with `unit` as one operand is its other operand.
    auto drop = [&](double unit) -> std::optional<Symbol> {
      for (unsigned side : {0u, 1u})
        if (operands[side].is(unit))
          return operands[1 - side];
      return std::nullopt;
    };
    auto has = [&](double value) { return operands[0].is(value) || operands[1].is(value); };
    bool isSame = operands.size() == 2 && operands[0] == operands[1];
    if (isa<arith::AddFOp>(op))
      return has(-infinity) && !has(infinity) ? makeConstant(-infinity) : drop(0);
    if (isa<arith::SubFOp>(op)) {
      if (operands[1].is(0))
        return operands[0];
      if (isSame && !(operands[0].constant && std::isinf(*operands[0].constant)))
        return makeConstant(0);
      if (operands[0].is(-infinity) && !operands[1].is(-infinity))
        return operands[0];
    }
    if (isa<arith::MulFOp>(op)) {
      if (has(0) && !has(infinity) && !has(-infinity))
        return makeConstant(0);
      for (unsigned side : {0u, 1u})
        if (operands[side].is(-infinity) && operands[1 - side].constant && *operands[1 - side].constant > 0)
          return operands[side];
      return drop(1);
    }
    if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
      return isSame ? operands[0] : drop(-infinity);
    if (isa<math::ExpOp, math::Exp2Op>(op) && (operands[0].is(0) || operands[0].is(-infinity)))
      return makeConstant(operands[0].is(0) ? 1 : 0);
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        (operands[0].is(0) || operands[0].is(1) || operands[0].is(-infinity)))
      return operands[0];
    if (isa<arith::SelectOp>(op)) {
      if (operands[0].constant)
        return operands[operands[0].is(0) ? 2 : 1];
      if (operands[1] == operands[2])
        return operands[1];
    }
    if (auto compare = dyn_cast<arith::CmpFOp>(op);
        compare && compare.getPredicate() == arith::CmpFPredicate::OEQ && operands[0].constant && operands[1].constant)
      return makeConstant(*operands[0].constant == *operands[1].constant);
    if (op->getNumOperands() == 2 && op->getResult(0).getType().isInteger(1)) {
      if (isa<arith::AndIOp>(op))
        return has(0) ? makeConstant(0) : isSame ? operands[0] : drop(1);
      if (isa<arith::OrIOp>(op))
        return has(1) ? makeConstant(1) : isSame ? operands[0] : drop(0);
    }
    return std::nullopt;
  }

  llvm::DenseMap<Value, Symbol> known;
  std::map<std::pair<std::string, SmallVector<Symbol>>, Symbol> numbers;
  /// Operands of the selections among them.
  llvm::DenseMap<unsigned, SmallVector<Symbol>> selections;
  unsigned last = 0;
};

/// `constant + sum(coefficients[dim] * coordinate of dim)`.
struct Linear {
  llvm::MapVector<StringAttr, int64_t> coefficients;
  int64_t constant = 0;

  void add(const Linear &other, int64_t factor) {
    for (auto &[dim, coefficient] : other.coefficients)
      coefficients[dim] += factor * coefficient;
    constant += factor * other.constant;
  }
};

} // namespace

static std::optional<Linear> getLinear(Value value) {
  if (Value space = getMapOperand(value))
    return getLinear(space);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto broadcast = dyn_cast<OneToAllOp>(op))
    return getLinear(broadcast.getSource());
  if (auto map = dyn_cast<MapOp>(op))
    return getLinear(cast<YieldOp>(map.getBody().front().getTerminator()).getValue());
  Linear linear;
  if (auto index = dyn_cast<IndexOp>(op)) {
    linear.coefficients[index.getDimAttr()] = 1;
    return linear;
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    linear.constant = *constant;
    return linear;
  }
  // A cast to less than 64 bits could wrap around.
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) && !op->getResult(0).getType().isInteger(1) &&
      (op->getResult(0).getType().isIndex() || op->getResult(0).getType().isInteger(64)))
    return getLinear(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Linear> left = getLinear(op->getOperand(0)), right = getLinear(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    left->add(*right, isa<arith::AddIOp>(op) ? 1 : -1);
    return left;
  }
  return std::nullopt;
}

/// A linear form that is at most 0 exactly where `comparison` is `value`.
static std::optional<Linear> getCondition(arith::CmpIOp comparison, bool value) {
  std::optional<Linear> left = getLinear(comparison.getLhs()), right = getLinear(comparison.getRhs());
  if (!left || !right)
    return std::nullopt;
  arith::CmpIPredicate predicate = comparison.getPredicate();
  if (!value)
    predicate = arith::invertPredicate(predicate);
  Linear linear;
  switch (predicate) {
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::slt:
    linear.add(*left, 1);
    linear.add(*right, -1);
    linear.constant += predicate == arith::CmpIPredicate::slt;
    return linear;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::sgt:
    linear.add(*left, -1);
    linear.add(*right, 1);
    linear.constant += predicate == arith::CmpIPredicate::sgt;
    return linear;
  default:
    return std::nullopt;
  }
}

Value KernelLowering::getSliceEnd(TemporalOp loop, Value end) {
  Block &body = loop.getBody().front();
  auto next = cast<NextOp>(body.getTerminator());
  if (!next.getCollected().empty() || next.getStates().empty())
    return end;
  SmallVector<arith::CmpIOp> comparisons;
  loop.getBody().walk([&](arith::CmpIOp op) { comparisons.push_back(op); });
  for (arith::CmpIOp comparison : comparisons)
    for (bool assumed : {false, true}) {
      // Slices are needed up to the last one in which the comparison may have the other value.
      std::optional<Linear> condition = getCondition(comparison, !assumed);
      if (!condition || condition->coefficients.lookup(loop.getDimAttr()) != 1)
        continue;
      Evaluator evaluator(comparison, assumed);
      bool changesNothing = true;
      for (auto [state, value] : llvm::zip_equal(body.getArguments(), next.getStates()))
        changesNothing = changesNothing && evaluator.evaluate(state) == evaluator.evaluate(value);
      if (!changesNothing)
        continue;
      // min over the block of the other coordinates' part.
      OpBuilder &builder = build.at(0);
      AffineExpr rest = builder.getAffineConstantExpr(condition->constant);
      SmallVector<OpFoldResult> operands;
      auto operand = [&](OpFoldResult value) {
        operands.push_back(value);
        return builder.getAffineSymbolExpr(operands.size() - 1);
      };
      for (auto &[dim, coefficient] : condition->coefficients) {
        if (dim == loop.getDimAttr() || coefficient == 0)
          continue;
        const DimRange &range = build.getRange(dim, 0);
        AffineExpr coordinate = operand(range.offset);
        if (coefficient < 0)
          coordinate = coordinate + operand(range.size) - 1;
        rest = rest + coordinate * coefficient;
      }
      AffineExpr whole = operand(OpFoldResult(end));
      auto map = AffineMap::get(0, operands.size(), {whole, -rest + 1}, builder.getContext());
      OpFoldResult bound = affine::makeComposedFoldedAffineMin(builder, loop.getLoc(), map, operands);
      return getValueOrCreateConstantIndexOp(builder, loop.getLoc(), bound);
    }
  return end;
}
