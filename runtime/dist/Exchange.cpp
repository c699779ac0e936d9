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

void putPlacement(Writer &writer, const Placement &placement, const Store &store, const Range *image = nullptr) {
  const Domain &domain = placement.domain;
  writer.put(FUSION_MPI_BLOCK);
  writer.put(0);
  writer.put(domain.rank);
  for (int64_t d = 0; d < domain.rank; ++d)
    writer.put(domain.extents[d]);
  if (image) {
    writer.put(FUSION_MPI_BOXES);
    for (int64_t number = 0, end = domain.getNumPoints(); number < end; ++number) {
      for (int64_t d = 0; d < store.rank; ++d)
        writer.put(d == 0 ? image[number].lower : 0);
      for (int64_t d = 0; d < store.rank; ++d)
        writer.put(d == 0 ? image[number].lower + image[number].size : store.shape[d]);
    }
    return;
  }
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

void putExchange(Writer &writer, const Description &what) {
  const Store &store = *what.store;
  writer.put(what.operation);
  writer.put(what.flags);
  writer.put(store.type);
  writer.put(store.rank);
  for (int64_t d = 0; d < store.rank; ++d)
    writer.put(store.shape[d]);
  writer.put(what.numSources);
  for (int64_t i = 0; i < what.numSources; ++i)
    putPlacement(writer, what.sources[i], store);
  writer.put(what.numTargets);
  for (int64_t i = 0; i < what.numTargets; ++i)
    putPlacement(writer, what.targets[i], store, what.images ? what.images[i] : nullptr);
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

static const FusionMpiPlan *makePlan(const Description &what) {
  Writer counter(nullptr);
  putExchange(counter, what);
  auto *words = allocate<int64_t>(counter.count);
  Writer writer(words);
  putExchange(writer, what);
  const FusionMpiPlan *plan = nullptr;
  fusion_mpi_plan(words, writer.count, &plan);
  fusion_rt_free(words);
  return plan;
}

const FusionMpiPlan *fusion::runtime::dist::getPlan(FusionDistContext *context, int64_t slot,
                                                    const Description &description) {
  KeptExchange &kept = getKept(context, slot);
  if (!kept.plan)
    kept.plan = makePlan(description);
  return kept.plan;
}

/// The plan of an exchange with images, for the content that the given stores have now.
static const FusionMpiPlan *getPlanOfImages(FusionDistContext *context, int64_t slot, Description &what,
                                            const Given *given, int64_t numGiven) {
  KeptExchange &kept = getKept(context, slot);
  bool same = kept.versions;
  for (int64_t i = 0; same && i < numGiven; ++i)
    same = kept.versions[i] == given[i].store->version;
  if (same)
    return kept.plan;
  auto **images = static_cast<Range **>(alloca(size_t(what.numTargets) * sizeof(Range *)));
  for (int64_t i = 0; i < what.numTargets; ++i)
    images[i] = what.targets[i].partition.kind == Partition::Image
                    ? gatherImage(context, what.targets[i], *what.store, given, numGiven)
                    : nullptr;
  what.images = images;
  kept.plan = makePlan(what);
  for (int64_t i = 0; i < what.numTargets; ++i)
    fusion_rt_free(images[i]);
  if (!kept.versions) {
    kept.versions = allocate<uint64_t>(numGiven);
    kept.next = context->exchanges;
    context->exchanges = &kept;
  }
  for (int64_t i = 0; i < numGiven; ++i)
    kept.versions[i] = given[i].store->version;
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
  touch(*store);
  int64_t numSources = reader.take();
  auto *sources = static_cast<Placement *>(alloca(size_t(numSources) * sizeof(Placement)));
  for (int64_t i = 0; i < numSources; ++i)
    sources[i] = reader.takePlacement(store->rank);
  int64_t numTargets = reader.take();
  auto *targets = static_cast<Placement *>(alloca(size_t(numTargets) * sizeof(Placement)));
  bool hasImages = false;
  for (int64_t i = 0; i < numTargets; ++i) {
    targets[i] = reader.takePlacement(store->rank);
    hasImages |= targets[i].partition.kind == Partition::Image;
  }
  // Elements that nobody has written are undefined, and stay so.
  Description what = {store, FUSION_MPI_COPY, FUSION_MPI_PARTIAL, sources, numSources, targets, numTargets};
  if (!hasImages)
    return getPlan(context, slot, what);
  int64_t numGiven = reader.take();
  auto *given = static_cast<Given *>(alloca(size_t(numGiven) * sizeof(Given)));
  for (int64_t i = 0; i < numGiven; ++i) {
    given[i].store = &getStore(context, reader.take());
    given[i].partition = reader.takePartition(given[i].store->rank);
  }
  return getPlanOfImages(context, slot, what, given, numGiven);
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
