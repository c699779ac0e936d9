//===- HostArray.cpp - Arrays in host memory --------------------------------===//

#include "fusion/Execution/HostArray.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace fusion;

unsigned fusion::getByteWidth(ElementKind kind) {
  switch (kind) {
  case ElementKind::I1:
  case ElementKind::I8:
    return 1;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::I16:
    return 2;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::F64:
  case ElementKind::I64:
  case ElementKind::Index:
    return 8;
  }
  llvm_unreachable("all kinds are listed");
}

llvm::StringRef fusion::getName(ElementKind kind) {
  static constexpr const char *names[] = {"f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "index"};
  return names[unsigned(kind)];
}

std::optional<ElementKind> fusion::parseElementKind(llvm::StringRef name) {
  for (unsigned kind = 0; kind <= unsigned(ElementKind::Index); ++kind)
    if (getName(ElementKind(kind)) == name)
      return ElementKind(kind);
  return std::nullopt;
}

std::optional<ElementKind> fusion::getElementKind(mlir::Type type) {
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isIndex())
    return ElementKind::Index;
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return ElementKind::I1;
    case 8:
      return ElementKind::I8;
    case 16:
      return ElementKind::I16;
    case 32:
      return ElementKind::I32;
    case 64:
      return ElementKind::I64;
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

mlir::Type fusion::getType(ElementKind kind, mlir::MLIRContext *context) {
  switch (kind) {
  case ElementKind::F16:
    return mlir::Float16Type::get(context);
  case ElementKind::BF16:
    return mlir::BFloat16Type::get(context);
  case ElementKind::F32:
    return mlir::Float32Type::get(context);
  case ElementKind::F64:
    return mlir::Float64Type::get(context);
  case ElementKind::Index:
    return mlir::IndexType::get(context);
  case ElementKind::I1:
    return mlir::IntegerType::get(context, 1);
  default:
    return mlir::IntegerType::get(context, 8 * getByteWidth(kind));
  }
}

//===----------------------------------------------------------------------===//
// 16-bit floats
//===----------------------------------------------------------------------===//

/// Rounds a double to a format of `mantissa` stored bits and the exponent bias `bias`, to nearest, ties to even.
static uint16_t encodeSmall(double value, int mantissa, int bias) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint16_t sign = uint16_t(bits >> 48) & 0x8000;
  uint64_t magnitude = bits & 0x7fffffffffffffffull;
  int maxExponent = 2 * bias + 1;
  uint16_t infinity = uint16_t(maxExponent << mantissa);
  if (magnitude >= 0x7ff0000000000000ull)
    return magnitude == 0x7ff0000000000000ull ? sign | infinity : sign | infinity | uint16_t(1 << (mantissa - 1));
  int exponent = int(magnitude >> 52) - 1023 + bias;
  if (exponent >= maxExponent)
    return sign | infinity;
  uint64_t fraction = (magnitude & 0xfffffffffffffull) | 0x10000000000000ull;
  // `fraction` has 53 significant bits; below exponent 1 the result is subnormal and keeps fewer of them.
  int dropped = 52 - mantissa;
  if (exponent < 1) {
    dropped += 1 - exponent;
    exponent = 0;
    if (dropped > 54)
      return sign;
  }
  uint64_t kept = fraction >> dropped;
  uint64_t rest = fraction & ((uint64_t(1) << dropped) - 1);
  uint64_t half = uint64_t(1) << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // The implicit bit of a normal number adds one to the exponent field; a carry runs into it as it should.
  uint64_t result = exponent == 0 ? kept : (uint64_t(exponent - 1) << mantissa) + kept;
  return sign | uint16_t(result);
}

double fusion::decodeF16(uint16_t bits) {
  // As a float's, the exponent field is off by the difference of the biases; the product is exact, for subnormal
  // numbers too.
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  float value = llvm::bit_cast<float>(magnitude) * 0x1p112f;
  if ((bits & 0x7c00) == 0x7c00)
    value = llvm::bit_cast<float>(magnitude | 0x7f800000);
  return bits & 0x8000 ? -value : value;
}
uint16_t fusion::encodeF16(double value) { return encodeSmall(value, 10, 15); }
double fusion::decodeBF16(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t fusion::encodeBF16(double value) { return encodeSmall(value, 7, 127); }

//===----------------------------------------------------------------------===//
// HostBuffer
//===----------------------------------------------------------------------===//

static std::atomic<uint64_t> liveBytes{0}, peakBytes{0};

static constexpr uint64_t alignment = 64;

/// Memory of the machine. The kernel grants more than there is and kills the process later, so we ask first.
static uint64_t getPhysicalBytes() {
  static const uint64_t bytes = [] {
    long pages = sysconf(_SC_PHYS_PAGES), pageSize = sysconf(_SC_PAGESIZE);
    return pages > 0 && pageSize > 0 ? uint64_t(pages) * uint64_t(pageSize) : uint64_t(PTRDIFF_MAX) / 2;
  }();
  return bytes;
}

std::shared_ptr<HostBuffer> HostBuffer::allocate(uint64_t bytes) {
  uint64_t available = getPhysicalBytes(), taken = liveBytes;
  if (taken > available || bytes > available - taken)
    return nullptr;
  uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *data = std::aligned_alloc(alignment, rounded ? rounded : alignment);
  if (!data)
    return nullptr;
  uint64_t live = liveBytes += bytes;
  uint64_t peak = peakBytes;
  while (peak < live && !peakBytes.compare_exchange_weak(peak, live))
    ;
  return std::shared_ptr<HostBuffer>(new HostBuffer(data, bytes, nullptr, /*owned=*/true));
}

std::shared_ptr<HostBuffer> HostBuffer::wrap(void *data, uint64_t bytes, std::shared_ptr<void> owner) {
  return std::shared_ptr<HostBuffer>(new HostBuffer(data, bytes, std::move(owner), /*owned=*/false));
}

HostBuffer::~HostBuffer() {
  if (!owned)
    return;
  liveBytes -= bytes;
  std::free(data);
}

uint64_t HostBuffer::getLiveBytes() { return liveBytes; }
uint64_t HostBuffer::getPeakBytes() { return peakBytes; }
void HostBuffer::resetPeak() { peakBytes = liveBytes.load(); }

//===----------------------------------------------------------------------===//
// HostArray
//===----------------------------------------------------------------------===//

std::optional<int64_t> fusion::getNumElements(llvm::ArrayRef<int64_t> shape) {
  // Extents of zero do not excuse the others: strides are products of them.
  int64_t count = 1, nonZero = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    count *= extent != 0;
    if (extent != 0 && __builtin_mul_overflow(nonZero, extent, &nonZero))
      return std::nullopt;
  }
  if (nonZero > INT64_MAX / 8)
    return std::nullopt;
  return count * nonZero;
}

std::string fusion::getTypeText(ElementKind kind, llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : shape)
    if (extent == mlir::ShapedType::kDynamic)
      os << "?x";
    else
      os << extent << 'x';
  os << getName(kind);
  return text;
}

HostArray::HostArray(ElementKind kind, llvm::ArrayRef<int64_t> shape, std::shared_ptr<HostBuffer> buffer,
                     uint64_t byteOffset)
    : kind(kind), shape(shape), numElements(fusion::getNumElements(shape).value_or(0)), buffer(std::move(buffer)),
      byteOffset(byteOffset) {}

HostArray::HostArray() : HostArray(scalar(ElementKind::F32, 0.0)) {}

llvm::Expected<HostArray> HostArray::createUninitialized(ElementKind kind, llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = fusion::getNumElements(shape);
  std::shared_ptr<HostBuffer> buffer;
  if (count)
    buffer = HostBuffer::allocate(uint64_t(*count) * getByteWidth(kind));
  if (!buffer)
    return llvm::createStringError("an array of " + fusion::getTypeText(kind, shape) + " does not fit into memory");
  return fromBuffer(kind, shape, std::move(buffer));
}

llvm::Expected<HostArray> HostArray::create(ElementKind kind, llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<HostArray> array = createUninitialized(kind, shape);
  if (array)
    std::memset(array->buffer->getData(), 0, array->getSizeInBytes());
  return array;
}

HostArray HostArray::fromBuffer(ElementKind kind, llvm::ArrayRef<int64_t> shape, std::shared_ptr<HostBuffer> buffer,
                                uint64_t byteOffset) {
  return HostArray(kind, shape, std::move(buffer), byteOffset);
}

static std::shared_ptr<HostBuffer> allocateScalar() {
  std::shared_ptr<HostBuffer> buffer = HostBuffer::allocate(8);
  if (!buffer)
    llvm::report_bad_alloc_error("out of memory");
  return buffer;
}

HostArray HostArray::scalar(ElementKind kind, double value) {
  HostArray array(kind, {}, allocateScalar(), 0);
  array.setDouble(0, value);
  return array;
}

HostArray HostArray::scalar(ElementKind kind, int64_t value) {
  HostArray array(kind, {}, allocateScalar(), 0);
  array.setInteger(0, value);
  return array;
}

void *HostArray::getMutableData() {
  if (buffer.use_count() != 1) {
    std::shared_ptr<HostBuffer> copy = HostBuffer::allocate(getSizeInBytes());
    if (!copy)
      llvm::report_bad_alloc_error("out of memory");
    std::memcpy(copy->getData(), getData(), getSizeInBytes());
    buffer = std::move(copy);
    byteOffset = 0;
  }
  return static_cast<char *>(buffer->getData()) + byteOffset;
}

double HostArray::getDouble(int64_t index) const {
  const void *data = getData();
  switch (kind) {
  case ElementKind::F16:
    return decodeF16(static_cast<const uint16_t *>(data)[index]);
  case ElementKind::BF16:
    return decodeBF16(static_cast<const uint16_t *>(data)[index]);
  case ElementKind::F32:
    return static_cast<const float *>(data)[index];
  case ElementKind::F64:
    return static_cast<const double *>(data)[index];
  default:
    return double(getInteger(index));
  }
}

int64_t HostArray::getInteger(int64_t index) const {
  const void *data = getData();
  switch (kind) {
  case ElementKind::I1:
    return static_cast<const uint8_t *>(data)[index] != 0;
  case ElementKind::I8:
    return static_cast<const int8_t *>(data)[index];
  case ElementKind::I16:
    return static_cast<const int16_t *>(data)[index];
  case ElementKind::I32:
    return static_cast<const int32_t *>(data)[index];
  case ElementKind::I64:
  case ElementKind::Index:
    return static_cast<const int64_t *>(data)[index];
  default: {
    double value = getDouble(index);
    return std::abs(value) < 9.2e18 ? int64_t(value) : INT64_MIN;
  }
  }
}

void HostArray::setDouble(int64_t index, double value) {
  void *data = getMutableData();
  switch (kind) {
  case ElementKind::F16:
    static_cast<uint16_t *>(data)[index] = encodeF16(value);
    return;
  case ElementKind::BF16:
    static_cast<uint16_t *>(data)[index] = encodeBF16(value);
    return;
  case ElementKind::F32:
    static_cast<float *>(data)[index] = float(value);
    return;
  case ElementKind::F64:
    static_cast<double *>(data)[index] = value;
    return;
  default:
    setInteger(index, std::abs(value) < 9.2e18 ? int64_t(value) : INT64_MIN);
  }
}

void HostArray::setInteger(int64_t index, int64_t value) {
  void *data = getMutableData();
  switch (kind) {
  case ElementKind::I1:
    static_cast<uint8_t *>(data)[index] = value & 1;
    return;
  case ElementKind::I8:
    static_cast<int8_t *>(data)[index] = int8_t(value);
    return;
  case ElementKind::I16:
    static_cast<int16_t *>(data)[index] = int16_t(value);
    return;
  case ElementKind::I32:
    static_cast<int32_t *>(data)[index] = int32_t(value);
    return;
  case ElementKind::I64:
  case ElementKind::Index:
    static_cast<int64_t *>(data)[index] = value;
    return;
  default:
    setDouble(index, double(value));
  }
}

HostArray HostArray::reinterpret(ElementKind newKind) const {
  assert(getByteWidth(newKind) == getByteWidth(kind) && "elements of the same width");
  return HostArray(newKind, shape, buffer, byteOffset);
}

std::string HostArray::getTypeText() const { return fusion::getTypeText(kind, shape); }
