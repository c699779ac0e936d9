//===- Guarded.h - Calls of the run-time that may fail -----------*- C++ -*-===//

#ifndef FUSION_LIB_SESSION_GUARDED_H
#define FUSION_LIB_SESSION_GUARDED_H

#include "Core.h"

namespace fusion::session {

/// Calls `function`, which must not own anything: a failure leaves it by a longjmp.
template <typename Function>
Error invoke(Function function) {
  FusionStatus status =
      fusion_rt_invoke([](void *argument) { (*static_cast<Function *>(argument))(); }, static_cast<void *>(&function));
  if (status == FUSION_OK)
    return {};
  const char *text = fusion_rt_last_error();
  return text && *text ? text : fusion_rt_status_name(status);
}

} // namespace fusion::session

#endif // FUSION_LIB_SESSION_GUARDED_H
