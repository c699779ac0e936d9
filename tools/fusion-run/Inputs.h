//===- Inputs.h - What --input may say ----------------------------*- C++ -*-===//
//
//   @file.npy            the array of a file
//   8x128xf32=random:7   an array of that type: random, positive or weights[:seed], ones, zeros, iota, value:<number>
//   random:7             the same of the argument's type, which must be static
//   3.5                  a scalar (or a tensor of rank 0)
//
// Random numbers are the same on every machine: floats are uniform in [-1, 1) (`random`), in [0.5, 1.5) (`positive`) or
// in
// [-s, s) with s = 1 / sqrt(last extent) (`weights`), integers in [0, 8).
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_INPUTS_H
#define FUSION_TOOLS_FUSION_RUN_INPUTS_H

#include "fusion/Execution/HostArray.h"
#include "mlir/IR/Types.h"

namespace fusion {

/// The array that `spec` describes, for an argument (or a result, for expected files) of type `type`. The error does
/// not name the argument.
llvm::Expected<HostArray> makeInput(llvm::StringRef spec, mlir::Type type);

/// An array filled by `random:<seed>` and its like.
llvm::Expected<HostArray> generate(ElementKind kind, llvm::ArrayRef<int64_t> shape, llvm::StringRef generator);

/// An error unless the array may be passed as `type`.
llvm::Error checkType(const HostArray &array, mlir::Type type);

} // namespace fusion

#endif // FUSION_TOOLS_FUSION_RUN_INPUTS_H
