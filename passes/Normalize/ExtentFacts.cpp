//===- ExtentFacts.cpp - What is known about run-time extents -----------------===//

#include "ExtentFacts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fusion {

/// Sums of more terms, products of more factors and chains of more operations are taken as unknown: no extent is like
/// that, and a long piece of scalar code must cost neither time nor stack.
static constexpr size_t maxTerms = 16, maxFactors = 12;
static constexpr unsigned maxDepth = 200;

static bool isIndexLike(Type type) { return type.isIndex() || type.isInteger(64); }

ExtentFacts::Scope::Scope(ExtentFacts &facts)
    : facts(facts), numEqualities(facts.equalities.size()), numNonNegative(facts.nonNegative.size()),
      numClauses(facts.clauses.size()), numLoopExtents(facts.loopExtents.size()) {}

ExtentFacts::Scope::~Scope() {
  facts.equalities.resize(numEqualities);
  facts.nonNegative.resize(numNonNegative);
  facts.clauses.resize(numClauses);
  facts.forgetLoopExtents(numLoopExtents);
  facts.cache.clear();
}

unsigned ExtentFacts::getAtom(Key key, bool isExtent) {
  auto [entry, isNew] = atomOf.try_emplace(key, atoms.size());
  if (isNew)
    atoms.push_back({key, isExtent});
  return entry->second;
}

std::optional<std::pair<Value, int64_t>> ExtentFacts::getExtentOfAtom(unsigned id) const {
  if (!atoms[id].isExtent)
    return std::nullopt;
  return atoms[id].key;
}

Polynomial ExtentFacts::normalize(Polynomial polynomial) const {
  // Each equality was normalised by those before it, and its atom does not occur in its value.
  for (const auto &[atom, value] : equalities)
    if (polynomial.contains(atom))
      polynomial = polynomial.substitute(atom, value);
  return polynomial;
}

void ExtentFacts::addEquality(const Polynomial &lhs, const Polynomial &rhs) {
  Polynomial first = normalize(lhs), second = normalize(rhs);
  if (first == second)
    return;
  std::optional<unsigned> a = first.getAtom(), b = second.getAtom();
  // The older name stays, a constant always.
  if (b && (!a || *a < *b) && !first.contains(*b))
    equalities.push_back({*b, first});
  else if (a && !second.contains(*a))
    equalities.push_back({*a, second});
  cache.clear();
}

void ExtentFacts::setExtent(Value tensor, int64_t axis, const Polynomial &extent) { stated[{tensor, axis}] = extent; }

void ExtentFacts::addCondition(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    addCondition(both.getLhs());
    addCondition(both.getRhs());
    return;
  }
  if (Clause clause; addLiterals(condition, clause))
    clauses.push_back(std::move(clause));
  auto comparison = condition.getDefiningOp<arith::CmpIOp>();
  if (!comparison || !isIndexLike(comparison.getLhs().getType()))
    return;
  Polynomial lhs = evaluate(comparison.getLhs()), rhs = evaluate(comparison.getRhs());
  if (comparison.getPredicate() == arith::CmpIPredicate::eq)
    return addEquality(lhs, rhs);
  if (comparison.getPredicate() == arith::CmpIPredicate::sge && lhs.getAtom() && isNonNegative(rhs)) {
    nonNegative.push_back(*lhs.getAtom());
    cache.clear();
  }
}

void ExtentFacts::addRange(Value index, const Polynomial &extent) {
  if (std::optional<unsigned> atom = evaluate(index).getAtom())
    ranges.try_emplace(*atom, extent);
}

ExtentFacts::Literal ExtentFacts::makeLiteral(arith::CmpIPredicate predicate, Polynomial lhs, Polynomial rhs) const {
  using P = arith::CmpIPredicate;
  lhs = normalize(lhs);
  rhs = normalize(rhs);
  const Polynomial zero, one = Polynomial::constant(1);
  if (predicate == P::eq || predicate == P::ne) {
    Polynomial difference = lhs - rhs, negated = rhs - lhs;
    return {predicate, std::min(difference, negated), zero};
  }
  // Order is a difference only where that cannot wrap around; a constant is taken not to be the last number there is.
  if (!(isPlain(lhs) && isPlain(rhs)) && !lhs.getConstant() && !rhs.getConstant())
    return {predicate, lhs, rhs};
  switch (predicate) {
  case P::sge:
    return {P::sge, lhs - rhs, zero};
  case P::sgt:
    return {P::sge, lhs - rhs - one, zero};
  case P::sle:
    return {P::sge, rhs - lhs, zero};
  case P::slt:
    return {P::sge, rhs - lhs - one, zero};
  default:
    return {predicate, lhs, rhs};
  }
}

bool ExtentFacts::addLiterals(Value condition, Clause &clause) {
  if (auto either = condition.getDefiningOp<arith::OrIOp>())
    return addLiterals(either.getLhs(), clause) && addLiterals(either.getRhs(), clause);
  auto comparison = condition.getDefiningOp<arith::CmpIOp>();
  if (!comparison || !isIndexLike(comparison.getLhs().getType()))
    return false;
  clause.insert(makeLiteral(comparison.getPredicate(), evaluate(comparison.getLhs()), evaluate(comparison.getRhs())));
  return true;
}

bool ExtentFacts::isStated(Value condition) {
  Clause wanted;
  if (clauses.empty() || !addLiterals(condition, wanted))
    return false;
  return llvm::any_of(clauses, [&](const Clause &clause) {
    return llvm::all_of(clause, [&](const Literal &literal) {
      // Facts that came later may have changed the form.
      const auto &[predicate, lhs, rhs] = literal;
      return wanted.count(makeLiteral(predicate, lhs, rhs)) != 0;
    });
  });
}

bool ExtentFacts::isPlain(const Polynomial &polynomial) const {
  return llvm::all_of(polynomial.getAtoms(), [&](unsigned id) { return atoms[id].isExtent || ranges.count(id); });
}

Polynomial ExtentFacts::atWorst(const Polynomial &polynomial) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : polynomial.getTerms()) {
    bool hasIndex = llvm::any_of(monomial, [&](unsigned id) { return ranges.count(id) != 0; });
    if (hasIndex && coefficient > 0)
      continue;
    Polynomial term = Polynomial::constant(coefficient);
    for (unsigned id : monomial) {
      auto range = ranges.find(id);
      term = term * (range == ranges.end() ? Polynomial::atom(id) : normalize(range->second) - Polynomial::constant(1));
    }
    result = result + term;
  }
  return result;
}

bool ExtentFacts::hasOnlyExtents(const Polynomial &polynomial) const {
  return llvm::all_of(polynomial.getAtoms(), [&](unsigned id) { return atoms[id].isExtent; });
}

bool ExtentFacts::isNonNegative(const Polynomial &polynomial) const {
  // A sum or product of scalars that are no extents may wrap around; one of them alone does not.
  if (!isPlain(polynomial) && !polynomial.getAtom())
    return false;
  return llvm::all_of(atWorst(polynomial).getTerms(), [&](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, [&](unsigned id) {
             return atoms[id].isExtent || llvm::is_contained(nonNegative, id);
           });
  });
}

std::optional<int> ExtentFacts::getSign(const Polynomial &polynomial) const {
  if (polynomial.getTerms().empty())
    return 0;
  const Polynomial one = Polynomial::constant(1);
  if (isNonNegative(polynomial - one))
    return 1;
  if (isNonNegative(Polynomial::constant(-1) * polynomial - one))
    return -1;
  return std::nullopt;
}

std::optional<bool> ExtentFacts::compare(arith::CmpIPredicate predicate, const Polynomial &lhs,
                                         const Polynomial &rhs) const {
  using P = arith::CmpIPredicate;
  Polynomial difference = lhs - rhs;
  std::optional<int> sign = getSign(difference);
  bool atLeast = isNonNegative(difference), atMost = isNonNegative(Polynomial::constant(-1) * difference);
  bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  if (isUnsigned && !(isNonNegative(lhs) && isNonNegative(rhs)))
    return std::nullopt;
  // Order says something about a difference only where that cannot wrap around.
  bool isEquality = predicate == P::eq || predicate == P::ne;
  if (!isEquality && !(isPlain(lhs) && isPlain(rhs)) && !(lhs.getTerms().empty() || rhs.getTerms().empty()))
    return std::nullopt;
  switch (predicate) {
  case P::eq:
    return sign ? std::optional(*sign == 0) : std::nullopt;
  case P::ne:
    return sign ? std::optional(*sign != 0) : std::nullopt;
  case P::slt:
  case P::ult:
    return atLeast ? std::optional(false) : sign == -1 ? std::optional(true) : std::nullopt;
  case P::sge:
  case P::uge:
    return atLeast ? std::optional(true) : sign == -1 ? std::optional(false) : std::nullopt;
  case P::sgt:
  case P::ugt:
    return atMost ? std::optional(false) : sign == 1 ? std::optional(true) : std::nullopt;
  case P::sle:
  case P::ule:
    return atMost ? std::optional(true) : sign == 1 ? std::optional(false) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<bool> ExtentFacts::evaluateCondition(Value condition) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return !constant.isZero();
  Operation *def = condition.getDefiningOp();
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(def)) {
    if (!isIndexLike(comparison.getLhs().getType()))
      return std::nullopt;
    std::optional<bool> known =
        compare(comparison.getPredicate(), evaluate(comparison.getLhs()), evaluate(comparison.getRhs()));
    return known || !isStated(condition) ? known : true;
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(def)) {
    std::optional<bool> lhs = evaluateCondition(def->getOperand(0)), rhs = evaluateCondition(def->getOperand(1));
    bool absorbing = isa<arith::OrIOp>(def);
    if (lhs == absorbing || rhs == absorbing)
      return absorbing;
    if (lhs && rhs)
      return !absorbing;
    if (absorbing && isStated(condition))
      return true;
  }
  return std::nullopt;
}

std::optional<Polynomial> ExtentFacts::divide(const Polynomial &lhs, const Polynomial &rhs) const {
  if (!hasOnlyExtents(lhs) || !hasOnlyExtents(rhs))
    return std::nullopt;
  return lhs.divideExactly(rhs);
}

Polynomial ExtentFacts::bounded(const Polynomial &polynomial, Key key, bool isExtent) {
  bool isSmall = polynomial.getTerms().size() <= maxTerms &&
                 llvm::all_of(polynomial.getTerms(), [](const auto &term) { return term.first.size() <= maxFactors; });
  return isSmall ? polynomial : Polynomial::atom(getAtom(key, isExtent));
}

Polynomial ExtentFacts::evaluate(Value value) {
  auto known = cache.find(value);
  if (known != cache.end())
    return known->second;
  Key key{value, -1};
  if (depth == maxDepth)
    return Polynomial::atom(getAtom(key, /*isExtent=*/false));
  ++depth;
  Polynomial result = bounded(normalize(evaluateDefinition(value)), key, /*isExtent=*/false);
  --depth;
  cache[value] = result;
  return result;
}

Polynomial ExtentFacts::evaluateDefinition(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64)
    return Polynomial::constant(constant.getSExtValue());
  auto unknown = [&] { return Polynomial::atom(getAtom({value, -1}, /*isExtent=*/false)); };
  Type type = value.getType();
  Operation *def = value.getDefiningOp();
  if (!def || !isIndexLike(type))
    return unknown();

  auto operand = [&](unsigned i) { return evaluate(def->getOperand(i)); };
  auto pick = [&](arith::CmpIPredicate firstIf) {
    Polynomial lhs = operand(0), rhs = operand(1);
    if (compare(firstIf, lhs, rhs) == true)
      return lhs;
    return compare(firstIf, rhs, lhs) == true ? rhs : unknown();
  };
  return llvm::TypeSwitch<Operation *, Polynomial>(def)
      .Case([&](tensor::DimOp op) {
        std::optional<int64_t> axis = op.getConstantIndex();
        auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
        return source && axis && *axis >= 0 && *axis < source.getRank() ? getExtent(op.getSource(), *axis) : unknown();
      })
      .Case([&](arith::IndexCastOp op) {
        Type from = op.getIn().getType();
        return isIndexLike(from) ? operand(0) : unknown();
      })
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) - operand(1); })
      .Case([&](arith::MulIOp) { return operand(0) * operand(1); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) {
        std::optional<Polynomial> quotient = divide(operand(0), operand(1));
        return quotient ? *quotient : unknown();
      })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return divide(operand(0), operand(1)) ? Polynomial() : unknown(); })
      .Case([&](arith::SelectOp op) {
        std::optional<bool> condition = evaluateCondition(op.getCondition());
        if (condition)
          return *condition ? operand(1) : operand(2);
        Polynomial whenTrue = operand(1);
        return whenTrue == operand(2) ? whenTrue : unknown();
      })
      .Case([&](arith::MaxSIOp) { return pick(arith::CmpIPredicate::sge); })
      .Case([&](arith::MinSIOp) { return pick(arith::CmpIPredicate::sle); })
      .Case([&](arith::ExtUIOp op) {
        std::optional<bool> bit = op.getIn().getType().isInteger(1) ? evaluateCondition(op.getIn()) : std::nullopt;
        return bit ? Polynomial::constant(*bit) : unknown();
      })
      .Case([&](arith::ExtSIOp op) {
        std::optional<bool> bit = op.getIn().getType().isInteger(1) ? evaluateCondition(op.getIn()) : std::nullopt;
        return bit ? Polynomial::constant(*bit ? -1 : 0) : unknown();
      })
      .Case([&](affine::AffineApplyOp op) {
        AffineMap map = op.getAffineMap();
        return evaluateAffine(map.getResult(0), op.getMapOperands(), map.getNumDims(), value);
      })
      .Default([&](Operation *) { return unknown(); });
}

Polynomial ExtentFacts::evaluateAffine(AffineExpr expr, ValueRange operands, unsigned numDims, Value whole) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Polynomial::constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return evaluate(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return evaluate(operands[numDims + symbol.getPosition()]);
  auto unknown = [&] { return Polynomial::atom(getAtom({whole, -1}, /*isExtent=*/false)); };
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Polynomial lhs = evaluateAffine(binary.getLHS(), operands, numDims, whole);
  Polynomial rhs = evaluateAffine(binary.getRHS(), operands, numDims, whole);
  // A part that is not known makes the whole unknown: the atom stands for the whole.
  Polynomial unknownWhole = unknown();
  if (lhs == unknownWhole || rhs == unknownWhole)
    return unknownWhole;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return divide(lhs, rhs) ? Polynomial() : unknownWhole;
  default:
    return divide(lhs, rhs).value_or(unknownWhole);
  }
}

Polynomial ExtentFacts::getExtent(Value tensor, int64_t axis) {
  // Operations that write to a tensor keep its shape.
  while (stated.find({tensor, axis}) == stated.end()) {
    auto op = tensor.getDefiningOp<DestinationStyleOpInterface>();
    if (!op)
      break;
    tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
  }
  Key key{tensor, axis};
  if (depth == maxDepth)
    return Polynomial::atom(getAtom(key, /*isExtent=*/true));
  ++depth;
  Polynomial result = bounded(normalize(evaluateExtent(tensor, axis)), key, /*isExtent=*/true);
  --depth;
  return result;
}

void ExtentFacts::forgetLoopExtents(size_t keep) {
  for (; loopExtents.size() > keep; loopExtents.pop_back())
    stated.erase(loopExtents.back());
}

std::optional<Polynomial> ExtentFacts::evaluateLoopExtent(scf::ForOp op, unsigned number, int64_t axis) {
  Polynomial before = getExtent(op.getInitArgs()[number], axis);
  Key key{op.getRegionIterArg(number), axis};
  auto known = stated.find(key);
  if (known != stated.end())
    return known->second;
  // If it is so at the start of an iteration, it must be so at the end.
  size_t numLoopExtents = loopExtents.size();
  stated[key] = before;
  loopExtents.push_back(key);
  if (getExtent(op.getYieldedValues()[number], axis) == normalize(before))
    return before;
  forgetLoopExtents(numLoopExtents);
  cache.clear();
  return std::nullopt;
}

Polynomial ExtentFacts::evaluateExtent(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return Polynomial::constant(type.getDimSize(axis));
  auto known = stated.find({tensor, axis});
  if (known != stated.end())
    return known->second;
  auto unknown = [&] { return Polynomial::atom(getAtom({tensor, axis}, /*isExtent=*/true)); };
  auto fold = [&](OpFoldResult extent) {
    if (auto constant = dyn_cast<Attribute>(extent))
      return Polynomial::constant(cast<IntegerAttr>(constant).getInt());
    return evaluate(cast<Value>(extent));
  };
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? evaluateLoopExtent(loop, argument.getArgNumber() - 1, axis).value_or(unknown()) : unknown();
  }
  Operation *def = tensor.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Polynomial>(def)
      .Case([&](scf::ForOp op) {
        unsigned number = cast<OpResult>(tensor).getResultNumber();
        return evaluateLoopExtent(op, number, axis).value_or(unknown());
      })
      .Case([&](tensor::EmptyOp op) { return fold(op.getMixedSizes()[axis]); })
      .Case([&](tensor::CastOp op) {
        return isa<RankedTensorType>(op.getSource().getType()) ? getExtent(op.getSource(), axis) : unknown();
      })
      .Case([&](tensor::ExpandShapeOp op) { return fold(op.getMixedOutputShape()[axis]); })
      .Case([&](tensor::CollapseShapeOp op) {
        Polynomial product = Polynomial::constant(1);
        ReassociationIndices group = op.getReassociationIndices()[axis];
        for (int64_t sourceAxis : group)
          product = product * getExtent(op.getSrc(), sourceAxis);
        return product;
      })
      .Case([&](tensor::ExtractSliceOp op) {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        int64_t kept = 0;
        for (auto [sourceAxis, size] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped.test(sourceAxis) && kept++ == axis)
            return fold(size);
        return unknown();
      })
      .Case([&](tensor::ConcatOp op) {
        if (axis != static_cast<int64_t>(op.getDim()))
          return getExtent(op.getInputs().front(), axis);
        Polynomial sum;
        for (Value input : op.getInputs())
          sum = sum + getExtent(input, axis);
        return sum;
      })
      .Case([&](tensor::ReshapeOp op) {
        auto shape = op.getShape().getDefiningOp<tensor::FromElementsOp>();
        return shape ? fold(OpFoldResult(shape.getElements()[axis])) : unknown();
      })
      .Case([&](scf::IfOp op) {
        if (op.getElseRegion().empty())
          return unknown();
        unsigned index = cast<OpResult>(tensor).getResultNumber();
        auto lhs = op.thenYield().getOperand(index), rhs = op.elseYield().getOperand(index);
        Polynomial whenFalse = getExtent(rhs, axis);
        Scope then(*this);
        addCondition(op.getCondition());
        return getExtent(lhs, axis) == normalize(whenFalse) ? whenFalse : unknown();
      })
      .Case([&](arith::SelectOp op) {
        Polynomial whenTrue = getExtent(op.getTrueValue(), axis);
        return whenTrue == getExtent(op.getFalseValue(), axis) ? whenTrue : unknown();
      })
      .Default([&](Operation *) { return unknown(); });
}

} // namespace fusion
