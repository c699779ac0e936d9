//===- Implementation.h - Which MPI this process uses --------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_MPI_IMPLEMENTATION_H
#define FUSION_RUNTIME_MPI_IMPLEMENTATION_H

#include "fusion/Runtime/Mpi.h"

#include "Transport.h"

#include <string>

namespace fusion::runtime::mpi {

struct Choice {
  /// No MPI: rank 0 of 1.
  bool isAlone = true;
  /// "openmpi", "mpich", or the path of a library.
  std::string implementation;
};

/// Decides by the rules of fusion/Runtime/Mpi.h; false and a text on a contradiction. `isRequired`: the host has handed
/// a communicator over, so there is an MPI.
bool choose(bool isRequired, Choice &choice, std::string &text);

/// Loads the library that speaks to the implementation; null and a text if it is missing or does not fit.
const Transport *load(const std::string &implementation, std::string &text);

/// What the environment of a launcher says; see fusion_mpi_launcher.
FusionMpiLauncher readLauncher();

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_IMPLEMENTATION_H
