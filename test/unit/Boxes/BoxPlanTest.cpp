//===- BoxPlanTest.cpp - Message lists against their definition --------------===//

#include "RandomExchange.h"

#include <gtest/gtest.h>

using namespace fusion::boxes;
using namespace fusion::boxes::test;

namespace {

std::vector<RankPlan> planAll(const Exchange &exchange, int64_t ranks) {
  std::vector<RankPlan> plans;
  for (int64_t rank = 0; rank < ranks; ++rank)
    plans.push_back(planRank(exchange, rank, ranks));
  return plans;
}

/// What is sent is what is received, box by box: the two ends are planned by different ranks.
void expectMatching(const std::vector<RankPlan> &plans) {
  size_t sent = 0, received = 0;
  for (size_t rank = 0; rank < plans.size(); ++rank) {
    received += plans[rank].receives.size();
    for (const Message &message : plans[rank].sends) {
      ++sent;
      ASSERT_NE(message.peer, int64_t(rank));
      EXPECT_GT(message.getVolume(), 0);
      const Message *match = nullptr;
      for (const Message &other : plans[message.peer].receives)
        if (other.peer == int64_t(rank))
          match = &other;
      ASSERT_TRUE(match);
      EXPECT_EQ(message.boxes, match->boxes);
    }
  }
  EXPECT_EQ(sent, received);
}

/// By element: whether any of the placements gives it to the rank.
std::vector<bool> markAny(const Exchange &exchange, const std::vector<Placement> &placements, int64_t rank,
                          int64_t ranks) {
  std::vector<bool> marked;
  for (const Placement &placement : placements) {
    std::vector<bool> one = markElements(exchange, placement, rank, ranks);
    marked.resize(one.size());
    for (size_t i = 0; i < one.size(); ++i)
      marked[i] = marked[i] || one[i];
  }
  return marked;
}

constexpr int64_t nobody = -1;

/// By element: the rank that a copy must take it from, by definition.
int64_t getSource(const std::vector<std::vector<std::vector<bool>>> &held, size_t element, int64_t rank,
                  int64_t ranks) {
  for (const auto &layer : held)
    for (int64_t k = 0; k < ranks; ++k)
      if (layer[(rank + k) % ranks][element])
        return (rank + k) % ranks;
  return nobody;
}

} // namespace

TEST(BoxPlan, CopiesBringEachNeededElementOnceFromTheNewestHolder) {
  Random random(2);
  int64_t messages = 0, missing = 0, copied = 0;
  for (int round = 0; round < 3000; ++round) {
    Exchange exchange = makeExchange(random, false);
    int64_t ranks = draw(random, 1, 5);
    std::vector<RankPlan> plans = planAll(exchange, ranks);
    expectMatching(plans);
    std::vector<std::vector<std::vector<bool>>> held;
    for (const Placement &source : exchange.sources) {
      held.emplace_back();
      for (int64_t rank = 0; rank < ranks; ++rank)
        held.back().push_back(markElements(exchange, source, rank, ranks));
    }
    Traffic traffic;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<bool> needed = markAny(exchange, exchange.targets, rank, ranks);
      constexpr int64_t untouched = -2;
      std::vector<int64_t> from(needed.size(), untouched);
      auto note = [&](const Box &box, int64_t source) {
        for (const std::vector<int64_t> &index : listIndices(box)) {
          int64_t &entry = from[linearize(index, exchange.shape)];
          EXPECT_EQ(entry, untouched) << "an element comes twice";
          entry = source;
        }
      };
      for (const Message &message : plans[rank].receives) {
        ++traffic.messages;
        traffic.elements += message.getVolume();
        for (const Box &box : message.boxes)
          note(box, message.peer);
      }
      for (const Box &box : plans[rank].copies)
        note(box, rank);
      for (const Box &box : plans[rank].missing)
        note(box, nobody);
      for (size_t i = 0; i < needed.size(); ++i)
        EXPECT_EQ(from[i], needed[i] ? getSource(held, i, rank, ranks) : untouched);
      messages += plans[rank].receives.size();
      missing += plans[rank].missing.size();
      copied += plans[rank].copies.size();
    }
    Traffic counted = countTraffic(exchange, ranks);
    EXPECT_EQ(counted.messages, traffic.messages);
    EXPECT_EQ(counted.elements, traffic.elements);
  }
  // The generator makes all of it.
  EXPECT_GT(messages, 1000);
  EXPECT_GT(missing, 1000);
  EXPECT_GT(copied, 1000);
}

TEST(BoxPlan, ReductionsBringEachElementFromAllHolders) {
  Random random(3);
  size_t most = 0;
  for (int round = 0; round < 2000; ++round) {
    Exchange exchange = makeExchange(random, true);
    int64_t ranks = draw(random, 1, 5);
    std::vector<RankPlan> plans = planAll(exchange, ranks);
    expectMatching(plans);
    std::vector<std::vector<bool>> held;
    for (int64_t rank = 0; rank < ranks; ++rank)
      held.push_back(markElements(exchange, exchange.sources[0], rank, ranks));
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const RankPlan &plan = plans[rank];
      std::vector<bool> needed = markAny(exchange, exchange.targets, rank, ranks);
      std::vector<int> seen(needed.size(), 0);
      for (const Box &box : plan.missing)
        for (const std::vector<int64_t> &index : listIndices(box))
          ++seen[linearize(index, exchange.shape)];
      std::vector<std::vector<Box>> lists(ranks);
      for (const Combination &combination : plan.combinations) {
        most = std::max(most, combination.holders.size());
        for (int64_t holder : combination.holders)
          lists[holder].push_back(combination.box);
        for (const std::vector<int64_t> &index : listIndices(combination.box)) {
          int64_t element = linearize(index, exchange.shape);
          ++seen[element];
          std::vector<int64_t> holders;
          for (int64_t holder = 0; holder < ranks; ++holder)
            if (held[holder][element])
              holders.push_back(holder);
          EXPECT_EQ(combination.holders, holders);
        }
      }
      for (size_t i = 0; i < needed.size(); ++i)
        EXPECT_EQ(seen[i], needed[i] ? 1 : 0);
      // The messages have the boxes of the combinations, in their order.
      EXPECT_EQ(plan.copies, lists[rank]);
      lists[rank].clear();
      for (const Message &message : plan.receives) {
        EXPECT_EQ(message.boxes, lists[message.peer]);
        lists[message.peer].clear();
      }
      for (const std::vector<Box> &list : lists)
        EXPECT_TRUE(list.empty());
    }
  }
  EXPECT_GE(most, 4u);
}

TEST(BoxPlan, AHaloOfRowsIsOneMessageToEachNeighbour) {
  Exchange exchange;
  exchange.shape = {13, 7};
  Placement tiles{Placement::Mapping::Block, 0, {4, 1}, makeTiling({4, 7}, {0, 0})};
  exchange.sources = {tiles};
  for (int64_t offset : {-1, 1}) {
    exchange.targets.push_back(tiles);
    exchange.targets.back().partition.offset = {offset, 0};
  }
  RankPlan plan = planRank(exchange, 1, 4);
  ASSERT_EQ(plan.receives.size(), 2u);
  EXPECT_EQ(plan.receives[0].peer, 0);
  ASSERT_EQ(plan.receives[0].boxes.size(), 1u);
  EXPECT_EQ(toString(plan.receives[0].boxes[0]), "[3:4, 0:7]");
  EXPECT_EQ(plan.receives[1].peer, 2);
  EXPECT_EQ(toString(plan.receives[1].boxes[0]), "[8:9, 0:7]");
  Traffic traffic = countTraffic(exchange, 4);
  EXPECT_EQ(traffic.messages, 6u);
  EXPECT_EQ(traffic.elements, 42u);
}

// On fewer ranks than points a rank's tiles are one box: no messages between them, and few boxes.
TEST(BoxPlan, ManyPointsPerRankBecomeOneBox) {
  Exchange exchange;
  exchange.shape = {100, 1000};
  Placement tiles{Placement::Mapping::Block, 0, {100, 100}, makeTiling({1, 10}, {0, 0})};
  exchange.sources = {tiles};
  exchange.targets = {tiles};
  exchange.targets[0].partition.offset = {1, 0};
  RankPlan plan = planRank(exchange, 1, 4);
  ASSERT_EQ(plan.receives.size(), 1u);
  ASSERT_EQ(plan.receives[0].boxes.size(), 1u);
  EXPECT_EQ(toString(plan.receives[0].boxes[0]), "[50:51, 0:1000]");
}

TEST(BoxPlan, GatherBroadcastAndScatter) {
  Exchange exchange;
  exchange.shape = {10};
  Placement tiles{Placement::Mapping::Block, 0, {4}, makeTiling({3}, {0})};
  Placement onOne{Placement::Mapping::Root, 2, {}, {}};
  Placement onAll{Placement::Mapping::Everywhere, 0, {}, {}};
  auto count = [&](const Placement &source, const Placement &target) {
    exchange.sources = {source};
    exchange.targets = {target};
    Traffic traffic = countTraffic(exchange, 4);
    return std::make_pair(traffic.messages, traffic.elements);
  };
  EXPECT_EQ(count(tiles, onOne), std::make_pair(uint64_t(3), uint64_t(7)));
  EXPECT_EQ(count(tiles, onAll), std::make_pair(uint64_t(12), uint64_t(30)));
  EXPECT_EQ(count(onOne, onAll), std::make_pair(uint64_t(3), uint64_t(30)));
  EXPECT_EQ(count(onOne, tiles), std::make_pair(uint64_t(3), uint64_t(7)));
  EXPECT_EQ(count(onAll, tiles), std::make_pair(uint64_t(0), uint64_t(0)));
}
