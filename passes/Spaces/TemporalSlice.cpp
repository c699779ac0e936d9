//===- TemporalSlice.cpp - Temporal slicing --------------------------------===//
//
// SpaceFusion, section 4: prologue, loops with update-then-aggregate, epilogue, and a second loop for outputs that keep
// the sliced dimension.
//
//===------------------------------------------------------------------------===//

#include "fusion/Spaces/TemporalSlice.h"
#include "SpaceExpr.h"

#include "fusion/Spaces/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPTEMPORALSLICE
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion::spacemap;
namespace algebra = fusion::algebra;
using fusion::algebra::accumulated;
using fusion::algebra::Expr;
using fusion::algebra::ExprContext;
using fusion::algebra::ExprKind;
using fusion::algebra::Node;
using fusion::algebra::Role;
using fusion::algebra::UpdatePlan;
using fusion::algebra::UpdateState;

namespace {

/// What stands for a reduction in the elements and updates of later ones while its loop runs. Any sequence of values is
/// right as long as the last is the true one (or is taken to it by `UpdatePlan::restore`).
struct StandIn {
  bool guardsIdentity = false; ///< something finite for an infinite identity
  bool dominated = true;       ///< see UpdatePlan
  bool guardsZero = false;     ///< 1 for 0
  bool extrapolates = false;   ///< a sum, scaled from the elements seen to all: a mean is that of what has been seen
};

/// A reduction while a loop is made.
struct Running {
  SmallVector<Value> states; ///< block arguments, null for counts; later the results of the loop
  SmallVector<Expr> stateLeaves;
  Value current; ///< after the slice, in the type of the reduction
};

class Slicer {
public:
  Slicer(GraphOp graph, const TemporalPlan &plan, int64_t step)
      : graph(graph), plan(plan), context(*plan.context), step(step), builder(graph.getContext()),
        running(plan.reductions.size()), standIns(plan.reductions.size()) {}

  LogicalResult run();

private:
  // Values outside of the loops.
  bool isSliced(Value space) { return llvm::is_contained(getDims(space), plan.dim); }
  bool dependsOnReductions(Value space);
  Value materializeOutside(Value space);
  Value getExtent();

  // One loop.
  LogicalResult makeLoop(unsigned pass);
  Value materializeInside(Value space, unsigned pass, IRMapping &inside, Operation *loop);
  bool isInside(Value space, unsigned pass, const IRMapping &inside);
  LogicalResult makeReduction(unsigned index, SpaceEmitter &emitter, IRMapping &inside, TemporalOp loop);
  LogicalResult emitFactors(Expr update, unsigned index, SpaceEmitter &emitter);
  Value restore(unsigned index, Value final, ArrayRef<Value> states);
  bool isRestoredByUsers(unsigned index);

  // Expressions.
  void chooseStandIns(unsigned pass);
  Expr getStandIn(unsigned index, Expr value, bool isOld, Expr current);
  Expr toFloat(Expr indexLeaf, Type type);
  bool isCount(unsigned index, unsigned state);
  Expr getCount(unsigned index, unsigned state, bool isFinal);
  Expr getStateLeaf(unsigned index, unsigned state);
  /// The leaf that stands for a reduction in expressions of its loop.
  Expr getLeaf(unsigned index);

  GraphOp graph;
  const TemporalPlan &plan;
  ExprContext &context;
  int64_t step;
  OpBuilder builder;
  IRMapping outside;
  llvm::DenseMap<Value, bool> dependent;
  llvm::SmallDenseMap<Value, unsigned> positions;
  SmallVector<Running> running;
  SmallVector<StandIn> standIns;
  llvm::SmallPtrSet<Operation *, 8> restored;
  Value extent;
};

} // namespace

//===----------------------------------------------------------------------===//
// Outside of the loops
//===----------------------------------------------------------------------===//

bool Slicer::dependsOnReductions(Value space) {
  if (auto it = dependent.find(space); it != dependent.end())
    return it->second;
  bool result = positions.contains(space);
  if (Operation *op = space.getDefiningOp())
    for (Value operand : op->getOperands())
      result = result || (isa<SpaceType>(operand.getType()) && dependsOnReductions(operand));
  return dependent[space] = result;
}

/// `space` after the loops made so far. What does not depend on them is where it was.
Value Slicer::materializeOutside(Value space) {
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
Value Slicer::getExtent() {
  if (extent || !ShapedType::isDynamic(graph.getStaticExtent(plan.dim)))
    return extent;
  Value operand = cast<Value>(graph.getExtent(plan.dim));
  graph.getInputsMutable().append(operand);
  BlockArgument argument = graph.getBody().front().addArgument(operand.getType(), graph.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  auto type = SpaceType::get(graph.getContext(), {}, operand.getType());
  extent = SourceOp::create(builder, graph.getLoc(), type, argument, builder.getStrArrayAttr({}));
  return extent;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expr Slicer::getLeaf(unsigned index) {
  const TemporalReduction &reduction = plan.reductions[index];
  auto classify = [](Value) -> std::optional<Role> { return std::nullopt; };
  std::string reason;
  // The planner has made it where anything of the loop depends on it.
  return plan.exprs[reduction.pass]->get(reduction.getOp().getResult(), classify, reason);
}

Expr Slicer::getStateLeaf(unsigned index, unsigned state) {
  Type type = plan.reductions[index].update.states[state].update.type();
  return context.leaf(Role::Accumulated, ("r" + Twine(index) + "_" + Twine(state)).str(), type);
}

Expr Slicer::toFloat(Expr indexLeaf, Type type) {
  Expr integer = context.cast("arith.index_cast", indexLeaf, IntegerType::get(graph.getContext(), 64));
  return context.cast("arith.sitofp", integer, type);
}

/// Whether an accumulated value of a reduction is a multiple of the number of elements seen.
bool Slicer::isCount(unsigned index, unsigned state) {
  const TemporalReduction &reduction = plan.reductions[index];
  if (state == 0 || !reduction.update.states[state].element.isConstant())
    return false;
  return llvm::none_of(getNames(reduction.getOp().getAlong()), [&](StringAttr dim) {
    return dim != plan.dim && ShapedType::isDynamic(graph.getStaticExtent(dim));
  });
}

void Slicer::chooseStandIns(unsigned pass) {
  for (auto [index, reduction] : llvm::enumerate(plan.reductions)) {
    if (reduction.pass != pass || reduction.update.kind == UpdatePlan::Kind::Simple)
      continue;
    for (unsigned other : reduction.dependencies) {
      Expr leaf = getLeaf(other);
      StandIn &standIn = standIns[other];
      if (llvm::is_contained(reduction.update.infiniteStates, leaf)) {
        standIn.guardsIdentity = true;
        standIn.dominated &= reduction.update.dominated;
      }
      standIn.guardsZero |= llvm::is_contained(reduction.update.zeroStates, leaf);
      standIn.extrapolates |= reduction.update.kind == UpdatePlan::Kind::Polynomial && leaf.isFloat() &&
                              plan.reductions[other].getOp().getReducer() == Reducer::Sum;
    }
  }
}

static Expr seenLeaf(ExprContext &context, bool isOld) {
  return context.leaf(Role::Accumulated, isOld ? "seen before" : "seen", IndexType::get(context.getContext()));
}
static Expr extentLeaf(ExprContext &context) {
  return context.leaf(Role::Accumulated, "extent", IndexType::get(context.getContext()));
}

/// The accumulated value that is a multiple of the number of elements, before the current slice or after all.
Expr Slicer::getCount(unsigned index, unsigned state, bool isFinal) {
  const TemporalReduction &reduction = plan.reductions[index];
  Expr element = reduction.update.states[state].element;
  double count = element.constantValue();
  for (StringAttr dim : getNames(reduction.getOp().getAlong()))
    if (dim != plan.dim)
      count *= static_cast<double>(graph.getStaticExtent(dim));
  Expr seen = toFloat(isFinal ? extentLeaf(context) : seenLeaf(context, /*isOld=*/true), element.type());
  if (int64_t size = graph.getStaticExtent(plan.dim); isFinal && !ShapedType::isDynamic(size))
    seen = context.constant(static_cast<double>(size), element.type());
  return context.mul(seen, context.constant(count, element.type()));
}

/// What stands for the reduction where `value` is its value. An old one that has seen nothing is replaced by `current`,
/// what stands for it now.
Expr Slicer::getStandIn(unsigned index, Expr value, bool isOld, Expr current) {
  const StandIn &standIn = standIns[index];
  Type type = value.type();
  Expr result = value;
  if (standIn.extrapolates) {
    int64_t size = graph.getStaticExtent(plan.dim);
    Expr all = ShapedType::isDynamic(size) ? toFloat(extentLeaf(context), type)
                                           : context.constant(static_cast<double>(size), type);
    result = context.mul(value, context.div(all, toFloat(seenLeaf(context, isOld), type)));
    if (isOld) {
      Expr none = context.constant(0, IndexType::get(context.getContext()));
      result = context.select(context.equal(seenLeaf(context, true), none), current, result);
    }
  }
  if (standIn.guardsZero)
    result = context.select(context.equal(value, context.constant(0, type)), context.constant(1, type), result);
  if (standIn.guardsIdentity) {
    Expr identity = context.constant(getIdentity(plan.reductions[index].getOp().getReducer(), type));
    Expr finite = isOld && standIn.dominated
                      ? current
                      : context.constant(algebra::getInfiniteStandIn(getLeaf(index)), type);
    result = context.select(context.equal(value, identity), finite, result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// A loop
//===----------------------------------------------------------------------===//

bool Slicer::isInside(Value space, unsigned pass, const IRMapping &inside) {
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

Value Slicer::materializeInside(Value space, unsigned pass, IRMapping &inside, Operation *loop) {
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
LogicalResult Slicer::emitFactors(Expr update, unsigned index, SpaceEmitter &emitter) {
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
LogicalResult Slicer::makeReduction(unsigned index, SpaceEmitter &emitter, IRMapping &inside, TemporalOp loop) {
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
    const UpdateState &first = plan.reductions[other].update.states.front();
    Expr old = getStateLeaf(other, 0);
    // In the type of the reduction, which may be narrower.
    if (leaf.isFloat())
      old = context.toFloat(old, leaf.type());
    (void)first;
    replacements[leaf.get()] = getStandIn(other, old, /*isOld=*/true, context.next(leaf));
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
  Value standIn = emitter.emit(getStandIn(index, current, /*isOld=*/false, {}), resultDims);
  if (!standIn)
    return op.emitOpError() << "cannot be sliced: what stands for it has no value";
  if (leaf)
    emitter.setSpace(context.next(leaf), standIn);
  inside.map(op.getResult(), standIn);
  return success();
}

LogicalResult Slicer::makeLoop(unsigned pass) {
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

//===----------------------------------------------------------------------===//
// Final values
//===----------------------------------------------------------------------===//

/// Whether every user multiplies the reduction with, or divides it by, an earlier reduction that has been restored
/// under the same guards: what is NaN there makes the product NaN.
bool Slicer::isRestoredByUsers(unsigned index) {
  const TemporalReduction &reduction = plan.reductions[index];
  if (!reduction.update.dominated || !reduction.update.zeroStates.empty())
    return false;
  for (Operation *user : reduction.getOp().getResult().getUsers()) {
    auto map = dyn_cast<MapOp>(user);
    if (!map)
      return false;
    SmallVector<Expr> arguments;
    for (auto [position, operand] : llvm::enumerate(map.getOperands()))
      arguments.push_back(
          context.leaf(Role::Accumulated, ("argument" + Twine(position)).str(), getElementType(operand)));
    std::string ignored;
    Expr expr = context.fromBody(map.getBody().front(), arguments, ignored);
    if (!expr)
      return false;
    // Follow products from the root.
    bool covered = false;
    auto visit = [&](auto &self, Expr e) -> void {
      if (e.op() == ExprKind::Mul || e.op() == ExprKind::Div) {
        self(self, e[0]);
        self(self, e[1]);
      } else if (e.op() == ExprKind::Neg || e.isFloatCast()) {
        self(self, e[0]);
      } else if (e.isLeaf()) {
        Value operand = map.getOperand(std::distance(arguments.begin(), llvm::find(arguments, e)));
        while (auto oneToAll = operand.getDefiningOp<OneToAllOp>())
          operand = oneToAll.getSource();
        auto it = positions.find(operand);
        if (it == positions.end() || !restored.contains(operand.getDefiningOp()))
          return;
        const UpdatePlan &other = plan.reductions[it->second].update;
        covered |= other.kind == UpdatePlan::Kind::Scale && other.dominated &&
                   llvm::all_of(reduction.update.infiniteStates,
                                [&](Expr state) { return llvm::is_contained(other.infiniteStates, state); });
      }
    };
    visit(visit, expr);
    if (!covered)
      return false;
  }
  return true;
}

/// The final value of a reduction in its own type, from its final states.
Value Slicer::restore(unsigned index, Value final, ArrayRef<Value> states) {
  const TemporalReduction &reduction = plan.reductions[index];
  ArrayRef<StringAttr> dims = getDims(reduction.getOp().getResult());
  SpaceEmitter emitter(builder, reduction.getOp().getLoc(), graph);
  Expr result = getStateLeaf(index, 0);
  emitter.setSpace(result, final);
  if (reduction.update.restore && !isRestoredByUsers(index)) {
    llvm::DenseMap<const Node *, Expr> replacements;
    for (auto [position, state] : llvm::enumerate(reduction.update.states)) {
      Expr y = accumulated(context, state.update.type(), position);
      replacements[y.get()] = getStateLeaf(index, position);
      if (states[position]) {
        emitter.setSpace(getStateLeaf(index, position), states[position]);
      } else {
        replacements[y.get()] = getCount(index, position, /*isFinal=*/true);
        if (Value all = getExtent())
          emitter.setSpace(extentLeaf(context), all);
      }
    }
    for (Expr leaf : reduction.update.restore.leaves())
      if (leaf.role() == Role::Parameter)
        emitter.setSpace(leaf, materializeOutside(plan.exprs[reduction.pass]->getSpace(leaf)));
    for (unsigned other : reduction.dependencies) {
      Expr leaf = getLeaf(other), next = context.next(leaf);
      Value value = outside.lookupOrNull(plan.reductions[other].getOp().getResult());
      if (!value)
        return {};
      emitter.setSpace(next, value);
      StandIn saved = standIns[other];
      standIns[other].extrapolates = false;
      replacements[leaf.get()] = getStandIn(other, next, /*isOld=*/false, {});
      standIns[other] = saved;
    }
    result = context.substitute(reduction.update.restore, replacements);
    restored.insert(reduction.op);
  }
  Type type = getElementType(reduction.getOp().getResult());
  if (isa<FloatType>(type))
    result = context.toFloat(result, type);
  return emitter.emit(result, dims);
}

LogicalResult Slicer::run() {
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
  return Slicer(graph, plan, step).run();
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
