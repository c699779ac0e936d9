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
};

/// The plan of an exchange of a store, made at the first use of the slot.
const FusionMpiPlan *getPlan(FusionDistContext *context, int64_t slot, const Store &store, int64_t operation,
                             int64_t flags, const Placement *sources, int64_t numSources, const Placement *targets,
                             int64_t numTargets);

/// The exchange between two windows of the store's box.
void runExchange(const FusionMpiPlan *plan, const Store &store, const Window &source, const Window &target);

} // namespace fusion::runtime::dist

#endif // FUSION_RUNTIME_DIST_WORDS_H
