//===- Records.cpp - Interned shapes, partitions and domains ------------------===//

#include "Core.h"

#include <algorithm>

using namespace fusion;
using namespace fusion::session;

size_t KeyHash::operator()(const Key &key) const {
  uint64_t hash = 0x9e3779b97f4a7c15 ^ key.size();
  for (uint32_t word : key) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return size_t(hash);
}

static void append(std::string &key, const std::vector<int64_t> &values) {
  for (int64_t value : values)
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  key.push_back('|');
}

uint32_t fusion::session::internClass(Core &core, std::vector<int64_t> shape, ElementType type) {
  std::string key(1, char(type));
  append(key, shape);
  auto [it, isNew] = core.classNumbers.try_emplace(std::move(key), uint32_t(core.classes.size()));
  if (isNew) {
    StoreClass result;
    result.shape = std::move(shape);
    result.type = type;
    for (int64_t extent : result.shape)
      result.elements *= extent;
    result.bytes = result.elements * int64_t(getElementBytes(type));
    result.slot = takeSlot(core);
    core.classes.push_back(std::move(result));
  }
  return it->second;
}

uint32_t fusion::session::internPartition(Core &core, PartitionRecord partition) {
  std::string key(1, char(partition.kind));
  append(key, partition.tile);
  append(key, partition.offset);
  append(key, partition.extent);
  append(key, partition.color);
  auto [it, isNew] = core.partitionNumbers.try_emplace(std::move(key), uint32_t(core.partitions.size()));
  if (isNew) {
    partition.words = {partition.kind == PartitionRecord::Tiled ? 1 : 0};
    if (partition.kind == PartitionRecord::ImageOfPoints)
      partition.words = {2, FUSION_DIST_POINTS, partition.tile[0], -1};
    if (partition.kind == PartitionRecord::ImageOfRange)
      partition.words = {2, FUSION_DIST_RANGE, partition.tile[0], partition.tile[1]};
    if (partition.kind == PartitionRecord::Tiled)
      for (size_t d = 0; d < partition.tile.size(); ++d)
        for (int64_t word : {partition.tile[d], partition.offset[d], partition.extent[d], partition.color[d]})
          partition.words.push_back(word);
    core.partitions.push_back(std::move(partition));
  }
  return it->second;
}

uint32_t fusion::session::internDomain(Core &core, std::vector<int64_t> extents, bool isScalar) {
  std::string key(1, char(isScalar));
  append(key, extents);
  auto [it, isNew] = core.domainNumbers.try_emplace(std::move(key), uint32_t(core.domains.size()));
  if (isNew) {
    DomainRecord domain;
    domain.isScalar = isScalar;
    for (int64_t extent : extents)
      domain.points *= extent;
    domain.extents = std::move(extents);
    core.domains.push_back(std::move(domain));
  }
  return it->second;
}

/// Tiles along a dimension.
static int64_t getColors(const PartitionRecord &partition, size_t dim) {
  return (partition.extent[dim] + partition.tile[dim] - 1) / partition.tile[dim];
}

bool fusion::session::covers(const Core &core, uint32_t storeClass, uint32_t partition, uint32_t domain) {
  const PartitionRecord &record = core.partitions[partition];
  const StoreClass &store = core.classes[storeClass];
  if (record.kind == PartitionRecord::Whole)
    return true;
  if (record.isImage() || record.extent != store.shape)
    return false;
  std::vector<bool> isUsed(core.domains[domain].extents.size());
  for (size_t d = 0; d < record.tile.size(); ++d) {
    int64_t color = record.color[d], colors = getColors(record, d);
    if (color < 0 && (color != -1 || colors > 1))
      return false;
    // A dimension of the domain that stands for two covers a diagonal only.
    if (color >= 0 && (core.domains[domain].extents[size_t(color)] < colors || (isUsed[size_t(color)] && colors > 1)))
      return false;
    if (color >= 0)
      isUsed[size_t(color)] = true;
  }
  return true;
}

bool fusion::session::isDisjoint(const Core &core, uint32_t storeClass, uint32_t partition, uint32_t domain) {
  const PartitionRecord &record = core.partitions[partition];
  const DomainRecord &points = core.domains[domain];
  if (points.points <= 1)
    return true;
  if (record.kind != PartitionRecord::Tiled)
    return core.classes[storeClass].shape.empty() && points.isScalar;
  for (size_t d = 0; d < points.extents.size(); ++d)
    if (points.extents[d] > 1 && std::find(record.color.begin(), record.color.end(), int64_t(d)) == record.color.end())
      return false;
  return true;
}

int64_t fusion::session::countElements(const Core &core, uint32_t storeClass, uint32_t partition) {
  const PartitionRecord &record = core.partitions[partition];
  if (record.kind != PartitionRecord::Tiled)
    return core.classes[storeClass].elements;
  int64_t count = 1;
  for (int64_t extent : record.extent)
    count *= extent;
  return count;
}

/// Whether the boxes of two tilings of one store have no common element.
static bool lieApart(const PartitionRecord &a, const PartitionRecord &b) {
  if (a.kind != PartitionRecord::Tiled || b.kind != PartitionRecord::Tiled)
    return false;
  for (size_t d = 0; d < a.tile.size(); ++d)
    if (a.offset[d] + a.extent[d] <= b.offset[d] || b.offset[d] + b.extent[d] <= a.offset[d])
      return true;
  return false;
}

Error fusion::session::checkLaunch(const Core &core, uint32_t kind, uint32_t domain, const TaskArgument *arguments,
                                   size_t count) {
  if (kind >= core.kinds.size())
    return "the task was not registered in this session";
  const KindRecord &task = core.kinds[kind];
  auto fail = [&](size_t argument, const char *text) {
    return "argument " + std::to_string(argument) + " of task '" + task.name + "' " + text;
  };
  if (domain >= core.domains.size())
    return "the domain of task '" + task.name + "' is not one of this session";
  if (count != task.privileges.size())
    return "task '" + task.name + "' has " + std::to_string(task.privileges.size()) + " arguments, " +
           std::to_string(count) + " were given";
  for (size_t i = 0; i < count; ++i) {
    const TaskArgument &argument = arguments[i];
    if (!argument.store || argument.store->core != &core)
      return fail(i, "is not a store of this session");
    if (argument.partition >= core.partitions.size())
      return fail(i, "has a partition that is not one of this session");
    const StoreClass &store = core.classes[argument.store->storeClass];
    const PartitionRecord &partition = core.partitions[argument.partition];
    if (partition.kind == PartitionRecord::Tiled) {
      if (partition.tile.size() != store.shape.size())
        return fail(i, "has a partition of another rank than the store");
      for (size_t d = 0; d < partition.tile.size(); ++d) {
        if (partition.offset[d] + partition.extent[d] > store.shape[d])
          return fail(i, "has a partition that reaches beyond the store");
        if (partition.color[d] >= int64_t(core.domains[domain].extents.size()))
          return fail(i, "has a partition for a domain of more dimensions");
      }
    }
    if (core.domains[domain].isScalar && !store.shape.empty())
      return fail(i, "is no scalar, but the domain is that of scalar tasks");
    bool changes = task.privileges[i] != TaskPrivilege::Read;
    if (changes && partition.isImage())
      return fail(i, "is changed through an image");
    if ((task.privileges[i] == TaskPrivilege::Write || task.privileges[i] == TaskPrivilege::ReadWrite) &&
        !isDisjoint(core, argument.store->storeClass, argument.partition, domain))
      return fail(i, "is written through a partition whose parts are not disjoint over the domain");
    for (size_t j = 0; j < i; ++j)
      if (arguments[j].store == argument.store && (changes || task.privileges[j] != TaskPrivilege::Read) &&
          !lieApart(partition, core.partitions[arguments[j].partition]))
        return fail(i, "overlaps another argument, and one of the two is written");
  }
  return {};
}
