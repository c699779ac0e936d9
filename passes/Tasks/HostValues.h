//===- HostValues.h - What only the first rank knows --------------*- C++ -*-===//

#ifndef FUSION_PASSES_TASKS_HOSTVALUES_H
#define FUSION_PASSES_TASKS_HOSTVALUES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fusion::dist {

/// Emits an error where operations on stores depend on a value that only the first rank has: computed from the tensor
/// of a store that is no scalar. The ranks would fill with different values, or take different ways.
llvm::LogicalResult verifyHostValues(mlir::FunctionOpInterface function);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_HOSTVALUES_H
