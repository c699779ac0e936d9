//===- HostArrayTest.cpp - Arrays in host memory ----------------------------===//

#include "fusion/Execution/HostArray.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace fusion;

namespace {

/// What LLVM's arbitrary-precision floats say about the conversion from double.
uint16_t roundByApFloat(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

double decodeByApFloat(uint16_t bits, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(semantics, llvm::APInt(16, bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

TEST(HalfFloats, DecodeEveryPattern) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    double half = decodeByApFloat(bits, llvm::APFloat::IEEEhalf()),
           brain = decodeByApFloat(bits, llvm::APFloat::BFloat());
    EXPECT_TRUE(std::isnan(half) ? std::isnan(decodeF16(bits)) : half == decodeF16(bits)) << bits;
    EXPECT_TRUE(std::isnan(brain) ? std::isnan(decodeBF16(bits)) : brain == decodeBF16(bits)) << bits;
    EXPECT_EQ(std::signbit(half), std::signbit(decodeF16(bits))) << bits;
  }
}

TEST(HalfFloats, EncodeRoundsOnceToNearestEven) {
  auto check = [](double value) {
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decodeF16(encodeF16(value))));
      EXPECT_TRUE(std::isnan(decodeBF16(encodeBF16(value))));
      return;
    }
    EXPECT_EQ(encodeF16(value), roundByApFloat(value, llvm::APFloat::IEEEhalf())) << value;
    EXPECT_EQ(encodeBF16(value), roundByApFloat(value, llvm::APFloat::BFloat())) << value;
  };
  // Every number of each format, the midpoints between neighbours and what lies just beside them.
  for (unsigned bits = 0; bits < 65535; ++bits)
    for (auto decode : {decodeF16, decodeBF16}) {
      double low = decode(bits), high = decode(bits + 1);
      double middle = low / 2 + high / 2;
      for (double value : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)})
        check(value);
    }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    check(value);
  }
  for (double value : {0.0, -0.0, 65519.99, 65520.0, 1e300, -HUGE_VAL, 5e-8, 2.98e-8, 1e-320, std::nan("")})
    check(value);
}

TEST(HostArray, ElementsOfEveryKind) {
  for (ElementKind kind : {ElementKind::F16, ElementKind::BF16, ElementKind::F32, ElementKind::F64, ElementKind::I8,
                           ElementKind::I16, ElementKind::I32, ElementKind::I64, ElementKind::Index}) {
    auto array = llvm::cantFail(HostArray::create(kind, {2, 3}));
    EXPECT_EQ(array.getNumElements(), 6);
    EXPECT_EQ(array.getSizeInBytes(), 6 * getByteWidth(kind));
    EXPECT_EQ(uintptr_t(array.getData()) % 64, 0u);
    EXPECT_EQ(array.getInteger(5), 0);
    array.setInteger(4, -7);
    EXPECT_EQ(array.getInteger(4), -7);
    EXPECT_EQ(array.getDouble(4), -7.0);
    EXPECT_EQ(parseElementKind(getName(kind)), kind);
  }
  auto flags = llvm::cantFail(HostArray::create(ElementKind::I1, {2}));
  flags.setInteger(1, -1);
  EXPECT_EQ(flags.getInteger(1), 1);
  EXPECT_EQ(HostArray::scalar(ElementKind::I8, int64_t(200)).getInteger(0), -56);
}

TEST(HostArray, CopiesShareUntilWritten) {
  HostArray first = HostArray::scalar(ElementKind::F32, 1.0);
  HostArray second = first;
  EXPECT_EQ(first.getData(), second.getData());
  second.setDouble(0, 2.0);
  EXPECT_EQ(first.getDouble(0), 1.0);
  EXPECT_EQ(second.getDouble(0), 2.0);
}

TEST(HostArray, ImpossibleSizesAreErrors) {
  for (llvm::SmallVector<int64_t> shape : {llvm::SmallVector<int64_t>{-1},
                                           {INT64_MAX, INT64_MAX},
                                           {int64_t(1) << 40, int64_t(1) << 20},
                                           {0, INT64_MAX, INT64_MAX}}) {
    llvm::Expected<HostArray> array = HostArray::create(ElementKind::F32, shape);
    EXPECT_FALSE(bool(array));
    llvm::consumeError(array.takeError());
  }
  EXPECT_EQ(llvm::cantFail(HostArray::create(ElementKind::F64, {0, 5})).getNumElements(), 0);
}

TEST(HostArray, TypesOfTheProgram) {
  mlir::MLIRContext context;
  for (unsigned kind = 0; kind <= unsigned(ElementKind::Index); ++kind)
    EXPECT_EQ(getElementKind(getType(ElementKind(kind), &context)), ElementKind(kind));
  EXPECT_EQ(getElementKind(mlir::IntegerType::get(&context, 4)), std::nullopt);
  EXPECT_EQ(getElementKind(mlir::Float8E5M2Type::get(&context)), std::nullopt);
  EXPECT_EQ(getTypeText(ElementKind::BF16, {3, 4}), "3x4xbf16");
}

TEST(HostBuffer, CountsBytes) {
  uint64_t before = HostBuffer::getLiveBytes();
  HostBuffer::resetPeak();
  {
    auto a = HostBuffer::allocate(1000), b = HostBuffer::allocate(500);
    EXPECT_EQ(HostBuffer::getLiveBytes(), before + 1500);
  }
  EXPECT_EQ(HostBuffer::getLiveBytes(), before);
  EXPECT_EQ(HostBuffer::getPeakBytes(), before + 1500);
}

} // namespace
