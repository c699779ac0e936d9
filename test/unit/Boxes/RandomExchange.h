//===- RandomExchange.h - Exchanges for property tests ----------------------===//

#ifndef FUSION_TEST_UNIT_BOXES_RANDOMEXCHANGE_H
#define FUSION_TEST_UNIT_BOXES_RANDOMEXCHANGE_H

#include "fusion/Analysis/BoxPlan.h"

#include <random>
#include <vector>

namespace fusion::boxes::test {

using Random = std::mt19937;

inline int64_t draw(Random &random, int64_t lower, int64_t upper) {
  return std::uniform_int_distribution<int64_t>(lower, upper)(random);
}

/// A small store of rank 0 to 4 with one to three sources (one for a reduction) and targets of any kind: tiles that do
/// not divide the extents, overlap, leave gaps, lie outside; more points than tiles; constant and mixing projections.
Exchange makeExchange(Random &random, bool reduction);

/// All indices of a box, in row-major order.
std::vector<std::vector<int64_t>> listIndices(const Box &box);

/// By element of the store in row-major order: whether the rank has it. Straight from the definition, point by point
/// and element by element.
std::vector<bool> markElements(const Exchange &exchange, const Placement &placement, int64_t rank, int64_t ranks);

int64_t linearize(const std::vector<int64_t> &index, const std::vector<int64_t> &shape);

} // namespace fusion::boxes::test

#endif // FUSION_TEST_UNIT_BOXES_RANDOMEXCHANGE_H
