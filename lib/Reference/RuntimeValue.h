//===- RuntimeValue.h - What SSA values stand for at run time -----*- C++ -*-===//
//
// Scalars, and tensors as strided views of shared buffers: slices, transposes, broadcasts and splats cost nothing.
// A space of the `spacemap` dialect is a tensor whose axes are the space's dimensions.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_RUNTIMEVALUE_H
#define FUSION_LIB_REFERENCE_RUNTIMEVALUE_H

#include "fusion/Execution/HostArray.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

#include <variant>

namespace fusion::reference {

using Shape = llvm::SmallVector<int64_t, 6>;

/// The type of a scalar: how it is stored, and for integers how many bits count. Integers of odd widths (i4) are stored
/// sign-extended in the next larger kind.
struct ScalarType {
  ElementKind kind = ElementKind::Index;
  unsigned width = 64;

  bool isFloat() const { return fusion::isFloat(kind); }
  bool isDouble() const { return kind == ElementKind::F64; }
  bool operator==(const ScalarType &other) const { return kind == other.kind && width == other.width; }
  bool operator!=(const ScalarType &other) const { return !(*this == other); }

  static ScalarType index() { return {}; }
  static ScalarType boolean() { return {ElementKind::I1, 1}; }
  /// None for types that the interpreter cannot hold (i128, f8, complex, ...).
  static std::optional<ScalarType> get(mlir::Type type);
};

/// The low `width` bits of a number, sign-extended. All integers are kept so, i1 too: true is -1.
inline int64_t wrapInteger(int64_t value, unsigned width) {
  return width >= 64 ? value : int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}
/// The low `width` bits of a number as an unsigned number.
inline uint64_t zeroExtend(int64_t value, unsigned width) {
  return width >= 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}
/// The nearest number of a float type.
double roundToType(double value, ElementKind kind);

struct Scalar {
  ScalarType type;
  union {
    double real;
    int64_t integer = 0;
  };

  static Scalar makeReal(ScalarType type, double value) {
    Scalar result;
    result.type = type;
    result.real = value;
    return result;
  }
  static Scalar makeInteger(ScalarType type, int64_t value) {
    Scalar result;
    result.type = type;
    result.integer = value;
    return result;
  }
  static Scalar makeIndex(int64_t value) { return makeInteger(ScalarType::index(), value); }
  /// What uninitialised memory and poison hold.
  static Scalar makePoison(ScalarType type);
  /// An integer or float attribute.
  static std::optional<Scalar> get(mlir::Attribute attribute);
};

/// A strided view of a buffer; strides and offset count elements.
struct TensorValue {
  ScalarType type;
  Shape shape;
  Shape strides;
  int64_t offset = 0;
  std::shared_ptr<HostBuffer> buffer;

  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const;
  /// In C order without gaps.
  bool isContiguous() const;
  /// No other value shares the buffer and no two elements the memory: it may be updated in place.
  bool isExclusive() const;
  Scalar load(int64_t elementOffset) const;
  void store(int64_t elementOffset, Scalar value) const;
  int64_t getOffset(llvm::ArrayRef<int64_t> index) const;

  /// Views. `sizes` elements from `offsets` on with `steps`; everything is in bounds.
  TensorValue slice(llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps) const;
  /// Axis `i` of the result is axis `permutation[i]`.
  TensorValue transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// The same elements, contiguous ones, under another shape.
  TensorValue withShape(llvm::ArrayRef<int64_t> newShape) const;
};

/// Strides of a contiguous array.
Shape getContiguousStrides(llvm::ArrayRef<int64_t> shape);

/// Copies all elements between views of the same shape and type.
void copyElements(const TensorValue &source, const TensorValue &target);

/// Of the dist dialect; Store.h.
struct StoreView;
struct Transfer;

class RuntimeValue {
public:
  RuntimeValue() = default;
  RuntimeValue(std::shared_ptr<StoreView> store) : value(std::move(store)) {}
  RuntimeValue(std::shared_ptr<Transfer> transfer) : value(std::move(transfer)) {}
  RuntimeValue(Scalar scalar) : value(scalar) {}
  RuntimeValue(TensorValue tensor) : value(std::move(tensor)) {}

  explicit operator bool() const { return value.index() != 0; }
  const Scalar *getScalar() const { return std::get_if<Scalar>(&value); }
  const TensorValue *getTensor() const { return std::get_if<TensorValue>(&value); }
  TensorValue *getTensor() { return std::get_if<TensorValue>(&value); }
  StoreView *getStore() const {
    auto *store = std::get_if<std::shared_ptr<StoreView>>(&value);
    return store ? store->get() : nullptr;
  }
  Transfer *getTransfer() const {
    auto *transfer = std::get_if<std::shared_ptr<Transfer>>(&value);
    return transfer ? transfer->get() : nullptr;
  }

private:
  std::variant<std::monostate, Scalar, TensorValue, std::shared_ptr<StoreView>, std::shared_ptr<Transfer>> value;
};

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_RUNTIMEVALUE_H
