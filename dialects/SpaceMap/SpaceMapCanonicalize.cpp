//===- SpaceMapCanonicalize.cpp - Canonicalization patterns ---------------===//
//
// What has no effect goes: unused operands, inputs, results, states and dimensions, and mappings that change nothing.
//
//===----------------------------------------------------------------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fusion::spacemap;

//===----------------------------------------------------------------------===//
// One-to-All and All-to-One
//===----------------------------------------------------------------------===//

/// The dimensions of `larger` that `smaller` lacks, in the order of `larger`.
static ArrayAttr getAddedDims(SpaceType smaller, SpaceType larger) {
  SmallVector<Attribute> added;
  for (StringAttr dim : larger.getDims())
    if (!smaller.hasDim(dim))
      added.push_back(dim);
  return ArrayAttr::get(larger.getContext(), added);
}

namespace {

/// one_to_all(one_to_all(x)) is one mapping along both lists.
struct MergeOneToAll : OpRewritePattern<OneToAllOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OneToAllOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<OneToAllOp>();
    if (!inner)
      return failure();
    Value source = inner.getSource();
    ArrayAttr along = getAddedDims(inner.getSource().getType(), op.getType());
    rewriter.replaceOpWithNewOp<OneToAllOp>(op, op.getType(), source, along);
    return success();
  }
};

/// all_to_one(all_to_one(x)) with one reducer is one mapping along both lists.
struct MergeAllToOne : OpRewritePattern<AllToOneOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllToOneOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<AllToOneOp>();
    // Another user of the inner space would need it computed apart.
    if (!inner || inner.getReducer() != op.getReducer() || !inner->hasOneUse())
      return failure();
    // The parts of a loop are combined slice by slice: they are not moved over its border.
    if (inner->getBlock() != op->getBlock())
      return failure();
    Value source = inner.getSource();
    ArrayAttr along = getAddedDims(op.getType(), inner.getSource().getType());
    rewriter.replaceOpWithNewOp<AllToOneOp>(op, op.getType(), source, along, op.getReducer());
    return success();
  }
};

} // namespace

void OneToAllOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeOneToAll>(context);
}

void AllToOneOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeAllToOne>(context);
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

namespace {

/// Drops operands that the body does not use, and all but the first of equal operands.
struct DropMapOperands : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    llvm::BitVector drop(op.getNumOperands());
    llvm::SmallDenseMap<Value, unsigned> first;
    Block &body = op.getBody().front();
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      BlockArgument argument = body.getArgument(index);
      // An unused operand does not stand for equal ones after it.
      if (argument.use_empty()) {
        drop.set(index);
        continue;
      }
      auto [it, isNew] = first.try_emplace(operand, index);
      if (isNew)
        continue;
      rewriter.replaceAllUsesWith(argument, body.getArgument(it->second));
      drop.set(index);
    }
    if (drop.none())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArguments(drop);
      op->eraseOperands(drop);
    });
    return success();
  }
};

/// A map whose body is a constant, seen through one_to_all or directly, moves into the body of its consumers.
struct InlineConstantMap : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      Value value = operand;
      if (auto broadcast = value.getDefiningOp<OneToAllOp>())
        value = broadcast.getSource();
      auto producer = value.getDefiningOp<MapOp>();
      if (!producer || producer.getNumOperands() != 0 || body.getArgument(index).use_empty())
        continue;
      rewriter.setInsertionPointToStart(&body);
      IRMapping mapping;
      for (Operation &inner : producer.getBody().front().without_terminator())
        rewriter.clone(inner, mapping);
      auto yield = cast<YieldOp>(producer.getBody().front().getTerminator());
      rewriter.replaceAllUsesWith(body.getArgument(index), mapping.lookupOrDefault(yield.getValue()));
      return success();
    }
    return failure();
  }
};

/// A map that yields an operand unchanged is that operand.
struct DropIdentityMap : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    auto argument = dyn_cast<BlockArgument>(cast<YieldOp>(body.getTerminator()).getValue());
    if (!argument || argument.getOwner() != &body)
      return failure();
    rewriter.replaceOp(op, op.getOperand(argument.getArgNumber()));
    return success();
  }
};

} // namespace

void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropMapOperands, InlineConstantMap, DropIdentityMap>(context);
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

namespace {

/// Drops inputs that no source reads and inputs that occur twice.
struct DropGraphInputs : OpRewritePattern<GraphOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GraphOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    llvm::BitVector drop(op.getInputs().size());
    llvm::SmallDenseMap<Value, unsigned> first;
    for (auto [index, input] : llvm::enumerate(op.getInputs())) {
      auto [it, isNew] = first.try_emplace(input, index);
      if (!isNew)
        rewriter.replaceAllUsesWith(body.getArgument(index), body.getArgument(it->second));
    }
    for (unsigned index = 0, end = op.getInputs().size(); index != end; ++index)
      if (body.getArgument(index).use_empty())
        drop.set(index);
    if (drop.none())
      return failure();
    SmallVector<Value> kept;
    for (auto [index, input] : llvm::enumerate(op.getInputs()))
      if (!drop.test(index))
        kept.push_back(input);
    rewriter.modifyOpInPlace(op, [&] {
      body.eraseArguments(drop);
      op.getInputsMutable().assign(kept);
    });
    return success();
  }
};

/// Drops results that nothing uses, results that are an input unchanged, and all but the first of equal results.
struct DropGraphResults : OpRewritePattern<GraphOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The input that result `index` is a copy of, or null.
  static Value getForwardedInput(GraphOp op, OutputOp output, unsigned index) {
    auto source = output.getValues()[index].getDefiningOp<SourceOp>();
    if (!source || source.getAxes() != output.getAxes()[index])
      return {};
    Value input = op.getInputs()[cast<BlockArgument>(source.getInput()).getArgNumber()];
    return input.getType() == op.getResult(index).getType() ? input : Value();
  }

  LogicalResult matchAndRewrite(GraphOp op, PatternRewriter &rewriter) const override {
    auto output = cast<OutputOp>(op.getBody().front().getTerminator());
    SmallVector<unsigned> kept;
    SmallVector<Value> values;
    SmallVector<Attribute> axes;
    SmallVector<Type> types;
    for (OpResult result : op.getResults()) {
      unsigned index = result.getResultNumber();
      if (result.use_empty())
        continue;
      if (Value input = getForwardedInput(op, output, index)) {
        rewriter.replaceAllUsesWith(result, input);
        continue;
      }
      auto isEqual = [&](unsigned other) {
        return output.getValues()[other] == output.getValues()[index] &&
               output.getAxes()[other] == output.getAxes()[index] &&
               op.getResult(other).getType() == result.getType();
      };
      if (auto it = llvm::find_if(kept, isEqual); it != kept.end()) {
        rewriter.replaceAllUsesWith(result, op.getResult(*it));
        continue;
      }
      kept.push_back(index);
      values.push_back(output.getValues()[index]);
      axes.push_back(output.getAxes()[index]);
      types.push_back(result.getType());
    }
    if (kept.size() == op.getNumResults())
      return failure();
    rewriter.modifyOpInPlace(output, [&] {
      output.getValuesMutable().assign(values);
      output.setAxesAttr(rewriter.getArrayAttr(axes));
    });
    auto smaller = GraphOp::create(rewriter, op.getLoc(), types, op->getOperands(), op.getProperties(),
                                   op->getDiscardableAttrDictionary().getValue());
    smaller.getBody().takeBody(op.getBody());
    for (auto [index, result] : llvm::zip_equal(kept, smaller.getResults()))
      rewriter.replaceAllUsesWith(op.getResult(index), result);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Drops dimensions that no space of the body has.
struct DropGraphDims : OpRewritePattern<GraphOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GraphOp op, PatternRewriter &rewriter) const override {
    llvm::SmallDenseSet<Attribute> used;
    op.getBody().walk([&](Operation *inner) {
      for (Type type : inner->getResultTypes())
        if (auto space = dyn_cast<SpaceType>(type))
          used.insert_range(space.getDims());
      if (auto temporal = dyn_cast<TemporalOp>(inner))
        used.insert(temporal.getDimAttr());
    });
    if (llvm::all_of(op.getDimNames(), [&](Attribute dim) { return used.contains(dim); }))
      return failure();

    SmallVector<Attribute> names;
    SmallVector<int64_t> extents, blocks;
    SmallVector<Value> dynamicExtents;
    for (Attribute attribute : op.getDimNames()) {
      auto dim = cast<StringAttr>(attribute);
      if (!used.contains(dim))
        continue;
      names.push_back(dim);
      extents.push_back(op.getStaticExtent(dim));
      blocks.push_back(op.getBlockSize(dim));
      if (auto extent = dyn_cast<Value>(op.getExtent(dim)))
        dynamicExtents.push_back(extent);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.setDimNamesAttr(rewriter.getArrayAttr(names));
      op.setStaticExtents(extents);
      if (op.getBlockSizes())
        op.setBlockSizes(blocks);
      op.getDynamicExtentsMutable().assign(dynamicExtents);
    });
    return success();
  }
};

} // namespace

void GraphOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropGraphInputs, DropGraphResults, DropGraphDims>(context);
}

//===----------------------------------------------------------------------===//
// Temporal
//===----------------------------------------------------------------------===//

namespace {

/// Drops collected spaces that nothing uses, and states that reach no used result.
struct DropTemporalResults : OpRewritePattern<TemporalOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Marks the states that the values of `worklist`, inside of the loop, are made from.
  static void markStates(TemporalOp op, SmallVector<Value> worklist, llvm::BitVector &live) {
    Block *body = &op.getBody().front();
    llvm::SmallDenseSet<Value> seen;
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == body)
          live.set(argument.getArgNumber());
      } else if (body->getParent()->isAncestor(value.getParentRegion())) {
        llvm::append_range(worklist, value.getDefiningOp()->getOperands());
      }
    }
  }

  LogicalResult matchAndRewrite(TemporalOp op, PatternRewriter &rewriter) const override {
    auto next = cast<NextOp>(op.getBody().front().getTerminator());
    unsigned numStates = op.getInits().size();
    llvm::BitVector live(numStates);
    for (OpResult result : op.getFinalStates())
      if (!result.use_empty())
        live.set(result.getResultNumber());
    SmallVector<Value> collected;
    for (auto [result, value] : llvm::zip_equal(op.getCollected(), next.getCollected()))
      if (!result.use_empty())
        collected.push_back(value);
    // A live state keeps alive the states that its next value is made from.
    unsigned numLive;
    do {
      numLive = live.count();
      SmallVector<Value> roots = collected;
      for (unsigned state : live.set_bits())
        roots.push_back(next.getStates()[state]);
      markStates(op, roots, live);
    } while (live.count() != numLive);
    if (live.all() && collected.size() == op.getCollected().size())
      return failure();
    // A loop without results is dead: it is not this pattern's.
    if (live.none() && collected.empty())
      return failure();

    SmallVector<Value> inits, states;
    llvm::BitVector dead(numStates);
    Block &body = op.getBody().front();
    for (unsigned state = 0; state < numStates; ++state) {
      if (live.test(state)) {
        inits.push_back(op.getInits()[state]);
        states.push_back(next.getStates()[state]);
        continue;
      }
      dead.set(state);
      // What still reads it is dead as well.
      rewriter.replaceAllUsesWith(body.getArgument(state), op.getInits()[state]);
    }
    SmallVector<Type> types = llvm::to_vector(llvm::map_range(states, [](Value value) { return value.getType(); }));
    llvm::append_range(types, llvm::map_range(collected, [](Value value) { return value.getType(); }));
    rewriter.modifyOpInPlace(next, [&] {
      next.getStatesMutable().assign(states);
      next.getCollectedMutable().assign(collected);
    });
    auto smaller = TemporalOp::create(rewriter, op.getLoc(), types, inits, op.getProperties(),
                                      op->getDiscardableAttrDictionary().getValue());
    smaller.getBody().takeBody(op.getBody());
    smaller.getBody().front().eraseArguments(dead);
    unsigned position = 0;
    for (OpResult result : op.getResults()) {
      unsigned index = result.getResultNumber();
      if (index < numStates ? live.test(index) : !result.use_empty())
        rewriter.replaceAllUsesWith(result, smaller.getResult(position++));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void TemporalOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTemporalResults>(context);
}
