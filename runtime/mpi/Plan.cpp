//===- Plan.cpp - The message lists that this rank keeps --------------------===//

#include "Plan.h"

#include "Combine.h"

#include <unordered_map>

using namespace fusion;
using namespace fusion::runtime;
using namespace fusion::runtime::mpi;

namespace {

struct HashWords {
  size_t operator()(const std::vector<int64_t> &words) const {
    uint64_t hash = 0xcbf29ce484222325;
    for (int64_t word : words)
      hash = (hash ^ uint64_t(word)) * 0x100000001b3;
    return hash ^ (hash >> 29);
  }
};

} // namespace

struct fusion::runtime::mpi::PlanTable {
  std::unordered_map<std::vector<int64_t>, std::unique_ptr<FusionMpiPlan>, HashWords> plans;
};

FusionMpiExchange::~FusionMpiExchange() {
  if (batch)
    World::get().transport->destroyBatch(batch);
}

void fusion::runtime::mpi::destroyPlans(World &world) {
  delete world.plans;
  world.plans = nullptr;
}

std::string fusion::runtime::mpi::describe(const FusionMpiPlan &plan) {
  std::string text = "exchange of a store of shape [";
  for (size_t d = 0; d < plan.exchange.shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(plan.exchange.shape[d]);
  return text + "]";
}

namespace {

/// The smallest box around both.
void include(std::optional<boxes::Box> &bound, const boxes::Box &box) {
  if (!bound) {
    bound = box;
    return;
  }
  for (size_t d = 0; d < box.lower.size(); ++d) {
    bound->lower[d] = std::min(bound->lower[d], box.lower[d]);
    bound->upper[d] = std::max(bound->upper[d], box.upper[d]);
  }
}

/// What decode() cannot know: element types, operators, and how many ranks there are.
std::string check(const boxes::Exchange &exchange, int32_t ranks) {
  if (fusion_mpi_type_size(int32_t(exchange.elementType)) == 0)
    return "element type " + std::to_string(exchange.elementType) + "; accepted are 0 (i1) to 8 (f64)";
  if (exchange.operation != 0)
    if (const char *problem = checkOperator(exchange.operation, exchange.elementType))
      return problem;
  for (const auto *placements : {&exchange.sources, &exchange.targets})
    for (const boxes::Placement &placement : *placements)
      if (placement.mapping == boxes::Placement::Mapping::Root && placement.root >= ranks)
        return "a placement is on rank " + std::to_string(placement.root) + ", but there are only " +
               std::to_string(ranks) + " ranks";
  return "";
}

std::unique_ptr<FusionMpiPlan> makePlan(const boxes::Exchange &exchange, World &world) {
  auto plan = std::make_unique<FusionMpiPlan>();
  plan->exchange = exchange;
  plan->elementBytes = fusion_mpi_type_size(int32_t(exchange.elementType));
  plan->lists = boxes::planRank(exchange, world.rank, world.size);
  for (const boxes::Message &message : plan->lists.sends)
    for (const boxes::Box &box : message.boxes)
      include(plan->read, box);
  for (const boxes::Message &message : plan->lists.receives) {
    plan->incomingElements += message.getVolume();
    for (const boxes::Box &box : message.boxes)
      include(plan->written, box);
  }
  for (const boxes::Box &box : plan->lists.copies) {
    include(plan->read, box);
    include(plan->written, box);
  }
  for (const boxes::Combination &combination : plan->lists.combinations)
    plan->largestCombination = std::max(plan->largestCombination, combination.box.getVolume());
  return plan;
}

FusionStatus findPlan(const int64_t *words, int64_t wordCount, const FusionMpiPlan **result) {
  return withWorld([&](World &world) -> FusionStatus {
    if (!words || wordCount < 0 || !result)
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_plan: no words, or no place for the plan");
    if (!world.plans)
      world.plans = new PlanTable;
    std::vector<int64_t> key(words, words + wordCount);
    auto found = world.plans->plans.find(key);
    if (found != world.plans->plans.end()) {
      *result = found->second.get();
      return FUSION_OK;
    }
    boxes::Exchange exchange;
    std::string problem;
    if (!boxes::decode(words, wordCount, exchange, problem) || !(problem = check(exchange, world.size)).empty())
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_plan: " + problem);
    std::unique_ptr<FusionMpiPlan> plan = makePlan(exchange, world);
    if (!plan->lists.missing.empty() && exchange.operation == 0 && !exchange.partial)
      return world.fail(FUSION_INVALID_ARGUMENT, describe(*plan) + ": the elements " +
                                                     toString(plan->lists.missing.front()) +
                                                     " are needed, but no rank holds them");
    ++world.statistics.plans;
    *result = plan.get();
    world.plans->plans.emplace(std::move(key), std::move(plan));
    return FUSION_OK;
  });
}

FusionStatus getTraffic(const FusionMpiPlan *plan, int32_t allRanks, uint64_t *messages, uint64_t *bytes) {
  return withWorld([&](World &world) -> FusionStatus {
    if (!plan || !messages || !bytes)
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_plan_traffic: no plan, or no place for the result");
    boxes::Traffic traffic;
    if (allRanks) {
      // Plans are in the table, which is ours.
      auto *counted = const_cast<FusionMpiPlan *>(plan);
      if (!counted->traffic)
        counted->traffic = boxes::countTraffic(plan->exchange, world.size);
      traffic = *counted->traffic;
    } else {
      traffic.messages = plan->lists.sends.size();
      for (const boxes::Message &message : plan->lists.sends)
        traffic.elements += message.getVolume();
    }
    *messages = traffic.messages;
    *bytes = traffic.elements * plan->elementBytes;
    return FUSION_OK;
  });
}

} // namespace

extern "C" {

FusionStatus fusion_mpi_plan(const int64_t *words, int64_t word_count, const FusionMpiPlan **plan) {
  return conclude(findPlan(words, word_count, plan));
}

FusionStatus fusion_mpi_plan_traffic(const FusionMpiPlan *plan, int32_t all_ranks, uint64_t *messages,
                                     uint64_t *bytes) {
  return conclude(getTraffic(plan, all_ranks, messages, bytes));
}

void fusion_mpi_block(int64_t points, int32_t rank, int32_t size, int64_t *begin, int64_t *end) {
  auto [first, last] = boxes::getBlock(points, rank, size);
  *begin = first;
  *end = last;
}

} // extern "C"
