//===- Reorder.cpp - Independent tasks move past what blocks a group ------===//
//
// Not in the paper, whose groups are prefixes. A group takes, of what follows, all that fits and depends on nothing
// that stays behind. Dependence is decided on partitions: different ones of a store conflict, unless the boxes that
// they tile lie apart.
//
//===----------------------------------------------------------------------===//

#include "Reorder.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

/// What operations that stay behind do with the stores.
class Skipped {
public:
  void add(AccessOpInterface op) {
    for (const Access &access : op.getAccesses())
      accesses[getRootStore(access.store)].push_back(access);
  }

  bool blocks(AccessOpInterface op) const {
    for (const Access &access : op.getAccesses()) {
      auto it = accesses.find(getRootStore(access.store));
      if (it == accesses.end())
        continue;
      for (const Access &other : it->second)
        if (conflict(access, other))
          return true;
    }
    return false;
  }

private:
  static bool conflict(const Access &a, const Access &b) {
    if (a.privilege == b.privilege && (a.privilege.reduces() || a.privilege.getKind() == PrivilegeKind::Read))
      return false;
    return a.store != b.store || !areApart(a.partition, b.partition);
  }

  llvm::DenseMap<Value, SmallVector<Access>> accesses;
};

class Reorderer {
public:
  Reorderer(const GroupOptions &options) : options(options) {}

  /// A better order of operations between which nothing else stands; the same if there is none.
  SmallVector<Operation *> reorder(ArrayRef<Operation *> segment) {
    SmallVector<Operation *> order;
    // Stores and host computations do not depend on tasks.
    SmallVector<Operation *> remaining;
    for (Operation *op : segment)
      (isa<AccessOpInterface>(op) ? remaining : order).push_back(op);
    while (!remaining.empty())
      remaining = takeGroup(remaining, order);
    return order;
  }

private:
  /// Operations that are looked at for one group: bounds the time.
  static constexpr size_t lookahead = 512;

  /// Appends a group to `order`, and returns what stays behind.
  SmallVector<Operation *> takeGroup(ArrayRef<Operation *> operations, SmallVectorImpl<Operation *> &order) {
    TaskStreamBuilder stream;
    tasks::PrefixChecker checker(options.checker);
    SmallVector<Operation *> behind, members;
    Skipped skipped;
    bool isAlone = false;
    for (auto [index, op] : llvm::enumerate(operations)) {
      auto access = cast<AccessOpInterface>(op);
      bool full = isAlone || index >= lookahead || (options.window != 0 && members.size() >= options.window);
      if (!full && !skipped.blocks(access)) {
        const tasks::Task &task = stream.get(access);
        if (isScalarFill(access) && llvm::none_of(task.arguments, [&](const tasks::Argument &argument) {
              return checker.touches(argument.store);
            })) {
          order.push_back(op);
          continue;
        }
        if (!checker.admit(task)) {
          members.push_back(op);
          continue;
        }
        if (index == 0) {
          isAlone = true;
          members.push_back(op);
          continue;
        }
      }
      skipped.add(access);
      behind.push_back(op);
    }
    order.append(members);
    return behind;
  }

  static bool isScalarFill(AccessOpInterface access) {
    auto fill = dyn_cast<FillOp>(access.getOperation());
    return fill && cast<StoreType>(fill.getStore().getType()).getRank() == 0;
  }

  const GroupOptions &options;
};

} // namespace

static unsigned countGroupsOf(ArrayRef<Operation *> operations, const GroupOptions &options) {
  TaskStreamBuilder stream;
  return countGroups(planGroups(operations, options, stream));
}

unsigned fusion::dist::reorderForFusion(Block &block, const GroupOptions &options) {
  unsigned saved = 0;
  SmallVector<Operation *> segment;
  auto finish = [&](Operation *end) {
    SmallVector<Operation *> order = Reorderer(options).reorder(segment);
    unsigned before = countGroupsOf(segment, options), after = countGroupsOf(order, options);
    if (after < before) {
      saved += before - after;
      for (Operation *op : order)
        op->moveBefore(&block, end ? Block::iterator(end) : block.end());
    }
    segment.clear();
  };
  SmallVector<Operation *> operations = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  for (Operation *op : operations) {
    bool isPassed = isa<AccessOpInterface, CreateOp, ViewOp>(op) ||
                    (op->getNumRegions() == 0 && isPure(op) && !op->hasTrait<OpTrait::IsTerminator>());
    if (isPassed)
      segment.push_back(op);
    else
      finish(op);
  }
  if (!segment.empty())
    finish(nullptr);
  return saved;
}
