//===- StoreLiveness.cpp - Whether the content of a store is still needed -===//

#include "StoreLiveness.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace fusion::dist;

namespace {

enum class Fate { Read, Overwritten, Untouched };

/// What a launch touches of a store.
struct Part {
  Value store;
  PartitionInterface partition;
  ArrayRef<int64_t> domain;
  bool operator==(const Part &other) const {
    return store == other.store && partition == other.partition && domain == other.domain;
  }
};

class Liveness {
public:
  explicit Liveness(Value store) : store(store) { addUsers(store); }

  bool isLiveAfter(Operation *op) {
    while (true) {
      Block *block = op->getBlock();
      Fate fate = follow(*block, op);
      if (fate != Fate::Untouched)
        return fate == Fate::Read;
      if (!block->getParent()->hasOneBlock())
        return hasUserElsewhere(block);
      // A store that is made here is another one in the next iteration.
      if (store.getParentBlock() == block)
        return false;
      Operation *parent = block->getParentOp();
      if (!parent)
        return false;
      if (!isa<scf::IfOp>(parent)) {
        bool isSimpleLoop = isa<scf::ForOp>(parent);
        if (isSimpleLoop ? follow(*block, nullptr) == Fate::Read : touches(parent))
          return true;
      }
      op = parent;
    }
  }

private:
  void addUsers(Value value) {
    for (Operation *user : value.getUsers()) {
      users.push_back(user);
      if (auto view = dyn_cast<ViewOp>(user))
        addUsers(view.getView());
    }
  }

  /// Whether something in `op` reads the store, wherever.
  bool touches(Operation *op) const {
    return llvm::any_of(
        users, [&](Operation *user) { return op->isProperAncestor(user) && getFateOfUser(user) == Fate::Read; });
  }

  bool hasUserElsewhere(Block *block) const {
    return llvm::any_of(users, [&](Operation *user) {
      return !block->findAncestorOpInBlock(*user) && getFateOfUser(user) == Fate::Read;
    });
  }

  /// What becomes of the store from `after`, or else the start, to the end of the block.
  Fate follow(Block &block, Operation *after) const {
    SmallVector<Operation *> operations;
    for (Operation *user : users) {
      Operation *op = block.findAncestorOpInBlock(*user);
      if (op && (!after || after->isBeforeInBlock(op)))
        operations.push_back(op);
    }
    llvm::sort(operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    operations.erase(llvm::unique(operations), operations.end());
    SmallVector<Part> written;
    for (Operation *op : operations) {
      Fate fate = op->getNumRegions() == 0 ? getFateOfUser(op, &written) : getFateInside(op);
      if (fate != Fate::Untouched)
        return fate;
    }
    return Fate::Untouched;
  }

  /// Reading exactly what has been written since is not reading the old content: `written` are such parts.
  Fate getFateOfUser(Operation *user, SmallVectorImpl<Part> *written = nullptr) const {
    if (isa<ViewOp>(user))
      return Fate::Untouched;
    auto access = dyn_cast<AccessOpInterface>(user);
    if (!access)
      return Fate::Read;
    SmallVector<Part> writes;
    bool isOverwritten = false;
    for (const Access &argument : access.getAccesses()) {
      if (getRootStore(argument.store) != store)
        continue;
      Part part = {argument.store, argument.partition, access.getLaunchDomain()};
      bool isKnown = written && llvm::is_contained(*written, part) && !isa<ImageAttr>(argument.partition);
      if (argument.privilege.getKind() != PrivilegeKind::Write) {
        if (!isKnown)
          return Fate::Read;
        continue;
      }
      writes.push_back(part);
      isOverwritten |= argument.store == store &&
                       argument.partition.covers(cast<StoreType>(store.getType()).getShape(), access.getLaunchDomain());
    }
    if (written)
      written->append(writes);
    return isOverwritten ? Fate::Overwritten : Fate::Untouched;
  }

  Fate getFateInside(Operation *op) const {
    auto ifOp = dyn_cast<scf::IfOp>(op);
    if (!ifOp && !isa<scf::ForOp>(op))
      return touches(op) ? Fate::Read : Fate::Untouched;
    bool allOverwrite = ifOp && !ifOp.getElseRegion().empty();
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      Fate fate = follow(region.front(), nullptr);
      if (fate == Fate::Read)
        return fate;
      allOverwrite &= fate == Fate::Overwritten;
    }
    // A loop may have no iteration.
    return allOverwrite ? Fate::Overwritten : Fate::Untouched;
  }

  Value store;
  SmallVector<Operation *> users;
};

} // namespace

bool fusion::dist::isLiveAfter(Operation *op, Value store) { return Liveness(getRootStore(store)).isLiveAfter(op); }
