//===- VectorMath.cpp - Mathematical functions of vectors ---------------------------------------------------------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fusion {
#define GEN_PASS_DEF_CPUVECTORMATH
#include "fusion/CPU/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {
struct CPUVectorMath : fusion::impl::CPUVectorMathBase<CPUVectorMath> {
  using CPUVectorMathBase::CPUVectorMathBase;
  void runOnOperation() override {}
};
} // namespace
