//===- Postpone.cpp - Broadcast postposition -------------------------------===//
//
// SpaceFusion, section 4.2.
//
//===------------------------------------------------------------------------===//

#include "fusion/Spaces/Postpone.h"
#include "SpaceExpr.h"

#include "fusion/Algebra/Separability.h"
#include "fusion/Spaces/Passes.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPPOSTPONEBROADCAST
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion::spacemap;
namespace algebra = fusion::algebra;
using fusion::algebra::Expr;
using fusion::algebra::ExprContext;
using fusion::algebra::Role;

namespace {

/// Which spaces depend on a reduction over some of the given dimensions.
class EarlierReductions {
public:
  explicit EarlierReductions(ArrayRef<StringAttr> dims) : dims(dims) {}

  bool reach(Value space) {
    if (auto it = known.find(space); it != known.end())
      return it->second;
    bool result = false;
    if (Operation *op = space.getDefiningOp()) {
      if (auto reduction = dyn_cast<AllToOneOp>(op))
        result =
            llvm::any_of(getNames(reduction.getAlong()), [&](StringAttr dim) { return llvm::is_contained(dims, dim); });
      for (Value operand : op->getOperands())
        result = result || (isa<SpaceType>(operand.getType()) && reach(operand));
    }
    known[space] = result;
    return result;
  }
  bool hasDims(Value space) {
    return llvm::any_of(getDims(space), [&](StringAttr dim) { return llvm::is_contained(dims, dim); });
  }

private:
  ArrayRef<StringAttr> dims;
  llvm::DenseMap<Value, bool> known;
};

} // namespace

/// Rewrites one reduction. Returns whether it did.
static bool postponeReduction(GraphOp graph, AllToOneOp reduction) {
  SmallVector<StringAttr> along = getNames(reduction.getAlong());
  EarlierReductions earlier(along);
  if (!earlier.reach(reduction.getSource()))
    return false;
  // Nothing reduced is 0; nothing reduced divided by 0 is not.
  if (llvm::any_of(along, [&](StringAttr dim) { return graph.getStaticExtent(dim) == 0; }))
    return false;

  ExprContext context(graph.getContext());
  SpaceExprs exprs(context);
  auto classify = [&](Value space) -> std::optional<Role> {
    bool hasDims = earlier.hasDims(space);
    if (!earlier.reach(space))
      return hasDims ? Role::Varying : Role::Parameter;
    if (isa_and_nonnull<MapOp, OneToAllOp>(space.getDefiningOp()))
      return std::nullopt;
    // What is not a scalar function of earlier reductions is an element like any other.
    return hasDims ? Role::Varying : Role::State;
  };
  std::string reason;
  Expr f = exprs.get(reduction.getSource(), classify, reason);
  if (!f)
    return false;
  auto postponed = algebra::postpone(context, f, reduction.getReducer(), [](Expr) { return true; });
  if (!postponed)
    return false;
  if (failed(algebra::checkPostponed(context, f, reduction.getReducer(), *postponed, reason))) {
    reduction.emitWarning() << reason;
    return false;
  }

  OpBuilder builder(reduction);
  Location loc = reduction.getLoc();
  SpaceEmitter emitter(builder, loc, graph, exprs.getSpaces());
  ArrayRef<StringAttr> sourceDims = getDims(reduction.getSource()), resultDims = getDims(reduction.getResult());
  Value inner = emitter.emit(postponed->inner, sourceDims);
  if (!inner)
    return false;
  auto innerType = SpaceType::get(graph.getContext(), resultDims, getElementType(inner));
  Value moved = AllToOneOp::create(builder, loc, innerType, inner, reduction.getAlongAttr(), postponed->reducer);
  emitter.setSpace(algebra::accumulated(context, innerType.getElementType()), moved);
  Expr outerExpr = postponed->outer;
  // The same for an extent that may turn out to be 0.
  Type elementType = outerExpr.type();
  for (StringAttr dim : along)
    if (Value extent = getExtentSpace(graph, dim)) {
      Type index = getElementType(extent);
      Expr leaf = context.leaf(Role::Parameter, ("extent of " + dim.getValue()).str(), index);
      emitter.setSpace(leaf, extent);
      outerExpr = context.select(context.equal(leaf, context.constant(0, index)),
                                 context.constant(getIdentity(reduction.getReducer(), elementType)), outerExpr);
    }
  Value outer = emitter.emit(outerExpr, resultDims);
  if (!outer)
    return false;
  reduction.replaceAllUsesWith(outer);
  reduction.erase();
  return true;
}

unsigned fusion::spacemap::postponeBroadcasts(GraphOp graph) {
  unsigned count = 0;
  for (AllToOneOp reduction : llvm::to_vector(graph.getBody().front().getOps<AllToOneOp>()))
    count += postponeReduction(graph, reduction);
  if (count)
    eraseDeadOps(graph);
  return count;
}

namespace {

struct PostponeBroadcastPass : fusion::impl::SpaceMapPostponeBroadcastBase<PostponeBroadcastPass> {
  void runOnOperation() override {
    unsigned count = 0;
    getOperation()->walk([&](GraphOp graph) { count += postponeBroadcasts(graph); });
    numPostponed += count;
    if (count == 0)
      markAllAnalysesPreserved();
  }
};

} // namespace
