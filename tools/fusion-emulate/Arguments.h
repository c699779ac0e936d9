//===- Arguments.h - Arguments of a kernel from the command line ------------===//

#ifndef FUSION_TOOLS_EMULATE_ARGUMENTS_H
#define FUSION_TOOLS_EMULATE_ARGUMENTS_H

#include "fusion/Execution/HostArray.h"
#include "fusion/Runtime/Device.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace fusion {

/// One argument: a buffer, a scalar, or a tensor map of a buffer.
struct KernelArgument {
  /// Data of a buffer, and what it is on the device.
  std::optional<HostArray> array;
  void *address = nullptr;
  bool isInitialised = true;
  /// Bits of a scalar.
  uint64_t scalar = 0;
  /// A tensor map: the buffer's number, and what is asked for.
  std::optional<unsigned> mapOf;
  FusionTensorMap map = {};
  alignas(64) char encoded[128] = {};
};

/// Parses `@file.npy`, `SHAPExTYPE=iota | zeros | ones | uninit | random:SEED`, `TYPE:VALUE` (a scalar) or
/// `tma:ARGUMENT:BOX:SWIZZLE`. An error says what is accepted.
llvm::Expected<KernelArgument> parseArgument(llvm::StringRef text);

/// A tensor map for a contiguous row-major array.
void describeTensor(const KernelArgument &buffer, FusionTensorMap &map);

} // namespace fusion

#endif // FUSION_TOOLS_EMULATE_ARGUMENTS_H
