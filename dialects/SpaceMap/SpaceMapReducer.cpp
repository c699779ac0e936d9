//===- SpaceMapReducer.cpp - What a reducer means -------------------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fusion::spacemap;

bool fusion::spacemap::isLegal(Reducer reducer, Type type) {
  switch (reducer) {
  case Reducer::Sum:
  case Reducer::Prod:
  case Reducer::Max:
  case Reducer::Min:
    return type.isIntOrIndexOrFloat();
  case Reducer::MaxNum:
  case Reducer::MinNum:
    return isa<FloatType>(type);
  case Reducer::MaxUnsigned:
  case Reducer::MinUnsigned:
  case Reducer::And:
  case Reducer::Or:
  case Reducer::Xor:
    return type.isIntOrIndex();
  }
  return false;
}

bool fusion::spacemap::keepsSign(Reducer reducer) {
  switch (reducer) {
  case Reducer::Sum:
  case Reducer::Prod:
  case Reducer::Max:
  case Reducer::Min:
  case Reducer::MaxNum:
  case Reducer::MinNum:
    return true;
  case Reducer::MaxUnsigned:
  case Reducer::MinUnsigned:
  case Reducer::And:
  case Reducer::Or:
  case Reducer::Xor:
    return false;
  }
  return false;
}

static TypedAttr getFloatIdentity(Reducer reducer, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  // A type without infinities (some 8-bit floats) has its largest number as the identity of min and max.
  auto extreme = [&](bool negative) {
    return APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                               : APFloat::getLargest(semantics, negative);
  };
  switch (reducer) {
  case Reducer::Sum:
    return FloatAttr::get(type, APFloat::getZero(semantics));
  case Reducer::Prod:
    return FloatAttr::get(type, 1.0);
  case Reducer::Max:
  case Reducer::MaxNum:
    return FloatAttr::get(type, extreme(/*negative=*/true));
  default:
    return FloatAttr::get(type, extreme(/*negative=*/false));
  }
}

static TypedAttr getIntegerIdentity(Reducer reducer, Type type) {
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  switch (reducer) {
  case Reducer::Prod:
    return IntegerAttr::get(type, APInt(width, 1));
  case Reducer::Max:
    return IntegerAttr::get(type, APInt::getSignedMinValue(width));
  case Reducer::Min:
    return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
  case Reducer::And:
  case Reducer::MinUnsigned:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  default:
    return IntegerAttr::get(type, APInt(width, 0));
  }
}

TypedAttr fusion::spacemap::getIdentity(Reducer reducer, Type type) {
  if (!isLegal(reducer, type))
    return {};
  if (auto floatType = dyn_cast<FloatType>(type))
    return getFloatIdentity(reducer, floatType);
  return getIntegerIdentity(reducer, type);
}

Value fusion::spacemap::createCombine(OpBuilder &builder, Location loc, Reducer reducer, Value lhs, Value rhs) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  switch (reducer) {
  case Reducer::Sum:
    return isFloat ? arith::AddFOp::create(builder, loc, lhs, rhs).getResult()
                   : arith::AddIOp::create(builder, loc, lhs, rhs).getResult();
  case Reducer::Prod:
    return isFloat ? arith::MulFOp::create(builder, loc, lhs, rhs).getResult()
                   : arith::MulIOp::create(builder, loc, lhs, rhs).getResult();
  case Reducer::Max:
    return isFloat ? arith::MaximumFOp::create(builder, loc, lhs, rhs).getResult()
                   : arith::MaxSIOp::create(builder, loc, lhs, rhs).getResult();
  case Reducer::Min:
    return isFloat ? arith::MinimumFOp::create(builder, loc, lhs, rhs).getResult()
                   : arith::MinSIOp::create(builder, loc, lhs, rhs).getResult();
  case Reducer::MaxNum:
    return arith::MaxNumFOp::create(builder, loc, lhs, rhs);
  case Reducer::MinNum:
    return arith::MinNumFOp::create(builder, loc, lhs, rhs);
  case Reducer::MaxUnsigned:
    return arith::MaxUIOp::create(builder, loc, lhs, rhs);
  case Reducer::MinUnsigned:
    return arith::MinUIOp::create(builder, loc, lhs, rhs);
  case Reducer::And:
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  case Reducer::Or:
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  case Reducer::Xor:
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("every reducer is handled above");
}
