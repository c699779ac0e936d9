//===- BoxPlan.cpp - Message lists of an exchange ---------------------------===//
//
// A rank's incoming messages follow from what it needs and from who holds it, element by element; its outgoing ones are
// found by looking at the others' incoming ones. So both ends of a message agree on its boxes and on their order
// without having spoken to each other.
//
//===------------------------------------------------------------------------===//

#include "fusion/Analysis/BoxPlan.h"

#include <algorithm>
#include <map>

using namespace fusion::boxes;

namespace {

/// Without building the intersection.
bool overlaps(const Box &left, const Box &right) {
  for (size_t d = 0; d < left.lower.size(); ++d)
    if (std::max(left.lower[d], right.lower[d]) >= std::min(left.upper[d], right.upper[d]))
      return false;
  return true;
}

/// Joins two boxes that differ in one dimension only and touch there.
bool merge(Box &box, const Box &next) {
  size_t differing = box.lower.size();
  for (size_t d = 0; d < box.lower.size(); ++d) {
    if (box.lower[d] == next.lower[d] && box.upper[d] == next.upper[d])
      continue;
    if (differing != box.lower.size() || (box.upper[d] != next.lower[d] && next.upper[d] != box.lower[d]))
      return false;
    differing = d;
  }
  if (differing == box.lower.size())
    return false;
  box.lower[differing] = std::min(box.lower[differing], next.lower[differing]);
  box.upper[differing] = std::max(box.upper[differing], next.upper[differing]);
  return true;
}

/// Appends the part of `box` that is outside of all of the boxes, so that these stay disjoint. Neighbouring tiles of a
/// rank become one box: their number would make planning quadratic and messages ragged.
void appendDisjoint(std::vector<Box> &boxes, const Box &box) {
  std::vector<Box> rest = {box};
  for (size_t i = 0, count = boxes.size(); i < count && !rest.empty(); ++i) {
    std::vector<Box> next;
    for (const Box &piece : rest)
      for (Box &part : subtract(piece, boxes[i]))
        next.push_back(std::move(part));
    rest = std::move(next);
  }
  for (Box &piece : rest) {
    boxes.push_back(std::move(piece));
    while (boxes.size() > 1 && merge(boxes[boxes.size() - 2], boxes.back()))
      boxes.pop_back();
  }
}

class Planner {
public:
  Planner(const Exchange &exchange, int64_t ranks) : exchange(exchange), ranks(ranks) {
    for (const Placement &source : exchange.sources) {
      std::vector<std::vector<Box>> &layer = holders.emplace_back();
      for (int64_t rank = 0; rank < ranks; ++rank)
        layer.push_back(getDisjoint({source}, rank));
    }
    for (int64_t rank = 0; rank < ranks; ++rank)
      needs.push_back(getDisjoint(exchange.targets, rank));
  }

  /// Whether any message can go from `from` to `to`.
  bool mayMeet(int64_t from, int64_t to) const {
    for (const auto &layer : holders)
      for (const Box &held : layer[from])
        for (const Box &needed : needs[to])
          if (overlaps(held, needed))
            return true;
    return false;
  }

  RankPlan planReceives(int64_t rank) const {
    return exchange.operation == 0 ? planCopies(rank) : planCombinations(rank);
  }

private:
  std::vector<Box> getDisjoint(const std::vector<Placement> &placements, int64_t rank) const {
    std::vector<Box> boxes;
    for (const Placement &placement : placements)
      for (const Box &box : getBoxes(exchange.shape, placement, rank, ranks))
        appendDisjoint(boxes, box);
    return boxes;
  }

  /// Each needed element comes from the first that holds it: newer layers first, in a layer the rank itself, then the
  /// next higher ones, so that the readers of a replicated element ask different ranks.
  RankPlan planCopies(int64_t rank) const {
    RankPlan plan;
    std::map<int64_t, std::vector<Box>> incoming;
    std::vector<Box> open = needs[rank];
    for (const auto &layer : holders) {
      for (int64_t k = 0; k < ranks && !open.empty(); ++k) {
        int64_t holder = (rank + k) % ranks;
        std::vector<Box> &taken = holder == rank ? plan.copies : incoming[holder];
        for (const Box &held : layer[holder])
          open = take(open, held, taken);
      }
    }
    plan.missing = std::move(open);
    for (auto &[peer, boxes] : incoming)
      if (!boxes.empty())
        plan.receives.push_back({peer, std::move(boxes)});
    return plan;
  }

  /// Moves what is inside of `held` from `open` to `taken`, and returns the rest.
  static std::vector<Box> take(const std::vector<Box> &open, const Box &held, std::vector<Box> &taken) {
    std::vector<Box> rest;
    for (const Box &box : open) {
      if (!overlaps(box, held)) {
        rest.push_back(box);
        continue;
      }
      taken.push_back(intersect(box, held));
      for (Box &piece : subtract(box, held))
        rest.push_back(std::move(piece));
    }
    return rest;
  }

  /// Cuts what is needed into boxes whose elements all have the same holders.
  RankPlan planCombinations(int64_t rank) const {
    RankPlan plan;
    for (const Box &needed : needs[rank])
      plan.combinations.push_back({needed, {}});
    for (int64_t holder = 0; holder < ranks; ++holder) {
      for (const Box &held : holders.front()[holder]) {
        std::vector<Combination> next;
        for (Combination &combination : plan.combinations) {
          if (!overlaps(combination.box, held)) {
            next.push_back(std::move(combination));
            continue;
          }
          for (Box &outside : subtract(combination.box, held))
            next.push_back({std::move(outside), combination.holders});
          next.push_back({intersect(combination.box, held), std::move(combination.holders)});
          next.back().holders.push_back(holder);
        }
        plan.combinations = std::move(next);
      }
    }
    std::map<int64_t, std::vector<Box>> incoming;
    auto isHeld = [](const Combination &combination) { return !combination.holders.empty(); };
    auto firstMissing = std::stable_partition(plan.combinations.begin(), plan.combinations.end(), isHeld);
    for (auto missing = firstMissing; missing != plan.combinations.end(); ++missing)
      plan.missing.push_back(std::move(missing->box));
    plan.combinations.erase(firstMissing, plan.combinations.end());
    for (const Combination &combination : plan.combinations)
      for (int64_t holder : combination.holders)
        (holder == rank ? plan.copies : incoming[holder]).push_back(combination.box);
    for (auto &[peer, boxes] : incoming)
      plan.receives.push_back({peer, std::move(boxes)});
    return plan;
  }

  const Exchange &exchange;
  int64_t ranks;
  /// By layer and rank, by rank: disjoint boxes.
  std::vector<std::vector<std::vector<Box>>> holders;
  std::vector<std::vector<Box>> needs;
};

} // namespace

int64_t Message::getVolume() const {
  int64_t volume = 0;
  for (const Box &box : boxes)
    volume += box.getVolume();
  return volume;
}

RankPlan fusion::boxes::planRank(const Exchange &exchange, int64_t rank, int64_t ranks) {
  Planner planner(exchange, ranks);
  RankPlan plan = planner.planReceives(rank);
  for (int64_t peer = 0; peer < ranks; ++peer) {
    if (peer == rank || !planner.mayMeet(rank, peer))
      continue;
    for (Message &message : planner.planReceives(peer).receives)
      if (message.peer == rank)
        plan.sends.push_back({peer, std::move(message.boxes)});
  }
  return plan;
}

Traffic fusion::boxes::countTraffic(const Exchange &exchange, int64_t ranks) {
  Planner planner(exchange, ranks);
  Traffic traffic;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (const Message &message : planner.planReceives(rank).receives) {
      ++traffic.messages;
      traffic.elements += message.getVolume();
    }
  }
  return traffic;
}
