//===- Ranks.h - fusion-run under a launcher ----------------------*- C++ -*-===//
//
// `mpirun -np N fusion-run program.mlir` runs a dist program on N ranks. The first one reads the arguments, compares
// and writes the results; what it prints is what is printed. A problem that another rank has alone is printed at the
// next point where the ranks agree on whether to go on.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_RANKS_H
#define FUSION_TOOLS_FUSION_RUN_RANKS_H

#include "fusion/Execution/HostArray.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace fusion {

/// What all ranks together did in one run.
struct RankTotals {
  uint64_t messages = 0, bytesSent = 0;
  /// The largest of the ranks.
  uint64_t peakBytes = 0;
};

class Ranks {
public:
  /// Joins the ranks if a launcher started several. Returns an exit status.
  int start();
  /// To be called in the end.
  int finish(int status);

  bool isRoot() const { return rank == 0; }
  int getSize() const { return size; }
  /// Threads for this rank if nobody asks for a number: the CPUs that the process may use, shared by the ranks that
  /// share them.
  unsigned getDefaultThreads() const;

  /// The largest status of all ranks, after problems were printed. Collective, as everything below.
  int agree(int status);
  /// Gives the other ranks arrays of the types that the first one has; the content of small ones only, since stores
  /// take theirs from the first rank.
  llvm::Error share(std::vector<HostArray> &arrays);
  void waitForAll();
  RankTotals getTotals(uint64_t peakBytes);

private:
  int rank = 0, size = 1;
};

/// An error at the first opaque task whose function is neither in the run-time nor in a loaded library.
llvm::LogicalResult checkExternals(mlir::ModuleOp module);

} // namespace fusion

#endif // FUSION_TOOLS_FUSION_RUN_RANKS_H
