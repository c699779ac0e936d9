//===- HostArray.h - Arrays in host memory ------------------------*- C++ -*-===//
//
// The arguments and results of a program on the host: an element kind, a shape and a buffer in C order (the last axis
// is contiguous). Copies share the buffer; `getMutableData` makes the buffer unique first (copy on write), so that an
// array never changes under somebody else's hands. Distinct objects may be used from distinct threads.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EXECUTION_HOSTARRAY_H
#define FUSION_EXECUTION_HOSTARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace fusion {

/// How one element lies in memory. `I1` is one byte, 0 or 1; `Index` is a signed 64-bit integer. Integers are
/// signless, as in the program text.
enum class ElementKind : uint8_t { F16, BF16, F32, F64, I1, I8, I16, I32, I64, Index };

/// Bytes of one element in memory.
unsigned getByteWidth(ElementKind kind);
/// The name of the type in the program text: "f32", "bf16", "index", ...
llvm::StringRef getName(ElementKind kind);
/// The kind with that name.
std::optional<ElementKind> parseElementKind(llvm::StringRef name);
/// The kind of a scalar type; none for a type that arrays cannot hold (i4, f8E5M2, complex, ...).
std::optional<ElementKind> getElementKind(mlir::Type type);
mlir::Type getType(ElementKind kind, mlir::MLIRContext *context);
inline bool isFloat(ElementKind kind) { return kind <= ElementKind::F64; }

/// 16-bit floats: the value of a bit pattern, and the bit pattern nearest to a value (ties to even, overflow to
/// infinity, NaN to a quiet NaN). A double is rounded once.
double decodeF16(uint16_t bits);
uint16_t encodeF16(double value);
double decodeBF16(uint16_t bits);
uint16_t encodeBF16(double value);

/// Memory that arrays (and the reference interpreter's tensors) live in: 64-byte aligned, freed by its owner.
class HostBuffer {
public:
  /// Uninitialised memory. Null if there is not enough of it.
  static std::shared_ptr<HostBuffer> allocate(uint64_t bytes);
  /// Memory that belongs to somebody else; `owner` is released with the buffer.
  static std::shared_ptr<HostBuffer> wrap(void *data, uint64_t bytes, std::shared_ptr<void> owner);
  HostBuffer(const HostBuffer &) = delete;
  HostBuffer &operator=(const HostBuffer &) = delete;
  ~HostBuffer();

  void *getData() const { return data; }
  uint64_t getSize() const { return bytes; }

  /// Bytes in buffers of `allocate` that are alive now, and the largest such number since `resetPeak`.
  static uint64_t getLiveBytes();
  static uint64_t getPeakBytes();
  static void resetPeak();

private:
  HostBuffer(void *data, uint64_t bytes, std::shared_ptr<void> owner, bool owned)
      : data(data), bytes(bytes), owner(std::move(owner)), owned(owned) {}

  void *data;
  uint64_t bytes;
  std::shared_ptr<void> owner;
  bool owned;
};

class HostArray {
public:
  /// A rank-0 f32 array of zero.
  HostArray();
  /// Zero-filled. An error for a negative extent or a size that overflows or cannot be had.
  static llvm::Expected<HostArray> create(ElementKind kind, llvm::ArrayRef<int64_t> shape);
  /// Not initialised.
  static llvm::Expected<HostArray> createUninitialized(ElementKind kind, llvm::ArrayRef<int64_t> shape);
  /// An array over an existing buffer in C order, which must be large enough.
  static HostArray fromBuffer(ElementKind kind, llvm::ArrayRef<int64_t> shape, std::shared_ptr<HostBuffer> buffer,
                              uint64_t byteOffset = 0);
  /// A rank-0 array.
  static HostArray scalar(ElementKind kind, double value);
  static HostArray scalar(ElementKind kind, int64_t value);

  ElementKind getKind() const { return kind; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const { return numElements; }
  uint64_t getSizeInBytes() const { return uint64_t(numElements) * getByteWidth(kind); }

  const void *getData() const { return static_cast<const char *>(buffer->getData()) + byteOffset; }
  /// Copies the elements first if another array shares them.
  void *getMutableData();
  const std::shared_ptr<HostBuffer> &getBuffer() const { return buffer; }
  uint64_t getByteOffset() const { return byteOffset; }

  /// Element `index` in C order. Integers are sign-extended, i1 is 0 or 1. A float read as an integer is truncated.
  double getDouble(int64_t index) const;
  int64_t getInteger(int64_t index) const;
  /// Rounds to the element type; integers wrap.
  void setDouble(int64_t index, double value);
  void setInteger(int64_t index, int64_t value);

  /// The same elements under another kind of the same width: `<u2` bits as bf16, i64 as index.
  HostArray reinterpret(ElementKind newKind) const;
  /// The type as a tensor is written, "8x16xf32".
  std::string getTypeText() const;

private:
  HostArray(ElementKind kind, llvm::ArrayRef<int64_t> shape, std::shared_ptr<HostBuffer> buffer, uint64_t byteOffset);

  ElementKind kind;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements = 0;
  std::shared_ptr<HostBuffer> buffer;
  uint64_t byteOffset = 0;
};

/// "8x16xf32".
std::string getTypeText(ElementKind kind, llvm::ArrayRef<int64_t> shape);

/// The product of the extents, or none where it (times eight) does not fit or an extent is negative.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape);

} // namespace fusion

#endif // FUSION_EXECUTION_HOSTARRAY_H
