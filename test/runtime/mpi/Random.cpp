//===- Random.cpp - Exchanges and reductions against their definition ----------===//
//
// All ranks draw the same numbers, so each knows what the others hold without asking them.
//
//===---------------------------------------------------------------------------===//

#include "Check.h"
#include "RandomExchange.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

using namespace fusion::boxes;
using namespace fusion::boxes::test;

namespace {

/// The bytes of an element of a rank, in the exchange of number `salt`. An i1 is 0 or 1.
void fillElement(char *to, int64_t type, uint64_t salt, int64_t rank, int64_t element) {
  uint64_t bits = (salt * 1000003 + rank) * 1000003 + element;
  bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15;
  bits ^= bits >> 29;
  if (type == FUSION_MPI_I1)
    bits &= 1;
  std::memcpy(to, &bits, fusion_mpi_type_size(int32_t(type)));
}

/// A window over the whole store or more, with its dimensions in any order and gaps; every byte is known.
class Array {
public:
  Array(Random &random, const std::vector<int64_t> &shape, int64_t type) : type(type) {
    size_t rank = shape.size();
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    bool isPlain = draw(random, 0, 1);
    if (!isPlain)
      std::shuffle(order.begin(), order.end(), random);
    std::vector<int64_t> sizes(rank), strides(rank);
    origin.resize(rank);
    int64_t stride = 1;
    for (size_t k = rank; k-- > 0;) {
      size_t d = order[k];
      origin[d] = isPlain ? 0 : -draw(random, 0, 2);
      sizes[d] = shape[d] - origin[d] + (isPlain ? 0 : draw(random, 0, 2));
      strides[d] = stride;
      stride *= sizes[d] + (isPlain ? 0 : draw(random, 0, 1));
    }
    int64_t offset = draw(random, 0, 3);
    memory.assign((offset + stride) * fusion_mpi_type_size(int32_t(type)), char(0x5a));
    memref = std::make_unique<Memref>(memory.data(), offset, sizes, strides);
    first = offset;
    for (size_t d = 0; d < rank; ++d)
      first -= origin[d] * strides[d];
    this->strides = strides;
  }

  char *at(std::vector<char> &bytes, const std::vector<int64_t> &index) const {
    int64_t position = first;
    for (size_t d = 0; d < index.size(); ++d)
      position += index[d] * strides[d];
    return bytes.data() + position * fusion_mpi_type_size(int32_t(type));
  }

  void fill(const std::vector<int64_t> &shape, uint64_t salt, int64_t rank) {
    Box whole = {std::vector<int64_t>(shape.size(), 0), shape};
    for (const std::vector<int64_t> &index : listIndices(whole))
      fillElement(at(memory, index), type, salt, rank, linearize(index, shape));
  }

  int64_t type;
  std::vector<int64_t> origin, strides;
  int64_t first = 0;
  std::vector<char> memory;
  std::unique_ptr<Memref> memref;
};

/// One exchange, with what its target must be at the end.
struct Trial {
  Trial(Random &random, uint64_t salt, int64_t rank, int64_t size) : salt(salt) {
    bool isReduction = draw(random, 0, 2) == 0;
    exchange = makeExchange(random, isReduction);
    for (auto *placements : {&exchange.sources, &exchange.targets})
      for (Placement &placement : *placements)
        placement.root %= size;
    exchange.elementType = draw(random, FUSION_MPI_I1, FUSION_MPI_F64);
    if (isReduction) {
      bool isFloat = exchange.elementType >= FUSION_MPI_F16;
      exchange.operation = draw(random, FUSION_MPI_SUM, FUSION_MPI_LOR);
      bool onlyFloats = exchange.operation == FUSION_MPI_MINNUM || exchange.operation == FUSION_MPI_MAXNUM;
      if (isFloat ? exchange.operation > FUSION_MPI_MAX && !onlyFloats : onlyFloats)
        exchange.operation = FUSION_MPI_SUM;
      exchange.fold = draw(random, 0, 1);
    }
    source = std::make_unique<Array>(random, exchange.shape, exchange.elementType);
    target = std::make_unique<Array>(random, exchange.shape, exchange.elementType);
    isInPlace = !exchange.fold && draw(random, 0, 1);
    source->fill(exchange.shape, salt, rank);
    target->fill(exchange.shape, salt + 1, rank);
    expected = getTarget().memory;
    std::vector<char> held = source->memory;
    expect(rank, size);
  }

  Array &getTarget() { return isInPlace ? *source : *target; }

  void expect(int64_t rank, int64_t size) {
    std::vector<bool> needed;
    for (const Placement &placement : exchange.targets) {
      std::vector<bool> one = markElements(exchange, placement, rank, size);
      needed.resize(one.size());
      for (size_t i = 0; i < one.size(); ++i)
        needed[i] = needed[i] || one[i];
    }
    std::vector<std::vector<std::vector<bool>>> held;
    for (const Placement &placement : exchange.sources) {
      held.emplace_back();
      for (int64_t holder = 0; holder < size; ++holder)
        held.back().push_back(markElements(exchange, placement, holder, size));
    }
    Box whole = {std::vector<int64_t>(exchange.shape.size(), 0), exchange.shape};
    for (const std::vector<int64_t> &index : listIndices(whole)) {
      int64_t element = linearize(index, exchange.shape);
      if (!needed[element])
        continue;
      char *to = getTarget().at(expected, index);
      if (exchange.operation != 0)
        expectCombined(to, element, held.front(), size);
      else
        expectCopied(to, element, held, rank, size);
    }
  }

  void expectCopied(char *to, int64_t element, const std::vector<std::vector<std::vector<bool>>> &held, int64_t rank,
                    int64_t size) {
    for (const auto &layer : held) {
      for (int64_t k = 0; k < size; ++k) {
        int64_t holder = (rank + k) % size;
        if (!layer[holder][element])
          continue;
        fillElement(to, exchange.elementType, salt, holder, element);
        return;
      }
    }
  }

  void expectCombined(char *to, int64_t element, const std::vector<std::vector<bool>> &held, int64_t size) {
    std::vector<std::vector<char>> values;
    if (exchange.fold)
      values.emplace_back(to, to + fusion_mpi_type_size(int32_t(exchange.elementType)));
    for (int64_t holder = 0; holder < size; ++holder) {
      if (!held[holder][element])
        continue;
      values.emplace_back(8);
      fillElement(values.back().data(), exchange.elementType, salt, holder, element);
    }
    // Nobody holds it: it is left alone, also with a fold.
    if (values.size() == (exchange.fold ? 1 : 0))
      return;
    std::vector<const void *> inputs;
    for (const std::vector<char> &value : values)
      inputs.push_back(value.data());
    require(fusion_mpi_combine(int32_t(exchange.operation), int32_t(exchange.elementType), inputs.data(), inputs.size(),
                               to, 1));
  }

  void start() {
    std::vector<int64_t> words = encode(exchange);
    const FusionMpiPlan *plan = nullptr;
    require(fusion_mpi_plan(words.data(), words.size(), &plan));
    require(fusion_mpi_start(plan, source->memref->get(), source->origin.data(), getTarget().memref->get(),
                             getTarget().origin.data(), &handle));
  }

  void finish() {
    require(fusion_mpi_wait(handle));
    if (getTarget().memory != expected)
      fusion_mpi_fail(("exchange " + std::to_string(salt) + ": wrong elements").c_str());
  }

  uint64_t salt;
  Exchange exchange;
  bool isInPlace = false;
  std::unique_ptr<Array> source, target;
  std::vector<char> expected;
  FusionMpiExchange *handle = nullptr;
};

/// An array of any type, small or large, with gaps or without, to all ranks or to one.
void checkReduce(Random &random, uint64_t salt, bool isLarge) {
  int32_t rank = fusion_mpi_rank(), size = fusion_mpi_size();
  int64_t type = draw(random, FUSION_MPI_I1, FUSION_MPI_F64);
  int64_t op = type >= FUSION_MPI_F16 ? draw(random, FUSION_MPI_SUM, FUSION_MPI_MAX)
                                      : draw(random, FUSION_MPI_SUM, FUSION_MPI_UMAX);
  std::vector<int64_t> shape = {draw(random, 0, 3), draw(random, 1, 40)};
  if (isLarge)
    shape = {2, 40000 + draw(random, 0, 3)};
  int32_t root = int32_t(draw(random, -1, size - 1));
  Array array(random, shape, type);
  array.fill(shape, salt, rank);
  std::vector<char> expected = array.memory;
  Box whole = {{0, 0}, shape};
  if (root == FUSION_MPI_ALL_RANKS || root == rank) {
    for (const std::vector<int64_t> &index : listIndices(whole)) {
      std::vector<std::vector<char>> values(size, std::vector<char>(8));
      std::vector<const void *> inputs;
      for (int32_t other = 0; other < size; ++other) {
        fillElement(values[other].data(), type, salt, other, linearize(index, shape));
        inputs.push_back(values[other].data());
      }
      require(fusion_mpi_combine(int32_t(op), int32_t(type), inputs.data(), size, array.at(expected, index), 1));
    }
  }
  // The sizes of the memref are those of the window.
  Memref memref(array.memory.data(), array.first, shape, array.strides);
  require(fusion_mpi_reduce(int32_t(op), int32_t(type), 2, memref.get(), root));
  if (array.memory != expected)
    fusion_mpi_fail(("reduction " + std::to_string(salt) + ": wrong elements").c_str());
}

} // namespace

void checkRandom(uint32_t seed, int64_t rounds) {
  Random random(seed);
  int64_t rank = fusion_mpi_rank(), size = fusion_mpi_size();
  if (size == 0)
    fusion_mpi_fail(fusion_rt_last_error());
  for (int64_t round = 0; round < rounds; ++round) {
    // Several under way, waited for in another order than they were started.
    std::vector<std::unique_ptr<Trial>> trials;
    for (int64_t k = draw(random, 1, 3); k > 0; --k)
      trials.push_back(std::make_unique<Trial>(random, uint64_t(seed) * 1000000 + round * 10 + k * 2, rank, size));
    for (auto &trial : trials)
      trial->start();
    std::reverse(trials.begin(), trials.end());
    for (auto &trial : trials)
      trial->finish();
    if (round % 10 == 0)
      checkReduce(random, round, round % 40 == 0);
  }
  FusionMpiStatistics statistics;
  require(fusion_mpi_statistics(&statistics));
  // What all ranks send is what all receive.
  int64_t totals[2] = {int64_t(statistics.bytes_sent), int64_t(statistics.bytes_received)};
  require(fusion_mpi_reduce(FUSION_MPI_SUM, FUSION_MPI_I64, 1, makeDense(totals, {2}).get(), FUSION_MPI_ALL_RANKS));
  if (totals[0] != totals[1] || (size > 1 && totals[0] == 0))
    fusion_mpi_fail("the bytes that were sent and received differ");
  if (rank == 0)
    std::printf("%lld rounds on %lld ranks: ok\n", static_cast<long long>(rounds), static_cast<long long>(size));
}
