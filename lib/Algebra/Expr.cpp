//===- Expr.cpp - Symbolic scalar expressions: structure and simplification -===//

#include "fusion/Algebra/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

void Node::profile(llvm::FoldingSetNodeID &id, ExprKind op, Type type, ArrayRef<const Node *> operands,
                   Attribute attribute, Role role, StringRef name, DictionaryAttr opaqueAttributes) {
  id.AddInteger(static_cast<unsigned>(op));
  id.AddPointer(type.getAsOpaquePointer());
  for (const Node *operand : operands)
    id.AddPointer(operand);
  id.AddPointer(attribute.getAsOpaquePointer());
  id.AddInteger(static_cast<unsigned>(role));
  id.AddString(name);
  id.AddPointer(opaqueAttributes.getAsOpaquePointer());
}

void Node::Profile(llvm::FoldingSetNodeID &id) const {
  profile(id, op, type, operands, attribute, role, name, opaqueAttributes);
}

//===----------------------------------------------------------------------===//
// Expr
//===----------------------------------------------------------------------===//

double Expr::constantValue() const {
  if (auto value = dyn_cast<FloatAttr>(node->attribute))
    return value.getValueAsDouble();
  if (auto value = dyn_cast<IntegerAttr>(node->attribute))
    return value.getType().isInteger(1) ? double(value.getValue().getZExtValue())
                                        : value.getValue().signedRoundToDouble();
  return std::nan("");
}

bool Expr::isNarrowing() const {
  return isFloatCast() && cast<FloatType>(type()).getWidth() < cast<FloatType>((*this)[0].type()).getWidth();
}

void Expr::walk(llvm::function_ref<void(Expr)> function) const {
  llvm::SmallPtrSet<const Node *, 16> seen;
  auto visit = [&](auto &self, const Node *node) -> void {
    if (!seen.insert(node).second)
      return;
    for (const Node *operand : node->operands)
      self(self, operand);
    function(Expr(node));
  };
  visit(visit, node);
}

unsigned Expr::getTreeSize(unsigned limit) const {
  llvm::DenseMap<const Node *, unsigned> sizes;
  walk([&](Expr expr) {
    unsigned size = 1;
    for (unsigned i = 0; i < expr.size(); ++i)
      size = std::min(limit, size + sizes.lookup(expr[i].get()));
    sizes[expr.get()] = size;
  });
  return sizes.lookup(node);
}

bool Expr::contains(Role role) const {
  bool found = false;
  walk([&](Expr expr) { found |= expr.isLeaf(role); });
  return found;
}

SmallVector<Expr, 6> Expr::leaves() const {
  SmallVector<Expr, 6> result;
  walk([&](Expr expr) {
    if (expr.isLeaf())
      result.push_back(expr);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// ExprContext: making expressions
//===----------------------------------------------------------------------===//

Expr ExprContext::unique(ExprKind op, Type type, ArrayRef<Expr> operands, Attribute attribute, Role role,
                         StringRef name, LeafFacts facts, DictionaryAttr opaqueAttributes) {
  SmallVector<const Node *, 3> operandNodes;
  for (Expr operand : operands)
    operandNodes.push_back(operand.get());
  llvm::FoldingSetNodeID id;
  Node::profile(id, op, type, operandNodes, attribute, role, name, opaqueAttributes);
  void *position;
  if (Node *node = set.FindNodeOrInsertPos(id, position))
    return node;
  Node &node = nodes.emplace_back();
  node.op = op;
  node.id = nodes.size() - 1;
  node.type = type;
  node.operands = operandNodes;
  node.attribute = attribute;
  node.role = role;
  node.name = name.str();
  node.facts = facts;
  node.opaqueAttributes = opaqueAttributes;
  set.InsertNode(&node, position);
  return &node;
}

Expr ExprContext::leaf(Role role, StringRef name, Type type, LeafFacts facts) {
  return unique(ExprKind::Leaf, type, {}, {}, role, name, facts);
}

Expr ExprContext::next(Expr state) { return leaf(Role::NextState, state.name(), state.type(), state.facts()); }

Expr ExprContext::constant(TypedAttr value) { return unique(ExprKind::Constant, value.getType(), {}, value); }

Expr ExprContext::constant(double value, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat exact(value);
    bool losesInfo;
    exact.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(FloatAttr::get(floatType, exact));
  }
  if (type.isInteger(1))
    return constant(BoolAttr::get(context, value != 0));
  return constant(IntegerAttr::get(type, static_cast<int64_t>(value)));
}

Expr ExprContext::compare(Attribute predicate, Expr a, Expr b) {
  return unique(ExprKind::Compare, IntegerType::get(context, 1), {a, b}, predicate);
}

Expr ExprContext::equal(Expr a, Expr b) {
  if (a.isFloat())
    return compare(arith::CmpFPredicateAttr::get(context, arith::CmpFPredicate::OEQ), a, b);
  return compare(arith::CmpIPredicateAttr::get(context, arith::CmpIPredicate::eq), a, b);
}

/// Whether constants of the type can be folded in double precision.
static bool isFoldable(Type type) { return llvm::cast<FloatType>(type).getWidth() <= 64; }

Expr ExprContext::cast(StringRef name, Expr a, Type type) {
  if (a.type() == type)
    return a;
  if (a.isConstant() && a.isFloat() && isa<FloatType>(type) && isFoldable(a.type()) && isFoldable(type))
    return constant(a.constantValue(), type);
  // Widening and narrowing back is the identity.
  if (name == "arith.truncf" && a.isFloatCast() && !a.isNarrowing() && a[0].type() == type)
    return a[0];
  return unique(ExprKind::Cast, type, {a}, StringAttr::get(context, name));
}

Expr ExprContext::toFloat(Expr a, Type type) {
  if (a.type() == type)
    return a;
  unsigned from = llvm::cast<FloatType>(a.type()).getWidth(), to = llvm::cast<FloatType>(type).getWidth();
  // Between bf16 and f16 there is no single conversion.
  if (from == to) {
    Type f32 = Float32Type::get(context);
    return cast("arith.truncf", cast("arith.extf", a, f32), type);
  }
  return cast(from < to ? "arith.extf" : "arith.truncf", a, type);
}

Expr ExprContext::opaque(StringRef name, ArrayRef<Expr> operands, Type type, DictionaryAttr attributes) {
  return unique(ExprKind::Opaque, type, operands, StringAttr::get(context, name), Role::Varying, {}, {}, attributes);
}

Expr ExprContext::make(ExprKind op, ArrayRef<Expr> operands) {
  if (Expr simplified = simplify(op, operands))
    return simplified;
  Type type = op == ExprKind::Select ? operands[1].type() : operands[0].type();
  return unique(op, type, operands);
}

Expr ExprContext::promote(ExprKind op, Expr a, Expr b) {
  if (a.type() != b.type()) {
    unsigned widthA = llvm::cast<FloatType>(a.type()).getWidth(), widthB = llvm::cast<FloatType>(b.type()).getWidth();
    Type type = widthA > widthB ? a.type() : widthA < widthB ? b.type() : Type(Float32Type::get(context));
    a = toFloat(a, type);
    b = toFloat(b, type);
  }
  return make(op, {a, b});
}

Expr ExprContext::combine(Reducer reducer, Expr a, Expr b) {
  switch (reducer) {
  case Reducer::Sum:
    return make(ExprKind::Add, {a, b});
  case Reducer::Prod:
    return make(ExprKind::Mul, {a, b});
  case Reducer::Max:
    return make(ExprKind::Maximum, {a, b});
  case Reducer::Min:
    return make(ExprKind::Minimum, {a, b});
  case Reducer::MaxNum:
    return make(ExprKind::MaxNum, {a, b});
  case Reducer::MinNum:
    return make(ExprKind::MinNum, {a, b});
  case Reducer::MaxUnsigned:
    return make(ExprKind::MaxUnsigned, {a, b});
  case Reducer::MinUnsigned:
    return make(ExprKind::MinUnsigned, {a, b});
  case Reducer::And:
    return make(ExprKind::And, {a, b});
  case Reducer::Or:
    return make(ExprKind::Or, {a, b});
  case Reducer::Xor:
    return make(ExprKind::Xor, {a, b});
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

Expr ExprContext::simplify(ExprKind op, ArrayRef<Expr> operands) {
  Expr a = operands[0];
  if (op == ExprKind::Select) {
    if (operands[1] == operands[2])
      return operands[1];
    return a.isConstant() ? operands[a.isConstant(0) ? 2 : 1] : Expr();
  }
  if (!a.isFloat())
    return {};
  if (op == ExprKind::Neg) {
    if (a.isConstant() && isFoldable(a.type()))
      return constant(-a.constantValue(), a.type());
    if (a.op() == ExprKind::Neg)
      return a[0];
    return a.op() == ExprKind::Sub ? sub(a[1], a[0]) : Expr();
  }
  if (operands.size() != 2)
    return {};
  Expr b = operands[1];
  // One operation in double precision, rounded to a narrower type, is correctly rounded.
  if (a.isConstant() && b.isConstant() && isFoldable(a.type())) {
    double x = a.constantValue(), y = b.constantValue();
    switch (op) {
    case ExprKind::Add:
      return constant(x + y, a.type());
    case ExprKind::Sub:
      return constant(x - y, a.type());
    case ExprKind::Mul:
      return constant(x * y, a.type());
    case ExprKind::Div:
      return constant(x / y, a.type());
    default:
      return {};
    }
  }
  switch (op) {
  case ExprKind::Add:
    if (a.isConstant(0))
      return b;
    if (b.isConstant(0))
      return a;
    if (a == b)
      return mul(a, constant(2, a.type()));
    if (b.op() == ExprKind::Neg)
      return sub(a, b[0]);
    return a.op() == ExprKind::Neg ? sub(b, a[0]) : Expr();
  case ExprKind::Sub:
    if (a.isConstant(0))
      return neg(b);
    if (b.isConstant(0))
      return a;
    return b.op() == ExprKind::Neg ? add(a, b[0]) : Expr();
  case ExprKind::Mul:
    if (a.isConstant(1))
      return b;
    if (b.isConstant(1))
      return a;
    if (a.isConstant(-1))
      return neg(b);
    if (b.isConstant(-1))
      return neg(a);
    if (a.op() == ExprKind::Neg)
      return neg(mul(a[0], b));
    return b.op() == ExprKind::Neg ? neg(mul(a, b[0])) : Expr();
  case ExprKind::Div:
    if (b.isConstant(1))
      return a;
    if (a.op() == ExprKind::Neg)
      return neg(div(a[0], b));
    return b.op() == ExprKind::Neg ? neg(div(a, b[0])) : Expr();
  default:
    return {};
  }
}

Expr ExprContext::substitute(Expr expr, const llvm::DenseMap<const Node *, Expr> &replacements) {
  llvm::DenseMap<const Node *, Expr> done;
  auto visit = [&](auto &self, Expr expr) -> Expr {
    if (auto it = replacements.find(expr.get()); it != replacements.end())
      return it->second;
    if (expr.size() == 0)
      return expr;
    if (auto it = done.find(expr.get()); it != done.end())
      return it->second;
    SmallVector<Expr> operands;
    bool changed = false;
    for (unsigned i = 0; i < expr.size(); ++i) {
      operands.push_back(self(self, expr[i]));
      changed |= operands.back() != expr[i];
    }
    Expr result = expr;
    if (changed) {
      switch (expr.op()) {
      case ExprKind::Compare:
        result = compare(expr.attribute(), operands[0], operands[1]);
        break;
      case ExprKind::Cast:
        result = cast(llvm::cast<StringAttr>(expr.attribute()).getValue(), operands[0], expr.type());
        break;
      case ExprKind::Opaque:
        result = opaque(llvm::cast<StringAttr>(expr.attribute()).getValue(), operands, expr.type(),
                        expr.get()->opaqueAttributes);
        break;
      default:
        result = make(expr.op(), operands);
      }
    }
    done[expr.get()] = result;
    return result;
  };
  return visit(visit, expr);
}

Expr ExprContext::advance(Expr expr) {
  llvm::DenseMap<const Node *, Expr> replacements;
  for (Expr leaf : expr.leaves())
    if (leaf.isLeaf(Role::State))
      replacements[leaf.get()] = next(leaf);
  return substitute(expr, replacements);
}

//===----------------------------------------------------------------------===//
// Sign
//===----------------------------------------------------------------------===//

static bool isPositiveReduction(const LeafFacts &facts, bool orZero) {
  if (facts.positive || (orZero && facts.notNegative))
    return true;
  if (facts.signsAreKnown || !facts.reducer || !facts.source)
    return false;
  return fusion::spacemap::keepsSign(*facts.reducer) && isPositive(Expr(facts.source), orZero);
}

bool fusion::algebra::isPositive(Expr expr, bool orZero) {
  if (!expr.isFloat())
    return false;
  switch (expr.op()) {
  case ExprKind::Leaf:
    return isPositiveReduction(expr.facts(), orZero);
  case ExprKind::Constant:
    return expr.constantValue() > 0 || (orZero && expr.constantValue() == 0);
  case ExprKind::Exp:
  case ExprKind::Exp2:
    return true;
  case ExprKind::Abs:
    return orZero;
  case ExprKind::Sqrt:
    return orZero || isPositive(expr[0]);
  case ExprKind::Rsqrt:
    return isPositive(expr[0], orZero);
  case ExprKind::Cast:
    return expr.isFloatCast() && isPositive(expr[0], orZero);
  case ExprKind::Add:
    return (isPositive(expr[0], orZero) && isPositive(expr[1], true)) ||
           (isPositive(expr[0], true) && isPositive(expr[1], orZero));
  case ExprKind::Mul:
    return (orZero && expr[0] == expr[1]) || (isPositive(expr[0], orZero) && isPositive(expr[1], orZero));
  case ExprKind::Div:
    return isPositive(expr[0], orZero) && isPositive(expr[1]);
  case ExprKind::Maximum:
  case ExprKind::MaxNum:
    return isPositive(expr[0], orZero) || isPositive(expr[1], orZero);
  case ExprKind::Minimum:
  case ExprKind::MinNum:
    return isPositive(expr[0], orZero) && isPositive(expr[1], orZero);
  case ExprKind::Select:
    return isPositive(expr[1], orZero) && isPositive(expr[2], orZero);
  case ExprKind::Pow:
    return isPositive(expr[0]);
  case ExprKind::IntegerPow:
    return isPositive(expr[0]) || (orZero && expr[1].isConstant() && std::fmod(expr[1].constantValue(), 2) == 0 &&
                                   expr[1].constantValue() >= 0);
  default:
    return false;
  }
}
