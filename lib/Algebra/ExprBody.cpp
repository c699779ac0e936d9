//===- ExprBody.cpp - Symbolic scalar expressions: from and to MLIR ---------===//

#include "fusion/Algebra/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fusion::algebra;

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

/// The operation of the algebra that an operation is, if its operands are those of the expression in order.
static std::optional<ExprKind> getOp(StringRef name) {
  return llvm::StringSwitch<std::optional<ExprKind>>(name)
      .Case("arith.negf", ExprKind::Neg)
      .Case("math.absf", ExprKind::Abs)
      .Case("math.exp", ExprKind::Exp)
      .Case("math.exp2", ExprKind::Exp2)
      .Case("math.log", ExprKind::Log)
      .Case("math.log2", ExprKind::Log2)
      .Case("math.sqrt", ExprKind::Sqrt)
      .Case("math.rsqrt", ExprKind::Rsqrt)
      .Case("math.tanh", ExprKind::Tanh)
      .Case("math.erf", ExprKind::Erf)
      .Case("math.sin", ExprKind::Sin)
      .Case("math.cos", ExprKind::Cos)
      .Cases({"arith.addf", "arith.addi"}, ExprKind::Add)
      .Cases({"arith.subf", "arith.subi"}, ExprKind::Sub)
      .Cases({"arith.mulf", "arith.muli"}, ExprKind::Mul)
      .Case("arith.divf", ExprKind::Div)
      .Cases({"arith.maximumf", "arith.maxsi"}, ExprKind::Maximum)
      .Cases({"arith.minimumf", "arith.minsi"}, ExprKind::Minimum)
      .Case("arith.maxnumf", ExprKind::MaxNum)
      .Case("arith.minnumf", ExprKind::MinNum)
      .Case("arith.maxui", ExprKind::MaxUnsigned)
      .Case("arith.minui", ExprKind::MinUnsigned)
      .Case("math.powf", ExprKind::Pow)
      .Case("math.fpowi", ExprKind::IntegerPow)
      .Case("arith.andi", ExprKind::And)
      .Case("arith.ori", ExprKind::Or)
      .Case("arith.xori", ExprKind::Xor)
      .Case("arith.select", ExprKind::Select)
      .Default(std::nullopt);
}

static bool isCast(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui"}, true)
      .Cases({"arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "arith.bitcast"},
             true)
      .Default(false);
}

/// What is needed to make the operation again, properties included, without what only allows less exact results.
static DictionaryAttr getAttributes(Operation &op) {
  NamedAttrList attributes(op.getAttrDictionary());
  attributes.erase("fastmath");
  return attributes.getDictionary(op.getContext());
}

static Expr importOperation(ExprContext &context, Operation &op, ArrayRef<Expr> operands, std::string &reason) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return context.constant(constant.getValue());
  StringRef name = op.getName().getStringRef();
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 || !isMemoryEffectFree(&op)) {
    reason = (name + " is not a plain function of scalars").str();
    return {};
  }
  if (auto known = getOp(name))
    return context.make(*known, operands);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return context.compare(arith::CmpFPredicateAttr::get(op.getContext(), compare.getPredicate()), operands[0],
                           operands[1]);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return context.compare(arith::CmpIPredicateAttr::get(op.getContext(), compare.getPredicate()), operands[0],
                           operands[1]);
  Type type = op.getResult(0).getType();
  // A conversion with a rounding mode of its own stays opaque.
  if (isCast(name) && !op.hasAttr("roundingmode"))
    return context.cast(name, operands[0], type);
  if (isa<math::FmaOp>(op))
    return context.add(context.mul(operands[0], operands[1]), operands[2]);
  return context.opaque(name, operands, type, getAttributes(op));
}

Expr ExprContext::fromBody(Block &body, ArrayRef<Expr> arguments, std::string &reason) {
  llvm::DenseMap<Value, Expr> values;
  for (auto [argument, expr] : llvm::zip_equal(body.getArguments(), arguments))
    values[argument] = expr;
  for (Operation &op : body) {
    SmallVector<Expr> operands;
    for (Value operand : op.getOperands()) {
      Expr expr = values.lookup(operand);
      if (!expr) {
        reason = ("an operand of " + op.getName().getStringRef() + " comes from outside the body").str();
        return {};
      }
      operands.push_back(expr);
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      if (operands.size() == 1)
        return operands[0];
      reason = "the body does not yield one value";
      return {};
    }
    Expr expr = importOperation(*this, op, operands, reason);
    if (!expr)
      return {};
    values[op.getResult(0)] = expr;
  }
  reason = "the body has no terminator";
  return {};
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntegerOp>
static Value emitEither(OpBuilder &builder, Location location, bool isFloat, ValueRange operands) {
  if (isFloat)
    return FloatOp::create(builder, location, operands[0], operands[1]);
  return IntegerOp::create(builder, location, operands[0], operands[1]);
}

static Value emitNode(OpBuilder &b, Location loc, Expr expr, ValueRange v) {
  bool isFloat = expr.size() && expr[0].isFloat();
  switch (expr.op()) {
  case ExprKind::Leaf:
    return {};
  case ExprKind::Constant:
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(expr.attribute()));
  case ExprKind::Neg:
    return arith::NegFOp::create(b, loc, v[0]);
  case ExprKind::Abs:
    return math::AbsFOp::create(b, loc, v[0]);
  case ExprKind::Exp:
    return math::ExpOp::create(b, loc, v[0]);
  case ExprKind::Exp2:
    return math::Exp2Op::create(b, loc, v[0]);
  case ExprKind::Log:
    return math::LogOp::create(b, loc, v[0]);
  case ExprKind::Log2:
    return math::Log2Op::create(b, loc, v[0]);
  case ExprKind::Sqrt:
    return math::SqrtOp::create(b, loc, v[0]);
  case ExprKind::Rsqrt:
    return math::RsqrtOp::create(b, loc, v[0]);
  case ExprKind::Tanh:
    return math::TanhOp::create(b, loc, v[0]);
  case ExprKind::Erf:
    return math::ErfOp::create(b, loc, v[0]);
  case ExprKind::Sin:
    return math::SinOp::create(b, loc, v[0]);
  case ExprKind::Cos:
    return math::CosOp::create(b, loc, v[0]);
  case ExprKind::Add:
    return emitEither<arith::AddFOp, arith::AddIOp>(b, loc, isFloat, v);
  case ExprKind::Sub:
    return emitEither<arith::SubFOp, arith::SubIOp>(b, loc, isFloat, v);
  case ExprKind::Mul:
    return emitEither<arith::MulFOp, arith::MulIOp>(b, loc, isFloat, v);
  case ExprKind::Div:
    return arith::DivFOp::create(b, loc, v[0], v[1]);
  case ExprKind::Maximum:
    return emitEither<arith::MaximumFOp, arith::MaxSIOp>(b, loc, isFloat, v);
  case ExprKind::Minimum:
    return emitEither<arith::MinimumFOp, arith::MinSIOp>(b, loc, isFloat, v);
  case ExprKind::MaxNum:
    return arith::MaxNumFOp::create(b, loc, v[0], v[1]);
  case ExprKind::MinNum:
    return arith::MinNumFOp::create(b, loc, v[0], v[1]);
  case ExprKind::MaxUnsigned:
    return arith::MaxUIOp::create(b, loc, v[0], v[1]);
  case ExprKind::MinUnsigned:
    return arith::MinUIOp::create(b, loc, v[0], v[1]);
  case ExprKind::Pow:
    return math::PowFOp::create(b, loc, v[0], v[1]);
  case ExprKind::IntegerPow:
    return math::FPowIOp::create(b, loc, v[0], v[1]);
  case ExprKind::And:
    return arith::AndIOp::create(b, loc, v[0], v[1]);
  case ExprKind::Or:
    return arith::OrIOp::create(b, loc, v[0], v[1]);
  case ExprKind::Xor:
    return arith::XOrIOp::create(b, loc, v[0], v[1]);
  case ExprKind::Compare:
    // Both kinds of predicates are plain integers: the operands tell which it is.
    if (isFloat)
      return arith::CmpFOp::create(b, loc, cast<arith::CmpFPredicateAttr>(expr.attribute()).getValue(), v[0], v[1]);
    return arith::CmpIOp::create(b, loc, cast<arith::CmpIPredicateAttr>(expr.attribute()).getValue(), v[0], v[1]);
  case ExprKind::Select:
    return arith::SelectOp::create(b, loc, v[0], v[1], v[2]);
  case ExprKind::Cast:
  case ExprKind::Opaque: {
    OperationState state(loc, cast<StringAttr>(expr.attribute()).getValue(), v, TypeRange(expr.type()));
    if (expr.op() == ExprKind::Opaque)
      state.addAttributes(expr.get()->opaqueAttributes.getValue());
    return b.create(state)->getResult(0);
  }
  }
  return {};
}

Value fusion::algebra::emit(OpBuilder &builder, Location location, Expr expr,
                            llvm::DenseMap<const Node *, Value> &values) {
  if (Value value = values.lookup(expr.get()))
    return value;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < expr.size(); ++i) {
    Value operand = emit(builder, location, expr[i], values);
    if (!operand)
      return {};
    operands.push_back(operand);
  }
  Value value = emitNode(builder, location, expr, operands);
  values[expr.get()] = value;
  return value;
}
