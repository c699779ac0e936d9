//===- Memory.cpp - Elements of stores ----------------------------------------===//
//
// Every rank reserves room for whole stores; what a rank does not touch never becomes memory of the machine.
//
//===------------------------------------------------------------------------===//

#include "Guarded.h"

#include <algorithm>
#include <cstring>

using namespace fusion;
using namespace fusion::session;

Error fusion::session::openContext(Core &core) {
  core.roomForStores = 256;
  core.roomForSlots = 1024;
  return invoke([&core] { core.context = fusion_dist_begin(core.roomForStores, core.roomForSlots); });
}

int64_t fusion::session::takeSlot(Core &core) { return core.numSlots++; }

Error fusion::session::reserveNumbers(Core &core) {
  if (core.numStores <= core.roomForStores && core.numSlots <= core.roomForSlots)
    return {};
  int64_t stores = std::max(core.roomForStores, 2 * core.numStores), slots = std::max(core.roomForSlots, 2 * core.numSlots);
  FusionDistContext *context = core.context;
  Error error = invoke([=] { fusion_dist_reserve(context, stores, slots); });
  if (error.empty()) {
    core.roomForStores = stores;
    core.roomForSlots = slots;
  }
  return error;
}

StoreRecord *fusion::session::createRecord(Core &core, uint32_t storeClass) {
  StoreRecord *store;
  if (core.freeRecords.empty()) {
    store = new StoreRecord;
    store->number = uint32_t(core.numStores++);
  } else {
    store = core.freeRecords.back();
    core.freeRecords.pop_back();
  }
  store->core = &core;
  store->storeClass = storeClass;
  ++core.numRecords;
  return store;
}

/// fusion_dist_create's code of an element type.
static int64_t getTypeCode(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return FUSION_MPI_F64;
  case ElementType::F32:
    return FUSION_MPI_F32;
  case ElementType::I64:
    return FUSION_MPI_I64;
  case ElementType::I32:
    return FUSION_MPI_I32;
  case ElementType::Bool:
    return FUSION_MPI_I1;
  }
  return FUSION_MPI_F64;
}

uint64_t fusion::session::getBits(ElementType type, double value) {
  uint64_t bits = 0;
  auto store = [&](auto element) { std::memcpy(&bits, &element, sizeof(element)); };
  switch (type) {
  case ElementType::F64:
    store(value);
    break;
  case ElementType::F32:
    store(float(value));
    break;
  case ElementType::I64:
    // The nearest; 2^63 is the least that does not fit.
    store(value >= 0x1p63 ? INT64_MAX : int64_t(value));
    break;
  case ElementType::I32:
    store(int32_t(value));
    break;
  case ElementType::Bool:
    store(uint8_t(value != 0));
    break;
  }
  return bits;
}

template <typename T>
static void fill(void *data, int64_t count, uint64_t bits) {
  struct Work {
    T *data, value;
  } work = {static_cast<T *>(data), T(bits)};
  auto run = [](void *context, int64_t begin, int64_t end) {
    auto &work = *static_cast<Work *>(context);
    std::fill(work.data + begin, work.data + end, work.value);
  };
  if (count < 1 << 15)
    run(&work, 0, count);
  else
    fusion_rt_parallel_for(run, &work, count);
}

Error fusion::session::allocateStore(Core &core, StoreRecord &store, bool needsContent) {
  const StoreClass &storeClass = core.classes[store.storeClass];
  if (Error error = reserveNumbers(core); !error.empty())
    return error;
  void *data = fusion_rt_alloc(size_t(storeClass.bytes));
  if (!data)
    return "out of memory: a store of " + std::to_string(storeClass.bytes) + " bytes";
  // slot, store, type, n, shape[n], 1 placement: on each of the ranks the whole store.
  store.words.assign({storeClass.slot, int64_t(store.number), getTypeCode(storeClass.type),
                      int64_t(storeClass.shape.size())});
  store.words.insert(store.words.end(), storeClass.shape.begin(), storeClass.shape.end());
  for (int64_t word : {int64_t(1), int64_t(1), int64_t(core.ranks), int64_t(0)})
    store.words.push_back(word);
  FusionDistContext *context = core.context;
  const int64_t *words = store.words.data();
  if (Error error = invoke([=] { fusion_dist_create(context, words, data); }); !error.empty()) {
    fusion_rt_free(data);
    return error;
  }
  store.data = data;
  core.statistics.liveBytes += uint64_t(storeClass.bytes);
  core.statistics.peakBytes = std::max(core.statistics.peakBytes, core.statistics.liveBytes);
  if (store.isFilled && needsContent) {
    switch (getElementBytes(storeClass.type)) {
    case 8:
      fill<uint64_t>(data, storeClass.elements, store.fillBits);
      break;
    case 4:
      fill<uint32_t>(data, storeClass.elements, store.fillBits);
      break;
    default:
      fill<uint8_t>(data, storeClass.elements, store.fillBits);
    }
  }
  return {};
}

void fusion::session::releaseStore(StoreRecord *store) {
  if (store->handles || store->waiting)
    return;
  Core *core = store->core;
  if (store->data) {
    if (core->context)
      fusion_dist_destroy(core->context, store->number);
    fusion_rt_free(store->data);
    core->statistics.liveBytes -= uint64_t(core->classes[store->storeClass].bytes);
  }
  store->data = nullptr;
  store->isFilled = false;
  store->holders.clear();
  store->copies.clear();
  core->freeRecords.push_back(store);
  if (--core->numRecords == 0 && core->isClosed)
    delete core;
}

Core::~Core() {
  for (StoreRecord *store : freeRecords)
    delete store;
}
