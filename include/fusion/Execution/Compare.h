//===- Compare.h - When a result is right -------------------------*- C++ -*-===//
//
// An element is right when |got - want| <= atol + rtol * |want|. NaN equals NaN, an infinity equals the same infinity,
// integers must be equal.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EXECUTION_COMPARE_H
#define FUSION_EXECUTION_COMPARE_H

#include "fusion/Execution/HostArray.h"

namespace fusion {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// A tolerance for results of a kind when nobody states one: a small multiple of the type's own precision.
Tolerance getDefaultTolerance(ElementKind kind);

struct Comparison {
  /// Element types and shapes agree and every element is right.
  bool ok = true;
  /// Elements that are not right.
  int64_t numWrong = 0;
  /// The largest |got - want| and the largest |got - want| / |want| (where want is not zero) of all elements, right or
  /// wrong. Infinite where exactly one of the two is NaN or infinite.
  double maxAbsError = 0;
  double maxRelError = 0;
  /// What is wrong, in words, in one line: types or shapes, or the first wrong element with its index and both values.
  std::string problem;
};

Comparison compare(const HostArray &got, const HostArray &want, Tolerance tolerance);

} // namespace fusion

#endif // FUSION_EXECUTION_COMPARE_H
