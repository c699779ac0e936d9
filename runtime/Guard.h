//===- Guard.h - Frames that a failure returns to ---------------------------===//
//
// A guard is the target of a failure on one thread. Generated code has no clean-ups, so a longjmp over its frames is
// sound; what it allocated is found through the guard's list of blocks.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_GUARD_H
#define FUSION_RUNTIME_GUARD_H

#include "fusion/Runtime/Runtime.h"

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace fusion::runtime {

struct Block;

/// Longest text kept of a failure; longer ones are cut.
constexpr size_t maxMessage = 1024;

struct Failure {
  FusionStatus status = FUSION_OK;
  char message[maxMessage] = {};

  void set(FusionStatus status, const char *text);
};

/// Lives in the frame of runGuarded(); linked from the innermost to the outermost guard of the thread.
struct Guard {
  std::jmp_buf target;
  Guard *outer = nullptr;
  /// Blocks allocated by this thread since the guard was entered, newest first.
  Block *blocks = nullptr;
  bool wasParallel = false;
  Failure failure;
};

/// The innermost guard of this thread, null outside of all.
Guard *currentGuard();

/// True while this thread works on a range of a parallel loop.
bool &inParallelLoop();

/// Runs `function(argument)` under a guard of its own. On a failure, frees the blocks of the guard and fills `failure`.
FusionStatus runGuarded(void (*function)(void *), void *argument, Failure &failure);

/// Leaves for the innermost guard. Returns only if there is none, having recorded the text as the thread's last error.
void raise(FusionStatus status, const char *text);

/// Records the text for fusion_rt_last_error() and returns the status.
FusionStatus report(FusionStatus status, const char *text);

/// Allocator's part: frees the blocks of a guard, or cuts them loose so that they outlive it.
void freeBlocks(Guard &guard);
void releaseBlocks(Guard &guard);

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_GUARD_H
