//===- Passes.h - Passes of the Tasks stage ---===//

#ifndef FUSION_TASKS_PASSES_H
#define FUSION_TASKS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Tasks/Passes.h.inc"

} // namespace fusion

#endif // FUSION_TASKS_PASSES_H
