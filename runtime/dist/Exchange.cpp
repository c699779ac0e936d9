//===- Exchange.cpp - Exchanges of stores -----------------------------------===//

#include "Words.h"

#include <alloca.h>
#include <cstring>
#include <initializer_list>

using namespace fusion::runtime;
using namespace fusion::runtime::dist;

//===----------------------------------------------------------------------===//
// The words of fusion_mpi_plan
//===----------------------------------------------------------------------===//

namespace {

/// Counts, or writes if there is memory.
class Writer {
public:
  explicit Writer(int64_t *memory) : memory(memory) {}
  void put(int64_t word) {
    if (memory)
      memory[count] = word;
    ++count;
  }
  int64_t count = 0;

private:
  int64_t *memory;
};

/// Whether a tiling without an end of its own (that of the store) gives every point of the domain the same box.
bool endsWithStore(const Placement &placement, const Store &store) {
  for (int64_t d = 0; d < store.rank; ++d) {
    const int64_t *coded = placement.partition.coded + 4 * d;
    int64_t tile = coded[0], offset = coded[1], extent = coded[2];
    int64_t last = coded[3] >= 0 ? placement.domain.extents[coded[3]] - 1 : -1 - coded[3];
    int64_t colors = (extent + tile - 1) / tile;
    bool fits = extent % tile == 0 || offset + extent == store.shape[d];
    if (last >= colors || !fits)
      return false;
  }
  return true;
}

void putPlacement(Writer &writer, const Placement &placement, const Store &store) {
  const Domain &domain = placement.domain;
  writer.put(FUSION_MPI_BLOCK);
  writer.put(0);
  writer.put(domain.rank);
  for (int64_t d = 0; d < domain.rank; ++d)
    writer.put(domain.extents[d]);
  if (placement.partition.kind != Partition::Tiled)
    return writer.put(FUSION_MPI_NONE);
  const int64_t *coded = placement.partition.coded;
  if (endsWithStore(placement, store)) {
    writer.put(FUSION_MPI_TILED);
    for (int64_t field : {0, 0, 1})
      for (int64_t d = 0; d < store.rank; ++d)
        writer.put(coded[4 * d + field]);
    for (int64_t d = 0; d < store.rank; ++d) {
      int64_t color = coded[4 * d + 3];
      for (int64_t k = 0; k < domain.rank; ++k)
        writer.put(color == k);
      writer.put(color < 0 ? -1 - color : 0);
    }
    return;
  }
  writer.put(FUSION_MPI_BOXES);
  auto *point = static_cast<int64_t *>(alloca(size_t(domain.rank + 1) * sizeof(int64_t)));
  auto *box = static_cast<Range *>(alloca(size_t(store.rank + 1) * sizeof(Range)));
  for (int64_t number = 0, end = domain.getNumPoints(); number < end; ++number) {
    getCoordinates(domain, number, point);
    getBox(placement.partition, store.rank, store.shape, point, box);
    for (int64_t d = 0; d < store.rank; ++d)
      writer.put(box[d].lower);
    for (int64_t d = 0; d < store.rank; ++d)
      writer.put(box[d].lower + box[d].size);
  }
}

void putExchange(Writer &writer, const Store &store, int64_t operation, int64_t flags, const Placement *sources,
                 int64_t numSources, const Placement *targets, int64_t numTargets) {
  writer.put(operation);
  writer.put(flags);
  writer.put(store.type);
  writer.put(store.rank);
  for (int64_t d = 0; d < store.rank; ++d)
    writer.put(store.shape[d]);
  writer.put(numSources);
  for (int64_t i = 0; i < numSources; ++i)
    putPlacement(writer, sources[i], store);
  writer.put(numTargets);
  for (int64_t i = 0; i < numTargets; ++i)
    putPlacement(writer, targets[i], store);
}

KeptExchange &getKept(FusionDistContext *context, int64_t slot) {
  if (!context->slots[slot]) {
    auto *kept = allocate<KeptExchange>(1);
    *kept = {};
    context->slots[slot] = kept;
  }
  return *static_cast<KeptExchange *>(context->slots[slot]);
}

/// Descriptor of the whole window and the index of its first element.
struct WindowWords {
  int64_t *descriptor;
  int64_t *origin;

  void write(int64_t *memory, const Store &store, const Window &window) {
    origin = memory;
    descriptor = memory + store.rank;
    writeDescriptor(descriptor, window, store.rank, store.elementBytes, window.box);
    for (int64_t d = 0; d < store.rank; ++d)
      origin[d] = window.box[d].lower;
  }
};

constexpr int64_t getWindowWords(int64_t rank) { return 3 + 3 * rank; }

} // namespace

const FusionMpiPlan *fusion::runtime::dist::getPlan(FusionDistContext *context, int64_t slot, const Store &store,
                                                    int64_t operation, int64_t flags, const Placement *sources,
                                                    int64_t numSources, const Placement *targets,
                                                    int64_t numTargets) {
  KeptExchange &kept = getKept(context, slot);
  if (kept.plan)
    return kept.plan;
  Writer counter(nullptr);
  putExchange(counter, store, operation, flags, sources, numSources, targets, numTargets);
  auto *words = allocate<int64_t>(counter.count);
  Writer writer(words);
  putExchange(writer, store, operation, flags, sources, numSources, targets, numTargets);
  fusion_mpi_plan(words, writer.count, &kept.plan);
  fusion_rt_free(words);
  return kept.plan;
}

void fusion::runtime::dist::runExchange(const FusionMpiPlan *plan, const Store &store, const Window &source,
                                        const Window &target) {
  auto *memory = static_cast<int64_t *>(alloca(size_t(2 * getWindowWords(store.rank)) * sizeof(int64_t)));
  WindowWords from, to;
  from.write(memory, store, source);
  to.write(memory + getWindowWords(store.rank), store, target);
  fusion_mpi_exchange(plan, from.descriptor, from.origin, to.descriptor, to.origin);
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

/// The plan of the table; null if there is nothing to do. Scalars are sent at once.
static const FusionMpiPlan *readExchange(FusionDistContext *context, const int64_t *words, int64_t &slot,
                                         Store *&store) {
  Reader reader(words);
  slot = reader.take();
  store = &getStore(context, reader.take());
  if (context->ranks == 1)
    return nullptr;
  if (store->rank == 0) {
    // Whichever launch wrote it, the first rank has it: it has the first point.
    broadcastScalar(context, *store);
    return nullptr;
  }
  if (const void *kept = context->slots[slot]; kept && static_cast<const KeptExchange *>(kept)->plan)
    return static_cast<const KeptExchange *>(kept)->plan;
  int64_t numSources = reader.take();
  auto *sources = static_cast<Placement *>(alloca(size_t(numSources) * sizeof(Placement)));
  for (int64_t i = 0; i < numSources; ++i)
    sources[i] = reader.takePlacement(store->rank);
  int64_t numTargets = reader.take();
  auto *targets = static_cast<Placement *>(alloca(size_t(numTargets) * sizeof(Placement)));
  for (int64_t i = 0; i < numTargets; ++i)
    targets[i] = reader.takePlacement(store->rank);
  // Elements that nobody has written are undefined, and stay so.
  return getPlan(context, slot, *store, FUSION_MPI_COPY, FUSION_MPI_PARTIAL, sources, numSources, targets, numTargets);
}

extern "C" {

void fusion_dist_exchange(FusionDistContext *context, const int64_t *words) {
  int64_t slot;
  Store *store;
  if (const FusionMpiPlan *plan = readExchange(context, words, slot, store))
    runExchange(plan, *store, store->window, store->window);
}

void fusion_dist_exchange_start(FusionDistContext *context, const int64_t *words) {
  int64_t slot;
  Store *store;
  const FusionMpiPlan *plan = readExchange(context, words, slot, store);
  if (!plan)
    return;
  auto *memory = static_cast<int64_t *>(alloca(size_t(getWindowWords(store->rank)) * sizeof(int64_t)));
  WindowWords window;
  window.write(memory, *store, store->window);
  fusion_mpi_start(plan, window.descriptor, window.origin, window.descriptor, window.origin,
                   &getKept(context, slot).running);
}

void fusion_dist_exchange_wait(FusionDistContext *context, const int64_t *words) {
  int64_t slot = Reader(words).take();
  if (!context->slots[slot])
    return;
  KeptExchange &kept = getKept(context, slot);
  FusionMpiExchange *running = kept.running;
  kept.running = nullptr;
  fusion_mpi_wait(running);
}

} // extern "C"
