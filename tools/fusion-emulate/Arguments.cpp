//===- Arguments.cpp - Arguments of a kernel from the command line ----------===//

#include "Arguments.h"

#include "fusion/Execution/Npy.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <random>

using namespace llvm;

namespace fusion {

static Error makeError(StringRef text) {
  return createStringError("--arg=" + text +
                           ": accepted are @file.npy, 8x16xf32=iota (or zeros, ones, uninit, random:SEED), i64:5, and "
                           "tma:ARGUMENT:64x64:128 (extents of the box, swizzle of 0, 32, 64 or 128 bytes)");
}

static Error fill(HostArray &array, StringRef how, StringRef text) {
  int64_t count = array.getNumElements();
  bool isReal = isFloat(array.getKind());
  auto set = [&](int64_t i, double value) {
    isReal ? array.setDouble(i, value) : array.setInteger(i, int64_t(value));
  };
  uint64_t seed = 0;
  if (how == "iota") {
    for (int64_t i = 0; i < count; ++i)
      set(i, double(i));
  } else if (how == "zeros" || how == "ones") {
    for (int64_t i = 0; i < count; ++i)
      set(i, how == "ones");
  } else if (how.consume_front("random:") && !how.getAsInteger(10, seed)) {
    std::mt19937_64 engine(seed);
    for (int64_t i = 0; i < count; ++i) {
      // Not a distribution of the library: its numbers differ between libraries.
      double unit = double(engine() >> 11) * 0x1p-53;
      set(i, isReal ? 2 * unit - 1 : double(int64_t(unit * 200) - 100));
    }
  } else {
    return makeError(text);
  }
  return Error::success();
}

static Expected<KernelArgument> parseMap(StringRef text) {
  KernelArgument argument;
  SmallVector<StringRef, 4> parts, extents;
  text.split(parts, ':');
  unsigned number = 0, swizzle = 0;
  if (parts.size() != 4 || parts[1].getAsInteger(10, number) || parts[3].getAsInteger(10, swizzle))
    return makeError(text);
  argument.mapOf = number;
  parts[2].split(extents, 'x');
  if (extents.size() > 5)
    return makeError(text);
  // Written outermost first, as shapes are; tensor maps begin with the innermost.
  for (auto [position, extent] : enumerate(reverse(extents)))
    if (extent.getAsInteger(10, argument.map.box[position]))
      return makeError(text);
  argument.map.rank = uint32_t(extents.size());
  argument.map.swizzle = swizzle == 0    ? FUSION_SWIZZLE_NONE
                         : swizzle == 32 ? FUSION_SWIZZLE_32
                         : swizzle == 64 ? FUSION_SWIZZLE_64
                                         : FUSION_SWIZZLE_128;
  return argument;
}

Expected<KernelArgument> parseArgument(StringRef text) {
  KernelArgument argument;
  if (text.starts_with("@")) {
    auto array = readNpy(text.drop_front());
    if (!array)
      return array.takeError();
    argument.array = std::move(*array);
    return argument;
  }
  if (text.starts_with("tma:"))
    return parseMap(text);
  if (text.contains('=')) {
    auto [type, how] = text.split('=');
    SmallVector<StringRef, 4> parts;
    type.split(parts, 'x');
    std::optional<ElementKind> kind = parseElementKind(parts.pop_back_val());
    SmallVector<int64_t, 4> shape;
    for (StringRef part : parts)
      if (part.getAsInteger(10, shape.emplace_back()))
        return makeError(text);
    if (!kind)
      return makeError(text);
    auto array = HostArray::create(*kind, shape);
    if (!array)
      return array.takeError();
    argument.array = std::move(*array);
    argument.isInitialised = how != "uninit";
    if (argument.isInitialised)
      if (Error error = fill(*argument.array, how, text))
        return std::move(error);
    return argument;
  }
  auto [type, value] = text.split(':');
  std::optional<ElementKind> kind = parseElementKind(type);
  if (!kind)
    return makeError(text);
  double real = 0;
  int64_t integer = 0;
  HostArray scalar = HostArray::scalar(*kind, integer);
  if (isFloat(*kind) ? value.getAsDouble(real) : value.getAsInteger(10, integer))
    return makeError(text);
  scalar = isFloat(*kind) ? HostArray::scalar(*kind, real) : HostArray::scalar(*kind, integer);
  std::memcpy(&argument.scalar, scalar.getData(), scalar.getSizeInBytes());
  return argument;
}

void describeTensor(const KernelArgument &buffer, FusionTensorMap &map) {
  ArrayRef<int64_t> shape = buffer.array->getShape();
  map.element_bytes = getByteWidth(buffer.array->getKind());
  map.address = buffer.address;
  uint64_t stride = map.element_bytes;
  for (unsigned d = 0; d < map.rank && d < shape.size(); ++d) {
    map.extents[d] = uint64_t(shape[shape.size() - 1 - d]);
    map.strides[d] = stride;
    stride *= map.extents[d];
  }
}

} // namespace fusion
