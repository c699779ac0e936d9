//===- Guard.cpp - Errors and guarded calls ---------------------------------===//

#include "Guard.h"

#include "fusion/Runtime/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

using namespace fusion::runtime;

namespace {
thread_local Guard *innermost = nullptr;
thread_local bool parallel = false;
thread_local char lastError[maxMessage] = {};

/// What must be left for kernels, whose scratch is on the stack, and for the run-time itself.
constexpr uintptr_t stackReserve = 512 * 1024;

/// The address that the stack of this thread must not grow below; 0 if the system does not tell.
uintptr_t getStackLimit() {
  uintptr_t limit = 0;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *lowest = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0)
      limit = reinterpret_cast<uintptr_t>(lowest) + std::min<uintptr_t>(stackReserve, size / 2);
    pthread_attr_destroy(&attributes);
  }
#endif
  return limit;
}
} // namespace

void Failure::set(FusionStatus newStatus, const char *text) {
  status = newStatus;
  std::snprintf(message, sizeof(message), "%s", text ? text : "");
}

Guard *fusion::runtime::currentGuard() { return innermost; }

bool &fusion::runtime::inParallelLoop() { return parallel; }

FusionStatus fusion::runtime::report(FusionStatus status, const char *text) {
  std::snprintf(lastError, sizeof(lastError), "%s", text);
  return status;
}

void fusion::runtime::raise(FusionStatus status, const char *text) {
  Guard *guard = innermost;
  if (!guard) {
    report(status, text);
    return;
  }
  guard->failure.set(status, text);
  std::longjmp(guard->target, 1);
}

FusionStatus fusion::runtime::runGuarded(void (*function)(void *), void *argument, Failure &failure) {
  Guard guard;
  guard.outer = innermost;
  guard.wasParallel = parallel;
  // Nothing that changes between setjmp and longjmp lives in a register: the guard is only reached by its address.
  if (setjmp(guard.target) == 0) {
    innermost = &guard;
    function(argument);
    innermost = guard.outer;
    releaseBlocks(guard);
    return FUSION_OK;
  }
  innermost = guard.outer;
  parallel = guard.wasParallel;
  freeBlocks(guard);
  failure = guard.failure;
  return failure.status;
}

extern "C" {

const char *fusion_rt_last_error(void) { return lastError; }

const char *fusion_rt_status_name(FusionStatus status) {
  switch (status) {
  case FUSION_OK:
    return "ok";
  case FUSION_INVALID_ARGUMENT:
    return "invalid argument";
  case FUSION_OUT_OF_MEMORY:
    return "out of memory";
  case FUSION_ASSERTION_FAILED:
    return "assertion failed";
  case FUSION_STACK_EXHAUSTED:
    return "stack exhausted";
  case FUSION_COMMUNICATION_FAILED:
    return "communication failed";
  default:
    break;
  }
  switch (static_cast<int>(status)) {
  case FUSION_NO_DEVICE:
    return "no device";
  case FUSION_DEVICE_FAILED:
    return "device failed";
  case FUSION_KERNEL_FAULTY:
    return "kernel faulty";
  default:
    return "unknown status";
  }
}

FusionStatus fusion_rt_invoke(void (*function)(void *), void *argument) {
  if (!function)
    return report(FUSION_INVALID_ARGUMENT, "fusion_rt_invoke: no function");
  Failure failure;
  FusionStatus status = runGuarded(function, argument, failure);
  return status == FUSION_OK ? status : report(status, failure.message);
}

void fusion_rt_assert_fail(const char *message) {
  raise(FUSION_ASSERTION_FAILED, message ? message : "assertion failed");
  // No guard: going on would run code that relies on the assertion.
  std::fprintf(stderr, "fusion: %s (outside of a guarded call, this thread stops here)\n", message ? message : "");
  for (;;)
    pause();
}

void fusion_rt_check_stack(const char *message) {
  thread_local const uintptr_t limit = getStackLimit();
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < limit)
    raise(FUSION_STACK_EXHAUSTED, message ? message : "the stack is exhausted");
}

} // extern "C"
