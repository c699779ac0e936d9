//===- Store.cpp - Windows of stores ----------------------------------------===//

#include "Words.h"

#include "../Guard.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace fusion::runtime;
using namespace fusion::runtime::dist;

Store &fusion::runtime::dist::getStore(FusionDistContext *context, int64_t number) {
  if (number < 0 || number >= context->numStores || !context->stores[number].isLive)
    raise(FUSION_INVALID_ARGUMENT, "a store is used before it is made or after its last use");
  return context->stores[number];
}

void fusion::runtime::dist::touch(Store &store) {
  static std::atomic<uint64_t> last{0};
  store.version = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The window that this rank has of a store with these placements.
static const Layout *makeLayout(const FusionDistContext &context, Reader reader, int64_t rank, const int64_t *shape) {
  char *memory = allocate<char>(sizeof(Layout) + rank * (2 * sizeof(Range) + sizeof(int64_t)));
  auto *layout = reinterpret_cast<Layout *>(memory);
  layout->box = reinterpret_cast<Range *>(memory + sizeof(Layout));
  Range *box = layout->box, *next = box + rank;
  layout->strides = reinterpret_cast<int64_t *>(next + rank);
  for (int64_t d = 0; d < rank; ++d)
    box[d] = {0, 0};
  bool any = false;
  for (int64_t left = reader.take(); left > 0; --left) {
    Placement placement = reader.takePlacement(rank);
    Points points = getPoints(context, placement.domain, /*everywhere=*/false);
    if (!getHull(placement, rank, shape, points, next))
      continue;
    for (int64_t d = 0; d < rank; ++d) {
      if (!any) {
        box[d] = next[d];
        continue;
      }
      int64_t end = std::max(box[d].lower + box[d].size, next[d].lower + next[d].size);
      box[d].lower = std::min(box[d].lower, next[d].lower);
      box[d].size = end - box[d].lower;
    }
    any = true;
  }
  layout->elements = 1;
  layout->isWhole = true;
  for (int64_t d = rank; d-- > 0;) {
    layout->strides[d] = layout->elements;
    layout->elements *= box[d].size;
    layout->isWhole &= box[d].size == shape[d];
  }
  return layout;
}

static Store &makeStore(FusionDistContext *context, const int64_t *words) {
  Reader reader(words);
  int64_t slot = reader.take(), number = reader.take();
  Store &store = context->stores[number];
  // Control flow that is not structured comes here again without having passed an end of life.
  if (store.isLive)
    fusion_dist_destroy(context, number);
  store = {};
  store.isLive = true;
  touch(store);
  store.type = int32_t(reader.take());
  store.elementBytes = fusion_mpi_type_size(store.type);
  store.rank = reader.take();
  store.shape = reader.takeMany(store.rank);
  if (!context->slots[slot])
    context->slots[slot] = const_cast<Layout *>(makeLayout(*context, reader, store.rank, store.shape));
  store.layout = static_cast<const Layout *>(context->slots[slot]);
  store.window.box = store.layout->box;
  store.window.strides = store.layout->strides;
  return store;
}

static void placeStore(Store &store, void *memory) {
  if (!memory || !store.layout->isWhole)
    memory = store.owned = fusion_rt_alloc(size_t(store.layout->elements * store.elementBytes));
  store.window.data = static_cast<char *>(memory);
}

void fusion::runtime::dist::broadcastScalar(FusionDistContext *context, Store &store) {
  if (context->ranks > 1)
    fusion_mpi_broadcast(store.window.data, store.elementBytes, 0);
}

/// The stores that were made with the context, behind it.
static Store *getInlineStores(FusionDistContext *context) { return reinterpret_cast<Store *>(context + 1); }

extern "C" {

FusionDistContext *fusion_dist_begin(int64_t stores, int64_t slots) {
  int64_t bytes = sizeof(FusionDistContext) + stores * sizeof(Store) + slots * sizeof(void *);
  char *memory = allocate<char>(bytes);
  std::memset(memory, 0, size_t(bytes));
  auto *context = reinterpret_cast<FusionDistContext *>(memory);
  context->rank = fusion_mpi_rank();
  context->ranks = fusion_mpi_size();
  context->numStores = stores;
  context->numSlots = slots;
  context->stores = getInlineStores(context);
  context->slots = reinterpret_cast<void **>(context->stores + stores);
  return context;
}

void fusion_dist_end(FusionDistContext *context) {
  for (int64_t i = 0; i < context->numStores; ++i)
    if (context->stores[i].isLive)
      fusion_dist_destroy(context, i);
  for (Partial *partial = context->partials; partial; partial = partial->next)
    if (partial->data != reinterpret_cast<char *>(&partial->scalar))
      fusion_rt_free(partial->data);
  for (KeptExchange *exchange = context->exchanges; exchange; exchange = exchange->next)
    fusion_rt_free(exchange->versions);
  for (int64_t i = 0; i < context->numSlots; ++i)
    fusion_rt_free(context->slots[i]);
  if (context->stores != getInlineStores(context))
    fusion_rt_free(context->stores);
  fusion_rt_free(context);
}

void fusion_dist_reserve(FusionDistContext *context, int64_t stores, int64_t slots) {
  if (stores <= context->numStores && slots <= context->numSlots)
    return;
  stores = std::max(stores, context->numStores);
  slots = std::max(slots, context->numSlots);
  int64_t bytes = stores * sizeof(Store) + slots * sizeof(void *);
  auto *newStores = reinterpret_cast<Store *>(allocate<char>(bytes));
  std::memset(static_cast<void *>(newStores), 0, size_t(bytes));
  auto **newSlots = reinterpret_cast<void **>(newStores + stores);
  std::memcpy(static_cast<void *>(newStores), context->stores, size_t(context->numStores) * sizeof(Store));
  std::memcpy(newSlots, context->slots, size_t(context->numSlots) * sizeof(void *));
  if (context->stores != getInlineStores(context))
    fusion_rt_free(context->stores);
  context->stores = newStores;
  context->slots = newSlots;
  context->numStores = stores;
  context->numSlots = slots;
}

void fusion_dist_create(FusionDistContext *context, const int64_t *words, void *memory) {
  placeStore(makeStore(context, words), memory);
}

void fusion_dist_from_tensor(FusionDistContext *context, const int64_t *words, const void *data, void *memory) {
  Store &store = makeStore(context, words);
  placeStore(store, memory);
  // The first rank's window is whole: one of the placements is its own.
  if (context->rank == 0) {
    Window tensor = store.window;
    tensor.data = static_cast<char *>(const_cast<void *>(data));
    copyBox(store.rank, store.elementBytes, tensor, store.layout->box, store.window, store.layout->box);
  }
  if (store.rank == 0)
    broadcastScalar(context, store);
}

void fusion_dist_borrow(FusionDistContext *context, const int64_t *words, const void *data) {
  Store &store = makeStore(context, words);
  if (context->rank != 0)
    return placeStore(store, nullptr);
  store.window.data = static_cast<char *>(const_cast<void *>(data));
}

void fusion_dist_to_tensor(FusionDistContext *context, int64_t number, void *data) {
  Store &store = getStore(context, number);
  if ((store.rank > 0 && context->rank != 0) || store.window.data == data)
    return;
  if (!store.layout->isWhole)
    raise(FUSION_INVALID_ARGUMENT, "a result was not gathered on the first rank");
  Window tensor = store.window;
  tensor.data = static_cast<char *>(data);
  copyBox(store.rank, store.elementBytes, store.window, store.layout->box, tensor, store.layout->box);
}

void fusion_dist_destroy(FusionDistContext *context, int64_t number) {
  Store &store = getStore(context, number);
  fusion_rt_free(store.owned);
  store.isLive = false;
  // Contributions to a store that is gone.
  for (Partial *partial = context->partials; partial; partial = partial->next)
    partial->isPending &= partial->store != number;
}

void fusion_dist_return(FusionDistContext *context, int64_t number, const void *) {
  fusion_dist_destroy(context, number);
}

} // extern "C"
