//===- RuntimeValue.cpp - What SSA values stand for at run time -------------===//

#include "RuntimeValue.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>

using namespace fusion;
using namespace fusion::reference;

std::optional<ScalarType> ScalarType::get(mlir::Type type) {
  if (std::optional<ElementKind> kind = getElementKind(type))
    return ScalarType{*kind, *kind == ElementKind::I1 ? 1 : 8 * getByteWidth(*kind)};
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() == 0 || integer.getWidth() > 64)
    return std::nullopt;
  unsigned width = integer.getWidth();
  ElementKind kind = width <= 8    ? ElementKind::I8
                     : width <= 16 ? ElementKind::I16
                     : width <= 32 ? ElementKind::I32
                                   : ElementKind::I64;
  return ScalarType{kind, width};
}

double reference::roundToType(double value, ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return decodeF16(encodeF16(value));
  case ElementKind::BF16:
    return decodeBF16(encodeBF16(value));
  case ElementKind::F32:
    return float(value);
  default:
    return value;
  }
}

Scalar Scalar::makePoison(ScalarType type) {
  if (type.isFloat())
    return makeReal(type, std::nan(""));
  return makeInteger(type, type.width == 1 ? -1 : INT64_MIN >> (64 - type.width));
}

std::optional<Scalar> Scalar::get(mlir::Attribute attribute) {
  auto typed = llvm::dyn_cast<mlir::TypedAttr>(attribute);
  std::optional<ScalarType> type = typed ? ScalarType::get(typed.getType()) : std::nullopt;
  if (!type)
    return std::nullopt;
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(attribute)) {
    llvm::APFloat value = real.getValue();
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return makeReal(*type, value.convertToDouble());
  }
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(attribute))
    return makeInteger(*type, wrapInteger(integer.getValue().getSExtValue(), type->width));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// TensorValue
//===----------------------------------------------------------------------===//

Shape reference::getContiguousStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

int64_t TensorValue::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

bool TensorValue::isContiguous() const {
  int64_t expected = 1;
  for (int64_t axis = getRank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 0)
      return true;
    if (shape[axis] != 1 && strides[axis] != expected)
      return false;
    expected *= shape[axis];
  }
  return true;
}

bool TensorValue::isExclusive() const {
  if (buffer.use_count() != 1)
    return false;
  for (auto [extent, stride] : llvm::zip(shape, strides))
    if (extent > 1 && stride == 0)
      return false;
  return true;
}

int64_t TensorValue::getOffset(llvm::ArrayRef<int64_t> index) const {
  int64_t result = offset;
  for (auto [i, stride] : llvm::zip(index, strides))
    result += i * stride;
  return result;
}

Scalar TensorValue::load(int64_t at) const {
  const void *data = buffer->getData();
  switch (type.kind) {
  case ElementKind::F16:
    return Scalar::makeReal(type, decodeF16(static_cast<const uint16_t *>(data)[at]));
  case ElementKind::BF16:
    return Scalar::makeReal(type, decodeBF16(static_cast<const uint16_t *>(data)[at]));
  case ElementKind::F32:
    return Scalar::makeReal(type, static_cast<const float *>(data)[at]);
  case ElementKind::F64:
    return Scalar::makeReal(type, static_cast<const double *>(data)[at]);
  case ElementKind::I1:
    return Scalar::makeInteger(type, static_cast<const uint8_t *>(data)[at] ? -1 : 0);
  case ElementKind::I8:
    return Scalar::makeInteger(type, static_cast<const int8_t *>(data)[at]);
  case ElementKind::I16:
    return Scalar::makeInteger(type, static_cast<const int16_t *>(data)[at]);
  case ElementKind::I32:
    return Scalar::makeInteger(type, static_cast<const int32_t *>(data)[at]);
  case ElementKind::I64:
  case ElementKind::Index:
    return Scalar::makeInteger(type, static_cast<const int64_t *>(data)[at]);
  }
  return {};
}

void TensorValue::store(int64_t at, Scalar value) const {
  void *data = buffer->getData();
  switch (type.kind) {
  case ElementKind::F16:
    static_cast<uint16_t *>(data)[at] = encodeF16(value.real);
    return;
  case ElementKind::BF16:
    static_cast<uint16_t *>(data)[at] = encodeBF16(value.real);
    return;
  case ElementKind::F32:
    static_cast<float *>(data)[at] = float(value.real);
    return;
  case ElementKind::F64:
    static_cast<double *>(data)[at] = value.real;
    return;
  case ElementKind::I1:
    static_cast<uint8_t *>(data)[at] = value.integer & 1;
    return;
  case ElementKind::I8:
    static_cast<int8_t *>(data)[at] = int8_t(value.integer);
    return;
  case ElementKind::I16:
    static_cast<int16_t *>(data)[at] = int16_t(value.integer);
    return;
  case ElementKind::I32:
    static_cast<int32_t *>(data)[at] = int32_t(value.integer);
    return;
  case ElementKind::I64:
  case ElementKind::Index:
    static_cast<int64_t *>(data)[at] = value.integer;
    return;
  }
}

TensorValue TensorValue::slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> steps) const {
  TensorValue result = *this;
  result.offset = getOffset(offsets);
  result.shape.assign(sizes.begin(), sizes.end());
  for (auto [stride, step] : llvm::zip(result.strides, steps))
    stride *= step;
  return result;
}

TensorValue TensorValue::transpose(llvm::ArrayRef<int64_t> permutation) const {
  TensorValue result = *this;
  for (auto [axis, from] : llvm::enumerate(permutation)) {
    result.shape[axis] = shape[from];
    result.strides[axis] = strides[from];
  }
  return result;
}

TensorValue TensorValue::withShape(llvm::ArrayRef<int64_t> newShape) const {
  TensorValue result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  result.strides = getContiguousStrides(newShape);
  return result;
}

void reference::copyElements(const TensorValue &source, const TensorValue &target) {
  int64_t rank = source.getRank();
  unsigned width = getByteWidth(source.type.kind);
  if (source.getNumElements() == 0)
    return;
  const char *from = static_cast<const char *>(source.buffer->getData()) + source.offset * width;
  char *to = static_cast<char *>(target.buffer->getData()) + target.offset * width;
  // The trailing axes that are contiguous on both sides are copied as a whole.
  int64_t run = 1;
  int64_t outer = rank;
  while (outer > 0 &&
         (source.shape[outer - 1] == 1 || (source.strides[outer - 1] == run && target.strides[outer - 1] == run)))
    run *= source.shape[--outer];
  Shape index(outer, 0);
  int64_t fromOffset = 0, toOffset = 0;
  while (true) {
    std::memmove(to + toOffset * width, from + fromOffset * width, run * width);
    int64_t axis = outer - 1;
    for (; axis >= 0; --axis) {
      fromOffset += source.strides[axis];
      toOffset += target.strides[axis];
      if (++index[axis] < source.shape[axis])
        break;
      fromOffset -= source.strides[axis] * source.shape[axis];
      toOffset -= target.strides[axis] * source.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}
