//===- Words.h - Exchanges for the ranks part of the run-time -----*- C++ -*-===//

#ifndef FUSION_RUNTIME_DIST_WORDS_H
#define FUSION_RUNTIME_DIST_WORDS_H

#include "Context.h"

namespace fusion::runtime::dist {

/// What a slot keeps of an exchange.
struct KeptExchange {
  const FusionMpiPlan *plan;
  /// Between start and wait.
  FusionMpiExchange *running;
  /// Versions of the given stores that the plan was made for, in a block of its own; null without images.
  uint64_t *versions;
  KeptExchange *next;
};

/// A store that images refer to, and how.
struct Given {
  Store *store;
  Partition partition;
};

/// An exchange as its table describes it. Images among the targets come with the intervals of all points.
struct Description {
  const Store *store;
  int64_t operation, flags;
  const Placement *sources;
  int64_t numSources;
  const Placement *targets;
  int64_t numTargets;
  /// Of each target; null for one that is no image.
  const Range *const *images = nullptr;
};

/// The plan of an exchange, made at the first use of the slot.
const FusionMpiPlan *getPlan(FusionDistContext *context, int64_t slot, const Description &description);

/// The interval along the first dimension that the image has at every point of the domain, on all ranks. In a block that
/// the caller frees. Collective.
Range *gatherImage(FusionDistContext *context, const Placement &image, const Store &store, const Given *given,
                   int64_t numGiven);

/// The exchange between two windows of the store's box.
void runExchange(const FusionMpiPlan *plan, const Store &store, const Window &source, const Window &target);

} // namespace fusion::runtime::dist

#endif // FUSION_RUNTIME_DIST_WORDS_H
