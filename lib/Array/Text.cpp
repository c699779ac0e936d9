//===- Text.cpp - The text of bodies --------------------------------------------===//

#include "Impl.h"

#include <cstdio>
#include <cstring>

using namespace fusion;

std::string fusion::array::formatType(unsigned rank, ElementType type) {
  std::string text = "tensor<";
  for (unsigned d = 0; d < rank; ++d)
    text += "?x";
  return text + getElementName(type) + ">";
}

std::string fusion::array::formatMap(unsigned loops, const std::vector<std::string> &results) {
  std::string text = "affine_map<(";
  for (unsigned d = 0; d < loops; ++d)
    text += (d ? ", d" : "d") + std::to_string(d);
  text += ") -> (";
  for (size_t i = 0; i < results.size(); ++i)
    text += (i ? ", " : "") + results[i];
  return text + ")>";
}

std::string fusion::array::formatIdentity(unsigned loops) {
  std::vector<std::string> results;
  for (unsigned d = 0; d < loops; ++d)
    results.push_back("d" + std::to_string(d));
  return formatMap(loops, results);
}

std::string fusion::array::formatIterators(unsigned loops, const char *kind) {
  std::string text;
  for (unsigned d = 0; d < loops; ++d)
    text += std::string(d ? ", \"" : "\"") + kind + "\"";
  return text;
}

std::string fusion::array::formatConstant(const std::string &result, double value, ElementType type) {
  char text[32];
  if (type == ElementType::F64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    std::snprintf(text, sizeof(text), "0x%016llX", static_cast<unsigned long long>(bits));
  } else if (type == ElementType::F32) {
    auto narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    std::snprintf(text, sizeof(text), "0x%08X", bits);
  } else if (type == ElementType::Bool) {
    return result + " = arith.constant " + (value != 0 ? "true\n" : "false\n");
  } else {
    std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(value));
  }
  return result + " = arith.constant " + text + " : " + getElementName(type) + "\n";
}
