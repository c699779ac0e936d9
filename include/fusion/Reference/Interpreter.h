//===- Interpreter.h - The reference interpreter ------------------*- C++ -*-===//
//
// Executes a module as its text says, one operation after the other: the oracle that every pass and every target is
// compared with. It knows func, arith, math, cf, scf, affine, tensor, linalg and ub on scalars and tensors, the
// `spacemap` dialect at every stage, so that each level of the pipeline down to tile programs can be executed, and the
// `dist` dialect, sequentially or on simulated ranks.
//
// * Arithmetic is done in the types of the text: f32, f16 and bf16 operations round to their type after each
//   operation (transcendental functions are evaluated in double and rounded once), integers wrap.
// * Reductions run sequentially in the order of the loops.
// * The blocks of a sliced `spacemap.graph` are run one by one on their own ranges and assembled, so that an illegal
//   slicing shows in the numbers.
// * Undefined behaviour (an access out of bounds, division by zero, a failed `cf.assert`, a read of a region's result
//   that was never made) and operations that it does not know are errors at the operation's location.
//   Uninitialised tensors hold NaN, or a large negative number for integers.
//
// Thread-safety: distinct calls may run at the same time on distinct modules or, as nothing is changed, on the same.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_INTERPRETER_H
#define FUSION_REFERENCE_INTERPRETER_H

#include "fusion/Execution/HostArray.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace fusion {

/// What a communication operation of the `dist` dialect did on simulated ranks. A message is what one rank sends to
/// another in one execution; bytes are those of elements.
struct ReferenceTraffic {
  mlir::Location location;
  /// "dist.exchange", "dist.exchange_start" or "dist.all_reduce".
  std::string operation;
  uint64_t executions, messages, bytes;
};

struct ReferenceOptions {
  /// Calls that may be open at a time; more is an error (a recursion that does not end, most likely).
  unsigned maxCallDepth = 200;
  /// Operations outside of loop bodies of linalg and spacemap that may be executed; 0 is no limit.
  uint64_t maxOperations = 0;
  /// Programs of the `dist` dialect. 0: launches take effect one after the other on whole stores, and communication does
  /// nothing. Otherwise the planned program is executed by that many simulated ranks, at most 64. Each has its own copy
  /// of a store, and only communication moves elements between them; reading an element that the rank does not have, or
  /// that has been written elsewhere since, is an error at the operation.
  unsigned ranks = 0;
  /// With ranks: one entry is appended for each communication operation that was executed. May be null.
  std::vector<ReferenceTraffic> *traffic = nullptr;
};

/// Calls the function `entry` of the module. One array per argument, a rank-0 array for a scalar; the results are
/// appended to `results` in the same way. Failures are diagnostics at the operation that failed.
mlir::LogicalResult interpret(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<HostArray> arguments,
                              llvm::SmallVectorImpl<HostArray> &results, const ReferenceOptions &options = {});

} // namespace fusion

#endif // FUSION_REFERENCE_INTERPRETER_H
