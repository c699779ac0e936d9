//===- TemporalSlice.cpp - Temporal slicing --------------------------------===//
//
// SpaceFusion, section 4: prologue, loops with update-then-aggregate, epilogue, and a second loop for outputs that keep
// the sliced dimension.
//
//===------------------------------------------------------------------------===//

#include "TemporalSlicer.h"

#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPTEMPORALSLICE
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion::spacemap;
using namespace fusion::algebra;
namespace algebra = fusion::algebra;

//===----------------------------------------------------------------------===//
// Outside of the loops
//===----------------------------------------------------------------------===//

bool TemporalSlicer::dependsOnReductions(Value space) {
  if (auto it = dependent.find(space); it != dependent.end())
    return it->second;
  bool result = positions.contains(space);
  if (Operation *op = space.getDefiningOp())
    for (Value operand : op->getOperands())
      result = result || (isa<SpaceType>(operand.getType()) && dependsOnReductions(operand));
  return dependent[space] = result;
}

/// `space` after the loops made so far. What does not depend on them is where it was.
Value TemporalSlicer::materializeOutside(Value space) {
  if (Value known = outside.lookupOrNull(space))
    return known;
  if (!dependsOnReductions(space))
    return space;
  Operation *op = space.getDefiningOp();
  for (Value operand : op->getOperands())
    if (isa<SpaceType>(operand.getType()))
      outside.map(operand, materializeOutside(operand));
  builder.clone(*op, outside);
  return outside.lookup(space);
}

/// The extent of the sliced dimension as a space; null if it is static.
Value TemporalSlicer::getExtent() {
  if (!extent)
    extent = getExtentSpace(graph, plan.dim);
  return extent;
}

//===----------------------------------------------------------------------===//
// A loop
//===----------------------------------------------------------------------===//

bool TemporalSlicer::isInside(Value space, unsigned pass, const IRMapping &inside) {
  if (isSliced(space))
    return true;
  // Depends on a reduction of this loop, whose value is that after the current slice.
  if (inside.contains(space) || !dependsOnReductions(space))
    return inside.contains(space);
  if (auto it = positions.find(space); it != positions.end())
    return plan.reductions[it->second].pass == pass;
  return llvm::any_of(space.getDefiningOp()->getOperands(), [&](Value operand) {
    return isa<SpaceType>(operand.getType()) && isInside(operand, pass, inside);
  });
}

Value TemporalSlicer::materializeInside(Value space, unsigned pass, IRMapping &inside, Operation *loop) {
  if (Value known = inside.lookupOrNull(space))
    return known;
  Operation *op = space.getDefiningOp();
  if (!op || !isInside(space, pass, inside)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop);
    return materializeOutside(space);
  }
  IRMapping operands;
  for (Value operand : op->getOperands())
    if (isa<SpaceType>(operand.getType()))
      operands.map(operand, materializeInside(operand, pass, inside, loop));
  Operation *clone = builder.clone(*op, operands);
  inside.map(space, clone->getResult(0));
  return clone->getResult(0);
}

/// Emits the parts of an update that know only what it depends on as maps of their own, which all updates of the loop
/// share: `exp(m - m')`.
LogicalResult TemporalSlicer::emitFactors(Expr update, unsigned index, SpaceEmitter &emitter) {
  llvm::SmallPtrSet<const Node *, 4> own;
  for (unsigned state = 0; state < plan.reductions[index].update.states.size(); ++state)
    own.insert(getStateLeaf(index, state).get());
  own.insert(seenLeaf(context, /*isOld=*/true).get());
  auto visit = [&](auto &self, Expr e) -> LogicalResult {
    if (e.size() == 0)
      return success();
    if (llvm::none_of(e.leaves(), [&](Expr leaf) { return own.contains(leaf.get()); }))
      return success(emitter.emitNatural(e) != nullptr);
    for (unsigned i = 0; i < e.size(); ++i)
      if (failed(self(self, e[i])))
        return failure();
    return success();
  };
  return visit(visit, update);
}

/// Makes one reduction of a loop: its element, update and aggregation, and what stands for it afterwards.
LogicalResult TemporalSlicer::makeReduction(unsigned index, SpaceEmitter &emitter, IRMapping &inside, TemporalOp loop) {
  const TemporalReduction &reduction = plan.reductions[index];
  AllToOneOp op = reduction.op;
  Location loc = op.getLoc();
  Value source = materializeInside(op.getSource(), reduction.pass, inside, loop);
  ArrayRef<StringAttr> sourceDims = getDims(source), resultDims = getDims(op.getResult());

  // Leaves and inner expressions that exist inside by now.
  SpaceExprs &exprs = *plan.exprs[reduction.pass];
  for (const UpdateState &state : reduction.update.states)
    for (Expr leaf : llvm::concat<const Expr>(state.element.leaves(), state.update.leaves()))
      if (leaf.role() == Role::Varying || leaf.role() == Role::Parameter)
        if (Value space = exprs.getSpace(leaf))
          emitter.setSpace(leaf, materializeInside(space, reduction.pass, inside, loop));
  for (auto [node, space] : exprs.getSpaces())
    if (Value known = inside.lookupOrNull(space); known && !Expr(node).isLeaf())
      emitter.setSpace(node, known);

  // States as they stand in the updates.
  llvm::DenseMap<const Node *, Expr> replacements;
  for (unsigned other : reduction.dependencies) {
    Expr leaf = getLeaf(other);
    Expr old = getStateLeaf(other, 0);
    // In the type of the reduction, which may be narrower.
    if (leaf.isFloat())
      old = context.toFloat(old, leaf.type());
    replacements[leaf.get()] = getStandIn(other, old, /*isOld=*/true, context.next(leaf), reduction.update.dominated);
  }
  Running &own = running[index];
  for (auto [position, state] : llvm::enumerate(reduction.update.states)) {
    Expr y = accumulated(context, state.update.type(), position);
    if (!isCount(index, position)) {
      replacements[y.get()] = getStateLeaf(index, position);
      continue;
    }
    replacements[y.get()] = getCount(index, position, /*isFinal=*/false);
  }

  for (auto [position, state] : llvm::enumerate(reduction.update.states)) {
    if (isCount(index, position))
      continue;
    Type type = state.update.type();
    Value element = source;
    if (position != 0 || state.element.type() != getElementType(source)) {
      llvm::DenseMap<const Node *, Expr> current;
      for (unsigned other : reduction.dependencies)
        current[getLeaf(other).get()] = context.next(getLeaf(other));
      // The first element is the source, perhaps widened.
      Expr expr = position == 0 ? context.toFloat(context.leaf(Role::Accumulated, ("source" + Twine(index)).str(),
                                                               getElementType(source)),
                                                  type)
                                : context.substitute(state.element, current);
      if (position == 0)
        emitter.setSpace(expr.isFloatCast() ? expr[0] : expr, source);
      element = emitter.emit(expr, sourceDims);
      if (!element)
        return op.emitOpError() << "cannot be sliced: an element of its update has no value";
    }
    auto resultType = SpaceType::get(graph.getContext(), resultDims, type);
    Value partial = AllToOneOp::create(builder, loc, resultType, element, op.getAlongAttr(), state.reducer);
    Expr partialLeaf = context.leaf(Role::Accumulated, ("partial" + Twine(index) + "_" + Twine(position)).str(), type);
    emitter.setSpace(partialLeaf, partial);
    Expr update = context.substitute(state.update, replacements);
    if (failed(emitFactors(update, index, emitter)))
      return op.emitOpError() << "cannot be sliced: its update has no value";
    Expr next = context.combine(state.reducer, update, partialLeaf);
    Value value = emitter.emit(next, resultDims);
    if (!value)
      return op.emitOpError() << "cannot be sliced: its update has no value";
    own.states[position] = value;
  }

  // What later reductions of the loop see.
  Expr leaf = getLeaf(index);
  Expr current =
      context.leaf(Role::Accumulated, ("current" + Twine(index)).str(), reduction.update.states.front().update.type());
  emitter.setSpace(current, own.states.front());
  if (leaf && leaf.isFloat())
    current = context.toFloat(current, leaf.type());
  Value standIn = emitter.emit(getStandIn(index, current), resultDims);
  if (!standIn)
    return op.emitOpError() << "cannot be sliced: what stands for it has no value";
  if (leaf)
    emitter.setSpace(context.next(leaf), standIn);
  inside.map(op.getResult(), standIn);
  return success();
}

LogicalResult TemporalSlicer::makeLoop(unsigned pass) {
  MLIRContext *mlirContext = graph.getContext();
  Location loc = graph.getLoc();
  chooseStandIns(pass);

  // States: those of the reductions, and the number of elements seen before.
  bool counts = false;
  SmallVector<Value> inits;
  SmallVector<Expr> leaves;
  SpaceEmitter outer(builder, loc, graph);
  for (auto [index, reduction] : llvm::enumerate(plan.reductions)) {
    if (reduction.pass != pass)
      continue;
    counts |= standIns[index].extrapolates;
    for (auto [position, state] : llvm::enumerate(reduction.update.states)) {
      if (isCount(index, position)) {
        counts = true;
        continue;
      }
      TypedAttr identity = getIdentity(state.reducer, state.update.type());
      if (!identity)
        return reduction.getOp().emitOpError() << "has no identity on " << state.update.type();
      inits.push_back(outer.emit(context.constant(identity), getDims(reduction.getOp().getResult())));
      leaves.push_back(getStateLeaf(index, position));
    }
  }
  if (counts) {
    inits.push_back(outer.emit(context.constant(0, IndexType::get(mlirContext)), {}));
    leaves.push_back(seenLeaf(context, /*isOld=*/true));
  }
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Value> collected;
  for (auto [value, where] : plan.collected)
    if (where == pass) {
      collected.push_back(value);
      types.push_back(value.getType());
    }

  auto loop = TemporalOp::create(builder, loc, types, inits, plan.dim, builder.getI64IntegerAttr(step));
  Block *body =
      builder.createBlock(&loop.getBody(), {}, ValueRange(inits).getTypes(), SmallVector<Location>(inits.size(), loc));
  SpaceEmitter emitter(builder, loc, graph);
  for (auto [leaf, argument] : llvm::zip_equal(leaves, body->getArguments()))
    emitter.setSpace(leaf, argument);
  Value seen;
  if (counts) {
    seen = SeenOp::create(builder, loc, SpaceType::get(mlirContext, {}, IndexType::get(mlirContext)), plan.dim);
    emitter.setSpace(seenLeaf(context, /*isOld=*/false), seen);
    if (Value all = getExtent())
      emitter.setSpace(extentLeaf(context), all);
  }

  IRMapping inside;
  SmallVector<Value> next;
  for (auto [index, reduction] : llvm::enumerate(plan.reductions)) {
    if (reduction.pass != pass)
      continue;
    running[index].states.resize(reduction.update.states.size());
    if (failed(makeReduction(index, emitter, inside, loop)))
      return failure();
    for (Value state : running[index].states)
      if (state)
        next.push_back(state);
  }
  if (counts)
    next.push_back(seen);
  SmallVector<Value> nextCollected;
  for (Value value : collected)
    nextCollected.push_back(materializeInside(value, pass, inside, loop));
  NextOp::create(builder, loc, next, nextCollected);

  // The final values.
  builder.setInsertionPointAfter(loop);
  unsigned position = 0;
  for (auto [index, reduction] : llvm::enumerate(plan.reductions)) {
    if (reduction.pass != pass)
      continue;
    for (Value &state : running[index].states)
      if (state)
        state = loop.getResult(position++);
    Value final = restore(index, running[index].states.front(), running[index].states);
    if (!final)
      return reduction.getOp().emitOpError() << "cannot be sliced: its final value cannot be made";
    outside.map(reduction.getOp().getResult(), final);
  }
  for (auto [value, result] : llvm::zip_equal(collected, loop.getCollected()))
    outside.map(value, result);
  return success();
}

LogicalResult TemporalSlicer::run() {
  if (step < 1)
    return graph.emitOpError() << "cannot be sliced by " << step << " elements";
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  builder.setInsertionPoint(output);
  for (auto [index, reduction] : llvm::enumerate(plan.reductions))
    positions[reduction.getOp().getResult()] = index;
  for (unsigned pass = 0; pass < plan.numPasses; ++pass)
    if (failed(makeLoop(pass)))
      return failure();
  SmallVector<Value> values;
  for (Value value : output.getValues())
    values.push_back(materializeOutside(value));
  output.getValuesMutable().assign(values);
  eraseDeadOps(graph);
  return success();
}

LogicalResult fusion::spacemap::applyTemporal(GraphOp graph, const TemporalPlan &plan, int64_t step) {
  return TemporalSlicer(graph, plan, step).run();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct TemporalSlicePass : fusion::impl::SpaceMapTemporalSliceBase<TemporalSlicePass> {
  using Base::Base;

  void runOnOperation() override {
    if (dim.empty() || step < 1) {
      getOperation()->emitError() << getArgument() << " needs the option 'dim' and a positive 'step'";
      return signalPassFailure();
    }
    auto name = StringAttr::get(&getContext(), dim);
    WalkResult walk = getOperation()->walk([&](GraphOp graph) {
      if (graph.getDimIndex(name) < 0)
        return WalkResult::advance();
      std::string reason;
      TemporalOptions options;
      options.maxReductionPasses = maxPasses;
      FailureOr<TemporalPlan> plan = planTemporal(graph, name, &reason, options);
      if (failed(plan)) {
        graph.emitRemark() << "not sliced along '" << dim << "': " << reason;
        return WalkResult::advance();
      }
      if (failed(applyTemporal(graph, *plan, step)))
        return WalkResult::interrupt();
      ++numSliced;
      numUpdated += llvm::count_if(plan->reductions, [](const TemporalReduction &reduction) {
        return reduction.update.kind != UpdatePlan::Kind::Simple;
      });
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
