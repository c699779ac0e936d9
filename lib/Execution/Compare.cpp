//===- Compare.cpp - When a result is right ---------------------------------===//

#include "fusion/Execution/Compare.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace fusion;

Tolerance fusion::getDefaultTolerance(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return {1e-2, 1e-3};
  case ElementKind::BF16:
    return {5e-2, 1e-2};
  case ElementKind::F32:
    return {1e-5, 1e-6};
  case ElementKind::F64:
    return {1e-10, 1e-12};
  default:
    return {};
  }
}

/// "[3, 0, 17]" for element `linear` of the shape.
static std::string describeIndex(int64_t linear, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0; --axis) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(index, os);
  os << ']';
  return text;
}

Comparison fusion::compare(const HostArray &got, const HostArray &want, Tolerance tolerance) {
  Comparison result;
  auto normalise = [](ElementKind kind) { return kind == ElementKind::Index ? ElementKind::I64 : kind; };
  if (normalise(got.getKind()) != normalise(want.getKind()) || got.getShape() != want.getShape()) {
    result.ok = false;
    result.maxAbsError = result.maxRelError = HUGE_VAL;
    result.problem = "got " + got.getTypeText() + ", want " + want.getTypeText();
    return result;
  }
  bool isFloatKind = isFloat(got.getKind());
  int64_t firstWrong = -1;
  for (int64_t i = 0, e = got.getNumElements(); i < e; ++i) {
    bool right;
    double error, scale;
    if (isFloatKind) {
      double g = got.getDouble(i), w = want.getDouble(i);
      if (g == w || (std::isnan(g) && std::isnan(w)))
        continue;
      error = std::abs(g - w);
      scale = std::abs(w);
      right = std::isfinite(g) && std::isfinite(w) && error <= tolerance.atol + tolerance.rtol * scale;
      if (std::isnan(error))
        error = HUGE_VAL;
      if (!std::isfinite(scale))
        scale = 1;
    } else {
      int64_t g = got.getInteger(i), w = want.getInteger(i);
      if (g == w)
        continue;
      error = std::abs(double(g) - double(w));
      scale = std::abs(double(w));
      right = false;
    }
    result.maxAbsError = std::max(result.maxAbsError, error);
    if (scale != 0)
      result.maxRelError = std::max(result.maxRelError, error / scale);
    if (!right && result.numWrong++ == 0)
      firstWrong = i;
  }
  if (result.numWrong == 0)
    return result;
  result.ok = false;
  llvm::raw_string_ostream os(result.problem);
  os << result.numWrong << " of " << got.getNumElements() << " elements differ; first at "
     << describeIndex(firstWrong, got.getShape()) << ": got ";
  if (isFloatKind)
    os << llvm::format("%.9g", got.getDouble(firstWrong)) << ", want "
       << llvm::format("%.9g", want.getDouble(firstWrong));
  else
    os << got.getInteger(firstWrong) << ", want " << want.getInteger(firstWrong);
  os << "; largest absolute error " << llvm::format("%.3g", result.maxAbsError) << ", largest relative error "
     << llvm::format("%.3g", result.maxRelError);
  return result;
}
