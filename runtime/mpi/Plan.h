//===- Plan.h - The message lists that this rank keeps ------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_MPI_PLAN_H
#define FUSION_RUNTIME_MPI_PLAN_H

#include "fusion/Analysis/BoxPlan.h"

#include "World.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Immutable once it is made, but for the idle exchanges.
struct FusionMpiPlan {
  fusion::boxes::Exchange exchange;
  fusion::boxes::RankPlan lists;
  int64_t elementBytes = 0;
  /// Elements in all messages that come in, and in the largest combination.
  int64_t incomingElements = 0, largestCombination = 0;
  /// The smallest boxes that have all of what is read from the source and written to the target; none if nothing is.
  std::optional<fusion::boxes::Box> read, written;
  /// Over all ranks; counted on demand.
  std::optional<fusion::boxes::Traffic> traffic;
  /// Done, with their memory: exchanges are repeated.
  std::vector<std::unique_ptr<FusionMpiExchange>> idle;
};

/// An exchange under way. It belongs to the plan again when it has been waited for.
struct FusionMpiExchange {
  FusionMpiPlan *plan = nullptr;
  fusion::runtime::mpi::Batch *batch = nullptr;
  fusion::boxes::Window source, target;
  /// The incoming messages that do not go straight to the target; the outgoing ones that are not sent from the source;
  /// the operands of one combination.
  fusion::runtime::mpi::Buffer incoming, outgoing, operands;
  /// By incoming message: where it is.
  std::vector<char *> places;

  ~FusionMpiExchange();
};

namespace fusion::runtime::mpi {

/// "exchange of a store of shape [13, 7]"
std::string describe(const FusionMpiPlan &plan);

} // namespace fusion::runtime::mpi

#endif // FUSION_RUNTIME_MPI_PLAN_H
