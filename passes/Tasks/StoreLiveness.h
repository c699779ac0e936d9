//===- StoreLiveness.h - Whether the content of a store is still needed ---===//

#ifndef FUSION_PASSES_TASKS_STORELIVENESS_H
#define FUSION_PASSES_TASKS_STORELIVENESS_H

#include "fusion/Dist/Dist.h"

namespace fusion::dist {

/// Whether on some path after `op`, the next iterations of loops around it included, something of `store` is read or
/// reduced before all of it is overwritten. `op` itself is not looked at, except as part of a next iteration. Looks at
/// the users of the store only, so a program is analysed in time proportional to its uses; never wrong in saying no.
bool isLiveAfter(mlir::Operation *op, mlir::Value store);

} // namespace fusion::dist

#endif // FUSION_PASSES_TASKS_STORELIVENESS_H
