//===- VectorMathSpecial.cpp - Error function, sine, powers of vectors --------------------------------------------===//

#include "VectorMathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {

Value VectorMathBuilder::erf(Value x) {
  if (!isDouble()) {
    // An odd polynomial over the whole range in which the result is not +-1; in a centred variable, so that rounding
    // errors stay small.
    double end = 3.92;
    Value bounded = clamp(x, -end, end);
    Value s = fma(mul(bounded, bounded), constant(2 / (end * end)), constant(-1));
    Value p = polynomial(s, {0.36073682, -0.180108571, 0.134083416, -0.10918152, 0.0906219009, -0.0739936765,
                             0.0581893125, -0.0435669982, 0.0305349423, -0.0196647925, 0.012375095, -0.00810683776,
                             0.00413981194, -0.00108872037, 0.00070423635, -0.000927447896, 0.000355062808});
    return clamp(mul(bounded, p), -1, 1);
  }
  Value size = abs(x);
  Value z = mul(x, x);
  Value near =
      mul(x, polynomial(z, {1.1283791670955126, -0.37612638903183748, 0.11283791670954857, -0.026866170645072896,
                            0.0052239776247808749, -0.0008548326978742595, 0.00012055331036911085,
                            -1.4925593507102268e-05, 1.6460972819481492e-06, -1.6350025239598178e-07,
                            1.4657879901296016e-08, -1.1365666000861305e-09, 5.9452615298242053e-11}));
  // 1 - exp(-x^2) g(t) with t = (|x| - 2) / (|x| + 2).
  Value bounded = clamp(size, 1, 5.95);
  Value t = div(sub(bounded, constant(2)), add(bounded, constant(2)));
  Value g =
      polynomial(t, {0.25539567631050575, -0.42718584741395838, 0.24165819424246676, -0.078978581015748395,
                     0.0037328924041149839, 0.0069974617401773014, -0.00084714322576916613, -0.00098197697306267825,
                     4.3554707570919869e-05, 0.00017435646307351676, 2.753169286954419e-05, -2.7487423703711056e-05,
                     -1.3825576192016965e-05, 9.4648252078997858e-07, 2.215114345463809e-06});
  Exponential e = reduceExp(mul(bounded, sub(constant(0), bounded)));
  Value tail = mul(mul(fma(e.p, constant(2), constant(2)), halfPower(e.n)), g);
  Value far = math::CopySignOp::create(b, sub(constant(1), tail), x);
  return select(compare(arith::CmpFPredicate::OLT, size, constant(1)), near, far);
}

Value VectorMathBuilder::rsqrt(Value x) { return div(constant(1), math::SqrtOp::create(b, x)); }

Value VectorMathBuilder::sine(Value x, bool cosine) {
  Value r, quadrant, s, c;
  if (isDouble()) {
    // Parts of pi/2 of 33 bits: their products with a number below 2^20 are exact.
    auto [number, count] = nearest(x, 0.63661977236758134308);
    r = x;
    for (double part : {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104})
      r = fma(number, constant(-part), r);
    quadrant = count;
    // The power series: at pi/4 the first term that is left out is below 2^-58.
    Value z = mul(r, r);
    s = polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                       -1.0 / 1307674368000.0, 1.0 / 355687428096000.0});
    s = fma(mul(s, z), r, r);
    c = polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0,
                       1.0 / 20922789888000.0});
    // What rounding takes from 1 - z / 2 is given back.
    Value half = mul(z, constant(0.5)), high = sub(constant(1), half);
    Value low = sub(sub(constant(1), high), half);
    c = add(high, fma(mul(z, z), c, low));
  } else {
    // The multiple of pi/2 is taken off in f64.
    VectorMathBuilder wide(b, type.clone(b.getF64Type()));
    Value argument = arith::ExtFOp::create(b, wide.type, x);
    auto [number, count] = wide.nearest(argument, 0.63661977236758134308);
    Value rest = argument;
    for (double part : {1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21})
      rest = wide.fma(number, wide.constant(-part), rest);
    r = arith::TruncFOp::create(b, type, rest);
    quadrant = arith::TruncIOp::create(b, intType, count);
    Value z = mul(r, r);
    s = polynomial(z, {-0.166666666, 0.00833332936, -0.000198393271, 2.71823732e-06});
    s = fma(mul(s, z), r, r);
    c = polynomial(z, {0.0416666467, -0.00138873615, 2.44377308e-05});
    c = fma(mul(z, z), c, fma(z, constant(-0.5), constant(1)));
  }
  if (cosine)
    quadrant = addInteger(quadrant, integer(1));
  Value odd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(b, quadrant, integer(1)).getResult(), integer(0));
  Value sign = shiftLeft(arith::AndIOp::create(b, quadrant, integer(2)), isDouble() ? 62 : 30);
  Value result = fromBits(arith::XOrIOp::create(b, bits(select(odd, c, s)), sign));

  // Huge arguments, infinities and NaN are rare enough for one call each.
  Value huge = compare(arith::CmpFPredicate::UGE, abs(x), constant(isDouble() ? 0x1p20 : 0x1p27));
  Value any = vector::ReductionOp::create(b, vector::CombiningKind::OR, huge);
  auto branch = scf::IfOp::create(b, TypeRange{type}, any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value lanes = arith::ConstantIndexOp::create(b, type.getNumElements());
    auto loop = scf::ForOp::create(b, zero, lanes, one, ValueRange{result});
    b.setInsertionPointToStart(loop.getBody());
    Value element = vector::ExtractOp::create(b, x, OpFoldResult(loop.getInductionVar()));
    Value exact = cosine ? math::CosOp::create(b, element).getResult() : math::SinOp::create(b, element).getResult();
    Value inserted =
        vector::InsertOp::create(b, exact, loop.getRegionIterArgs()[0], OpFoldResult(loop.getInductionVar()));
    scf::YieldOp::create(b, ValueRange{inserted});
    b.setInsertionPointAfter(loop);
    scf::YieldOp::create(b, loop.getResults());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{result});
  }
  return branch.getResult(0);
}

Value VectorMathBuilder::powf(Value x, Value y) {
  using Predicate = arith::CmpFPredicate;
  double infinity = std::numeric_limits<double>::infinity();
  // 2^(y log2 |x|) in f64 has digits to spare for f32.
  VectorMathBuilder wide(b, type.clone(b.getF64Type()));
  Value base = arith::ExtFOp::create(b, wide.type, abs(x)), exponent = arith::ExtFOp::create(b, wide.type, y);
  Value power = arith::TruncFOp::create(b, type, wide.exp2(wide.mul(exponent, wide.log2(base))));
  // A negative base asks for an integer; its parity gives the sign.
  Value whole = math::FloorOp::create(b, y);
  Value isInteger = compare(Predicate::OEQ, whole, y);
  Value halfway = mul(y, constant(0.5));
  Value isEven = compare(Predicate::OEQ, math::FloorOp::create(b, halfway).getResult(), halfway);
  Value isOdd = arith::AndIOp::create(b, isInteger, arith::XOrIOp::create(b, isEven, splatTrue()).getResult());
  Value signedPower = math::CopySignOp::create(b, power, x);
  power = select(isOdd, signedPower, power);
  Value negative = arith::AndIOp::create(b, compare(Predicate::OLT, x, constant(0)),
                                         compare(Predicate::OGT, x, constant(-infinity)));
  Value undefined = arith::AndIOp::create(b, negative, compare(Predicate::ONE, whole, y));
  power = select(undefined, constant(std::numeric_limits<double>::quiet_NaN()), power);
  // 1 to any power, anything to the power 0, and -1 to an infinite power are 1.
  Value isOne = compare(Predicate::OEQ, x, constant(1));
  Value toZero = compare(Predicate::OEQ, y, constant(0));
  Value minusOne = arith::AndIOp::create(b, compare(Predicate::OEQ, x, constant(-1)),
                                         compare(Predicate::OEQ, abs(y), constant(infinity)));
  Value unit = arith::OrIOp::create(b, isOne, arith::OrIOp::create(b, toZero, minusOne).getResult());
  return select(unit, constant(1), power);
}

Value VectorMathBuilder::splatTrue() {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type.clone(b.getI1Type()), true));
}

Value VectorMathBuilder::fpowi(Value x, int64_t exponent) {
  uint64_t count = exponent < 0 ? -uint64_t(exponent) : uint64_t(exponent);
  Value result, square = x;
  for (; count; count >>= 1) {
    if (count & 1)
      result = result ? mul(result, square) : square;
    if (count > 1)
      square = mul(square, square);
  }
  if (!result)
    return constant(1);
  return exponent < 0 ? div(constant(1), result) : result;
}

Value VectorMathBuilder::fpowi(Value x, Value exponent) {
  // By squaring, one bit of all exponents at a time.
  auto exponentType = cast<VectorType>(exponent.getType());
  Type element = exponentType.getElementType();
  auto splatOf = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(exponentType, b.getIntegerAttr(element, value)));
  };
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, splatOf(0));
  Value magnitude = select(negative, arith::SubIOp::create(b, splatOf(0), exponent), exponent);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value width = arith::ConstantIndexOp::create(b, element.getIntOrFloatBitWidth());
  auto loop = scf::ForOp::create(b, zero, width, one, ValueRange{constant(1), x, magnitude});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value result = loop.getRegionIterArgs()[0], square = loop.getRegionIterArgs()[1],
          left = loop.getRegionIterArgs()[2];
    Value bit = arith::AndIOp::create(b, left, splatOf(1));
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, splatOf(0));
    result = select(isSet, mul(result, square), result);
    Value rest = arith::ShRUIOp::create(b, left, splatOf(1));
    scf::YieldOp::create(b, ValueRange{result, mul(square, square), rest});
  }
  Value result = loop.getResult(0);
  return select(negative, div(constant(1), result), result);
}

} // namespace fusion::cpu
