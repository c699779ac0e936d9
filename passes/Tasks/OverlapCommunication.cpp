//===- OverlapCommunication.cpp - Exchanges start early ---------------------===//
//
// Until an exchange is waited for, what it sends may not be written and what it brings may not be read. Both are parts
// of one store, and so the operations of the block that touch the store are where an exchange can start and where it
// must have ended.
//
//===------------------------------------------------------------------------===//

#include "fusion/Dist/Dist.h"
#include "fusion/Tasks/Passes.h"

namespace fusion {
#define GEN_PASS_DEF_DISTOVERLAPCOMMUNICATION
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

/// Whether an operation, or one inside of it, touches a store. With `readsCount` off only if the store may change.
static bool touches(Operation &op, Value store, bool readsCount) {
  auto touchesItself = [&](Operation *inner) {
    if (auto access = dyn_cast<AccessOpInterface>(inner))
      return llvm::any_of(access.getAccesses(), [&](const Access &argument) {
        bool matters = readsCount || argument.privilege.getKind() != PrivilegeKind::Read;
        return matters && getRootStore(argument.store) == store;
      });
    if (auto wait = dyn_cast<ExchangeWaitOp>(inner)) {
      auto start = wait.getToken().getDefiningOp<ExchangeStartOp>();
      // Whose exchange it is cannot be seen where the token comes from elsewhere.
      return !start || start.getStore() == store;
    }
    if (isa<ExchangeOp, ExchangeStartOp, AllReduceOp>(inner) && inner->getOperand(0) == store)
      return true;
    // An exchange reads the stores that are given to it; so does the host program what it asks for.
    if (isa<ExchangeOp, ExchangeStartOp, ToTensorOp>(inner))
      return readsCount && llvm::any_of(inner->getOperands(), [&](Value operand) {
               return isa<StoreType>(operand.getType()) && getRootStore(operand) == store;
             });
    return false;
  };
  return op
      .walk([&](Operation *inner) { return touchesItself(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether an exchange can be under way while `op` runs.
static bool isIndependent(ExchangeOp exchange, Operation &op) {
  if (llvm::is_contained(op.getResults(), exchange.getStore()) || touches(op, exchange.getStore(), /*readsCount=*/true))
    return false;
  return llvm::none_of(exchange.getGiven(), [&](Value given) {
    return llvm::is_contained(op.getResults(), given) || touches(op, given, /*readsCount=*/false);
  });
}

/// Whether it is worth something to have an exchange under way during `op`.
static bool isWork(Operation &op) {
  return op.getNumRegions() > 0 || isa<AccessOpInterface, ExchangeOp, ExchangeStartOp, AllReduceOp>(op);
}

static bool overlap(ExchangeOp exchange) {
  Operation *start = exchange, *wait = exchange->getNextNode();
  bool meanwhile = false;
  while (Operation *before = start->getPrevNode()) {
    if (!isIndependent(exchange, *before))
      break;
    meanwhile |= isWork(*before);
    start = before;
  }
  while (!wait->hasTrait<OpTrait::IsTerminator>() && isIndependent(exchange, *wait)) {
    meanwhile |= isWork(*wait);
    wait = wait->getNextNode();
  }
  if (!meanwhile)
    return false;
  OpBuilder builder(start);
  Value token = ExchangeStartOp::create(builder, exchange.getLoc(), TokenType::get(exchange.getContext()),
                                        exchange.getStore(), exchange.getSources(), exchange.getTargets(),
                                        exchange.getGiven(), exchange.getGivenPartitions());
  builder.setInsertionPoint(wait);
  ExchangeWaitOp::create(builder, exchange.getLoc(), token);
  exchange.erase();
  return true;
}

namespace {

class OverlapCommunication : public fusion::impl::DistOverlapCommunicationBase<OverlapCommunication> {
public:
  void runOnOperation() override {
    SmallVector<ExchangeOp> exchanges;
    getOperation().walk([&](ExchangeOp exchange) { exchanges.push_back(exchange); });
    for (ExchangeOp exchange : exchanges)
      numOverlapped += overlap(exchange);
  }
};

} // namespace
