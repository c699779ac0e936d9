//===- Lower.h - From stores and tasks to functions and calls -----*- C++ -*-===//

#ifndef FUSION_PASSES_TASKS_LOWER_H
#define FUSION_PASSES_TASKS_LOWER_H

#include "fusion/Tasks/Bodies.h"

namespace fusion::dist {

//===----------------------------------------------------------------------===//
// The host function
//===----------------------------------------------------------------------===//

struct LowerCounts {
  unsigned borrowed = 0, placed = 0;
};

/// Replaces all operations of the dialect in the function. After an error, which is reported, the function is broken.
llvm::LogicalResult lowerHost(mlir::func::FuncOp function, BodyBuilder &bodies, LowerCounts &counts);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_LOWER_H
