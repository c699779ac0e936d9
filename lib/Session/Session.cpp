//===- Session.cpp - The interface of sessions ----------------------------------===//
//
// Errors of the parts below become exceptions here; nothing that throws is called by code without exceptions.
//
//===------------------------------------------------------------------------===//

#include "Core.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace fusion;
using namespace fusion::session;

static void check(const Error &error) {
  if (!error.empty())
    throw SessionError(error);
}

size_t fusion::getElementBytes(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

const char *fusion::getElementName(ElementType type) {
  static const char *const names[] = {"f64", "f32", "i64", "i32", "i1"};
  return names[unsigned(type)];
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

Store::Store(StoreRecord *record) : record(record) { ++record->handles; }
Store::Store(const Store &other) : record(other.record) {
  if (record)
    ++record->handles;
}
Store::~Store() {
  if (!record)
    return;
  --record->handles;
  releaseStore(record);
}

static void checkStore(const StoreRecord *record) {
  if (!record)
    throw SessionError("the store is empty: it was not made by a session");
  if (record->core->isClosed)
    throw SessionError("the session of the store has ended");
}

const std::vector<int64_t> &Store::getShape() const {
  checkStore(record);
  return record->core->classes[record->storeClass].shape;
}

ElementType Store::getElementType() const {
  checkStore(record);
  return record->core->classes[record->storeClass].type;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

Session::Session(SessionOptions options) {
  if (options.windowStart == 0)
    throw SessionError("the window has room for at least one task");
  if (options.points < 0)
    throw SessionError("the number of points is not negative; 0 is the number of ranks");
  auto made = std::make_unique<Core>();
  made->options = options;
  made->window = options.fuse ? options.windowStart : 1;
  made->ranks = fusion_mpi_size();
  made->rank = fusion_mpi_rank();
  made->points = options.points ? options.points : made->ranks;
  made->partitions.emplace_back();
  internDomain(*made, {1}, /*isScalar=*/true);
  made->rowDomain.number = internDomain(*made, {made->points}, /*isScalar=*/false);
  check(openContext(*made));
  check(createCompiler(*made));
  if (const char *log = std::getenv("FUSION_LOG"); log && std::strcmp(log, "groups") == 0)
    made->log = [](const std::string &line) { std::fprintf(stderr, "fusion: %s\n", line.c_str()); };
  core = made.release();
}

Session::~Session() {
  if (Error error = session::flush(*core); !error.empty())
    std::fprintf(stderr, "fusion: the session ends with an error: %s\n", error.c_str());
  for (const TaskArgument &argument : core->arguments) {
    --argument.store->waiting;
    ++core->numRecords;
    releaseStore(argument.store);
    --core->numRecords;
  }
  core->tasks.clear();
  core->arguments.clear();
  fusion_dist_end(core->context);
  core->context = nullptr;
  core->isClosed = true;
  if (core->numRecords == 0)
    delete core;
}

static int64_t checkShape(const std::vector<int64_t> &shape, ElementType type) {
  int64_t bytes = int64_t(getElementBytes(type));
  for (int64_t extent : shape) {
    if (extent < 0)
      throw SessionError("the extent " + std::to_string(extent) + " of a store is negative");
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw SessionError("a store of this shape has more bytes than can be counted");
  }
  return bytes;
}

Store Session::createStore(std::vector<int64_t> shape, ElementType type) {
  checkShape(shape, type);
  return Store(createRecord(*core, internClass(*core, std::move(shape), type)));
}

Store Session::createFilled(std::vector<int64_t> shape, ElementType type, double value) {
  Store store = createStore(std::move(shape), type);
  store.record->isFilled = true;
  store.record->fillBits = getBits(type, value);
  return store;
}

Store Session::createFrom(std::vector<int64_t> shape, ElementType type, const void *data) {
  Store store = createStore(std::move(shape), type);
  check(allocateStore(*core, *store.record, /*needsContent=*/false));
  std::memcpy(store.record->data, data, size_t(core->classes[store.record->storeClass].bytes));
  return store;
}

void Session::read(const Store &store, void *data) {
  checkStore(store.record);
  flush();
  StoreRecord &record = *store.record;
  if (!record.data)
    check(allocateStore(*core, record, /*needsContent=*/true));
  check(gatherStore(*core, record));
  std::memcpy(data, record.data, size_t(core->classes[record.storeClass].bytes));
}

double Session::readScalar(const Store &store) {
  if (!store.getShape().empty())
    throw SessionError("a scalar is read from a store of rank " + std::to_string(store.getShape().size()));
  union {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint8_t i1;
  } value;
  read(store, &value);
  switch (store.getElementType()) {
  case ElementType::F64:
    return value.f64;
  case ElementType::F32:
    return value.f32;
  case ElementType::I64:
    return double(value.i64);
  case ElementType::I32:
    return value.i32;
  case ElementType::Bool:
    return value.i1;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Partitions and domains
//===----------------------------------------------------------------------===//

Partition Session::getTiled(const std::vector<int64_t> &tile, const std::vector<int64_t> &offset,
                            const std::vector<int64_t> &extent, const std::vector<int64_t> &color) {
  if (offset.size() != tile.size() || extent.size() != tile.size() || color.size() != tile.size())
    throw SessionError("a tiling has a tile, an offset, an extent and a color for each dimension");
  for (size_t d = 0; d < tile.size(); ++d)
    if (tile[d] < 1 || offset[d] < 0 || extent[d] < 0)
      throw SessionError("a tiling has positive tiles, and offsets and extents that are not negative");
  PartitionRecord record;
  record.kind = tile.empty() ? PartitionRecord::Whole : PartitionRecord::Tiled;
  record.tile = tile;
  record.offset = offset;
  record.extent = extent;
  record.color = color;
  return {internPartition(*core, std::move(record))};
}

Partition Session::getImageOfPoints(unsigned argument) {
  PartitionRecord record;
  record.kind = PartitionRecord::ImageOfPoints;
  record.tile = {argument};
  return {internPartition(*core, std::move(record))};
}

Partition Session::getImageOfRange(unsigned begin, unsigned end) {
  PartitionRecord record;
  record.kind = PartitionRecord::ImageOfRange;
  record.tile = {begin, end};
  return {internPartition(*core, std::move(record))};
}

Domain Session::getDomain(const std::vector<int64_t> &extents) {
  for (int64_t extent : extents)
    if (extent < 1)
      throw SessionError("a domain has positive extents");
  return {internDomain(*core, extents, /*isScalar=*/false)};
}

Domain Session::getRowDomain() const { return core->rowDomain; }
int64_t Session::getPoints() const { return core->points; }

Partition Session::getRows(const std::vector<int64_t> &offset, const std::vector<int64_t> &extent, unsigned dim) {
  std::vector<int64_t> tile, color;
  for (size_t d = 0; d < extent.size(); ++d) {
    int64_t size = std::max<int64_t>(extent[d], 1);
    tile.push_back(d == dim ? (size + core->points - 1) / core->points : size);
    color.push_back(d == dim ? 0 : -1);
  }
  return getTiled(tile, offset, extent, color);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static TaskKind addKind(Core &core, KindRecord kind) {
  core.kinds.push_back(std::move(kind));
  return {uint32_t(core.kinds.size() - 1)};
}

TaskKind Session::registerTask(std::string name, std::vector<TaskPrivilege> privileges, std::string text, bool isFill) {
  return addKind(*core, {std::move(name), std::move(privileges), std::move(text), nullptr, nullptr, isFill});
}

TaskKind Session::registerGenerator(std::string name, std::vector<TaskPrivilege> privileges,
                                    std::function<std::string()> generator) {
  return addKind(*core, {std::move(name), std::move(privileges), "", std::move(generator), nullptr, false});
}

TaskKind Session::registerOpaque(std::string name, std::vector<TaskPrivilege> privileges, FusionTask function) {
  if (!function)
    throw SessionError("the opaque task '" + name + "' has no function");
  return addKind(*core, {std::move(name), std::move(privileges), "", nullptr, function, false});
}

void Session::launch(TaskKind kind, Domain domain, const StoreAccess *accesses, size_t count) {
  TaskArgument local[16];
  std::vector<TaskArgument> many;
  TaskArgument *arguments = local;
  if (count > 16) {
    many.resize(count);
    arguments = many.data();
  }
  for (size_t i = 0; i < count; ++i)
    arguments[i] = {accesses[i].store.record, accesses[i].partition.number};
  check(checkLaunch(*core, kind.number, domain.number, arguments, count));
  KindRecord &record = core->kinds[kind.number];
  if (record.text.empty() && record.generator)
    record.text = record.generator();
  core->tasks.push_back({kind.number, domain.number, uint32_t(core->arguments.size()), uint32_t(count)});
  for (size_t i = 0; i < count; ++i) {
    ++arguments[i].store->waiting;
    core->arguments.push_back(arguments[i]);
  }
  if (core->tasks.size() >= core->window)
    check(step(*core, /*isFull=*/true));
}

void Session::flush() { check(session::flush(*core)); }

//===----------------------------------------------------------------------===//
// What happened
//===----------------------------------------------------------------------===//

SessionStatistics Session::getStatistics() const {
  SessionStatistics statistics = core->statistics;
  statistics.window = core->window;
  return statistics;
}

void Session::resetPeak() { core->statistics.peakBytes = core->statistics.liveBytes; }
void Session::setLog(std::function<void(const std::string &)> log) { core->log = std::move(log); }
