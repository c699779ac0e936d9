//===- RotateLoops.cpp - The end of an iteration meets the next -----------===//

#include "FuseOptions.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fusion {
#define GEN_PASS_DEF_DISTROTATELOOPS
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

/// One loop `A; B` that becomes `A; (B; A)...; B`.
class Rotation {
public:
  Rotation(scf::ForOp loop, const GroupOptions &options) : loop(loop), options(options) {}

  /// The number of operations of A that saves most groups; none if no rotation saves any.
  std::optional<size_t> plan() {
    if (loop.getNumResults() != 0 || loop.getUnsignedCmp())
      return std::nullopt;
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (trips && trips->ult(2))
      return std::nullopt;
    for (Operation &op : loop.getBody()->without_terminator())
      body.push_back(&op);
    TaskStreamBuilder stream;
    std::vector<TaskGroup> groups = planGroups(body, options, stream);
    unsigned fewest = countGroups(groups);
    if (fewest < 2)
      return std::nullopt;
    // Where A may end: after one of the first groups, or after all that can join the last group.
    SmallVector<Operation *> ends;
    for (const TaskGroup &group : ArrayRef(groups).take_front(maxGroups))
      ends.push_back(group.members.back());
    SmallVector<Operation *> joined = groups.back().members;
    size_t numLast = joined.size();
    joined.append(body);
    std::vector<TaskGroup> afterLast = planGroups(joined, options, stream);
    if (afterLast.front().members.size() > numLast)
      ends.push_back(afterLast.front().members.back());
    std::optional<size_t> best;
    for (Operation *end : ends) {
      size_t length = llvm::find(body, end) - body.begin() + 1;
      if (length == body.size() || !llvm::all_of(ArrayRef(body).take_front(length), canRotate))
        continue;
      SmallVector<Operation *> rotated(ArrayRef(body).drop_front(length));
      rotated.append(body.begin(), body.begin() + length);
      unsigned number = countGroups(planGroups(rotated, options, stream));
      if (number < fewest) {
        fewest = number;
        best = length;
      }
    }
    return best;
  }

  void apply(size_t length) {
    hoist();
    // Only what was not hoisted is left of A.
    llvm::SmallSetVector<Operation *, 16> first;
    for (Operation *op : ArrayRef(body).take_front(length))
      if (op->getBlock() == loop.getBody())
        first.insert(op);
    duplicatePureOps(first);
    SmallVector<Operation *> second;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!first.contains(&op))
        second.push_back(&op);

    Location loc = loop.getLoc();
    OpBuilder builder(loop);
    if (!loop.getStaticTripCount()) {
      Value runs =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
      auto guard = scf::IfOp::create(builder, loc, runs, /*withElseRegion=*/false);
      loop->moveBefore(guard.thenBlock()->getTerminator());
      builder.setInsertionPoint(loop);
    }
    clone(builder, first.getArrayRef(), [&] { return loop.getLowerBound(); });
    builder.setInsertionPointAfter(loop);
    clone(builder, second, [&] { return getLast(builder); });

    // One iteration less. Its A is that of the next.
    builder.setInsertionPoint(loop);
    Value upper = arith::SubIOp::create(builder, loc, loop.getUpperBound(), loop.getStep());
    loop.setUpperBound(upper);
    Operation *terminator = loop.getBody()->getTerminator();
    builder.setInsertionPoint(terminator);
    Value next;
    for (Operation *op : first) {
      op->moveBefore(terminator);
      for (OpOperand &operand : op->getOpOperands()) {
        if (operand.get() != loop.getInductionVar())
          continue;
        if (!next) {
          builder.setInsertionPoint(op);
          next = arith::AddIOp::create(builder, loc, loop.getInductionVar(), loop.getStep());
        }
        operand.set(next);
      }
    }
  }

private:
  /// More groups at the start of an iteration than this are not tried.
  static constexpr size_t maxGroups = 8;

  static bool canRotate(Operation *op) {
    return op->getNumRegions() == 0 && (isa<AccessOpInterface, CreateOp>(op) || isPure(op));
  }

  /// What is the same in all iterations, and stores: a new one in each iteration has no content from before.
  void hoist() {
    for (Operation *op : body) {
      bool invariant =
          llvm::all_of(op->getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); });
      if (isa<CreateOp>(op) || (invariant && op->getNumRegions() == 0 && isPure(op)))
        op->moveBefore(loop);
    }
  }

  /// What B uses of A, it computes itself.
  void duplicatePureOps(const llvm::SmallSetVector<Operation *, 16> &first) {
    Operation *lastOfFirst = nullptr;
    for (Operation *op : first)
      lastOfFirst = op;
    if (!lastOfFirst)
      return;
    OpBuilder builder(lastOfFirst->getContext());
    builder.setInsertionPointAfter(lastOfFirst);
    IRMapping mapping;
    for (Operation *op : first) {
      if (op->getNumResults() == 0)
        continue;
      Operation *copy = builder.clone(*op, mapping);
      for (auto [result, other] : llvm::zip(op->getResults(), copy->getResults()))
        result.replaceUsesWithIf(other, [&](OpOperand &use) {
          Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
          return user && user != copy && !first.contains(user) && copy->isBeforeInBlock(user);
        });
    }
  }

  /// Clones operations of the loop's body for one value of the induction variable, which is made if it is used.
  void clone(OpBuilder &builder, ArrayRef<Operation *> operations, llvm::function_ref<Value()> makeVariable) {
    IRMapping mapping;
    bool usesVariable = llvm::any_of(loop.getInductionVar().getUsers(), [&](Operation *user) {
      return llvm::is_contained(operations, loop.getBody()->findAncestorOpInBlock(*user));
    });
    if (usesVariable)
      mapping.map(loop.getInductionVar(), makeVariable());
    for (Operation *op : operations)
      builder.clone(*op, mapping);
  }

  /// The induction variable of the last iteration, of at least one.
  Value getLast(OpBuilder &builder) {
    Location loc = loop.getLoc();
    Value span = arith::SubIOp::create(builder, loc, loop.getUpperBound(), loop.getLowerBound());
    Value trips = arith::CeilDivSIOp::create(builder, loc, span, loop.getStep());
    Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(trips.getType(), 1));
    Value steps = arith::SubIOp::create(builder, loc, trips, one);
    Value distance = arith::MulIOp::create(builder, loc, steps, loop.getStep());
    return arith::AddIOp::create(builder, loc, loop.getLowerBound(), distance);
  }

  scf::ForOp loop;
  const GroupOptions &options;
  SmallVector<Operation *> body;
};

class RotateLoops : public fusion::impl::DistRotateLoopsBase<RotateLoops> {
public:
  using DistRotateLoopsBase::DistRotateLoopsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<GroupOptions> options = getGroupOptions(module, fills, window, promoteScalars);
    if (!options || failed(moveViewsToRoots(module)))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    module.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Rotation rotation(loop, *options);
      if (std::optional<size_t> length = rotation.plan()) {
        rotation.apply(*length);
        ++numRotated;
      }
    }
  }
};

} // namespace
