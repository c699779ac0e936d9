//===- BitCast.h - The bits of a value as another type ------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_BITCAST_H
#define FUSION_RUNTIME_EMULATOR_BITCAST_H

#include <cstring>

namespace fusion::emulator {

template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_BITCAST_H
