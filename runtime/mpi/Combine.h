//===- Combine.h - Reduction operators ----------------------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_MPI_COMBINE_H
#define FUSION_RUNTIME_MPI_COMBINE_H

#include <cstdint>

namespace fusion::runtime::mpi {

/// Null if the operator exists for the type; otherwise what is wrong.
const char *checkOperator(int64_t op, int64_t type);

/// See fusion_mpi_combine; the arguments are right, and there is at least one input.
void combine(int64_t op, int64_t type, const void *const *inputs, int64_t inputCount, void *result, int64_t count);

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_COMBINE_H
