/*===- Runtime.h - What generated code and its host need at run time -*- C -*-===*\
|*
|* A small C interface without any dependency on MLIR: errors, guarded calls, a thread pool, an allocator that keeps
|* buffers warm. Everything here may be called from any thread unless a function says otherwise. Nothing here ends the
|* process: a failure is a status, its text is kept per thread.
|*
\*===----------------------------------------------------------------------===*/

#ifndef FUSION_RUNTIME_RUNTIME_H
#define FUSION_RUNTIME_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FUSION_RT_EXPORT __attribute__((visibility("default")))
#else
#define FUSION_RT_EXPORT
#endif

/*===-- Errors --------------------------------------------------------------===*/

/* A plain int at the interface, so that generated code needs no enum layout. */
typedef int32_t FusionStatus;
enum {
  FUSION_OK = 0,
  FUSION_INVALID_ARGUMENT = 1,
  FUSION_OUT_OF_MEMORY = 2,
  FUSION_ASSERTION_FAILED = 3,
  FUSION_STACK_EXHAUSTED = 4,
  FUSION_COMMUNICATION_FAILED = 5, /* between ranks; see Mpi.h */
};

/* Text of the last failure that a function of this interface returned on this thread; "" before any. The pointer is
   valid until the next failure on the same thread. */
FUSION_RT_EXPORT const char *fusion_rt_last_error(void);

/* Name of a status, "unknown status" for any other number. */
FUSION_RT_EXPORT const char *fusion_rt_status_name(FusionStatus status);

/*===-- Guarded calls --------------------------------------------------------===*/

/* Calls `function(argument)`. A failure inside (an assertion of the program, no memory), also one in a thread that
   works for it, ends the call at once: the stack is cut back to here without running anything else, every block that
   was allocated inside is freed, and the status is returned. `function` must therefore not own anything that needs
   cleaning up by C++ destructors; generated code does not. May be nested. */
FUSION_RT_EXPORT FusionStatus fusion_rt_invoke(void (*function)(void *), void *argument);

/* Called by generated code where an assertion of the program does not hold. Returns to the innermost guarded call of
   this thread with FUSION_ASSERTION_FAILED. The text is copied. Outside of any guarded call there is nobody to return
   to: the text goes to stderr and the thread is stopped for good. Entry points that the compiler emits are guarded, so
   this happens only to a host that calls an inner function by hand. */
FUSION_RT_EXPORT void fusion_rt_assert_fail(const char *message);

/* Called by generated code at the entry of recursive functions. Ends the call like a failed assertion, with
   FUSION_STACK_EXHAUSTED and `message`, when little of the thread's stack is left. */
FUSION_RT_EXPORT void fusion_rt_check_stack(const char *message);

/*===-- Parallel loops -------------------------------------------------------===*/

/* Works on the blocks [begin, end) of a linear grid. */
typedef void (*FusionRangeFunction)(void *context, int64_t begin, int64_t end);

/* Runs `function` over [0, count), cut into ranges, on the calling thread and on the pool, and returns when all is
   done. Ranges are handed out in ascending order. A call from inside a parallel loop, or while another thread has the
   pool, runs on the calling thread alone; so calls never wait for one another. A failure in any range stops the
   others at their next range; it is then raised in the caller: inside of a guarded call this function does not return,
   otherwise it returns the status. */
FUSION_RT_EXPORT FusionStatus fusion_rt_parallel_for(FusionRangeFunction function, void *context, int64_t count);

/* Number of threads that work on a parallel loop, the caller among them. 0 sets the default: the value of the
   environment variable FUSION_THREADS, if it is a number, else the number of CPUs that the process may use. Takes
   effect at the next parallel loop. */
FUSION_RT_EXPORT FusionStatus fusion_rt_set_thread_count(int32_t count);
FUSION_RT_EXPORT int32_t fusion_rt_thread_count(void);

/* A host's own threads in place of the pool. `run` must call task(argument, i) once for every i in [0, tasks), on any
   threads, and return when all of them have returned. A null `run` brings the pool back. */
typedef struct FusionExecutor {
  void *state;
  void (*run)(void *state, int32_t tasks, void (*task)(void *argument, int32_t index), void *argument);
} FusionExecutor;
FUSION_RT_EXPORT FusionStatus fusion_rt_set_executor(const FusionExecutor *executor);

/*===-- Memory ---------------------------------------------------------------===*/

/* At least `bytes` bytes at an address divisible by 64, not initialised; also for 0 bytes a pointer that can be freed.
   When there is no memory: inside of a guarded call it does not return, otherwise null. */
FUSION_RT_EXPORT void *fusion_rt_alloc(size_t bytes);

/* The form that generated code calls; alignments above 64 are refused like a lack of memory. The text of a failure begins
   with `place`, "file:line:column: " or "". */
FUSION_RT_EXPORT void *fusion_rt_aligned_alloc(size_t alignment, size_t bytes, const char *place);

/* Gives a block back. It stays mapped for the next allocation of about its size: first touches of new pages cost more
   than most kernels. Null is allowed. Any thread may free. */
FUSION_RT_EXPORT void fusion_rt_free(void *block);

typedef struct FusionMemoryStatistics {
  uint64_t live_bytes;     /* allocated and not freed, as asked for */
  uint64_t peak_bytes;     /* highest live_bytes since the last reset */
  uint64_t kept_bytes;     /* freed, but kept for reuse */
  uint64_t allocations;    /* calls of alloc since the last reset */
  uint64_t fresh_mappings; /* those of them that took new memory from the system */
} FusionMemoryStatistics;

FUSION_RT_EXPORT FusionStatus fusion_rt_memory_statistics(FusionMemoryStatistics *statistics);

/* Starts a new peak at the bytes that are live now, and sets the two counters to 0. */
FUSION_RT_EXPORT void fusion_rt_reset_memory_statistics(void);

/* Returns all kept memory to the system. */
FUSION_RT_EXPORT void fusion_rt_trim(void);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_RUNTIME_H */
