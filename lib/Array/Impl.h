//===- Impl.h - What the array library keeps ----------------------*- C++ -*-===//

#ifndef FUSION_LIB_ARRAY_IMPL_H
#define FUSION_LIB_ARRAY_IMPL_H

#include "fusion/Array/Array.h"

#include <unordered_map>

namespace fusion {

using KindKey = std::vector<uint64_t>;
struct KindKeyHash {
  size_t operator()(const KindKey &key) const {
    uint64_t hash = key.size();
    for (uint64_t word : key) {
      hash = (hash ^ word) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
    return size_t(hash);
  }
};

struct ArrayLibrary::Impl {
  std::unordered_map<KindKey, TaskKind, KindKeyHash> kinds;
  std::unordered_map<KindKey, Partition, KindKeyHash> rows;
  KindKey key;
};

inline bool isFloating(ElementType type) { return type == ElementType::F64 || type == ElementType::F32; }

namespace array {

[[noreturn]] void fail(const std::string &text);
std::string formatShape(const Shape &shape);
/// "tensor<?x?xf64>".
std::string formatType(unsigned rank, ElementType type);
/// "affine_map<(d0, d1) -> (...)>".
std::string formatMap(unsigned loops, const std::vector<std::string> &results);
std::string formatIdentity(unsigned loops);
std::string formatIterators(unsigned loops, const char *kind);
/// `%<result> = arith.constant ...`, exact.
std::string formatConstant(const std::string &result, double value, ElementType type);

} // namespace array
} // namespace fusion

#endif // FUSION_LIB_ARRAY_IMPL_H
