//===- Reduce.cpp - Contributions of points and ranks -----------------------===//

#include "Context.h"

#include "Words.h"

using namespace fusion::runtime;
using namespace fusion::runtime::dist;

Partial &fusion::runtime::dist::getPartial(FusionDistContext *context, int64_t slot, Store &store) {
  if (!context->slots[slot]) {
    auto *partial = allocate<Partial>(1);
    *partial = {};
    partial->store = &store - context->stores;
    partial->data = store.rank == 0
                        ? reinterpret_cast<char *>(&partial->scalar)
                        : static_cast<char *>(fusion_rt_alloc(size_t(store.layout->elements * store.elementBytes)));
    partial->next = context->partials;
    context->partials = partial;
    context->slots[slot] = partial;
  }
  return *static_cast<Partial *>(context->slots[slot]);
}

Window fusion::runtime::dist::openPartial(Partial &partial, Store &store, uint64_t identity) {
  // A store that is reduced to has a window of its own, so the strides are those of the layout.
  Window window = {partial.data, store.layout->box, store.layout->strides};
  if (!partial.isPending)
    fillBox(store.rank, store.elementBytes, window, store.layout->box, identity);
  partial.isPending = true;
  return window;
}

extern "C" void fusion_dist_all_reduce(FusionDistContext *context, const int64_t *words) {
  Reader reader(words);
  int64_t slot = reader.take();
  Store &store = getStore(context, reader.take());
  touch(store);
  auto op = int32_t(reader.take());
  auto identity = uint64_t(reader.take());
  Partial &waiting = getPartial(context, reader.take(), store);
  Placement placement = reader.takePlacement(store.rank);
  if (context->ranks == 1) {
    // Without a contribution nothing changes: a loop that did not run.
    if (waiting.isPending)
      combineBox(op, store.type, store.rank, store.elementBytes, openPartial(waiting, store, identity),
                 store.layout->box, store.window, store.layout->box);
    waiting.isPending = false;
    return;
  }
  Window partial = openPartial(waiting, store, identity);
  if (store.rank == 0) {
    int64_t descriptor[3];
    writeDescriptor(descriptor, partial, 0, store.elementBytes, nullptr);
    fusion_mpi_reduce(op, store.type, 0, descriptor, FUSION_MPI_ALL_RANKS);
    combineBox(op, store.type, 0, store.elementBytes, partial, nullptr, store.window, nullptr);
  } else {
    const FusionMpiPlan *plan = getPlan(context, slot, {&store, op, FUSION_MPI_FOLD, &placement, 1, &placement, 1});
    runExchange(plan, store, partial, store.window);
  }
  waiting.isPending = false;
}
