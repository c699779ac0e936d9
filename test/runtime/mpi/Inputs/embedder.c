/* A program that uses MPI itself, and Fusion's ranks beside it. */

#include "fusion/Runtime/Mpi.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(FusionStatus status) {
  if (status != FUSION_OK)
    fusion_mpi_fail(fusion_rt_last_error());
}

/* The sum of rank + 1 over all ranks. */
static long long sumRanks(void) {
  struct {
    void *allocated, *aligned;
    int64_t offset;
  } memref;
  int64_t value = fusion_mpi_rank() + 1;
  memref.allocated = memref.aligned = &value;
  memref.offset = 0;
  require(fusion_mpi_reduce(FUSION_MPI_SUM, FUSION_MPI_I64, 0, &memref, FUSION_MPI_ALL_RANKS));
  return value;
}

static void *useFromOtherThread(void *text) {
  if (fusion_mpi_barrier() != FUSION_OK)
    strcpy(text, fusion_rt_last_error());
  return NULL;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = -1, size = 0, level = 0, running = 0, check = 0, one = 1;
  long long sum;
  if (strcmp(how, "absent") == 0) {
    sum = sumRanks();
    if (fusion_mpi_rank() == 0)
      printf("without MPI_Init: %d of %d, sum %lld\n", fusion_mpi_rank(), fusion_mpi_size(), sum);
    /* Refers to MPI, so that the linker keeps it. */
    return MPI_Initialized(&running) != MPI_SUCCESS;
  }
  MPI_Init_thread(&argc, &argv, strcmp(how, "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(how, "reversed") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &communicator);
    require(fusion_mpi_init_with(&communicator));
  }
  sum = sumRanks();
  if (strcmp(how, "single") == 0) {
    pthread_t thread;
    char text[1024] = "no error";
    pthread_create(&thread, NULL, useFromOtherThread, text);
    pthread_join(thread, NULL);
    if (rank == 0)
      printf("other thread: %s\n", text);
  }
  int fusionRank = fusion_mpi_rank(), fusionSize = fusion_mpi_size();
  require(fusion_mpi_finalize());
  MPI_Finalized(&running);
  MPI_Allreduce(&one, &check, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d of %d in the world, %d of %d for Fusion, sum %lld, %s\n", rank, size, fusionRank, fusionSize, sum,
           !running && check == size ? "running afterwards" : "ended");
  MPI_Finalize();
  return 0;
}
