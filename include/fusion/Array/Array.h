//===- Array.h - Dense arrays on a session ------------------------*- C++ -*-===//
//
// A client library of fusion/Session/Session.h: arrays with NumPy's semantics, every operation one task. What runs as
// one, and which arrays are ever made, is the session's affair.
//
// An Array is a handle of a box of a store: copies of a handle and slices are views of the same elements. Operations make
// new arrays; `assign` and `+=` write elements in place. Operands are broadcast as in NumPy. Types are promoted as in
// NumPy 2: a C++ number takes the type of the arrays it meets, if its kind (integer, floating) is not wider.
//
// Slices have steps of 1. Arrays are cut into blocks along their last dimension but one, or their only one.
// Errors are ArrayErrors (or the session's) and change nothing. Threads: as the session. At most maxRank dimensions.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ARRAY_ARRAY_H
#define FUSION_ARRAY_ARRAY_H

#include "fusion/Session/Session.h"

#include <array>
#include <optional>

namespace fusion {

class ArrayError : public SessionError {
public:
  using SessionError::SessionError;
};

using Shape = std::vector<int64_t>;

/// One dimension of an index: a range as in Python (negative numbers count from the end), or a coordinate, whose
/// dimension vanishes.
struct Slice {
  Slice() = default;
  Slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1)
      : start(start), stop(stop), step(step) {}
  Slice(int64_t coordinate) : start(coordinate), isCoordinate(true) {}
  Slice(int coordinate) : Slice(int64_t(coordinate)) {}

  std::optional<int64_t> start, stop;
  int64_t step = 1;
  bool isCoordinate = false;
};

class ArrayLibrary;
struct Operand;

class Array {
public:
  static constexpr unsigned maxRank = 6;

  Array() = default;

  Shape getShape() const;
  unsigned getRank() const;
  int64_t getNumElements() const;
  ElementType getType() const { return type; }
  explicit operator bool() const { return library; }
  ArrayLibrary &getLibrary() const;

  /// A view. Missing dimensions at the end are whole. Throws for a coordinate outside of the array, for too many
  /// dimensions, and for steps other than 1; ranges are clamped as in Python.
  template <typename... Slices>
  Array operator()(Slices... slices) const {
    return index({Slice(slices)...});
  }
  Array index(const std::vector<Slice> &slices) const;

  /// Sets the elements, broadcast and cast to this type. The source may overlap.
  void assign(const Operand &source) const;
  /// In place; throws if the result's type cannot be cast to this one's kind.
  const Array &operator+=(const Operand &other) const;
  const Array &operator-=(const Operand &other) const;
  const Array &operator*=(const Operand &other) const;
  const Array &operator/=(const Operand &other) const;

  /// Elements in C order, as f64; runs what is buffered.
  std::vector<double> toVector() const;
  /// The only element.
  double item() const;
  /// The store that this is a box of, for other libraries.
  const Store &getStore() const { return store; }
  /// The partition of the box in blocks.
  Partition getPartition() const { return partition; }
  /// Whether this is all of its store, without dimensions that vanished.
  bool isWhole() const;

private:
  friend class ArrayLibrary;
  ArrayLibrary *library = nullptr;
  Store store;
  ElementType type = ElementType::F64;
  uint8_t storeRank = 0, picked = 0;
  std::array<int64_t, maxRank> offset = {}, extent = {};
  Partition partition;
};

/// An array or a number.
struct Operand {
  Operand(Array array) : array(std::move(array)) {}
  Operand(double value) : value(value) {}
  Operand(int value) : value(value), isInteger(true) {}
  Operand(int64_t value) : value(double(value)), isInteger(true) {}
  Operand(bool) = delete;

  Array array;
  double value = 0;
  bool isInteger = false;
};

/// Makes arrays in a session, which must live longer.
class ArrayLibrary {
public:
  explicit ArrayLibrary(Session &session);
  ~ArrayLibrary();
  ArrayLibrary(const ArrayLibrary &) = delete;
  ArrayLibrary &operator=(const ArrayLibrary &) = delete;

  Session &getSession() const { return session; }

  Array empty(const Shape &shape, ElementType type = ElementType::F64);
  Array full(const Shape &shape, double value, ElementType type = ElementType::F64);
  Array zeros(const Shape &shape, ElementType type = ElementType::F64) { return full(shape, 0, type); }
  Array ones(const Shape &shape, ElementType type = ElementType::F64) { return full(shape, 1, type); }
  /// 0, 1, ... n - 1.
  Array arange(int64_t n, ElementType type = ElementType::F64);
  /// Uniform in [0, 1); a function of the seed and the coordinates, the same for any number of ranks.
  Array random(const Shape &shape, uint64_t seed);
  /// Elements in C order; the same on all ranks.
  Array from(const Shape &shape, const std::vector<double> &elements, ElementType type = ElementType::F64);
  /// The whole of a store of another library.
  Array wrap(Store store);

  // What the functions below are made of.
  enum class Op : uint8_t {
    Copy, Cast, Add, Subtract, Multiply, Divide, Power, Maximum, Minimum,
    Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or, Xor, Not,
    Negative, Absolute, Square, Sqrt, Exp, Log, Sin, Cos, Tanh, Floor, Where
  };
  enum class Reduction : uint8_t { Sum, Max, Min };
  Array apply(Op op, const Operand *operands, unsigned count, std::optional<ElementType> cast = std::nullopt);
  void applyTo(const Array &target, Op op, const Operand *operands, unsigned count);
  Array reduce(Reduction reduction, const Array &array);
  Array dot(const Array &a, const Array &b);
  Array matmul(const Array &a, const Array &b);
  /// Another array with the same elements.
  Array copy(const Array &array);

private:
  friend class Array;
  struct Impl;
  Array makeTarget(const int64_t *extents, unsigned rank, ElementType type);
  void launch(Op op, ElementType compute, const Operand *operands, unsigned count, const Array &target);
  Session &session;
  std::unique_ptr<Impl> impl;
};

Array operator+(const Operand &a, const Operand &b);
Array operator-(const Operand &a, const Operand &b);
Array operator*(const Operand &a, const Operand &b);
/// As Python's `/`: of integers, a floating quotient.
Array operator/(const Operand &a, const Operand &b);
Array operator-(const Array &a);
Array operator==(const Array &a, const Operand &b);
Array operator!=(const Array &a, const Operand &b);
Array operator<(const Array &a, const Operand &b);
Array operator<=(const Array &a, const Operand &b);
Array operator>(const Array &a, const Operand &b);
Array operator>=(const Array &a, const Operand &b);
/// Of booleans.
Array operator&(const Array &a, const Array &b);
Array operator|(const Array &a, const Array &b);
Array operator^(const Array &a, const Array &b);
Array operator~(const Array &a);

Array power(const Operand &a, const Operand &b);
/// A NaN in either operand is the result, as in NumPy.
Array maximum(const Operand &a, const Operand &b);
Array minimum(const Operand &a, const Operand &b);
Array where(const Array &condition, const Operand &a, const Operand &b);
Array absolute(const Array &a);
Array square(const Array &a);
Array sqrt(const Array &a);
Array exp(const Array &a);
Array log(const Array &a);
Array sin(const Array &a);
Array cos(const Array &a);
Array tanh(const Array &a);
Array floor(const Array &a);
Array cast(const Array &a, ElementType type);
Array copy(const Array &a);

/// Over all elements, to an array of rank 0. max and min of nothing are errors; a NaN is their result.
Array sum(const Array &a);
Array max(const Array &a);
Array min(const Array &a);
/// Of vectors.
Array dot(const Array &a, const Array &b);
/// Matrix by matrix, or by vector.
Array matmul(const Array &a, const Array &b);

} // namespace fusion

#endif // FUSION_ARRAY_ARRAY_H
