/*===- Mpi.h - Ranks: exchanges of boxes and reductions ------------*- C -*-===*\
|*
|* What a distributed program needs of MPI, behind an interface that needs no mpi.h: which rank it is, exchanges of
|* boxes of a store between the ranks, reductions. One binary serves every MPI implementation: the library that speaks
|* to MPI (libFusionMpi-openmpi.so, libFusionMpi-mpich.so) is loaded at first use, and only if there can be more than
|* one rank. Without a launcher the program is rank 0 of 1 and no MPI is loaded or initialised.
|*
|* Which implementation: the one that the process has initialised already; else the one whose launcher started the
|* process; else the one that the environment variable FUSION_MPI names ("openmpi", "mpich", or the path of such a
|* library); else none. FUSION_MPI=off says: rank 0 of 1, whatever the launcher. A contradiction, or a launcher whose
|* library was not built, is an error, never a silent run of N separate programs.
|*
|* Ranks. All ranks call the collective functions (those marked so) in the same order with the same description. Ranks
|* and messages are those of a communicator of our own, a duplicate of MPI_COMM_WORLD or of the communicator that the
|* host named. An MPI that the host has initialised is left initialised; one that we initialised is finalised at the
|* end of the process at the latest. A process that ends with a status other than 0 after we initialised MPI ends the
|* whole job, so no rank waits for one that has gone.
|*
|* Errors. As everywhere in the run-time, a failure inside of a guarded call (generated code) ends that call; otherwise
|* the status is returned, and fusion_rt_last_error() has the text: the rank, the operation and MPI's own words. With
|* more than one rank the host must then call fusion_mpi_fail (fusion_mpi_invoke does): the others wait.
|*
|* Threads. At most one thread at a time is inside of these functions; they lock one another out. MPI is initialised
|* with MPI_THREAD_SERIALIZED: a host that calls MPI itself must not do so at the same time. If the host has initialised
|* MPI with a lower level, these functions may only be called by the thread that did; another one gets an error.
|*
|* Paper: Diffuse (spec of partitions: bounds of a tile, clamped to the store). See docs/rationale/mpi.md.
|*
\*===----------------------------------------------------------------------===*/

#ifndef FUSION_RUNTIME_MPI_H
#define FUSION_RUNTIME_MPI_H

#include "fusion/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Elements and operators ------------------------------------------------===*/

/* Element types, as they lie in memory. An i1 is one byte, 0 or 1; an `index` is an i64. Integers are signless. */
enum {
  FUSION_MPI_I1 = 0,
  FUSION_MPI_I8 = 1,
  FUSION_MPI_I16 = 2,
  FUSION_MPI_I32 = 3,
  FUSION_MPI_I64 = 4,
  FUSION_MPI_F16 = 5,
  FUSION_MPI_BF16 = 6,
  FUSION_MPI_F32 = 7,
  FUSION_MPI_F64 = 8,
};

/* Reduction operators. Integers wrap; an i1 is a 1-bit integer (sum = xor, product = and; signed: 1 is -1). MIN and MAX
   are signed for integers and propagate NaN for floats (arith.minimumf); MINNUM and MAXNUM ignore a NaN
   (arith.minnumf); UMIN and UMAX compare as unsigned. AND, OR and XOR work on bits; LAND and LOR give 0 or 1. f16 and
   bf16 are computed in f32 over all ranks and rounded once. A NaN in a result is the positive quiet one. */
enum {
  FUSION_MPI_SUM = 1,
  FUSION_MPI_PRODUCT = 2,
  FUSION_MPI_MIN = 3,
  FUSION_MPI_MAX = 4,
  FUSION_MPI_UMIN = 5,   /* integers */
  FUSION_MPI_UMAX = 6,   /* integers */
  FUSION_MPI_MINNUM = 7, /* floats */
  FUSION_MPI_MAXNUM = 8, /* floats */
  FUSION_MPI_AND = 9,    /* integers, as the next two */
  FUSION_MPI_OR = 10,
  FUSION_MPI_XOR = 11,
  FUSION_MPI_LAND = 12, /* integers */
  FUSION_MPI_LOR = 13,  /* integers */
};

/* Bytes of an element; 0 for an unknown type. */
FUSION_RT_EXPORT int64_t fusion_mpi_type_size(int32_t type);

/* result[i] = inputs[0][i] op inputs[1][i] op ..., from left to right, for i in [0, count): the very computation of the
   reductions below, for who simulates ranks in one process. `result` may be one of the inputs. No MPI. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_combine(int32_t op, int32_t type, const void *const *inputs, int64_t input_count,
                                                 void *result, int64_t count);

/*===-- Ranks -------------------------------------------------------------------===*/

/* What the launcher's environment says, without initialising anything: for a host that wants to print on one rank only.
   `size` is 1 where there is no launcher and 0 where the launcher does not tell. */
typedef struct FusionMpiLauncher {
  const char *implementation; /* "openmpi", "mpich" or "none"; static */
  int32_t rank;
  int32_t size;
} FusionMpiLauncher;
FUSION_RT_EXPORT FusionMpiLauncher fusion_mpi_launcher(void);

/* Decides about the implementation and initialises MPI if it is needed (collective then); does nothing the next time.
   All functions below do this on demand. A host that calls MPI_Init itself must do so before. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_init(void);

/* The same with a communicator of the host in place of MPI_COMM_WORLD: `communicator` points to an MPI_Comm, which is
   duplicated. An error if the ranks are in use already. Collective over that communicator. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_init_with(const void *communicator);

/* This rank and the number of ranks. Where MPI cannot be had: a failure (see above); rank -1 and size 0 if it is not
   inside of a guarded call. */
FUSION_RT_EXPORT int32_t fusion_mpi_rank(void);
FUSION_RT_EXPORT int32_t fusion_mpi_size(void);

/* "none" as long as (or because) MPI is not used, else "openmpi" or "mpich". Static. */
FUSION_RT_EXPORT const char *fusion_mpi_implementation(void);

/* Frees plans and the communicator, and finalises MPI if we initialised it. Collective. Exchanges must have been waited
   for. Afterwards nothing of this header that needs ranks may be used, if there was more than one. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_finalize(void);

/* Ends the job: prints "fusion: rank R of N: message" to stderr and aborts all ranks with exit status 1. Does not
   return. Without MPI it ends this process in the same way. */
FUSION_RT_EXPORT void fusion_mpi_fail(const char *message);

/* fusion_rt_invoke for a program with ranks: a failure is handed to fusion_mpi_fail if there is more than one rank, and
   returned otherwise. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_invoke(void (*function)(void *), void *argument);

/* Collective. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_barrier(void);
FUSION_RT_EXPORT FusionStatus fusion_mpi_broadcast(void *data, int64_t bytes, int32_t root);
/* `all` has room for size() blocks of `bytes` bytes, in the order of ranks. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_all_gather(const void *mine, void *all, int64_t bytes);

/*===-- Which rank runs which point of a launch domain ----------------------------===*/

/* Points of a domain are numbered in row-major order. */
enum {
  FUSION_MPI_BLOCK = 0,      /* rank r runs points [ceil(r*N/R), ceil((r+1)*N/R)) of N, on R ranks */
  FUSION_MPI_ROOT = 1,       /* one rank runs all points */
  FUSION_MPI_EVERYWHERE = 2, /* each rank runs all points, and they all compute the same */
};

/* The points of `points` that rank `rank` of `size` runs under FUSION_MPI_BLOCK: [*begin, *end). */
FUSION_RT_EXPORT void fusion_mpi_block(int64_t points, int32_t rank, int32_t size, int64_t *begin, int64_t *end);

/*===-- Exchanges -------------------------------------------------------------------===*/

/* An exchange moves elements of one store: each rank HOLDS some boxes of it (`sources`), and each NEEDS some (`targets`).
   It is described by words (int64), the same on all ranks, and independent of the number of ranks:

     operation     FUSION_MPI_COPY, or a reduction operator
     flags         FUSION_MPI_FOLD | FUSION_MPI_PARTIAL
     type          element type
     n             rank of the store (0: one element)
     shape[n]
     sources       how many placements, at least 1; then these
     targets       how many placements, at least 1; then these

   and a placement is

     mapping       FUSION_MPI_BLOCK | ROOT | EVERYWHERE
     root          the rank for ROOT, otherwise 0
     m             rank of the launch domain (0: one point)
     domain[m]     its extents
     partition     FUSION_MPI_NONE:  each point has the whole store
                   FUSION_MPI_TILED: then stride[n], size[n], offset[n], projection[n][m+1]
                   FUSION_MPI_BOXES: then for each point lower[n], upper[n]

   A tiled point p has the box [f(p)*stride + offset, f(p)*stride + offset + size) of the store, clamped to its shape,
   with f(p)[d] = sum over k of projection[d][k]*p[k], plus projection[d][m]. Diffuse's Tiling(tile, offset, f) has
   stride = size = tile; a halo of h has stride = tile, size = tile + 2h, offset = offset - h.

   COPY: every needed element comes from a rank that holds it. The sources are in layers, the newest first: where a
   newer layer holds an element, older ones are not asked. Within a layer the rank itself is asked first, so a replicated
   element costs no message. Elements that are needed and held by nobody are an error; with PARTIAL they stay as they
   are.
   Reductions: every needed element becomes the combination of the values of *all* ranks that hold it (one layer), in
   ascending order of ranks: the same bits in every run on the same number of ranks. A rank's own points must have been
   combined in its memory before. With FOLD the element's old value comes first.

   Halo: source TILED, targets TILED with other offsets or a larger size. Redistribution: TILED to TILED. Gather: TILED to
   NONE, ROOT for one and EVERYWHERE for all. Broadcast: NONE, ROOT to NONE, EVERYWHERE. Scatter: NONE, ROOT to TILED. */
enum {
  FUSION_MPI_COPY = 0,
  FUSION_MPI_FOLD = 1,
  FUSION_MPI_PARTIAL = 2,
  FUSION_MPI_NONE = 0,
  FUSION_MPI_TILED = 1,
  FUSION_MPI_BOXES = 2,
};

/* The message lists of this rank. Computed at the first call with these words and kept by the run-time until
   fusion_mpi_finalize; the words are copied. Not collective. */
typedef struct FusionMpiPlan FusionMpiPlan;
FUSION_RT_EXPORT FusionStatus fusion_mpi_plan(const int64_t *words, int64_t word_count, const FusionMpiPlan **plan);

/* A window is the part of a store that lies in this rank's memory: MLIR's strided memref descriptor of the store's rank,

     { void *allocated; void *aligned; int64_t offset; int64_t sizes[n]; int64_t strides[n]; }    (strides in elements)

   and the store's index of its first element, `origin` (n words; null: zeros, the usual case of a window over the whole
   store). Null in place of a descriptor: this rank has no window; all right if it holds (needs) nothing.

   Starts an exchange: collective, does not block. Source and target may be the same window (a halo); then a rank's own
   elements are not moved. Until the exchange has been waited for, what is held must not be changed and what is needed
   must be neither read nor changed; anything else of the windows may be (overlap with the interior). Several exchanges
   may be under way. An error, before any message: a box that is not inside of its window. */
typedef struct FusionMpiExchange FusionMpiExchange;
FUSION_RT_EXPORT FusionStatus fusion_mpi_start(const FusionMpiPlan *plan, const void *source, const int64_t *source_origin,
                                               const void *target, const int64_t *target_origin,
                                               FusionMpiExchange **exchange);

/* Blocks until the elements that this rank needs are there and those that it sends may be changed. The exchange is
   gone afterwards, also after a failure. Null is allowed. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_wait(FusionMpiExchange *exchange);

/* Start and wait. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_exchange(const FusionMpiPlan *plan, const void *source,
                                                  const int64_t *source_origin, const void *target,
                                                  const int64_t *target_origin);

/*===-- Reductions ------------------------------------------------------------------===*/

/* Each element of the window becomes the combination of its values on all ranks, in ascending order of ranks: the same
   bits on all ranks and in every run on the same number of ranks. With a `root` other than FUSION_MPI_ALL_RANKS only that
   rank's window changes. `memref` is a descriptor of rank `rank`, as above; equal sizes on all ranks. Collective. */
enum { FUSION_MPI_ALL_RANKS = -1 };
FUSION_RT_EXPORT FusionStatus fusion_mpi_reduce(int32_t op, int32_t type, int64_t rank, const void *memref, int32_t root);

/*===-- Statistics ------------------------------------------------------------------===*/

/* What this rank did since the start or the last reset. A message is what one rank sends to another in one exchange or
   reduction, however many boxes it has; bytes are those of elements. */
typedef struct FusionMpiStatistics {
  uint64_t exchanges; /* started, those without a message too */
  uint64_t reductions;
  uint64_t messages; /* sent */
  uint64_t bytes_sent;
  uint64_t bytes_received;
  uint64_t bytes_copied; /* own elements, from the source to the target window */
  uint64_t plans;        /* computed, not found among the kept ones */
} FusionMpiStatistics;
FUSION_RT_EXPORT FusionStatus fusion_mpi_statistics(FusionMpiStatistics *statistics);
FUSION_RT_EXPORT void fusion_mpi_reset_statistics(void);

/* Messages and bytes that one execution of the plan sends: of this rank, or summed over all ranks. Not collective. */
FUSION_RT_EXPORT FusionStatus fusion_mpi_plan_traffic(const FusionMpiPlan *plan, int32_t all_ranks, uint64_t *messages,
                                                      uint64_t *bytes);

/* For tests: messages longer than this are sent in pieces. 0 sets the default, the largest count that MPI takes. The same
   on all ranks. */
FUSION_RT_EXPORT void fusion_mpi_set_chunk_bytes(int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_MPI_H */
