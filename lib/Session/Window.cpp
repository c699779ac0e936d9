//===- Window.cpp - Which tasks run as one, and what is known of them ---------===//
//
// Two tables (2.2 of docs/rationale/session.md). The key of the first is the whole window, of the second the prefix that
// is fused with what is needed of it afterwards. Both name stores by their first occurrence and say *every* argument of
// every task: what differs in a repetition, a partition, a domain, a type, a literal (part of the kind) or in what is
// still needed is another key.
//
//===------------------------------------------------------------------------===//

#include "Core.h"

#include "fusion/Analysis/TaskStream.h"

#include <algorithm>

using namespace fusion;
using namespace fusion::session;

/// Numbers the stores of the window and writes its key.
static void writeKey(Core &core) {
  Key &key = core.key;
  key.clear();
  core.stores.clear();
  uint64_t stamp = ++core.stamp;
  for (const TaskRecord &task : core.tasks) {
    key.push_back(task.kind);
    key.push_back(task.domain);
    for (uint32_t i = task.begin; i < task.begin + task.count; ++i) {
      const TaskArgument &argument = core.arguments[i];
      StoreRecord &store = *argument.store;
      if (store.stamp != stamp) {
        store.stamp = stamp;
        store.index = uint32_t(core.stores.size());
        core.stores.push_back(&store);
      }
      key.push_back(store.index);
      key.push_back(argument.partition);
    }
  }
  for (const StoreRecord *store : core.stores)
    key.push_back(store->storeClass << 1 | (store->handles > 0));
}

//===----------------------------------------------------------------------===//
// Analysis of a window that was not seen before
//===----------------------------------------------------------------------===//

namespace {

/// The window as the checker sees it.
struct Stream {
  explicit Stream(const Core &core) : core(core) {
    arguments.reserve(core.arguments.size());
    for (const TaskRecord &task : core.tasks) {
      const KindRecord &kind = core.kinds[task.kind];
      tasks::Task seen;
      seen.domain = task.domain;
      seen.onePoint = core.domains[task.domain].isScalar;
      if (kind.function)
        seen.barrier = tasks::Constraint::Opaque;
      size_t first = arguments.size();
      for (uint32_t i = 0; i < task.count; ++i) {
        const TaskArgument &argument = core.arguments[task.begin + i];
        tasks::Argument converted;
        converted.store = argument.store->index;
        converted.partition = argument.partition;
        TaskPrivilege privilege = kind.privileges[i];
        converted.privilege = privilege >= TaskPrivilege::ReduceSum ? tasks::Privilege::Reduce
                                                                    : tasks::Privilege(unsigned(privilege));
        converted.reducer = uint8_t(privilege);
        converted.isScalar = core.classes[argument.store->storeClass].shape.empty();
        if (core.partitions[argument.partition].isImage() && !seen.barrier)
          seen.barrier = tasks::Constraint::Image;
        arguments.push_back(converted);
      }
      seen.arguments = llvm::ArrayRef(arguments.data() + first, task.count);
      members.push_back(seen);
    }
  }

  bool covers(const tasks::Task &task, const tasks::Argument &argument) const {
    return argument.privilege == tasks::Privilege::Write &&
           session::covers(core, core.stores[argument.store]->storeClass, argument.partition, task.domain);
  }

  const Core &core;
  std::vector<tasks::Argument> arguments;
  std::vector<tasks::Task> members;
};

} // namespace

/// Fills GroupRequest::stores and isNeeded for the first `length` tasks.
static GroupRequest makeRequest(const Core &core, const Stream &stream, unsigned length) {
  GroupRequest request;
  request.tasks = core.tasks.data();
  request.numTasks = length;
  request.arguments = core.arguments.data();
  request.stores = &core.stores;
  request.numStores = 0;
  const TaskRecord &last = core.tasks[length - 1];
  for (uint32_t i = 0; i < last.begin + last.count; ++i)
    request.numStores = std::max(request.numStores, core.arguments[i].store->index + 1);
  llvm::ArrayRef<tasks::Task> pending = llvm::ArrayRef(stream.members).drop_front(length);
  for (unsigned i = 0; i < request.numStores; ++i)
    request.isNeeded.push_back(
        core.stores[i]->handles > 0 ||
        tasks::isObservedBy(pending, i, [&](const tasks::Task &task, const tasks::Argument &argument) {
          return stream.covers(task, argument);
        }));
  return request;
}

static Key getPlanKey(const Core &core, const GroupRequest &request) {
  Key key;
  for (unsigned i = 0; i < request.numTasks; ++i) {
    const TaskRecord &task = request.tasks[i];
    key.insert(key.end(), {task.kind, task.domain});
    for (uint32_t j = task.begin; j < task.begin + task.count; ++j)
      key.insert(key.end(), {request.arguments[j].store->index, request.arguments[j].partition});
  }
  for (unsigned i = 0; i < request.numStores; ++i)
    key.push_back(core.stores[i]->storeClass << 1 | request.isNeeded[i]);
  return key;
}

static void logGroup(const Core &core, const GroupRequest &request, const Plan &plan,
                     const std::optional<tasks::Conflict> &conflict) {
  std::string line = "group of " + std::to_string(request.numTasks) + ":";
  for (unsigned i = 0; i < request.numTasks; ++i)
    line += " " + core.kinds[request.tasks[i].kind].name;
  line += "; " + std::to_string(plan.numEliminated) + " stores vanish";
  if (request.numTasks < core.tasks.size() && conflict) {
    line += "; ended by " + tasks::getName(conflict->constraint).str() + " at '" +
            core.kinds[core.tasks[request.numTasks].kind].name + "'";
    if (conflict->argument)
      line += ", argument " + std::to_string(*conflict->argument);
    if (conflict->member)
      line += ", against '" + core.kinds[core.tasks[*conflict->member].kind].name + "'";
  } else {
    line += "; ended by the end of the window";
  }
  core.log(line);
}

/// The plan of the first `length` tasks.
static Error findPlan(Core &core, const Stream &stream, unsigned length, const std::optional<tasks::Conflict> &conflict,
                      const Plan *&plan) {
  GroupRequest request = makeRequest(core, stream, length);
  Key key = getPlanKey(core, request);
  auto it = core.plans.find(key);
  if (it == core.plans.end()) {
    auto made = std::make_unique<Plan>();
    if (Error error = compileGroup(core, request, *made); !error.empty())
      return error;
    it = core.plans.emplace(std::move(key), std::move(made)).first;
    if (core.log)
      logGroup(core, request, *it->second, conflict);
  }
  plan = it->second.get();
  return {};
}

static Error analyse(Core &core, KnownWindow &known) {
  Stream stream(core);
  tasks::CheckerOptions options;
  options.promoteScalars = core.options.promoteScalars;
  std::optional<tasks::Conflict> conflict;
  unsigned length = core.options.fuse ? tasks::getFusiblePrefix(stream.members, options, &conflict) : 1;
  // A task that cannot be part of a group runs alone.
  length = std::max(length, 1u);
  Error error = findPlan(core, stream, length, conflict, known.plan);
  if (!error.empty() && length > 1) {
    if (core.log)
      core.log("a group of " + std::to_string(length) + " tasks is not fused: " + error);
    length = 1;
    error = findPlan(core, stream, length, std::nullopt, known.plan);
  }
  known.length = length;
  return error;
}

//===----------------------------------------------------------------------===//
// Running groups
//===----------------------------------------------------------------------===//

/// Takes the first tasks out of the window; their arguments are in `taken`.
static void takeTasks(Core &core, unsigned length, std::vector<TaskArgument> &taken) {
  uint32_t count = core.tasks[length - 1].begin + core.tasks[length - 1].count;
  taken.assign(core.arguments.begin(), core.arguments.begin() + count);
  core.arguments.erase(core.arguments.begin(), core.arguments.begin() + count);
  core.tasks.erase(core.tasks.begin(), core.tasks.begin() + length);
  for (TaskRecord &task : core.tasks)
    task.begin -= count;
}

Error fusion::session::step(Core &core, bool isFull) {
  writeKey(core);
  KnownWindow known = {0, nullptr};
  Error error;
  auto it = core.windows.find(core.key);
  if (it != core.windows.end()) {
    known = it->second;
    ++core.statistics.cacheHits;
  } else {
    ++core.statistics.cacheMisses;
    error = analyse(core, known);
    if (error.empty())
      core.windows.emplace(core.key, known);
  }
  bool isWhole = known.length == core.tasks.size();
  std::vector<TaskArgument> taken = std::move(core.taken);
  takeTasks(core, known.length, taken);
  if (error.empty())
    error = runPlan(core, *known.plan, taken.data());
  for (const TaskArgument &argument : taken) {
    --argument.store->waiting;
    releaseStore(argument.store);
  }
  core.taken = std::move(taken);
  // Everything in a full window was fused: a larger one may find more.
  if (isFull && isWhole && known.length > 1) {
    core.window += core.options.windowStep;
    if (core.options.windowCap)
      core.window = std::min(core.window, core.options.windowCap);
  }
  return error;
}

Error fusion::session::flush(Core &core) {
  while (!core.tasks.empty())
    if (Error error = step(core, /*isFull=*/false); !error.empty())
      return error;
  return {};
}
