//===- VectorMathExp.cpp - Exponentials and logarithms of vectors -------------------------------------------------===//

#include "VectorMathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {

//===--- Arithmetic -----------------------------------------------------------------------------------------------===//

VectorMathBuilder::VectorMathBuilder(ImplicitLocOpBuilder &b, VectorType type) : b(b), type(type) {
  bool isF64 = type.getElementType().isF64();
  mantissaBits = isF64 ? 52 : 23;
  bias = isF64 ? 1023 : 127;
  intType = type.clone(b.getIntegerType(isF64 ? 64 : 32));
}

Value VectorMathBuilder::constant(double value) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value)));
}

Value VectorMathBuilder::integer(int64_t value) {
  return arith::ConstantOp::create(b,
                                   DenseElementsAttr::get(intType, b.getIntegerAttr(intType.getElementType(), value)));
}

Value VectorMathBuilder::add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
Value VectorMathBuilder::sub(Value lhs, Value rhs) { return arith::SubFOp::create(b, lhs, rhs); }
Value VectorMathBuilder::mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
Value VectorMathBuilder::div(Value lhs, Value rhs) { return arith::DivFOp::create(b, lhs, rhs); }
Value VectorMathBuilder::fma(Value a, Value x, Value c) { return vector::FMAOp::create(b, a, x, c); }
Value VectorMathBuilder::abs(Value x) { return math::AbsFOp::create(b, x); }

Value VectorMathBuilder::compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, predicate, lhs, rhs);
}

Value VectorMathBuilder::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

Value VectorMathBuilder::clamp(Value x, double low, double high) {
  Value lowest = constant(low), highest = constant(high);
  x = select(compare(arith::CmpFPredicate::OLT, x, lowest), lowest, x);
  return select(compare(arith::CmpFPredicate::OGT, x, highest), highest, x);
}

Value VectorMathBuilder::bits(Value x) { return arith::BitcastOp::create(b, intType, x); }
Value VectorMathBuilder::fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }
Value VectorMathBuilder::shiftLeft(Value x, int64_t count) { return arith::ShLIOp::create(b, x, integer(count)); }
Value VectorMathBuilder::shiftRight(Value x, int64_t count) { return arith::ShRSIOp::create(b, x, integer(count)); }
Value VectorMathBuilder::addInteger(Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs); }

Value VectorMathBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(coefficient));
  return sum;
}

std::pair<Value, Value> VectorMathBuilder::nearest(Value x, double factor) {
  // Adding 1.5 * 2^mantissa leaves the integer in the low bits.
  double magic = isDouble() ? 0x1.8p52 : 0x1.8p23;
  Value shifted = fma(x, constant(factor), constant(magic));
  Value number = sub(shifted, constant(magic));
  Value count = arith::SubIOp::create(b, bits(shifted), bits(constant(magic)));
  return {number, count};
}

Value VectorMathBuilder::halfPower(Value n) {
  return fromBits(shiftLeft(addInteger(n, integer(bias - 1)), mantissaBits));
}

//===--- Exponentials ---------------------------------------------------------------------------------------------===//

// log(2) in two parts, the first short enough that its product with an exponent is exact.
static constexpr double log2High32 = 0x1.62e4p-1, log2Low32 = 1.4286068203094172321e-6;
static constexpr double log2High64 = 0x1.62e42feep-1, log2Low64 = 1.9082149292705877e-10;
static constexpr double log2OfE = 1.4426950408889634074;

VectorMathBuilder::Exponential VectorMathBuilder::reduceExp(Value x) {
  auto [number, n] = nearest(x, log2OfE);
  Value r = fma(number, constant(isDouble() ? -log2High64 : -log2High32), x);
  r = fma(number, constant(isDouble() ? -log2Low64 : -log2Low32), r);
  // exp(r) = 1 + r + r^2 q(r)
  Value q = isDouble()
                ? polynomial(r, {0.500000000000001, 0.16666666666666674, 0.041666666666520948, 0.0083333333333221269,
                                 0.0013888888948140007, 0.00019841269886836392, 2.4801486965350888e-05,
                                 2.7557242059340425e-06, 2.7632791582662336e-07, 2.5110154340462048e-08})
                : polynomial(r, {0.499999934, 0.166665201, 0.0416683942, 0.00836878043, 0.00138144688});
  return {fma(mul(r, r), q, r), n};
}

Value VectorMathBuilder::exp(Value x) {
  // The lower bound is where 2^(n - 1) becomes 0. A gradual underflow would cost hundreds of cycles per vector, and
  // masks make large negative arguments common.
  Exponential e = reduceExp(isDouble() ? clamp(x, -708.39, 710) : clamp(x, -87.3, 89));
  return mul(fma(e.p, constant(2), constant(2)), halfPower(e.n));
}

Value VectorMathBuilder::exp2(Value x) {
  x = isDouble() ? clamp(x, -1022, 1024.5) : clamp(x, -126, 128.5);
  auto [number, n] = nearest(x, 1);
  Value r = sub(x, number);
  Value q = isDouble()
                ? polynomial(r, {0.69314718055994529, 0.24022650695910133, 0.05550410866482007, 0.0096181291075938449,
                                 0.0013333558146777318, 0.00015403530457494595, 1.5252733491336714e-05,
                                 1.3215435076289905e-06, 1.0178199993732761e-07, 7.0738209771691693e-09,
                                 4.4347546748407763e-10})
                : polynomial(r, {0.693147203, 0.240226479, 0.0555033216, 0.00961843857, 0.00133990034, 0.000153532657});
  return mul(fma(q, add(r, r), constant(2)), halfPower(n));
}

Value VectorMathBuilder::expm1(Value x) {
  Exponential e = reduceExp(isDouble() ? clamp(x, -708.39, 710) : clamp(x, -87.3, 89));
  // Far out, the 1 does not count, and 2^n alone could overflow.
  Value far = sub(mul(fma(e.p, constant(2), constant(2)), halfPower(e.n)), constant(1));
  Value limit = integer(60);
  Value n = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, e.n, limit).getResult(), integer(-60));
  Value power = fromBits(shiftLeft(addInteger(n, integer(bias)), mantissaBits));
  Value near = fma(e.p, power, sub(power, constant(1)));
  return select(compare(arith::CmpFPredicate::OLT, abs(x), constant(40)), near, far);
}

Value VectorMathBuilder::tanh(Value x) {
  Value size = abs(x);
  // Near zero an odd polynomial, elsewhere 1 - 2 / (exp(2 |x|) + 1).
  Value z = mul(x, x);
  Value q = isDouble()
                ? polynomial(z, {-0.33333333333333298, 0.13333333333326833, -0.053968253963878589, 0.021869488389101282,
                                 -0.0088632326527397984, 0.0035920925319232696, -0.0014555459794499724,
                                 0.00058845702783004406, -0.00023341266991433978, 8.3359980146349485e-05,
                                 -1.9520970072008723e-05})
                : polynomial(z, {-0.333333308, 0.13333206, -0.0539467632, 0.0217007037, -0.0081773993, 0.00214296265});
  Value near = fma(mul(q, z), x, x);
  Exponential e = reduceExp(clamp(add(size, size), 0, isDouble() ? 44 : 20));
  Value power = fromBits(shiftLeft(addInteger(e.n, integer(bias)), mantissaBits));
  Value sum = fma(e.p, power, add(power, constant(1)));
  Value far = sub(constant(1), div(constant(2), sum));
  far = math::CopySignOp::create(b, far, x);
  Value result = select(compare(arith::CmpFPredicate::OLT, size, constant(isDouble() ? 0.55 : 0.625)), near, far);
  return math::CopySignOp::create(b, result, x); // of a negative zero, too
}

//===--- Logarithms -----------------------------------------------------------------------------------------------===//

VectorMathBuilder::Logarithm VectorMathBuilder::reduceLog(Value x) {
  // Subnormal numbers are scaled up first.
  int64_t shift = mantissaBits + 2;
  Value isSmall = compare(arith::CmpFPredicate::OLT, x, constant(isDouble() ? 0x1p-1022 : 0x1p-126));
  x = select(isSmall, mul(x, constant(std::ldexp(1.0, shift))), x);
  Value adjust = select(isSmall, integer(-shift), integer(0));
  // x = 2^exponent * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
  int64_t half = isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value distance = arith::SubIOp::create(b, bits(x), integer(half));
  Value count = shiftRight(distance, mantissaBits);
  Value mantissa = arith::AndIOp::create(b, distance, integer((int64_t(1) << mantissaBits) - 1));
  Value f = sub(fromBits(addInteger(mantissa, integer(half))), constant(1));
  Value exponent = arith::SIToFPOp::create(b, type, addInteger(count, adjust));
  Value square = mul(f, f);
  if (!isDouble()) {
    // log(1 + f) = f - f^2 / 2 + f^3 p(f)
    Value p = polynomial(f, {0.333333317, -0.25000821, 0.200012271, -0.166233575, 0.142017548, -0.131601778,
                             0.127615945, -0.0763452824});
    return {exponent, f, mul(square, fma(p, f, constant(-0.5)))};
  }
  // log(1 + f) = 2 artanh(s) = f - (h - s (h + r)) with s = f / (2 + f), h = f^2 / 2, r = s^2 p(s^2)
  Value s = div(f, add(f, constant(2)));
  Value z = mul(s, s);
  Value r = mul(z, polynomial(z, {0.66666666666667351, 0.39999999999411096, 0.28571428743261956, 0.22222198476053195,
                                  0.18183569736506416, 0.1531390332860208, 0.14797506906957764}));
  Value h = mul(square, constant(0.5));
  return {exponent, f, sub(mul(s, add(h, r)), h)};
}

Value VectorMathBuilder::finishLog(Value x, Value result) {
  double infinity = std::numeric_limits<double>::infinity();
  Value positive = compare(arith::CmpFPredicate::OGT, x, constant(0));
  Value finite = compare(arith::CmpFPredicate::OLT, x, constant(infinity));
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, constant(0));
  Value limit = select(isZero, constant(-infinity), constant(std::numeric_limits<double>::quiet_NaN()));
  limit = select(positive, x, limit);
  return select(arith::AndIOp::create(b, positive, finite), result, limit);
}

Value VectorMathBuilder::log(Value x) {
  Logarithm l = reduceLog(x);
  Value low = fma(l.exponent, constant(isDouble() ? log2Low64 : log2Low32), l.low);
  Value sum = fma(l.exponent, constant(isDouble() ? log2High64 : log2High32), add(low, l.high));
  return finishLog(x, sum);
}

Value VectorMathBuilder::log2(Value x) {
  Logarithm l = reduceLog(x);
  return finishLog(x, fma(add(l.high, l.low), constant(log2OfE), l.exponent));
}

Value VectorMathBuilder::log10(Value x) {
  Logarithm l = reduceLog(x);
  double high = isDouble() ? 0x1.34413509ep-2 : 0x1.344p-2;
  double low = isDouble() ? 5.371644767466998e-12 : 4.605038981195214e-06;
  Value sum = fma(add(l.high, l.low), constant(0.43429448190325182765), mul(l.exponent, constant(low)));
  return finishLog(x, fma(l.exponent, constant(high), sum));
}

Value VectorMathBuilder::log1p(Value x) {
  // log(u) for the rounded u = 1 + x, and what the rounding lost.
  Value u = add(x, constant(1));
  Logarithm l = reduceLog(u);
  Value lost = div(sub(x, sub(u, constant(1))), u);
  Value low = fma(l.exponent, constant(isDouble() ? log2Low64 : log2Low32), add(l.low, lost));
  Value sum = fma(l.exponent, constant(isDouble() ? log2High64 : log2High32), add(low, l.high));
  return finishLog(u, sum);
}

} // namespace fusion::cpu
