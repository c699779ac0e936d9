//===- VectorizeElementwise.cpp - Maps, broadcasts and reductions -------------------------------------------------===//
//
// One loop is chosen for the lanes. Loops absent from every reduced output stay inside, so that accumulators live in
// registers; each operand is read, and each body op computed, at the outermost loop at which it is known, as a scalar
// if it does not vary over the lanes.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "Vectorize.h"
#include "VectorizeReduction.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {
namespace {

/// What a value of the body has become: one scalar, or one vector for each of the unrolled steps.
struct Lowered {
  SmallVector<Value, 4> parts;
  bool isVector = false;
};

/// A reduced output. It is carried in registers by the loops at positions `carry` and deeper.
struct Reduction {
  unsigned access;
  Combiner combiner;
  unsigned carry;
  bool overLanes; // the lanes are reduced as well
};

/// Everything that is known at one place in the emitted nest; copied into each loop.
struct State {
  DenseMap<Value, Lowered> values;
  SmallVector<Value> ivs;                          // per loop, null if not open
  SmallVector<Value> offsets;                      // per access
  SmallVector<SmallVector<Value, 4>> accumulators; // per reduction
  unsigned parts;
  LaneMask mask;
};

class ElementwiseEmitter {
public:
  ElementwiseEmitter(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target)
      : b(b), nest(nest), target(target) {}

  LogicalResult plan();
  void emit();

private:
  bool bodyIsElementwise();
  LogicalResult classifyOutputs();
  void chooseLanes();
  void orderLoops();
  void schedule();
  unsigned chooseUnroll() const;

  void enter(unsigned position, State &state);
  void loop(unsigned position, State &state);
  void laneLoop(unsigned position, State &state);
  void innermost(State &state);
  State openState(const State &outer, unsigned loop, Value iv);
  SmallVector<Value> carried(const State &state, unsigned position) const;
  void setCarried(State &state, unsigned position, ValueRange values) const;

  void emitOp(Operation *op, State &state);
  Value emitOpPart(Operation *op, State &state, std::optional<unsigned> part);
  Value divideByUniform(arith::DivFOp op, State &state, unsigned part);
  Lowered load(unsigned access, State &state);
  void store(unsigned access, const Lowered &value, State &state);
  Value operand(Value value, State &state, std::optional<unsigned> part);
  Value lane(const Lowered &value, unsigned part) const;
  Value partOffset(unsigned access, State &state, unsigned part);

  bool isLaneLoop(unsigned position) const { return lanesLoop >= 0 && order[position] == unsigned(lanesLoop); }
  bool variesOverLanes(unsigned access) const { return lanesLoop >= 0 && !nest.accesses[access].absent(lanesLoop); }
  Value yielded(unsigned access) const { return nest.body->getTerminator()->getOperand(access - nest.numInputs); }

  ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  const VectorTarget &target;
  int lanesLoop = -1;
  int lanesPosition = -1;
  unsigned lanes = 1;
  SmallVector<unsigned> order; // loops from the outermost to the innermost
  SmallVector<Reduction> reductions;
  SmallVector<unsigned> stored;           // outputs that vary over all loops
  DenseSet<Operation *> combining;        // body ops that are part of a reduction's combination
  DenseMap<Value, int> depth;             // position of the innermost loop a value depends on; -1: none
  DenseSet<Value> varying;                // values that differ between lanes
  DenseMap<Operation *, Access> gathered; // memrefs that the body reads by itself
};

//===--- Planning -------------------------------------------------------------------------------------------------===//

bool ElementwiseEmitter::bodyIsElementwise() {
  auto supported = [](Value value) { return isVectorElement(value.getType()); };
  for (Operation &op : nest.body->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op)) {
      if (!supported(op.getResult(0)))
        return false;
      continue;
    }
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      MemRefType type = load.getMemRefType();
      if (!supported(load) || !type.isStrided() || load.getMemRef().getParentBlock() == nest.body)
        return false;
      continue;
    }
    if (op.getNumRegions() || !OpTrait::hasElementwiseMappableTraits(&op) || !isMemoryEffectFree(&op) ||
        !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
        !llvm::all_of(op.getOperands(), supported) || !llvm::all_of(op.getResults(), supported))
      return false;
    // Bits of a 16-bit float are lost where it is computed in f32.
    if (auto cast = dyn_cast<arith::BitcastOp>(op))
      if (computeType(cast.getType()) != cast.getType() ||
          computeType(cast.getIn().getType()) != cast.getIn().getType())
        return false;
  }
  return llvm::all_of(nest.body->getTerminator()->getOperands(), supported);
}

LogicalResult ElementwiseEmitter::classifyOutputs() {
  for (unsigned access = nest.numInputs; access < nest.accesses.size(); ++access) {
    BlockArgument argument = nest.body->getArgument(access);
    bool complete =
        llvm::none_of(llvm::seq(nest.numLoops()), [&](unsigned loop) { return nest.accesses[access].absent(loop); });
    if (complete) {
      stored.push_back(access);
      continue;
    }
    FailureOr<Combiner> combiner = matchCombiner(yielded(access), argument);
    if (failed(combiner))
      return failure();
    for (Operation *op : combiner->ops)
      combining.insert(op);
    reductions.push_back({access, *combiner, 0, false});
  }
  return success();
}

void ElementwiseEmitter::chooseLanes() {
  // A loop is as good as the number of operands that are contiguous along it; strided operands cost a gather each. An
  // operand that varies along few loops is read outside of the others and hardly counts.
  int64_t best = std::numeric_limits<int64_t>::min();
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    int64_t score = 0;
    for (auto [index, access] : llvm::enumerate(nest.accesses)) {
      unsigned present =
          llvm::count_if(llvm::seq(nest.numLoops()), [&, &operand = access](unsigned l) { return !operand.absent(l); });
      int64_t weight = (index < nest.numInputs ? 2 : 3) * (int64_t(1) << (3 * present));
      if (access.unit(loop))
        score += 2 * weight;
      else if (!access.absent(loop))
        score -= 3 * weight;
    }
    if (std::optional<int64_t> extent = getConstantIntValue(nest.extents[loop]); extent && *extent < 4)
      score -= int64_t(1) << (3 * nest.numLoops());
    if (score >= best) {
      best = score;
      lanesLoop = loop;
    }
  }
  bool narrow = llvm::any_of(
      nest.accesses, [&](const Access &access) { return bitWidth(access.element) <= 32 && !access.absent(lanesLoop); });
  lanes = target.lanes(narrow ? 32 : 64);
}

void ElementwiseEmitter::orderLoops() {
  // A loop is reduced if an output is absent from it.
  auto reduced = [&](unsigned loop) {
    return llvm::any_of(reductions, [&](const Reduction &r) { return nest.accesses[r.access].absent(loop); });
  };
  SmallVector<unsigned> inner;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (int(loop) != lanesLoop)
      (reduced(loop) ? inner : order).push_back(loop);
  if (lanesLoop >= 0 && reduced(lanesLoop)) {
    order.append(inner);
    order.push_back(lanesLoop);
  } else {
    if (lanesLoop >= 0)
      order.push_back(lanesLoop);
    order.append(inner);
  }
  lanesPosition = lanesLoop < 0 ? -1 : llvm::find(order, unsigned(lanesLoop)) - order.begin();
  for (Reduction &r : reductions) {
    r.carry = order.size();
    while (r.carry > 0 && nest.accesses[r.access].absent(order[r.carry - 1]))
      --r.carry;
    r.overLanes = lanesLoop >= 0 && nest.accesses[r.access].absent(lanesLoop);
  }
}

void ElementwiseEmitter::schedule() {
  int innermostLoop = int(order.size()) - 1;
  for (unsigned access = 0; access < nest.accesses.size(); ++access) {
    BlockArgument argument = nest.body->getArgument(access);
    int deepest = -1;
    for (auto [position, loop] : llvm::enumerate(order))
      if (!nest.accesses[access].absent(loop))
        deepest = position;
    depth[argument] = access < nest.numInputs ? deepest : innermostLoop;
    if (variesOverLanes(access))
      varying.insert(argument);
  }
  for (Operation &op : nest.body->without_terminator()) {
    int deepest = -1;
    bool varies = false;
    for (Value value : op.getOperands()) {
      if (auto it = depth.find(value); it != depth.end())
        deepest = std::max(deepest, it->second);
      varies |= varying.contains(value);
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      int loop = nest.loopOfDim[index.getDim()];
      deepest = loop < 0 ? -1 : int(llvm::find(order, unsigned(loop)) - order.begin());
      varies = loop >= 0 && loop == lanesLoop;
    } else if (!isPure(&op)) {
      deepest = innermostLoop; // may trap, or read beyond the end: only where the loops are not empty
    }
    for (Value result : op.getResults()) {
      depth[result] = deepest;
      if (varies)
        varying.insert(result);
    }
  }
}

unsigned ElementwiseEmitter::chooseUnroll() const {
  unsigned cost = 0;
  for (Operation &op : nest.body->without_terminator()) {
    if (!op.getNumResults() || !varying.contains(op.getResult(0)))
      continue;
    unsigned width = 32;
    for (Value value : op.getOperands())
      if (isVectorElement(value.getType()))
        width = std::max(width, bitWidth(value.getType()));
    for (Type type : op.getResultTypes())
      width = std::max(width, bitWidth(type));
    unsigned registers = width * lanes / target.bits;
    cost += std::max(1u, registers) * (isa<math::MathDialect, memref::MemRefDialect>(op.getDialect()) ? 12 : 1);
  }
  unsigned unroll = cost <= 6 ? 4 : cost <= 48 ? 2 : 1;
  if (unroll < 2 && llvm::any_of(reductions, [](const Reduction &r) { return r.overLanes; }))
    unroll = 2;
  if (std::optional<int64_t> extent = getConstantIntValue(nest.extents[lanesLoop]))
    while (unroll > 1 && int64_t(unroll) * lanes > *extent)
      unroll /= 2;
  return unroll;
}

LogicalResult ElementwiseEmitter::plan() {
  if (!bodyIsElementwise() || failed(classifyOutputs()))
    return failure();
  if (nest.numLoops() > 0)
    chooseLanes();
  orderLoops();
  schedule();
  return success();
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

void ElementwiseEmitter::emit() {
  State state;
  state.ivs.assign(nest.numLoops(), Value());
  for (const Access &access : nest.accesses)
    state.offsets.push_back(access.offset ? access.offset : arith::ConstantIndexOp::create(b, 0).getResult());
  for (auto load : nest.body->getOps<memref::LoadOp>())
    gathered[load] = buildAccess(b, load.getMemRef());
  state.accumulators.resize(reductions.size());
  state.parts = lanesLoop < 0 ? 1 : chooseUnroll();
  enter(0, state);
}

/// All loops in front of `position` are open.
void ElementwiseEmitter::enter(unsigned position, State &state) {
  for (unsigned access = 0; access < nest.numInputs; ++access) {
    BlockArgument argument = nest.body->getArgument(access);
    if (depth.lookup(argument) == int(position) - 1 && !argument.use_empty())
      state.values[argument] = load(access, state);
  }
  if (position == order.size())
    for (unsigned access : stored) {
      BlockArgument argument = nest.body->getArgument(access);
      if (!argument.use_empty())
        state.values[argument] = load(access, state);
    }
  for (Operation &op : nest.body->without_terminator())
    if (!combining.contains(&op) && depth.lookup(op.getResult(0)) == int(position) - 1)
      emitOp(&op, state);

  for (auto [index, r] : llvm::enumerate(reductions)) {
    if (r.carry != position)
      continue;
    if (!r.overLanes) {
      state.accumulators[index] = load(r.access, state).parts;
      continue;
    }
    Type type = computeType(nest.accesses[r.access].element);
    Value neutral = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get({lanes}, type), neutralElement(b, r.combiner.kind, type)));
    state.accumulators[index].assign(state.parts, neutral);
  }

  if (position == order.size())
    innermost(state);
  else if (isLaneLoop(position))
    laneLoop(position, state);
  else
    loop(position, state);

  for (auto [index, r] : llvm::enumerate(reductions)) {
    if (r.carry != position)
      continue;
    Lowered result;
    if (!r.overLanes) {
      result.parts = state.accumulators[index];
      result.isVector = variesOverLanes(r.access);
    } else {
      SmallVector<Value, 4> parts = state.accumulators[index];
      for (unsigned size = parts.size(); size > 1; size = (size + 1) / 2)
        for (unsigned i = 0; i < size / 2; ++i)
          parts[i] = combine(b, r.combiner.kind, parts[i], parts[(size + 1) / 2 + i]);
      Value total = combineLanes(b, r.combiner.kind, parts[0]);
      Value before = loadScalar(b, nest.accesses[r.access], state.offsets[r.access]);
      result.parts = {combine(b, r.combiner.kind, before, total)};
    }
    store(r.access, result, state);
  }
}

SmallVector<Value> ElementwiseEmitter::carried(const State &state, unsigned position) const {
  SmallVector<Value> values;
  for (auto [index, r] : llvm::enumerate(reductions))
    if (r.carry <= position)
      llvm::append_range(values, state.accumulators[index]);
  return values;
}

void ElementwiseEmitter::setCarried(State &state, unsigned position, ValueRange values) const {
  for (auto [index, r] : llvm::enumerate(reductions))
    if (r.carry <= position) {
      unsigned count = state.accumulators[index].size();
      state.accumulators[index].assign(values.begin(), values.begin() + count);
      values = values.drop_front(count);
    }
}

State ElementwiseEmitter::openState(const State &outer, unsigned loop, Value iv) {
  State state = outer;
  state.ivs[loop] = iv;
  for (auto [access, offset] : llvm::zip_equal(nest.accesses, state.offsets))
    offset = advance(b, offset, iv, access.strides[loop]);
  return state;
}

void ElementwiseEmitter::loop(unsigned position, State &state) {
  SmallVector<Value> inits = carried(state, position);
  scf::ForOp loop = openLoop(b, b.getIndexAttr(0), nest.extents[order[position]], 1, inits);
  State inner = openState(state, order[position], loop.getInductionVar());
  setCarried(inner, position, loop.getRegionIterArgs());
  enter(position + 1, inner);
  closeLoop(b, loop, carried(inner, position));
  setCarried(state, position, loop.getResults());
}

/// The loop over the lanes: whole groups of vectors, then single vectors under a mask.
void ElementwiseEmitter::laneLoop(unsigned position, State &state) {
  OpFoldResult extent = nest.extents[lanesLoop];
  int64_t span = int64_t(state.parts) * lanes;
  std::optional<int64_t> constant = getConstantIntValue(extent);
  OpFoldResult mainEnd;
  if (constant) {
    mainEnd = b.getIndexAttr(*constant - *constant % span);
  } else {
    Value total = materialize(b, extent);
    Value rest = arith::RemUIOp::create(b, total, arith::ConstantIndexOp::create(b, span));
    mainEnd = arith::SubIOp::create(b, total, rest).getResult();
  }

  if (!constant || *constant >= span) {
    SmallVector<Value> inits = carried(state, position);
    scf::ForOp loop = openLoop(b, b.getIndexAttr(0), mainEnd, span, inits);
    State inner = openState(state, lanesLoop, loop.getInductionVar());
    setCarried(inner, position, loop.getRegionIterArgs());
    enter(position + 1, inner);
    closeLoop(b, loop, carried(inner, position));
    setCarried(state, position, loop.getResults());
  }
  if (constant && *constant % span == 0)
    return;

  // The tail works on the first part of each accumulator only.
  State tail = state;
  tail.parts = 1;
  SmallVector<Value> inits;
  for (auto [index, r] : llvm::enumerate(reductions))
    if (r.carry <= position) {
      tail.accumulators[index].resize(1);
      inits.push_back(tail.accumulators[index][0]);
    }
  scf::ForOp loop = openLoop(b, mainEnd, extent, lanes, inits);
  State inner = openState(tail, lanesLoop, loop.getInductionVar());
  setCarried(inner, position, loop.getRegionIterArgs());
  Value rest = arith::SubIOp::create(b, materialize(b, extent), loop.getInductionVar());
  if (!constant || *constant % lanes != 0)
    inner.mask = firstLanes(b, rest, lanes);
  enter(position + 1, inner);
  closeLoop(b, loop, carried(inner, position));
  ValueRange results = loop.getResults();
  for (auto [index, r] : llvm::enumerate(reductions))
    if (r.carry <= position) {
      state.accumulators[index][0] = results.front();
      results = results.drop_front();
    }
}

void ElementwiseEmitter::innermost(State &state) {
  for (unsigned access : stored) {
    Value value = yielded(access);
    Lowered lowered;
    auto it = state.values.find(value);
    if (it != state.values.end())
      lowered = it->second;
    else
      lowered.parts = {operand(value, state, std::nullopt)};
    store(access, lowered, state);
  }
  for (auto [index, r] : llvm::enumerate(reductions)) {
    // The sum of products needs no rounding in between.
    arith::MulFOp product;
    if (r.combiner.kind == Combiner::AddF && lanesLoop >= 0)
      product = r.combiner.element.getDefiningOp<arith::MulFOp>();
    for (auto [part, acc] : llvm::enumerate(state.accumulators[index])) {
      if (part >= state.parts)
        break;
      bool vector = isa<VectorType>(acc.getType());
      std::optional<unsigned> lanePart = vector ? std::optional<unsigned>(part) : std::nullopt;
      Value next;
      if (vector && product && product->getBlock() == nest.body && product->hasOneUse())
        next = vector::FMAOp::create(b, operand(product.getLhs(), state, lanePart),
                                     operand(product.getRhs(), state, lanePart), acc);
      else
        next = combine(b, r.combiner.kind, acc, operand(r.combiner.element, state, lanePart));
      if (vector && r.overLanes && state.mask)
        next = arith::SelectOp::create(b, state.mask.lanes, next, acc);
      acc = next;
    }
  }
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

Value ElementwiseEmitter::partOffset(unsigned access, State &state, unsigned part) {
  OpFoldResult stride = nest.accesses[access].strides[lanesLoop];
  return advance(b, state.offsets[access], b.getIndexAttr(int64_t(part) * lanes), stride);
}

Lowered ElementwiseEmitter::load(unsigned access, State &state) {
  Lowered lowered;
  lowered.isVector = variesOverLanes(access);
  if (!lowered.isVector) {
    lowered.parts = {loadScalar(b, nest.accesses[access], state.offsets[access])};
    return lowered;
  }
  for (unsigned part = 0; part < state.parts; ++part)
    lowered.parts.push_back(loadVector(b, nest.accesses[access], partOffset(access, state, part),
                                       nest.accesses[access].strides[lanesLoop], lanes, state.mask));
  if (int64_t distance = nest.accesses[access].prefetch; distance != 0 && nest.accesses[access].unit(lanesLoop))
    prefetchVector(b, nest.accesses[access], add(b, partOffset(access, state, 0), b.getIndexAttr(distance)),
                   state.parts * lanes);
  return lowered;
}

void ElementwiseEmitter::store(unsigned access, const Lowered &value, State &state) {
  if (!variesOverLanes(access)) {
    storeScalar(b, value.parts[0], nest.accesses[access], state.offsets[access]);
    return;
  }
  for (unsigned part = 0; part < state.parts; ++part)
    storeVector(b, lane(value, part), nest.accesses[access], partOffset(access, state, part),
                nest.accesses[access].strides[lanesLoop], state.mask);
}

//===--- Body -----------------------------------------------------------------------------------------------------===//

Value ElementwiseEmitter::lane(const Lowered &value, unsigned part) const {
  return value.isVector ? value.parts[part] : splat(b, value.parts[0], lanes);
}

/// A value of the body as a scalar, or as the vector of `part`. Values from outside of the body are widened here.
Value ElementwiseEmitter::operand(Value value, State &state, std::optional<unsigned> part) {
  auto it = state.values.find(value);
  Lowered lowered;
  if (it != state.values.end())
    lowered = it->second;
  else if (isa<FloatType>(value.getType()))
    lowered.parts = {convertFloat(b, value, computeType(value.getType()))};
  else
    lowered.parts = {value};
  return part ? lane(lowered, *part) : lowered.parts[0];
}

void ElementwiseEmitter::emitOp(Operation *op, State &state) {
  // Folded into the multiply-add that uses it.
  if (isa<arith::MulFOp>(op) && lanesLoop >= 0 && op->hasOneUse() && varying.contains(op->getResult(0))) {
    Operation *user = *op->user_begin();
    // Of two products that are added, only the left one is.
    bool isSecond = user->getOperand(0) != op->getResult(0) && user->getOperand(0).getDefiningOp<arith::MulFOp>();
    if (isa<arith::AddFOp>(user) && !isSecond && user->getBlock() == op->getBlock() &&
        (varying.contains(user->getResult(0)) || combining.contains(user)))
      return;
  }
  for (OpResult result : op->getResults()) {
    Lowered &lowered = state.values[result];
    lowered.parts.clear();
    lowered.isVector = varying.contains(result);
  }
  auto record = [&](Operation *made) {
    for (auto [result, value] : llvm::zip_equal(op->getResults(), made->getResults()))
      state.values[result].parts.push_back(value);
  };
  unsigned parts = varying.contains(op->getResult(0)) ? state.parts : 1;
  for (unsigned part = 0; part < parts; ++part) {
    std::optional<unsigned> which;
    if (varying.contains(op->getResult(0)))
      which = part;
    if (Value value = emitOpPart(op, state, which)) {
      state.values[op->getResult(0)].parts.push_back(value);
      continue;
    }
    SmallVector<Value> operands;
    for (Value value : op->getOperands())
      operands.push_back(operand(value, state, which));
    // Lanes that are switched off must not trap.
    if (which && state.mask &&
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::FloorDivSIOp>(op)) {
      auto type = cast<VectorType>(operands[1].getType());
      Value one =
          arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), 1)));
      operands[1] = arith::SelectOp::create(b, state.mask.lanes, operands[1], one);
    }
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(which ? Type(VectorType::get({lanes}, computeType(type))) : computeType(type));
    OperationState made(b.getLoc(), op->getName());
    made.addOperands(operands);
    made.addTypes(types);
    made.addAttributes(op->getAttrs());
    // The sign of a zero maximum is not worth three instructions per vector.
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      made.attributes.set("fastmath", arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz));
    record(b.create(made));
  }
}

/// Ops that are not rebuilt as they are; null for the others. `part` is set for vectors.
Value ElementwiseEmitter::emitOpPart(Operation *op, State &state, std::optional<unsigned> part) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = nest.loopOfDim[index.getDim()];
    if (loop < 0)
      return arith::ConstantIndexOp::create(b, 0);
    Value iv = state.ivs[loop];
    if (!part)
      return iv;
    Value first = add(b, iv, b.getIndexAttr(int64_t(*part) * lanes));
    return arith::AddIOp::create(b, splat(b, first, lanes), iota(b, b.getIndexType(), lanes));
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const Access &access = gathered.find(op)->second;
    Value offset = access.offset;
    Value offsets;
    for (auto [index, stride] : llvm::zip_equal(load.getIndices(), access.strides)) {
      if (!varying.contains(index)) {
        offset = advance(b, offset, operand(index, state, std::nullopt), stride);
        continue;
      }
      Value scaled = arith::MulIOp::create(b, operand(index, state, part), splat(b, materialize(b, stride), lanes));
      offsets = offsets ? arith::AddIOp::create(b, offsets, scaled).getResult() : scaled;
    }
    if (!offset)
      offset = arith::ConstantIndexOp::create(b, 0);
    if (!offsets)
      return loadScalar(b, access, offset);
    return gatherVector(b, access, arith::AddIOp::create(b, offsets, splat(b, offset, lanes)), state.mask);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
      Type type = computeType(value.getType());
      APFloat widened = value.getValue();
      bool lost;
      widened.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      return arith::ConstantOp::create(b, b.getFloatAttr(type, widened));
    }
    return arith::ConstantOp::create(b, constant.getValue());
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(b, operand(op->getOperand(0), state, part), computeType(op->getResult(0).getType()));
  if (!part)
    return Value();
  if (auto sum = dyn_cast<arith::AddFOp>(op))
    for (unsigned side = 0; side < 2; ++side) {
      auto product = sum->getOperand(side).getDefiningOp<arith::MulFOp>();
      if (product && product->getBlock() == nest.body && !state.values.contains(product.getResult()))
        return vector::FMAOp::create(b, operand(product.getLhs(), state, part), operand(product.getRhs(), state, part),
                                     operand(sum->getOperand(1 - side), state, part));
    }
  if (auto division = dyn_cast<arith::DivFOp>(op); division && !varying.contains(division.getRhs()))
    return divideByUniform(division, state, *part);
  return Value();
}

/// A division by one number for all lanes becomes a product with its reciprocal. Both sides are first multiplied by a
/// power of two that keeps the reciprocal in the range of normal numbers.
Value ElementwiseEmitter::divideByUniform(arith::DivFOp op, State &state, unsigned part) {
  Value divisor = operand(op.getRhs(), state, std::nullopt);
  auto type = cast<FloatType>(divisor.getType());
  double large = type.isF64() ? 0x1p900 : 0x1p100, scale = type.isF64() ? 0x1p-300 : 0x1p-64;
  auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getFloatAttr(type, value)); };
  Value size = math::AbsFOp::create(b, divisor);
  Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, size, constant(large));
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, constant(1 / large));
  Value factor = arith::SelectOp::create(b, isSmall, constant(1 / scale), constant(1.0));
  factor = arith::SelectOp::create(b, isLarge, constant(scale), factor);
  Value reciprocal = arith::DivFOp::create(b, constant(1.0), arith::MulFOp::create(b, divisor, factor).getResult());
  Value scaled = arith::MulFOp::create(b, operand(op.getLhs(), state, part), splat(b, factor, lanes));
  return arith::MulFOp::create(b, scaled, splat(b, reciprocal, lanes));
}

} // namespace

LogicalResult vectorizeElementwise(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target) {
  ElementwiseEmitter emitter(b, nest, target);
  if (failed(emitter.plan()))
    return failure();
  emitter.emit();
  return success();
}

} // namespace fusion::cpu
