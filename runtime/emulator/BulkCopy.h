//===- BulkCopy.h - Tensor copies (TMA) ---------------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_BULKCOPY_H
#define FUSION_RUNTIME_EMULATOR_BULKCOPY_H

#include "fusion/Runtime/Device.h"

namespace fusion::emulator {

/// What the 128 bytes of a tensor map hold on the emulated device. CUDA's are opaque.
struct EncodedTensorMap {
  uint64_t magic;
  uint64_t address;
  uint32_t rank, elementBytes;
  uint64_t extents[5];
  /// Of dimensions 1 to 4, in bytes.
  uint64_t strides[4];
  uint32_t box[5];
  int32_t swizzle;

  static constexpr uint64_t expectedMagic = 0x46757346546d6170;
};
static_assert(sizeof(EncodedTensorMap) <= 128, "a tensor map has 128 bytes");

/// Checks what the hardware demands of a tensor map; null, or what is wrong.
const char *encodeTensorMap(const FusionTensorMap &map, void *encoded);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_BULKCOPY_H
