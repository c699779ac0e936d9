/* An MPI program that calls a distributed program. The first rank has the data; all ranks call. */

#include "heat.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 1000 };

int main(int argc, char **argv) {
  int64_t steps = argc > 1 ? atoll(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* Other ranks need the extents, not the elements. */
  double *start = NULL;
  if (rank == 0) {
    start = malloc(cells * sizeof(double));
    for (int i = 0; i < cells; ++i)
      start[i] = i == cells / 2 ? 1000.0 : 0.0;
  }
  FusionTensor1 argument = {start, start, 0, {cells}, {1}}, result;
  FusionTensor0 total;
  if (fusion_call_simulate(&argument, 0.25, steps, &result, &total) != FUSION_OK) {
    fprintf(stderr, "rank %d: %s\n", rank, fusion_rt_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  /* Scalars are the same everywhere. */
  double sum = *(double *)total.data, largest;
  MPI_Reduce(&sum, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const double *u = (const double *)result.data + result.offset;
    printf("%d ranks, %lld steps: middle %.6f, sum %.6f, the same on all ranks: %s\n", size, (long long)steps,
           u[cells / 2], sum, largest == sum ? "yes" : "no");
  }
  fusion_rt_free(result.allocated);
  fusion_rt_free(total.allocated);
  free(start);
  MPI_Finalize();
  return 0;
}
