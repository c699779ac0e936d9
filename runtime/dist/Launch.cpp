//===- Launch.cpp - Tasks, fills and copies ---------------------------------===//

#include "Context.h"

#include "../Guard.h"

#include <alloca.h>
#include <cstdio>
#include <cstring>

using namespace fusion::runtime;
using namespace fusion::runtime::dist;

namespace {

thread_local char taskError[maxMessage] = {};

/// An argument of a launch.
struct Argument {
  Store *store;
  int64_t privilege;
  int32_t op;
  uint64_t identity;
  /// Where contributions wait; null if they are combined with the store at once.
  Partial *partial;
  Partition partition;
  Range *box;
  /// Where the point works: the store, or the place of its contribution.
  Window window;
  /// A contribution with memory of its own, to be combined after the point.
  bool isSeparate;
  /// A written scalar of a replicated launch: what it was before the first point.
  uint64_t before;

  bool isReplicatedScalar(bool replicated) const {
    return replicated && store->rank == 0 && (privilege == FUSION_DIST_WRITE || privilege == FUSION_DIST_READ_WRITE);
  }
};

/// A launch, parsed from its table. What has a size that depends on the table lies in memory of the caller.
struct Launch {
  FusionDistContext *context;
  bool everywhere, replicated;
  Domain domain;
  int64_t count;
  Argument *arguments;
  int64_t *coordinates;
  Points points;
};

/// Bytes that parseLaunch needs.
size_t getLaunchBytes(FusionDistContext *context, const int64_t *words) {
  Reader reader(words);
  reader.takeMany(2);
  Domain domain = reader.takeDomain();
  size_t bytes = size_t(domain.rank) * sizeof(int64_t);
  for (int64_t left = reader.take(); left > 0; --left) {
    int64_t rank = getStore(context, reader.take()).rank;
    if (reader.take() == FUSION_DIST_REDUCE)
      reader.takeMany(3);
    reader.takePartition(rank);
    bytes += sizeof(Argument) + size_t(rank) * sizeof(Range);
  }
  return bytes;
}

Launch parseLaunch(FusionDistContext *context, const int64_t *words, char *memory) {
  Reader reader(words);
  reader.take();
  int64_t flags = reader.take();
  Launch launch = {};
  launch.context = context;
  launch.everywhere = flags & FUSION_DIST_EVERYWHERE;
  launch.replicated = flags & FUSION_DIST_REPLICATED;
  launch.domain = reader.takeDomain();
  launch.points = getPoints(*context, launch.domain, launch.everywhere);
  launch.count = reader.take();
  launch.arguments = reinterpret_cast<Argument *>(memory);
  launch.coordinates = reinterpret_cast<int64_t *>(launch.arguments + launch.count);
  auto *boxes = reinterpret_cast<Range *>(launch.coordinates + launch.domain.rank);
  for (int64_t i = 0; i < launch.count; ++i) {
    Argument &argument = launch.arguments[i];
    argument.store = &getStore(context, reader.take());
    argument.privilege = reader.take();
    if (argument.privilege != FUSION_DIST_READ)
      touch(*argument.store);
    argument.partial = nullptr;
    if (argument.privilege == FUSION_DIST_REDUCE) {
      argument.op = int32_t(reader.take());
      argument.identity = uint64_t(reader.take());
      int64_t slot = reader.take();
      if (slot == FUSION_DIST_AT_ONCE && context->ranks > 1)
        raise(FUSION_INVALID_ARGUMENT, "a reduction without dist.all_reduce runs on one rank only");
      if (slot != FUSION_DIST_AT_ONCE)
        argument.partial = &getPartial(context, slot, *argument.store);
    }
    argument.partition = reader.takePartition(argument.store->rank);
    argument.box = boxes;
    boxes += argument.store->rank;
    argument.isSeparate = false;
    argument.before = 0;
    if (argument.isReplicatedScalar(launch.replicated))
      std::memcpy(&argument.before, argument.store->window.data, size_t(argument.store->elementBytes));
  }
  return launch;
}

/// Where the point puts its contribution. A single point of a rank sets the partial result itself.
void placeContribution(Launch &launch, Argument &argument) {
  Store &store = *argument.store;
  bool first = argument.partial && !argument.partial->isPending && launch.points.end - launch.points.begin == 1;
  argument.isSeparate = !first;
  if (first) {
    argument.window = openPartial(*argument.partial, store, argument.identity);
    return;
  }
  int64_t elements = 1;
  for (int64_t d = 0; d < store.rank; ++d)
    elements *= argument.box[d].size;
  // Its own box, row-major; the strides are made here.
  char *memory = allocate<char>(store.rank * sizeof(int64_t) + elements * store.elementBytes + 64);
  auto *strides = reinterpret_cast<int64_t *>(memory);
  int64_t stride = 1;
  for (int64_t d = store.rank; d-- > 0;) {
    strides[d] = stride;
    stride *= argument.box[d].size;
  }
  argument.window.strides = strides;
  argument.window.box = argument.box;
  argument.window.data = memory + (store.rank * sizeof(int64_t) + 63) / 64 * 64;
}

/// Boxes and windows of a point.
void startPoint(Launch &launch, int64_t number) {
  getCoordinates(launch.domain, number, launch.coordinates);
  for (int64_t i = 0; i < launch.count; ++i) {
    Argument &argument = launch.arguments[i];
    Store &store = *argument.store;
    if (argument.partition.kind == Partition::Image)
      std::memcpy(argument.box, store.layout->box, size_t(store.rank) * sizeof(Range));
    else
      getBox(argument.partition, store.rank, store.shape, launch.coordinates, argument.box);
    argument.window = store.window;
    if (argument.privilege == FUSION_DIST_REDUCE)
      placeContribution(launch, argument);
    else if (argument.isReplicatedScalar(launch.replicated))
      std::memcpy(store.window.data, &argument.before, size_t(store.elementBytes));
  }
}

void endPoint(Launch &launch) {
  for (int64_t i = 0; i < launch.count; ++i) {
    Argument &argument = launch.arguments[i];
    if (!argument.isSeparate)
      continue;
    Store &store = *argument.store;
    Window target = argument.partial ? openPartial(*argument.partial, store, argument.identity) : store.window;
    combineBox(argument.op, store.type, store.rank, store.elementBytes, argument.window, argument.box, target,
               argument.box);
    fusion_rt_free(const_cast<int64_t *>(argument.window.strides));
    argument.isSeparate = false;
  }
}

/// A rank without points has not computed the scalars of a replicated launch.
void endLaunch(Launch &launch) {
  FusionDistContext *context = launch.context;
  if (!launch.replicated || launch.everywhere || context->ranks <= launch.domain.getNumPoints())
    return;
  for (int64_t i = 0; i < launch.count; ++i)
    if (launch.arguments[i].isReplicatedScalar(true))
      broadcastScalar(context, *launch.arguments[i].store);
}

void failTask(const Launch &launch, int64_t number, const char *name, int32_t status) {
  char text[maxMessage];
  int at = std::snprintf(text, sizeof(text), "task '%s' failed at point %lld of %lld: ", name, (long long)number,
                         (long long)launch.domain.getNumPoints());
  if (taskError[0])
    std::snprintf(text + at, sizeof(text) - size_t(at), "%s", taskError);
  else
    std::snprintf(text + at, sizeof(text) - size_t(at), "it returned %d", int(status));
  raise(FUSION_ASSERTION_FAILED, text);
}

} // namespace

extern "C" {

int32_t fusion_dist_task_error(const char *text) {
  std::snprintf(taskError, sizeof(taskError), "%s", text ? text : "");
  return 1;
}

void fusion_dist_launch(FusionDistContext *context, const int64_t *words, void (*body)(void **)) {
  Launch launch = parseLaunch(context, words, static_cast<char *>(alloca(getLaunchBytes(context, words))));
  int64_t numWords = 0;
  for (int64_t i = 0; i < launch.count; ++i)
    numWords += 3 + 2 * launch.arguments[i].store->rank;
  auto *descriptors = static_cast<int64_t *>(alloca(size_t(numWords) * sizeof(int64_t)));
  auto **pointers = static_cast<void **>(alloca(size_t(launch.count + 1) * sizeof(void *)));
  for (int64_t number = launch.points.begin; number < launch.points.end; ++number) {
    startPoint(launch, number);
    int64_t *next = descriptors;
    for (int64_t i = 0; i < launch.count; ++i) {
      const Argument &argument = launch.arguments[i];
      pointers[i] = next;
      writeDescriptor(next, argument.window, argument.store->rank, argument.store->elementBytes, argument.box);
      next += 3 + 2 * argument.store->rank;
    }
    body(pointers);
    endPoint(launch);
  }
  endLaunch(launch);
}

void fusion_dist_launch_external(FusionDistContext *context, const int64_t *words, FusionTask body, const char *name) {
  Launch launch = parseLaunch(context, words, static_cast<char *>(alloca(getLaunchBytes(context, words))));
  int64_t numWords = 0;
  for (int64_t i = 0; i < launch.count; ++i)
    numWords += 2 * launch.arguments[i].store->rank;
  auto *numbers = static_cast<int64_t *>(alloca(size_t(numWords + 1) * sizeof(int64_t)));
  auto *tiles = static_cast<FusionTile *>(alloca(size_t(launch.count + 1) * sizeof(FusionTile)));
  for (int64_t number = launch.points.begin; number < launch.points.end; ++number) {
    startPoint(launch, number);
    int64_t *next = numbers;
    for (int64_t i = 0; i < launch.count; ++i) {
      const Argument &argument = launch.arguments[i];
      const Store &store = *argument.store;
      int64_t *sizes = next, *offsets = next + store.rank;
      next += 2 * store.rank;
      for (int64_t d = 0; d < store.rank; ++d) {
        sizes[d] = argument.box[d].size;
        offsets[d] = argument.box[d].lower;
      }
      tiles[i] = {getAddress(argument.window, store.rank, store.elementBytes, argument.box),
                  store.type,
                  int32_t(argument.privilege),
                  store.rank,
                  sizes,
                  argument.window.strides,
                  offsets,
                  store.shape,
                  store.version};
    }
    taskError[0] = 0;
    if (int32_t status = body(tiles, int32_t(launch.count)); status != 0)
      failTask(launch, number, name, status);
    endPoint(launch);
  }
  endLaunch(launch);
}

void fusion_dist_fill(FusionDistContext *context, const int64_t *words, int64_t bits) {
  Reader reader(words);
  reader.take();
  bool everywhere = reader.take() & FUSION_DIST_EVERYWHERE;
  Domain domain = reader.takeDomain();
  Store &store = getStore(context, reader.take());
  touch(store);
  Partition partition = reader.takePartition(store.rank);
  auto *point = static_cast<int64_t *>(alloca(size_t(domain.rank + 1) * sizeof(int64_t)));
  auto *box = static_cast<Range *>(alloca(size_t(store.rank + 1) * sizeof(Range)));
  Points points = getPoints(*context, domain, everywhere);
  for (int64_t number = points.begin; number < points.end; ++number) {
    getCoordinates(domain, number, point);
    getBox(partition, store.rank, store.shape, point, box);
    fillBox(store.rank, store.elementBytes, store.window, box, uint64_t(bits));
  }
}

void fusion_dist_copy(FusionDistContext *context, const int64_t *words) {
  Reader reader(words);
  reader.take();
  bool everywhere = reader.take() & FUSION_DIST_EVERYWHERE;
  Domain domain = reader.takeDomain();
  Store &source = getStore(context, reader.take());
  Partition sourcePartition = reader.takePartition(source.rank);
  Store &target = getStore(context, reader.take());
  touch(target);
  Partition targetPartition = reader.takePartition(target.rank);
  auto *point = static_cast<int64_t *>(alloca(size_t(domain.rank + 1) * sizeof(int64_t)));
  auto *from = static_cast<Range *>(alloca(size_t(source.rank + 1) * sizeof(Range)));
  auto *to = static_cast<Range *>(alloca(size_t(target.rank + 1) * sizeof(Range)));
  Points points = getPoints(*context, domain, everywhere);
  for (int64_t number = points.begin; number < points.end; ++number) {
    getCoordinates(domain, number, point);
    getBox(sourcePartition, source.rank, source.shape, point, from);
    getBox(targetPartition, target.rank, target.shape, point, to);
    copyBox(source.rank, source.elementBytes, source.window, from, target.window, to);
  }
}

} // extern "C"
