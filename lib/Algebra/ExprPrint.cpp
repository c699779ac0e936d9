//===- ExprPrint.cpp - Symbolic scalar expressions: printing ----------------===//

#include "fusion/Algebra/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fusion::algebra;

static StringRef functionName(ExprKind op) {
  switch (op) {
  case ExprKind::Abs:
    return "abs";
  case ExprKind::Exp:
    return "exp";
  case ExprKind::Exp2:
    return "exp2";
  case ExprKind::Log:
    return "log";
  case ExprKind::Log2:
    return "log2";
  case ExprKind::Sqrt:
    return "sqrt";
  case ExprKind::Rsqrt:
    return "rsqrt";
  case ExprKind::Tanh:
    return "tanh";
  case ExprKind::Erf:
    return "erf";
  case ExprKind::Sin:
    return "sin";
  case ExprKind::Cos:
    return "cos";
  case ExprKind::Maximum:
    return "max";
  case ExprKind::Minimum:
    return "min";
  case ExprKind::MaxNum:
    return "maxnum";
  case ExprKind::MinNum:
    return "minnum";
  case ExprKind::MaxUnsigned:
    return "maxu";
  case ExprKind::MinUnsigned:
    return "minu";
  case ExprKind::Pow:
  case ExprKind::IntegerPow:
    return "pow";
  case ExprKind::And:
    return "and";
  case ExprKind::Or:
    return "or";
  case ExprKind::Xor:
    return "xor";
  case ExprKind::Select:
    return "select";
  default:
    return "";
  }
}

static StringRef comparison(Attribute predicate, bool isFloat) {
  if (isFloat)
    return arith::stringifyCmpFPredicate(cast<arith::CmpFPredicateAttr>(predicate).getValue());
  return arith::stringifyCmpIPredicate(cast<arith::CmpIPredicateAttr>(predicate).getValue());
}

/// How tightly the outermost operator binds: a sum 1, a product 2, a sign 3, everything else 4.
static unsigned binding(Expr expr) {
  switch (expr.op()) {
  case ExprKind::Add:
  case ExprKind::Sub:
    return 1;
  case ExprKind::Mul:
  case ExprKind::Div:
    return 2;
  case ExprKind::Neg:
    return 3;
  default:
    return 4;
  }
}

static void printOperand(raw_ostream &os, Expr expr, bool parentheses) {
  if (parentheses)
    os << '(';
  expr.print(os);
  if (parentheses)
    os << ')';
}

void Expr::print(raw_ostream &os) const {
  unsigned level = binding(*this);
  auto infix = [&](StringRef text) {
    printOperand(os, (*this)[0], binding((*this)[0]) < level);
    os << text;
    printOperand(os, (*this)[1], binding((*this)[1]) <= level);
  };
  auto call = [&](Twine name) {
    os << name << '(';
    for (unsigned i = 0; i < size(); ++i) {
      os << (i ? ", " : "");
      (*this)[i].print(os);
    }
    os << ')';
  };
  switch (op()) {
  case ExprKind::Leaf:
    os << name() << (role() == Role::NextState ? "'" : "");
    return;
  case ExprKind::Constant:
    os << llvm::format("%g", constantValue());
    return;
  case ExprKind::Neg:
    os << '-';
    printOperand(os, (*this)[0], binding((*this)[0]) < level);
    return;
  case ExprKind::Add:
    return infix(" + ");
  case ExprKind::Sub:
    return infix(" - ");
  case ExprKind::Mul:
    return infix(" * ");
  case ExprKind::Div:
    return infix(" / ");
  case ExprKind::Compare:
    return call(comparison(attribute(), (*this)[0].isFloat()));
  case ExprKind::Cast: {
    std::string text;
    llvm::raw_string_ostream(text) << type();
    return call(text);
  }
  case ExprKind::Opaque:
    return call(cast<StringAttr>(attribute()).getValue());
  default:
    return call(functionName(op()));
  }
}

std::string Expr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (getTreeSize(129) <= 128) {
    print(os);
    return text;
  }
  os << "a function of ";
  llvm::interleaveComma(leaves(), os, [&](Expr leaf) { leaf.print(os); });
  return text;
}
