//===- Execute.cpp - Running plans ----------------------------------------------===//

#include "Guarded.h"

#include <algorithm>

using namespace fusion;
using namespace fusion::session;

//===----------------------------------------------------------------------===//
// Several ranks
//===----------------------------------------------------------------------===//

static void appendPlacement(const Core &core, Placement placement, std::vector<int64_t> &words) {
  const DomainRecord &domain = core.domains[placement.domain];
  words.push_back(int64_t(domain.extents.size()));
  words.insert(words.end(), domain.extents.begin(), domain.extents.end());
  const PartitionRecord &partition = core.partitions[placement.partition];
  words.insert(words.end(), partition.words.begin(), partition.words.end());
}

/// Brings the elements to where they are needed. Collective.
static Error exchange(Core &core, StoreRecord &store, Placement target) {
  Key key{store.storeClass, target.partition, target.domain};
  for (Placement holder : store.holders)
    key.insert(key.end(), {holder.partition, holder.domain});
  auto [it, isNew] = core.exchangeTables.try_emplace(std::move(key));
  std::vector<int64_t> &words = it->second;
  if (isNew) {
    words = {takeSlot(core), 0, int64_t(store.holders.size())};
    for (auto holder = store.holders.rbegin(); holder != store.holders.rend(); ++holder)
      appendPlacement(core, *holder, words);
    words.push_back(1);
    appendPlacement(core, target, words);
    // No images among the targets.
    words.push_back(0);
    if (Error error = reserveNumbers(core); !error.empty())
      return error;
  }
  words[1] = store.number;
  FusionDistContext *context = core.context;
  const int64_t *table = words.data();
  return invoke([=] { fusion_dist_exchange(context, table); });
}

static Error fetch(Core &core, StoreRecord &store, Placement target) {
  if (store.holders.empty() || (store.holders.size() == 1 && store.holders.front() == target) ||
      std::find(store.copies.begin(), store.copies.end(), target) != store.copies.end())
    return {};
  if (Error error = exchange(core, store, target); !error.empty())
    return error;
  store.copies.push_back(target);
  return {};
}

/// An image can be anywhere.
static Placement getPlacement(const Core &core, uint32_t partition, uint32_t domain) {
  return {core.partitions[partition].isImage() ? 0 : partition, domain};
}

static void noteWrite(Core &core, const Plan &plan, const Plan::Argument &argument, StoreRecord &store) {
  store.copies.clear();
  bool isScalar = core.classes[store.storeClass].shape.empty();
  bool isReduced = argument.privilege >= TaskPrivilege::ReduceSum;
  if (isScalar && (isReduced || plan.everywhere || plan.replicated)) {
    store.holders.clear();
    return;
  }
  Placement placement{argument.partition, plan.domain};
  if (argument.coversStore)
    store.holders.clear();
  else if (store.holders.empty())
    store.holders.push_back({0, core.rowDomain.number});
  else
    store.holders.erase(std::remove(store.holders.begin(), store.holders.end(), placement), store.holders.end());
  store.holders.push_back(placement);
}

static Error combineContributions(Core &core, const Plan &plan, const Plan::Argument &argument, StoreRecord &store) {
  const int64_t *coded = &plan.words[argument.word];
  // slot, store, operator, identity, slot of the contributions, placement.
  std::vector<int64_t> words{argument.slot + 1, store.number, coded[2], coded[3], argument.slot};
  appendPlacement(core, {argument.partition, plan.domain}, words);
  FusionDistContext *context = core.context;
  const int64_t *table = words.data();
  return invoke([=] { fusion_dist_all_reduce(context, table); });
}

Error fusion::session::gatherStore(Core &core, StoreRecord &store) {
  if (core.ranks == 1 || store.holders.empty())
    return {};
  if (Error error = exchange(core, store, {0, core.rowDomain.number}); !error.empty())
    return error;
  store.holders.clear();
  store.copies.clear();
  return {};
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Error fusion::session::runPlan(Core &core, const Plan &plan, const TaskArgument *arguments) {
  core.statistics.tasks += plan.numCounted;
  core.statistics.fills += plan.numFills;
  core.statistics.longestGroup = std::max(core.statistics.longestGroup, plan.numCounted);
  core.statistics.storesEliminated += plan.numEliminated;
  if (!plan.body && !plan.function)
    return {};
  core.statistics.groups += plan.numCounted > 0;
  core.statistics.movedBytes += plan.movedBytes;
  auto *words = const_cast<int64_t *>(plan.words.data());
  for (const Plan::Argument &argument : plan.arguments) {
    StoreRecord &store = *arguments[argument.position].store;
    if (!store.data) {
      bool needsContent = argument.privilege != TaskPrivilege::Write || !argument.coversStore;
      if (Error error = allocateStore(core, store, needsContent); !error.empty())
        return error;
    }
    words[argument.word] = store.number;
  }
  bool hasRanks = core.ranks > 1;
  if (hasRanks)
    for (const Plan::Argument &argument : plan.arguments)
      if (argument.privilege != TaskPrivilege::Write)
        if (Error error = fetch(core, *arguments[argument.position].store,
                                getPlacement(core, argument.partition, plan.domain));
            !error.empty())
          return error;

  FusionDistContext *context = core.context;
  auto body = plan.body;
  auto function = plan.function;
  const char *name = plan.name.c_str();
  Error error = body ? invoke([=] { fusion_dist_launch(context, words, body); })
                     : invoke([=] { fusion_dist_launch_external(context, words, function, name); });
  if (!error.empty() || !hasRanks)
    return error;
  for (const Plan::Argument &argument : plan.arguments) {
    StoreRecord &store = *arguments[argument.position].store;
    if (argument.privilege >= TaskPrivilege::ReduceSum)
      if (error = combineContributions(core, plan, argument, store); !error.empty())
        return error;
    if (argument.privilege != TaskPrivilege::Read)
      noteWrite(core, plan, argument, store);
  }
  return {};
}
