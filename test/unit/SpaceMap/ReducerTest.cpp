//===- ReducerTest.cpp - Identities of the reducers -----------------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fusion::spacemap;

TEST(Reducer, FloatIdentities) {
  MLIRContext context;
  Builder builder(&context);
  auto identity = [&](Reducer reducer, Type type) {
    return cast<FloatAttr>(getIdentity(reducer, type)).getValueAsDouble();
  };
  for (Type type : {Type(builder.getF16Type()), Type(builder.getBF16Type()), Type(builder.getF32Type()),
                    Type(builder.getF64Type())}) {
    EXPECT_EQ(identity(Reducer::Sum, type), 0.0);
    EXPECT_EQ(identity(Reducer::Prod, type), 1.0);
    EXPECT_EQ(identity(Reducer::Max, type), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(identity(Reducer::MinNum, type), std::numeric_limits<double>::infinity());
  }
  // No infinity in this type: its largest number takes the place.
  EXPECT_EQ(identity(Reducer::Max, Float8E4M3FNType::get(&context)), -448.0);
}

TEST(Reducer, IntegerIdentities) {
  MLIRContext context;
  Builder builder(&context);
  auto identity = [&](Reducer reducer, Type type) {
    return cast<IntegerAttr>(getIdentity(reducer, type)).getValue().getSExtValue();
  };
  EXPECT_EQ(identity(Reducer::Max, builder.getI8Type()), -128);
  EXPECT_EQ(identity(Reducer::Min, builder.getI8Type()), 127);
  EXPECT_EQ(identity(Reducer::MinUnsigned, builder.getI8Type()), -1);
  EXPECT_EQ(identity(Reducer::And, builder.getI32Type()), -1);
  EXPECT_EQ(identity(Reducer::Xor, builder.getI64Type()), 0);
  EXPECT_EQ(identity(Reducer::Prod, builder.getIndexType()), 1);
}

TEST(Reducer, IllegalOnType) {
  MLIRContext context;
  Builder builder(&context);
  EXPECT_FALSE(isLegal(Reducer::And, builder.getF32Type()));
  EXPECT_FALSE(isLegal(Reducer::MaxNum, builder.getI32Type()));
  EXPECT_FALSE(getIdentity(Reducer::MaxUnsigned, builder.getF32Type()));
  EXPECT_TRUE(isLegal(Reducer::Max, builder.getIndexType()));
}
