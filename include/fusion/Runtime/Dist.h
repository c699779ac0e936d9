/*===- Dist.h - Stores and tasks at run time ------------------------*- C -*-===*\
|*
|* Two things: how a C function is written that a `dist` program launches as an opaque task, and what the code that the
|* compiler makes of a `dist` program calls.
|*
|* Every rank runs the program. Of a store each rank holds one window: the smallest box that has all that its points
|* touch anywhere in the function. The ranks are those of fusion/Runtime/Mpi.h; without a launcher there is one, and
|* nothing here touches MPI. Point i of n of a launch domain (row-major) runs on rank i * ranks / n. Scalars are held by
|* every rank.
|*
|* Source of the model: Diffuse (ASPLOS 2025), section 3; see docs/rationale/dist-execution.md.
|*
\*===----------------------------------------------------------------------===*/

#ifndef FUSION_RUNTIME_DIST_H
#define FUSION_RUNTIME_DIST_H

#include "fusion/Runtime/Mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Opaque tasks ----------------------------------------------------------===*/

enum {
  FUSION_DIST_READ = 0,       /* not to be written */
  FUSION_DIST_WRITE = 1,      /* every element is to be written, the old ones are undefined */
  FUSION_DIST_READ_WRITE = 2, /* the old elements are there */
  FUSION_DIST_REDUCE = 3,     /* starts as undefined: every element is to be set to the contribution of this point */
};

/* The box of one argument at one point. All arrays have `rank` elements; the tile lives until the task returns. An
   argument that is partitioned by an image gets a box that contains the image: `offsets` says where it starts. */
typedef struct FusionTile {
  void *data;             /* the first element of the box, in C order */
  int32_t type;           /* FUSION_MPI_F64 and so on */
  int32_t privilege;      /* FUSION_DIST_READ and so on */
  int64_t rank;           /* 0 for a scalar */
  const int64_t *sizes;   /* extents of the box; may be 0 */
  const int64_t *strides; /* in elements; that of the last dimension is 1 */
  const int64_t *offsets; /* index in the store of the first element */
  const int64_t *shape;   /* extents of the store */
  uint64_t version;       /* another number after each change of a store, different for all stores of the process */
} FusionTile;

/* An opaque task: `dist.task @t(...) external "name"` calls `name` once at every point, on one thread of the rank that
   has the point; it may use fusion_rt_parallel_for. Returns 0, or anything else after a failure: the call of the program
   then ends with the text given to fusion_dist_task_error (or with the number if none was given). */
typedef int32_t (*FusionTask)(const FusionTile *tiles, int32_t count);

/* The text of a failure, for the opaque task that is about to return 1, which this returns:
   `return fusion_dist_task_error("the matrix is singular");` The text is copied. */
FUSION_RT_EXPORT int32_t fusion_dist_task_error(const char *text);

/*===-- Opaque tasks that come with the run-time --------------------------------===*/

/* y = A x for a block of rows of a sparse matrix in CSR form. Tiles: row_begin and row_end (the row pointers without the
   last, and without the first; i32 or i64, rank 1), columns (i32 or i64), values, x, y (all f32 or all f64, rank 1). Row i
   has the entries [row_begin[i], row_end[i]) of the whole matrix; columns and values hold at least those of the rows, x
   at least what the columns name. Rows are summed in order. A row or column outside of its tile is an error.

     dist.task @spmv(tensor<?xi32> read, tensor<?xi32> read, tensor<?xi32> read, tensor<?xf64> read,
                     tensor<?xf64> read, tensor<?xf64> write) external "fusion_spmv_csr_f64"                      */
FUSION_RT_EXPORT int32_t fusion_spmv_csr_f32(const FusionTile *tiles, int32_t count);
FUSION_RT_EXPORT int32_t fusion_spmv_csr_f64(const FusionTile *tiles, int32_t count);

/*===-- What compiled programs call ---------------------------------------------===*/

/* A call of a function that has operations on stores has one context; its stores are numbered. Everything is allocated
   by fusion_rt_alloc, so a failure (which ends the guarded call) leaves nothing behind.

   `words` are constant tables, the same on every rank. A table begins with the number of a slot of the context, where
   the run-time keeps what it computes at the first use. The parts of tables:

     placement   m, domain[m], partition
     partition   0 (the whole store)
                 1, then for each dimension tile, offset, extent, color   (color: a dimension k of the domain, or -1-c
                 for the constant c): [offset + color*tile, offset + min((color+1)*tile, extent))
                 2, then FUSION_DIST_POINTS or FUSION_DIST_RANGE and two numbers a and b: an image, among the arguments of
                 a launch or the given stores of an exchange (b is -1 for POINTS). A rank holds the whole store. */
enum {
  FUSION_DIST_POINTS = 0, /* the integers in a are the coordinates */
  FUSION_DIST_RANGE = 1,  /* element i of a and b is the half-open range [a_i, b_i) */
};
typedef struct FusionDistContext FusionDistContext;

FUSION_RT_EXPORT FusionDistContext *fusion_dist_begin(int64_t stores, int64_t slots);
FUSION_RT_EXPORT void fusion_dist_end(FusionDistContext *context);

/* Room for at least that many stores and slots; what is there stays. For hosts that do not know how many there will be. */
FUSION_RT_EXPORT void fusion_dist_reserve(FusionDistContext *context, int64_t stores, int64_t slots);

/* words: slot, store, type, n, shape[n], count, then the placements that the function touches the store with. `memory`
   is null or has room for the whole store: a rank whose window is the whole store puts it there. */
FUSION_RT_EXPORT void fusion_dist_create(FusionDistContext *context, const int64_t *words, void *memory);

/* The same with the content of the tensor at `data`, in C order, on the first rank; elsewhere `data` is not read. A
   scalar is sent to all ranks (collective). */
FUSION_RT_EXPORT void fusion_dist_from_tensor(FusionDistContext *context, const int64_t *words, const void *data,
                                              void *memory);

/* The same for a store of at least one dimension that is never written: the first rank uses `data` itself, which must stay
   until the end of the store. */
FUSION_RT_EXPORT void fusion_dist_borrow(FusionDistContext *context, const int64_t *words, const void *data);

/* Writes the store to `data`: a scalar on every rank, else on the first one, whose window must be the whole store. */
FUSION_RT_EXPORT void fusion_dist_to_tensor(FusionDistContext *context, int64_t store, void *data);

FUSION_RT_EXPORT void fusion_dist_destroy(FusionDistContext *context, int64_t store);

/* The same for a store that was borrowed. `data` tells the compiler that the tensor is needed until here. */
FUSION_RT_EXPORT void fusion_dist_return(FusionDistContext *context, int64_t store, const void *data);

/* words: slot, flags, m, domain[m], count, then for each argument: store, privilege, if it is FUSION_DIST_REDUCE also
   operator, identity and the slot where contributions wait for fusion_dist_all_reduce, and the partition. `body` takes
   one memref descriptor per argument. It sets a reduced argument to the contribution of the point. */
enum {
  FUSION_DIST_EVERYWHERE = 1, /* a flag: each rank runs all points */
  FUSION_DIST_REPLICATED = 2, /* a flag: each point computes the written scalars for itself */
  FUSION_DIST_AT_ONCE = -1,   /* a slot: contributions are combined with the store now; on one rank only */
};
FUSION_RT_EXPORT void fusion_dist_launch(FusionDistContext *context, const int64_t *words, void (*body)(void **));
FUSION_RT_EXPORT void fusion_dist_launch_external(FusionDistContext *context, const int64_t *words, FusionTask body,
                                                  const char *name);

/* words: slot, flags, m, domain[m], store, partition. `bits` is the element, in the low bytes. */
FUSION_RT_EXPORT void fusion_dist_fill(FusionDistContext *context, const int64_t *words, int64_t bits);

/* words: slot, flags, m, domain[m], source, partition, target, partition. */
FUSION_RT_EXPORT void fusion_dist_copy(FusionDistContext *context, const int64_t *words);

/* words: slot, store, count, then that many placements that hold elements, the newest first, count, then that many
   placements that need them, count, then for each store that images among these refer to its number and partition (on
   the domain of the image). The intervals of images are computed anew when these stores have changed. Collective. `wait`
   takes the same words. A scalar is sent from the first rank to all. */
FUSION_RT_EXPORT void fusion_dist_exchange(FusionDistContext *context, const int64_t *words);
FUSION_RT_EXPORT void fusion_dist_exchange_start(FusionDistContext *context, const int64_t *words);
FUSION_RT_EXPORT void fusion_dist_exchange_wait(FusionDistContext *context, const int64_t *words);

/* words: slot, store, operator, identity, slot of the contributions, placement. Combines what the store held with the
   contributions of the ranks, in their order. Collective. */
FUSION_RT_EXPORT void fusion_dist_all_reduce(FusionDistContext *context, const int64_t *words);

/* The functions above by name, for code that is compiled in memory. */
typedef struct FusionDistSymbol {
  const char *name;
  void *address;
} FusionDistSymbol;
FUSION_RT_EXPORT const FusionDistSymbol *fusion_dist_symbols(size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* FUSION_RUNTIME_DIST_H */
