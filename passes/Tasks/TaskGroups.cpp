//===- TaskGroups.cpp - Which operations of a block run as one task -------===//

#include "TaskGroups.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;
using tasks::Constraint;

unsigned TaskGroup::getNumTasks() const {
  return llvm::count_if(members, [](Operation *member) { return isa<LaunchOp>(member); });
}

unsigned fusion::dist::countGroups(ArrayRef<TaskGroup> groups) {
  return llvm::count_if(groups, [](const TaskGroup &group) { return group.getNumTasks() > 0; });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

uint32_t TaskStreamBuilder::getNumber(Value store) {
  Value root = getRootStore(store);
  auto [it, isNew] = storeNumbers.try_emplace(root, stores.size());
  if (isNew)
    stores.push_back(root);
  return it->second;
}

static tasks::Privilege convert(PrivilegeKind kind) {
  switch (kind) {
  case PrivilegeKind::Read:
    return tasks::Privilege::Read;
  case PrivilegeKind::Write:
    return tasks::Privilege::Write;
  case PrivilegeKind::ReadWrite:
    return tasks::Privilege::ReadWrite;
  case PrivilegeKind::Reduce:
    return tasks::Privilege::Reduce;
  }
  llvm_unreachable("all privileges are known");
}

const tasks::Task &TaskStreamBuilder::get(AccessOpInterface op) {
  auto [it, isNew] = known.try_emplace(op.getOperation());
  tasks::Task &task = it->second;
  if (!isNew)
    return task;
  auto number = [&](Attribute attr) {
    return attributeNumbers.try_emplace(attr, attributeNumbers.size()).first->second;
  };
  task.domain = number(DenseI64ArrayAttr::get(op->getContext(), op.getLaunchDomain()));
  task.onePoint = getNumPoints(op.getLaunchDomain()) == 1;
  SmallVector<tasks::Argument> &list = arguments.emplace_back();
  for (const Access &access : op.getAccesses()) {
    // What is left of views serves images.
    if (isa<ImageAttr>(access.partition) || getRootStore(access.store) != access.store)
      task.barrier = Constraint::Image;
    list.push_back({getNumber(access.store), number(access.partition), convert(access.privilege.getKind()),
                    uint8_t(access.privilege.getReducer()), cast<StoreType>(access.store.getType()).getRank() == 0});
  }
  if (auto launch = dyn_cast<LaunchOp>(op.getOperation())) {
    auto called = symbols.lookupNearestSymbolFrom<TaskOp>(launch, launch.getTaskAttr());
    if (!called || called.isOpaque())
      task.barrier = Constraint::Opaque;
  }
  task.arguments = list;
  return task;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

class Planner {
public:
  Planner(const GroupOptions &options, TaskStreamBuilder &stream)
      : options(options), stream(stream), checker(options.checker) {}

  void add(Operation *op) {
    if (isa<CreateOp, FromTensorOp, ViewOp>(op))
      return;
    if (auto access = dyn_cast<AccessOpInterface>(op))
      return isa<LaunchOp>(op) ? addTask(access) : addFillOrCopy(access);
    if (auto read = dyn_cast<ToTensorOp>(op)) {
      // What the group has not changed may as well be read before it.
      uint32_t store = stream.getNumber(read.getStore());
      if (checker.changes(store) || deferredWrites.contains(store))
        stop({Constraint::HostRead, op, nullptr, read.getStore()});
      return;
    }
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      stop({Constraint::ControlFlow, op, nullptr, {}});
  }

  std::vector<TaskGroup> finish() {
    while (!current.members.empty())
      end(std::nullopt);
    return std::move(groups);
  }

private:
  /// The group is complete. What was deferred starts the next one.
  void end(std::optional<Boundary> boundary) {
    SmallVector<Operation *> late = current.deferred;
    current.end = std::move(boundary);
    groups.push_back(std::move(current));
    current = {};
    checker.reset();
    deferredWrites.clear();
    deferredReads.clear();
    for (Operation *op : late)
      addFillOrCopy(cast<AccessOpInterface>(op));
  }

  /// Nothing so far can be after this, or be deferred further.
  void stop(const Boundary &boundary) {
    while (!current.members.empty())
      end(boundary);
  }

  /// Why `access` cannot be the next member; none if it has become it.
  std::optional<Boundary> admit(AccessOpInterface access) {
    const tasks::Task &task = stream.get(access);
    if (options.window != 0 && current.members.size() >= options.window)
      return Boundary{Constraint::Window, access, nullptr, {}};
    if (!canPassDeferred(task))
      return Boundary{Constraint::ScalarReuse, access, current.deferred.front(), {}};
    std::optional<tasks::Conflict> conflict = checker.admit(task);
    if (!conflict) {
      current.members.push_back(access);
      return std::nullopt;
    }
    Boundary boundary{conflict->constraint, access, nullptr, {}};
    if (conflict->member)
      boundary.with = current.members[*conflict->member];
    if (conflict->argument)
      boundary.store = stream.getStore(task.arguments[*conflict->argument].store);
    return boundary;
  }

  void addTask(AccessOpInterface access) {
    while (std::optional<Boundary> boundary = admit(access)) {
      if (!current.members.empty()) {
        end(*boundary);
        continue;
      }
      // It runs by itself.
      current.members.push_back(access);
      return end(*boundary);
    }
  }

  /// Whether the operation can run before what is deferred.
  bool canPassDeferred(const tasks::Task &task) const {
    return llvm::none_of(task.arguments, [&](const tasks::Argument &argument) {
      return deferredWrites.contains(argument.store) ||
             (argument.privilege != tasks::Privilege::Read && deferredReads.contains(argument.store));
    });
  }

  /// Whether the operation can as well run before the group.
  bool isIndependent(const tasks::Task &task) const {
    return canPassDeferred(task) && llvm::all_of(task.arguments, [&](const tasks::Argument &argument) {
             return argument.privilege == tasks::Privilege::Read ? !checker.changes(argument.store)
                                                                 : !checker.touches(argument.store);
           });
  }

  bool isFusible(AccessOpInterface access) const {
    auto fill = dyn_cast<FillOp>(access.getOperation());
    if (!fill)
      return true;
    if (!matchPattern(fill.getValue(), m_Constant()) || options.fills == FusibleFills::None)
      return false;
    auto shape = cast<StoreType>(fill.getStore().getType()).getShape();
    return shape.empty() || options.fills == FusibleFills::All || !fill.getPartition().covers(shape, fill.getDomain());
  }

  /// Those of scalars serve the next reduction or the next step: they end no group.
  void addFillOrCopy(AccessOpInterface access) {
    const tasks::Task &task = stream.get(access);
    bool ofScalars = llvm::all_of(task.arguments, [](const tasks::Argument &argument) { return argument.isScalar; });
    if (ofScalars && isa<FillOp>(access) && isIndependent(task))
      return;
    std::optional<Boundary> boundary = Boundary{Constraint::Fill, access, nullptr, {}};
    // What the group has read, it may not write once it has several points.
    bool reuses = ofScalars && llvm::any_of(task.arguments, [&](const tasks::Argument &argument) {
                    return argument.privilege != tasks::Privilege::Read && checker.touches(argument.store) &&
                           !checker.changes(argument.store);
                  });
    if (!reuses && isFusible(access) && !(boundary = admit(access)))
      return;
    if (current.members.empty() || (ofScalars && isIndependent(task)))
      return;
    if (!ofScalars) {
      end(*boundary);
      return addFillOrCopy(access);
    }
    current.deferred.push_back(access);
    for (const tasks::Argument &argument : task.arguments)
      (argument.privilege == tasks::Privilege::Read ? deferredReads : deferredWrites).insert(argument.store);
  }

  const GroupOptions &options;
  TaskStreamBuilder &stream;
  tasks::PrefixChecker checker;
  TaskGroup current;
  /// Of the deferred operations.
  llvm::DenseSet<uint32_t> deferredReads, deferredWrites;
  std::vector<TaskGroup> groups;
};

} // namespace

std::vector<TaskGroup> fusion::dist::planGroups(ArrayRef<Operation *> operations, const GroupOptions &options,
                                                TaskStreamBuilder &stream) {
  Planner planner(options, stream);
  for (Operation *op : operations)
    planner.add(op);
  return planner.finish();
}
