//===- Combine.cpp - Reduction operators ------------------------------------===//
//
// Every element is combined from left to right by itself, so the result does not depend on how an array is cut into
// pieces, and is the same on each rank that computes it.
//
//===------------------------------------------------------------------------===//

#include "Combine.h"

#include "fusion/Runtime/HalfFloat.h"
#include "fusion/Runtime/Mpi.h"

#include "../Guard.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace fusion::runtime;

namespace {

/// Elements that are combined at a time; their accumulators stay in the first cache.
constexpr int64_t blockSize = 512;

template <typename Value>
Value load(const char *from) {
  Value value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Which of two NaNs a sum of them is depends on the instruction that the compiler chose, so all become one: then an
/// element has the same bits wherever it is in an array.
template <typename Value>
Value unifyNaN(Value value) {
  return value != value ? std::numeric_limits<Value>::quiet_NaN() : value;
}

/// How an element lies in memory, and what it is computed in.
template <typename Value>
struct Plain {
  using Accumulator = Value;
  static constexpr int64_t bytes = sizeof(Value);
  static Value read(const char *from) { return load<Value>(from); }
  static void write(char *to, Value value) {
    if constexpr (std::is_floating_point_v<Value>)
      value = unifyNaN(value);
    std::memcpy(to, &value, sizeof(value));
  }
};

struct Half {
  using Accumulator = float;
  static constexpr int64_t bytes = 2;
  static float read(const char *from) { return fusion_rt_half_to_float(load<uint16_t>(from)); }
  static void write(char *to, float value) { Plain<uint16_t>::write(to, fusion_rt_double_to_half(unifyNaN(value))); }
};

struct Brain {
  using Accumulator = float;
  static constexpr int64_t bytes = 2;
  static float read(const char *from) {
    uint32_t bits = uint32_t(load<uint16_t>(from)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static void write(char *to, float value) { Plain<uint16_t>::write(to, fusion_rt_double_to_brain(unifyNaN(value))); }
};

template <typename Element, typename Operator>
void combineAll(const char *const *inputs, int64_t inputCount, char *result, int64_t count, Operator apply) {
  using Accumulator = typename Element::Accumulator;
  Accumulator sums[blockSize];
  for (int64_t begin = 0; begin < count; begin += blockSize) {
    int64_t size = std::min(blockSize, count - begin);
    for (int64_t i = 0; i < size; ++i)
      sums[i] = Element::read(inputs[0] + (begin + i) * Element::bytes);
    for (int64_t k = 1; k < inputCount; ++k)
      for (int64_t i = 0; i < size; ++i)
        sums[i] = apply(sums[i], Element::read(inputs[k] + (begin + i) * Element::bytes));
    for (int64_t i = 0; i < size; ++i)
      Element::write(result + (begin + i) * Element::bytes, sums[i]);
  }
}

/// IEEE 754-2019 minimum and maximum: NaN wins, and -0 is below +0.
template <typename Value>
Value minimum(Value a, Value b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename Value>
Value maximum(Value a, Value b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename Element>
void combineFloats(int64_t op, const char *const *inputs, int64_t inputCount, char *result, int64_t count) {
  using Value = typename Element::Accumulator;
  auto run = [&](auto apply) { combineAll<Element>(inputs, inputCount, result, count, apply); };
  switch (op) {
  case FUSION_MPI_SUM:
    return run([](Value a, Value b) { return a + b; });
  case FUSION_MPI_PRODUCT:
    return run([](Value a, Value b) { return a * b; });
  case FUSION_MPI_MIN:
    return run(minimum<Value>);
  case FUSION_MPI_MAX:
    return run(maximum<Value>);
  case FUSION_MPI_MINNUM:
    return run([](Value a, Value b) { return a != a ? b : b != b ? a : minimum(a, b); });
  case FUSION_MPI_MAXNUM:
    return run([](Value a, Value b) { return a != a ? b : b != b ? a : maximum(a, b); });
  }
}

/// `Signed` and `Unsigned` are of the same width; computed as unsigned, since that wraps.
template <typename Signed>
void combineIntegers(int64_t op, const char *const *inputs, int64_t inputCount, char *result, int64_t count) {
  using Unsigned = std::make_unsigned_t<Signed>;
  auto run = [&](auto apply) { combineAll<Plain<Unsigned>>(inputs, inputCount, result, count, apply); };
  switch (op) {
  case FUSION_MPI_SUM:
    return run([](Unsigned a, Unsigned b) { return Unsigned(a + b); });
  case FUSION_MPI_PRODUCT:
    // In 64 bits: a product of two uint16_t is computed as an int and may overflow it.
    return run([](Unsigned a, Unsigned b) { return Unsigned(uint64_t(a) * uint64_t(b)); });
  case FUSION_MPI_MIN:
    return run([](Unsigned a, Unsigned b) { return Signed(a) < Signed(b) ? a : b; });
  case FUSION_MPI_MAX:
    return run([](Unsigned a, Unsigned b) { return Signed(a) > Signed(b) ? a : b; });
  case FUSION_MPI_UMIN:
    return run([](Unsigned a, Unsigned b) { return std::min(a, b); });
  case FUSION_MPI_UMAX:
    return run([](Unsigned a, Unsigned b) { return std::max(a, b); });
  case FUSION_MPI_AND:
    return run([](Unsigned a, Unsigned b) { return Unsigned(a & b); });
  case FUSION_MPI_OR:
    return run([](Unsigned a, Unsigned b) { return Unsigned(a | b); });
  case FUSION_MPI_XOR:
    return run([](Unsigned a, Unsigned b) { return Unsigned(a ^ b); });
  }
}

/// What is not zero is true; one input alone becomes 0 or 1 as well.
template <typename Value>
struct Truth {
  using Accumulator = Value;
  static constexpr int64_t bytes = sizeof(Value);
  static Value read(const char *from) { return load<Value>(from) != 0; }
  static void write(char *to, Value value) { Plain<Value>::write(to, value); }
};

template <typename Value>
void combineTruths(int64_t op, const char *const *inputs, int64_t inputCount, char *result, int64_t count) {
  if (op == FUSION_MPI_LAND)
    combineAll<Truth<Value>>(inputs, inputCount, result, count, [](Value a, Value b) { return Value(a & b); });
  else
    combineAll<Truth<Value>>(inputs, inputCount, result, count, [](Value a, Value b) { return Value(a | b); });
}

template <typename Signed>
void combineWhole(int64_t op, const char *const *inputs, int64_t inputCount, char *result, int64_t count) {
  if (op == FUSION_MPI_LAND || op == FUSION_MPI_LOR)
    combineTruths<Signed>(op, inputs, inputCount, result, count);
  else
    combineIntegers<Signed>(op, inputs, inputCount, result, count);
}

/// The bit operator that does the same on integers of one bit, where -1 is the signed meaning of 1.
int64_t getBitOperator(int64_t op) {
  switch (op) {
  case FUSION_MPI_SUM:
    return FUSION_MPI_XOR;
  case FUSION_MPI_PRODUCT:
  case FUSION_MPI_MAX:
  case FUSION_MPI_UMIN:
    return FUSION_MPI_AND;
  case FUSION_MPI_MIN:
  case FUSION_MPI_UMAX:
    return FUSION_MPI_OR;
  default:
    return op;
  }
}

FusionStatus checkedCombine(int32_t op, int32_t type, const void *const *inputs, int64_t inputCount, void *result,
                            int64_t count) {
  if (const char *problem = mpi::checkOperator(op, type))
    return report(FUSION_INVALID_ARGUMENT, problem);
  if (inputCount < 1 || count < 0)
    return report(FUSION_INVALID_ARGUMENT, "fusion_mpi_combine: at least one input and no negative count");
  mpi::combine(op, type, inputs, inputCount, result, count);
  return FUSION_OK;
}

} // namespace

const char *mpi::checkOperator(int64_t op, int64_t type) {
  if (type < FUSION_MPI_I1 || type > FUSION_MPI_F64)
    return "unknown element type; accepted are 0 (i1) to 8 (f64)";
  if (op < FUSION_MPI_SUM || op > FUSION_MPI_LOR)
    return "unknown reduction operator; accepted are 1 (sum) to 13 (lor)";
  bool isFloat = type >= FUSION_MPI_F16;
  bool onFloats = op <= FUSION_MPI_MAX || op == FUSION_MPI_MINNUM || op == FUSION_MPI_MAXNUM;
  bool onIntegers = op != FUSION_MPI_MINNUM && op != FUSION_MPI_MAXNUM;
  if (isFloat && !onFloats)
    return "umin, umax, and, or, xor, land and lor reduce integers only";
  if (!isFloat && !onIntegers)
    return "minnum and maxnum reduce floats only";
  return nullptr;
}

void mpi::combine(int64_t op, int64_t type, const void *const *inputs, int64_t inputCount, void *result,
                  int64_t count) {
  const char *const *from = reinterpret_cast<const char *const *>(inputs);
  char *to = static_cast<char *>(result);
  switch (type) {
  case FUSION_MPI_I1:
    return combineWhole<int8_t>(getBitOperator(op), from, inputCount, to, count);
  case FUSION_MPI_I8:
    return combineWhole<int8_t>(op, from, inputCount, to, count);
  case FUSION_MPI_I16:
    return combineWhole<int16_t>(op, from, inputCount, to, count);
  case FUSION_MPI_I32:
    return combineWhole<int32_t>(op, from, inputCount, to, count);
  case FUSION_MPI_I64:
    return combineWhole<int64_t>(op, from, inputCount, to, count);
  case FUSION_MPI_F16:
    return combineFloats<Half>(op, from, inputCount, to, count);
  case FUSION_MPI_BF16:
    return combineFloats<Brain>(op, from, inputCount, to, count);
  case FUSION_MPI_F32:
    return combineFloats<Plain<float>>(op, from, inputCount, to, count);
  case FUSION_MPI_F64:
    return combineFloats<Plain<double>>(op, from, inputCount, to, count);
  }
}

extern "C" {

int64_t fusion_mpi_type_size(int32_t type) {
  switch (type) {
  case FUSION_MPI_I1:
  case FUSION_MPI_I8:
    return 1;
  case FUSION_MPI_I16:
  case FUSION_MPI_F16:
  case FUSION_MPI_BF16:
    return 2;
  case FUSION_MPI_I32:
  case FUSION_MPI_F32:
    return 4;
  case FUSION_MPI_I64:
  case FUSION_MPI_F64:
    return 8;
  default:
    return 0;
  }
}

FusionStatus fusion_mpi_combine(int32_t op, int32_t type, const void *const *inputs, int64_t input_count, void *result,
                                int64_t count) {
  FusionStatus status = checkedCombine(op, type, inputs, input_count, result, count);
  if (status != FUSION_OK && currentGuard())
    raise(status, fusion_rt_last_error());
  return status;
}

} // extern "C"
