//===- Memref.h - Windows from memref descriptors -----------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_MPI_MEMREF_H
#define FUSION_RUNTIME_MPI_MEMREF_H

#include "fusion/Analysis/BoxPlan.h"

namespace fusion::runtime::mpi {

/// MLIR's strided memref descriptor; after it the sizes and the strides.
struct MemrefHeader {
  void *allocated;
  char *aligned;
  int64_t offset;
};

/// `origin` may be null: zeros. A null descriptor is a window without elements.
inline boxes::Window readMemref(const void *descriptor, const int64_t *origin, int64_t rank, int64_t elementBytes) {
  boxes::Window window;
  window.origin.assign(rank, 0);
  window.sizes.assign(rank, 0);
  window.strides.assign(rank, 0);
  if (!descriptor)
    return window;
  const auto *header = static_cast<const MemrefHeader *>(descriptor);
  const auto *numbers = reinterpret_cast<const int64_t *>(header + 1);
  window.data = header->aligned + header->offset * elementBytes;
  if (origin)
    window.origin.assign(origin, origin + rank);
  window.sizes.assign(numbers, numbers + rank);
  window.strides.assign(numbers + rank, numbers + 2 * rank);
  return window;
}

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_MEMREF_H
