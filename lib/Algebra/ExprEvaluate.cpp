//===- ExprEvaluate.cpp - Symbolic scalar expressions: evaluation -----------===//

#include "fusion/Algebra/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace fusion::algebra;

/// An arbitrary smooth function of the operands that differs from operation to operation, with values around 1.
static double evaluateOpaque(Expr expr, ArrayRef<double> operands) {
  double sum = static_cast<double>(llvm::hash_value(cast<StringAttr>(expr.attribute()).getValue()) % 1024) / 512;
  for (auto [index, value] : llvm::enumerate(operands))
    sum += (index + 1.3) * std::sin(value * (index + 0.7) + index);
  return 1.2 + std::sin(sum);
}

static bool evaluateCompare(Attribute attribute, bool isFloat, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  if (isFloat) {
    switch (cast<arith::CmpFPredicateAttr>(attribute).getValue()) {
    case arith::CmpFPredicate::AlwaysFalse:
      return false;
    case arith::CmpFPredicate::AlwaysTrue:
      return true;
    case arith::CmpFPredicate::ORD:
      return !unordered;
    case arith::CmpFPredicate::UNO:
      return unordered;
    case arith::CmpFPredicate::OEQ:
      return a == b;
    case arith::CmpFPredicate::UEQ:
      return unordered || a == b;
    case arith::CmpFPredicate::OGT:
      return a > b;
    case arith::CmpFPredicate::UGT:
      return unordered || a > b;
    case arith::CmpFPredicate::OGE:
      return a >= b;
    case arith::CmpFPredicate::UGE:
      return unordered || a >= b;
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::ULT:
      return unordered || a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::ULE:
      return unordered || a <= b;
    case arith::CmpFPredicate::ONE:
      return !unordered && a != b;
    case arith::CmpFPredicate::UNE:
      return unordered || a != b;
    }
    return false;
  }
  switch (cast<arith::CmpIPredicateAttr>(attribute).getValue()) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  return false;
}

static double evaluateNode(Expr expr, ArrayRef<double> v) {
  auto propagating = [&](double result) { return std::isnan(v[0]) || std::isnan(v[1]) ? std::nan("") : result; };
  auto bits = [&](unsigned index) { return static_cast<int64_t>(v[index]); };
  switch (expr.op()) {
  case ExprKind::Leaf:
    return std::nan("");
  case ExprKind::Constant:
    return expr.constantValue();
  case ExprKind::Neg:
    return -v[0];
  case ExprKind::Abs:
    return std::fabs(v[0]);
  case ExprKind::Exp:
    return std::exp(v[0]);
  case ExprKind::Exp2:
    return std::exp2(v[0]);
  case ExprKind::Log:
    return std::log(v[0]);
  case ExprKind::Log2:
    return std::log2(v[0]);
  case ExprKind::Sqrt:
    return std::sqrt(v[0]);
  case ExprKind::Rsqrt:
    return 1 / std::sqrt(v[0]);
  case ExprKind::Tanh:
    return std::tanh(v[0]);
  case ExprKind::Erf:
    return std::erf(v[0]);
  case ExprKind::Sin:
    return std::sin(v[0]);
  case ExprKind::Cos:
    return std::cos(v[0]);
  case ExprKind::Cast: {
    StringRef name = cast<StringAttr>(expr.attribute()).getValue();
    if (name == "arith.fptosi" || name == "arith.fptoui")
      return std::trunc(v[0]);
    if (name == "arith.bitcast")
      return evaluateOpaque(expr, v);
    // A set boolean is -1 if its sign counts.
    bool fromBool = expr[0].type().isInteger(1);
    return fromBool && (name == "arith.extsi" || name == "arith.sitofp") ? -v[0] : v[0];
  }
  case ExprKind::Add:
    return v[0] + v[1];
  case ExprKind::Sub:
    return v[0] - v[1];
  case ExprKind::Mul:
    return v[0] * v[1];
  case ExprKind::Div:
    return v[0] / v[1];
  case ExprKind::Maximum:
    return propagating(std::max(v[0], v[1]));
  case ExprKind::Minimum:
    return propagating(std::min(v[0], v[1]));
  case ExprKind::MaxNum:
  case ExprKind::MaxUnsigned:
    return std::fmax(v[0], v[1]);
  case ExprKind::MinNum:
  case ExprKind::MinUnsigned:
    return std::fmin(v[0], v[1]);
  case ExprKind::Pow:
  case ExprKind::IntegerPow:
    return std::pow(v[0], v[1]);
  case ExprKind::And:
    return static_cast<double>(bits(0) & bits(1));
  case ExprKind::Or:
    return static_cast<double>(bits(0) | bits(1));
  case ExprKind::Xor:
    return static_cast<double>(bits(0) ^ bits(1));
  case ExprKind::Compare:
    return evaluateCompare(expr.attribute(), expr[0].isFloat(), v[0], v[1]);
  case ExprKind::Select:
    return v[0] != 0 ? v[1] : v[2];
  case ExprKind::Opaque:
    return evaluateOpaque(expr, v);
  }
  return std::nan("");
}

double fusion::algebra::evaluate(Expr expr, const Assignment &values, double *largest) {
  llvm::DenseMap<const Node *, double> done;
  expr.walk([&](Expr inner) {
    double value;
    if (auto it = values.find(inner.get()); it != values.end()) {
      value = it->second;
    } else {
      SmallVector<double, 3> operands;
      for (unsigned i = 0; i < inner.size(); ++i)
        operands.push_back(done.lookup(inner[i].get()));
      value = evaluateNode(inner, operands);
    }
    done[inner.get()] = value;
    if (largest && std::isfinite(value))
      *largest = std::max(*largest, std::fabs(value));
  });
  return done.lookup(expr.get());
}
