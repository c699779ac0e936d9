//===- Exchange.cpp - Executing the message lists ---------------------------===//
//
// One message per pair of ranks and exchange. A message of one box without gaps is sent from, or received in, its
// place; others are packed. Packing was chosen over derived datatypes: see docs/rationale/mpi.md.
//
//===------------------------------------------------------------------------===//

#include "Combine.h"
#include "Memref.h"
#include "Plan.h"

#include <cstring>

using namespace fusion;
using namespace fusion::runtime;
using namespace fusion::runtime::mpi;

namespace {

bool contains(const boxes::Box &outer, const boxes::Box &inner) { return intersect(outer, inner) == inner; }

/// Whether an element has the same address in both windows.
bool isSamePlace(const boxes::Window &left, const boxes::Window &right) {
  return left.data == right.data && left.origin == right.origin && left.strides == right.strides;
}

FusionStatus checkWindow(World &world, const FusionMpiPlan &plan, const std::optional<boxes::Box> &used,
                         const boxes::Window &window, bool isNull, const char *role) {
  if (!used)
    return FUSION_OK;
  if (isNull)
    return world.fail(FUSION_INVALID_ARGUMENT,
                      describe(plan) + ": no " + role + " window, but " + toString(*used) + " of it is used");
  if (!contains(window.getBox(), *used))
    return world.fail(FUSION_INVALID_ARGUMENT, describe(plan) + ": " + toString(*used) + " of the " + role +
                                                   " window is used, but it is only " + toString(window.getBox()));
  return FUSION_OK;
}

std::unique_ptr<FusionMpiExchange> takeIdle(FusionMpiPlan &plan) {
  if (plan.idle.empty())
    return std::make_unique<FusionMpiExchange>();
  std::unique_ptr<FusionMpiExchange> exchange = std::move(plan.idle.back());
  plan.idle.pop_back();
  return exchange;
}

/// The place of a message that is one box without gaps; null if it must be packed.
char *getPlace(const boxes::Message &message, const boxes::Window &window, int64_t elementBytes) {
  return message.boxes.size() == 1 ? getContiguous(message.boxes.front(), window, elementBytes) : nullptr;
}

bool postReceives(World &world, FusionMpiExchange &exchange, char *text) {
  const FusionMpiPlan &plan = *exchange.plan;
  char *next = exchange.incoming.get();
  exchange.places.clear();
  for (const boxes::Message &message : plan.lists.receives) {
    int64_t bytes = message.getVolume() * plan.elementBytes;
    char *place = plan.exchange.operation == 0 ? getPlace(message, exchange.target, plan.elementBytes) : nullptr;
    if (!place) {
      place = next;
      next += bytes;
    }
    exchange.places.push_back(place);
    world.statistics.bytes_received += bytes;
    if (!world.transport->receive(exchange.batch, place, bytes, int32_t(message.peer), world.chunk, text))
      return false;
  }
  return true;
}

bool postSends(World &world, FusionMpiExchange &exchange, char *text) {
  const FusionMpiPlan &plan = *exchange.plan;
  char *next = exchange.outgoing.get();
  for (const boxes::Message &message : plan.lists.sends) {
    int64_t bytes = message.getVolume() * plan.elementBytes;
    char *place = getPlace(message, exchange.source, plan.elementBytes);
    if (!place) {
      place = next;
      for (const boxes::Box &box : message.boxes) {
        packBox(box, exchange.source, next, plan.elementBytes);
        next += box.getVolume() * plan.elementBytes;
      }
    }
    ++world.statistics.messages;
    world.statistics.bytes_sent += bytes;
    if (!world.transport->send(exchange.batch, place, bytes, int32_t(message.peer), world.chunk, text))
      return false;
  }
  return true;
}

/// Bytes of the messages that must be packed.
int64_t countPacked(const std::vector<boxes::Message> &messages, const boxes::Window &window, bool packsAll,
                    int64_t elementBytes) {
  int64_t bytes = 0;
  for (const boxes::Message &message : messages)
    if (packsAll || !getPlace(message, window, elementBytes))
      bytes += message.getVolume() * elementBytes;
  return bytes;
}

bool reserve(FusionMpiExchange &exchange) {
  const FusionMpiPlan &plan = *exchange.plan;
  bool isReduction = plan.exchange.operation != 0;
  return exchange.incoming.reserve(countPacked(plan.lists.receives, exchange.target, isReduction, plan.elementBytes)) &&
         exchange.outgoing.reserve(countPacked(plan.lists.sends, exchange.source, false, plan.elementBytes)) &&
         exchange.operands.reserve(3 * plan.largestCombination * plan.elementBytes);
}

void copyOwn(World &world, const FusionMpiExchange &exchange) {
  if (isSamePlace(exchange.source, exchange.target))
    return;
  for (const boxes::Box &box : exchange.plan->lists.copies) {
    copyBox(box, exchange.source, exchange.target, exchange.plan->elementBytes);
    world.statistics.bytes_copied += box.getVolume() * exchange.plan->elementBytes;
  }
}

/// Messages that were packed, to their boxes.
void unpack(const FusionMpiExchange &exchange) {
  const FusionMpiPlan &plan = *exchange.plan;
  for (size_t i = 0; i < exchange.places.size(); ++i) {
    const boxes::Message &message = plan.lists.receives[i];
    const char *next = exchange.places[i];
    if (next == getPlace(message, exchange.target, plan.elementBytes))
      continue;
    for (const boxes::Box &box : message.boxes) {
      unpackBox(box, next, exchange.target, plan.elementBytes);
      next += box.getVolume() * plan.elementBytes;
    }
  }
}

/// Each holder's values of a combination are the next ones of its message.
void combineIncoming(World &world, FusionMpiExchange &exchange) {
  const FusionMpiPlan &plan = *exchange.plan;
  std::vector<char *> next = exchange.places;
  int64_t room = plan.largestCombination * plan.elementBytes;
  char *own = exchange.operands.get(), *old = own + room, *result = old + room;
  for (const boxes::Combination &combination : plan.lists.combinations) {
    int64_t count = combination.box.getVolume();
    std::vector<const void *> inputs;
    if (plan.exchange.fold) {
      packBox(combination.box, exchange.target, old, plan.elementBytes);
      inputs.push_back(old);
    }
    for (int64_t holder : combination.holders) {
      if (holder == world.rank) {
        packBox(combination.box, exchange.source, own, plan.elementBytes);
        inputs.push_back(own);
        continue;
      }
      size_t i = 0;
      while (plan.lists.receives[i].peer != holder)
        ++i;
      inputs.push_back(next[i]);
      next[i] += count * plan.elementBytes;
    }
    combine(plan.exchange.operation, plan.exchange.elementType, inputs.data(), inputs.size(), result, count);
    unpackBox(combination.box, result, exchange.target, plan.elementBytes);
  }
}

FusionStatus start(const FusionMpiPlan *constPlan, const void *source, const int64_t *sourceOrigin, const void *target,
                   const int64_t *targetOrigin, FusionMpiExchange **result) {
  return withWorld([&](World &world) -> FusionStatus {
    if (!constPlan || !result)
      return world.fail(FUSION_INVALID_ARGUMENT, "fusion_mpi_start: no plan, or no place for the exchange");
    // Callers see plans as constant; they are in the world's table, under its lock.
    auto &plan = const_cast<FusionMpiPlan &>(*constPlan);
    int64_t rank = plan.exchange.shape.size();
    std::unique_ptr<FusionMpiExchange> exchange = takeIdle(plan);
    exchange->plan = &plan;
    exchange->source = readMemref(source, sourceOrigin, rank, plan.elementBytes);
    exchange->target = readMemref(target, targetOrigin, rank, plan.elementBytes);
    FusionStatus status = checkWindow(world, plan, plan.read, exchange->source, !source, "source");
    if (status == FUSION_OK)
      status = checkWindow(world, plan, plan.written, exchange->target, !target, "target");
    if (status == FUSION_OK && plan.exchange.fold && isSamePlace(exchange->source, exchange->target) && plan.read)
      status = world.fail(FUSION_INVALID_ARGUMENT, describe(plan) + ": to fold, source and target must differ");
    if (status == FUSION_OK && !reserve(*exchange))
      status = world.fail(FUSION_OUT_OF_MEMORY, describe(plan) + ": out of memory");
    if (status != FUSION_OK)
      return status;
    ++world.statistics.exchanges;
    char text[textSize] = {};
    if (world.size > 1 && !exchange->batch)
      exchange->batch = world.transport->createBatch();
    if (!postReceives(world, *exchange, text) || !postSends(world, *exchange, text)) {
      // Messages may be under way to its memory, so it is not freed.
      exchange.release();
      return world.failCommunication(describe(plan).c_str(), text);
    }
    if (plan.exchange.operation == 0)
      copyOwn(world, *exchange);
    ++world.pending;
    *result = exchange.release();
    return FUSION_OK;
  });
}

FusionStatus wait(FusionMpiExchange *pointer) {
  if (!pointer)
    return FUSION_OK;
  return withWorld([&](World &world) -> FusionStatus {
    FusionMpiPlan &plan = *pointer->plan;
    --world.pending;
    char text[textSize] = {};
    if (pointer->batch && !world.transport->wait(pointer->batch, text))
      return world.failCommunication(describe(plan).c_str(), text);
    if (plan.exchange.operation == 0)
      unpack(*pointer);
    else
      combineIncoming(world, *pointer);
    plan.idle.emplace_back(pointer);
    return FUSION_OK;
  });
}

FusionStatus run(const FusionMpiPlan *plan, const void *source, const int64_t *sourceOrigin, const void *target,
                 const int64_t *targetOrigin) {
  FusionMpiExchange *exchange = nullptr;
  FusionStatus status = start(plan, source, sourceOrigin, target, targetOrigin, &exchange);
  return status == FUSION_OK ? wait(exchange) : status;
}

} // namespace

extern "C" {

FusionStatus fusion_mpi_start(const FusionMpiPlan *plan, const void *source, const int64_t *source_origin,
                              const void *target, const int64_t *target_origin, FusionMpiExchange **exchange) {
  return conclude(start(plan, source, source_origin, target, target_origin, exchange));
}

FusionStatus fusion_mpi_wait(FusionMpiExchange *exchange) { return conclude(wait(exchange)); }

FusionStatus fusion_mpi_exchange(const FusionMpiPlan *plan, const void *source, const int64_t *source_origin,
                                 const void *target, const int64_t *target_origin) {
  return conclude(run(plan, source, source_origin, target, target_origin));
}

} // extern "C"
