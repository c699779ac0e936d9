//===- Build.cpp - spacemap-build -----------------------------------------===//

#include "Build.h"
#include "FinestShape.h"

#include "fusion/SpaceMap/SpaceMap.h"
#include "fusion/Spaces/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPBUILD
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

namespace {

using Dims = DimTable::Dims;

/// Writes one graph for a group of aligned operators, and rewires what uses their results.
class GraphBuilder {
public:
  GraphBuilder(Block &block, BlockAlignment &alignment, ArrayRef<Operator *> group, IRMapping &replaced)
      : alignment(alignment), group(group), replaced(replaced), builder(group.back()->op),
        context(builder.getContext()), block(block) {
    members.insert_range(llvm::map_range(group, [](Operator *op) { return op->op.getOperation(); }));
  }

  void build() {
    builder.setInsertionPointAfter(getPlace());
    // Outputs first: a reshape that only they see may split dimensions further.
    collectOutputs();
    nameDims();
    createGraph();
    for (Operator *op : group)
      spaces[op->op.getResult(0)] = emit(*op);
    finish();
  }

private:
  /// The graph stands behind its last operator and behind what it reads: that may have moved behind an earlier graph.
  Operation *getPlace() {
    Operation *place = group.back()->op;
    auto visit = [&](Value value) {
      Operation *definition = value ? replaced.lookupOrDefault(value).getDefiningOp() : nullptr;
      if (definition && definition->getBlock() == &block && place->isBeforeInBlock(definition))
        place = definition;
    };
    for (Operator *op : group) {
      for (const TracedValue &operand : op->operands)
        visit(operand.root);
      for (Value capture : op->fusible.captures)
        visit(capture);
      for (const Dims &loop : op->loops)
        for (DimTable::Dim dim : alignment.table.resolve(loop))
          if (auto extent = dyn_cast<Value>(alignment.table.getExtent(dim)))
            visit(extent);
    }
    return place;
  }

  //===--- Dimensions ---===//

  void nameDims() {
    for (Operator *op : group)
      for (const Dims &loop : op->loops)
        for (DimTable::Dim dim : alignment.table.resolve(loop))
          if (names.try_emplace(dim, StringAttr::get(context, "d" + Twine(order.size()))).second)
            order.push_back(dim);
  }

  SmallVector<StringAttr> getNames(ArrayRef<Dims> axes) {
    SmallVector<StringAttr> result;
    for (const Dims &axis : axes)
      for (DimTable::Dim dim : alignment.table.resolve(axis))
        result.push_back(names.lookup(dim));
    return result;
  }

  SpaceType getSpaceType(ArrayRef<StringAttr> dims, Type elementType) {
    SmallVector<StringAttr> sorted(dims);
    llvm::sort(sorted, [&](StringAttr a, StringAttr b) { return position(a) < position(b); });
    return SpaceType::get(context, sorted, elementType);
  }

  unsigned position(StringAttr name) {
    unsigned result;
    name.getValue().drop_front().getAsInteger(10, result);
    return result;
  }

  //===--- Outputs ---===//

  /// Values that something outside of the graph reads: results of operators, or reshapes of them.
  void collectOutputs() {
    llvm::SetVector<Value> values;
    for (Operator *op : group)
      collectUses(op->op.getResult(0), values);
    for (Value value : values) {
      std::optional<TracedValue> traced = alignment.trace(value, group.front()->stage);
      // A reshape that the table cannot express stays outside, behind its operand. Tracing succeeded for operands of
      // operators; only a reshape that no operator reads can fail.
      if (traced)
        outputs.insert({value, *traced});
    }
  }

  void collectUses(Value value, llvm::SetVector<Value> &values) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      auto it = user == use.getOwner() ? alignment.operators.find(user) : alignment.operators.end();
      if (it != alignment.operators.end()) {
        // Another graph reads the root itself and looks through the reshapes again; an unread init is not read.
        const TracedValue &operand = it->second.operands[use.getOperandNumber()];
        if (operand.root && !members.contains(user))
          values.insert(operand.root);
      } else if (user == use.getOwner() && isReshape(user) && use.getOperandNumber() == 0 &&
                 alignment.trace(user->getResult(0), group.front()->stage)) {
        collectUses(user->getResult(0), values);
      } else {
        values.insert(value);
      }
    }
  }

  OpFoldResult getExtent(DimTable::Dim dim) { return alignment.table.getExtent(dim); }

  SmallVector<Dims> resolve(ArrayRef<Dims> axes) {
    return llvm::to_vector(llvm::map_range(axes, [&](const Dims &axis) { return alignment.table.resolve(axis); }));
  }

  //===--- The graph ---===//

  void createGraph() {
    SmallVector<Attribute> dimNames;
    SmallVector<int64_t> extents;
    SmallVector<Value> dynamicExtents;
    for (DimTable::Dim dim : order) {
      dimNames.push_back(names.lookup(dim));
      std::optional<int64_t> size = getConstantIntValue(getExtent(dim));
      extents.push_back(size.value_or(ShapedType::kDynamic));
      if (!size)
        dynamicExtents.push_back(replaced.lookupOrDefault(cast<Value>(getExtent(dim))));
    }
    SmallVector<Type> types;
    for (auto &[value, traced] : outputs) {
      SmallVector<OpFoldResult> shape;
      for (const Dims &axis : resolve(traced.axes))
        for (DimTable::Dim dim : axis)
          shape.push_back(getExtent(dim));
      types.push_back(getFinestType(shape, cast<RankedTensorType>(value.getType()).getElementType()));
    }
    SmallVector<Location> locs = llvm::to_vector(llvm::map_range(group, [](Operator *op) { return op->op.getLoc(); }));
    graph = GraphOp::create(builder, builder.getFusedLoc(locs), types, ValueRange(), dynamicExtents,
                            builder.getArrayAttr(dimNames), extents, DenseI64ArrayAttr());
    body.setInsertionPointToStart(&graph.getBody().emplaceBlock());
  }

  Value addInput(Value value) {
    BlockArgument argument = graph.getBody().addArgument(value.getType(), value.getLoc());
    graph.getInputsMutable().append(value);
    return argument;
  }

  /// A constant, in every element of a space of no dimensions.
  Value createConstant(TypedAttr value, Location loc) {
    return createMap(getSpaceType({}, value.getType()), {}, loc, [&](OpBuilder &inner, ValueRange) {
      return arith::ConstantOp::create(inner, loc, value).getResult();
    });
  }

  Value createMap(SpaceType type, ValueRange operands, Location loc,
                  function_ref<Value(OpBuilder &, ValueRange)> createBody) {
    auto map = MapOp::create(body, loc, type, operands);
    Block &mapBody = map.getBody().emplaceBlock();
    for (Value operand : operands)
      mapBody.addArgument(cast<SpaceType>(operand.getType()).getElementType(), operand.getLoc());
    OpBuilder inner = OpBuilder::atBlockBegin(&mapBody);
    Value value = createBody(inner, mapBody.getArguments());
    YieldOp::create(inner, loc, value);
    return map;
  }

  /// `space` fed to all elements of the dimensions of `dims` that it lacks.
  Value broadcast(Value space, ArrayRef<StringAttr> dims) {
    auto type = cast<SpaceType>(space.getType());
    SmallVector<Attribute> along;
    for (StringAttr dim : getSpaceType(dims, type.getElementType()).getDims())
      if (!type.hasDim(dim))
        along.push_back(dim);
    if (along.empty())
      return space;
    return OneToAllOp::create(body, space.getLoc(), getSpaceType(dims, type.getElementType()), space,
                              body.getArrayAttr(along));
  }

  /// The space of an operand: an operator's result, a constant, or a source.
  Value getSpace(const TracedValue &operand, Location loc) {
    if (Value space = spaces.lookup(operand.root))
      return space;
    Type elementType = getElementTypeOrSelf(operand.root.getType());
    TypedAttr constant;
    if (matchPattern(operand.root, m_Constant(&constant)) && !isa<ShapedType>(constant.getType()))
      return createConstant(constant, loc);
    if (!isa<RankedTensorType>(operand.root.getType()))
      return getScalarSpace(operand.root);
    if ((constant = getUniformConstant(operand.root)))
      return createConstant(constant, loc);
    SmallVector<Dims> axes = resolve(operand.rootAxes);
    SmallVector<StringAttr> axisNames = getNames(axes);
    for (auto &[root, knownAxes, source] : sources)
      if (root == operand.root && knownAxes == axes)
        return source;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(graph);
    Value input = toFinest(builder, operand.root.getLoc(), replaced.lookupOrDefault(operand.root), axes, alignment.table);
    SmallVector<Attribute> axisAttrs(axisNames.begin(), axisNames.end());
    Value source = SourceOp::create(body, operand.root.getLoc(), getSpaceType(axisNames, elementType), addInput(input),
                                    body.getArrayAttr(axisAttrs));
    sources.emplace_back(operand.root, axes, source);
    return source;
  }

  /// A scalar from outside of the graph as a space of no dimensions.
  Value getScalarSpace(Value scalar) {
    Value &space = scalars[scalar];
    if (!space)
      space = SourceOp::create(body, scalar.getLoc(), getSpaceType({}, scalar.getType()),
                               addInput(replaced.lookupOrDefault(scalar)), body.getArrayAttr({}));
    return space;
  }

  /// What the body of an operator reads: its operands, and further scalars and coordinates.
  struct BodyInputs {
    SmallVector<Value> spaces;
    /// For each, the value of the operator's body that it stands for, or none for the parts of a coordinate.
    SmallVector<Value> standsFor;
  };

  Value emit(Operator &op) {
    Location loc = op.op.getLoc();
    Block &scalarBody = *op.op.getBody();
    SmallVector<StringAttr> dims = getNames(op.loops);
    Value combined = op.fusible.combined;

    // The part of the body that computes what is reduced, or yielded.
    llvm::SetVector<Operation *> slice;
    if (Operation *definition = combined.getDefiningOp(); definition && definition->getBlock() == &scalarBody) {
      BackwardSliceOptions options;
      options.filter = [&](Operation *other) { return other->getBlock() == &scalarBody; };
      options.inclusive = true;
      (void)getBackwardSlice(definition, &slice, options);
    }
    auto isUsed = [&](Value value) {
      return combined == value || llvm::any_of(value.getUsers(), [&](Operation *user) {
               return llvm::any_of(slice, [&](Operation *member) { return member->isAncestor(user); });
             });
    };

    BodyInputs inputs;
    auto add = [&](Value space, Value standsFor) {
      inputs.spaces.push_back(broadcast(space, dims));
      inputs.standsFor.push_back(standsFor);
    };
    for (auto [argument, operand] : llvm::zip_equal(scalarBody.getArguments(), op.operands))
      if (operand.root && isUsed(argument))
        add(getSpace(operand, loc), argument);
    for (Value capture : op.fusible.captures)
      if (isUsed(capture) && !matchPattern(capture, m_Constant()))
        add(getScalarSpace(capture), capture);
    // A loop over several dimensions has a coordinate put together from theirs.
    llvm::MapVector<unsigned, SmallVector<unsigned>> coordinates;
    for (Operation *member : slice) {
      auto index = dyn_cast<linalg::IndexOp>(member);
      if (!index || coordinates.contains(index.getDim()))
        continue;
      SmallVector<unsigned> &parts = coordinates[index.getDim()];
      Dims loop = alignment.table.resolve(op.loops[index.getDim()]);
      for (auto [position, dim] : llvm::enumerate(loop)) {
        parts.push_back(inputs.spaces.size());
        StringAttr name = names.lookup(dim);
        add(IndexOp::create(body, loc, getSpaceType({name}, body.getIndexType()), name), Value());
        if (position == 0 || getConstantIntValue(getExtent(dim)))
          continue;
        // The extents of inner dimensions are factors; run-time ones are read as scalars.
        add(getScalarSpace(cast<Value>(getExtent(dim))), Value());
      }
    }

    Value result;
    auto argument = dyn_cast<BlockArgument>(combined);
    if (argument && inputs.spaces.size() == 1 && inputs.standsFor.front() == argument) {
      result = inputs.spaces.front();
    } else {
      auto type = getSpaceType(dims, combined.getType());
      result = createMap(type, inputs.spaces, loc, [&](OpBuilder &inner, ValueRange arguments) {
        return cloneBody(op, inputs, slice, coordinates, inner, arguments);
      });
    }
    return op.fusible.reducer ? reduce(op, result) : result;
  }

  Value cloneBody(Operator &op, const BodyInputs &inputs, const llvm::SetVector<Operation *> &slice,
                  const llvm::MapVector<unsigned, SmallVector<unsigned>> &coordinates, OpBuilder &inner,
                  ValueRange arguments) {
    Location loc = op.op.getLoc();
    IRMapping mapping;
    for (auto [argument, standsFor] : llvm::zip_equal(arguments, inputs.standsFor))
      if (standsFor)
        mapping.map(standsFor, argument);
    for (Value capture : op.fusible.captures)
      if (!mapping.contains(capture) && matchPattern(capture, m_Constant()))
        mapping.map(capture, inner.clone(*capture.getDefiningOp())->getResult(0));
    llvm::SmallDenseMap<unsigned, Value> linear;
    for (auto &[loop, parts] : coordinates) {
      Value index = parts.empty() ? arith::ConstantIndexOp::create(inner, loc, 0).getResult() : Value();
      unsigned next = 0;
      for (auto [position, dim] : llvm::enumerate(alignment.table.resolve(op.loops[loop]))) {
        Value coordinate = arguments[parts[next++]];
        if (position == 0) {
          index = coordinate;
          continue;
        }
        std::optional<int64_t> size = getConstantIntValue(getExtent(dim));
        Value extent = size ? arith::ConstantIndexOp::create(inner, loc, *size).getResult()
                            : arguments[parts[next - 1] + 1];
        index = arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, index, extent), coordinate);
      }
      linear[loop] = index;
    }
    for (Operation &member : *op.op.getBody()) {
      if (!slice.contains(&member))
        continue;
      if (auto index = dyn_cast<linalg::IndexOp>(&member))
        mapping.map(index.getResult(), linear.lookup(index.getDim()));
      else
        inner.clone(member, mapping);
    }
    return mapping.lookupOrDefault(op.fusible.combined);
  }

  /// The All-to-One mapping of a reduction, and its init where that is more than the identity.
  Value reduce(Operator &op, Value space) {
    Location loc = op.op.getLoc();
    SmallVector<Dims> reduced;
    for (auto [loop, kind] : llvm::zip_equal(op.loops, op.op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        reduced.push_back(loop);
    SmallVector<StringAttr> along = getNames(reduced);
    SmallVector<StringAttr> dims = getNames(op.resultAxes);
    Type elementType = cast<SpaceType>(space.getType()).getElementType();
    Value result = space;
    if (!along.empty())
      result = AllToOneOp::create(body, loc, getSpaceType(dims, elementType), space,
                                  body.getArrayAttr(SmallVector<Attribute>(along.begin(), along.end())),
                                  *op.fusible.reducer);
    if (!op.fusible.readsInit)
      return result;
    Value init = broadcast(getSpace(op.operands.back(), loc), dims);
    return createMap(cast<SpaceType>(result.getType()), {init, result}, loc, [&](OpBuilder &inner, ValueRange values) {
      return createCombine(inner, loc, *op.fusible.reducer, values[0], values[1]);
    });
  }

  void finish() {
    SmallVector<Value> values;
    SmallVector<Attribute> axes;
    for (auto &[value, traced] : outputs) {
      values.push_back(spaces.lookup(traced.root));
      SmallVector<StringAttr> axisNames = getNames(traced.axes);
      axes.push_back(builder.getArrayAttr(SmallVector<Attribute>(axisNames.begin(), axisNames.end())));
    }
    OutputOp::create(body, graph.getLoc(), values, body.getArrayAttr(axes));

    builder.setInsertionPointAfter(graph);
    Operation *last = graph;
    SmallVector<std::pair<Value, Value>> replacements;
    for (auto [output, result] : llvm::zip_equal(outputs, graph.getResults())) {
      auto &[value, traced] = output;
      Value replacement = fromFinest(builder, value.getLoc(), result, resolve(traced.axes),
                                     cast<RankedTensorType>(value.getType()), alignment.table);
      replacements.emplace_back(value, replacement);
      replaced.map(value, replacement);
      if (Operation *definition = builder.getInsertionPoint() == block.end() ? &block.back()
                                                                              : builder.getInsertionPoint()->getPrevNode())
        last = definition;
    }
    for (auto [value, replacement] : replacements)
      moveUsersAfter(value, last);
    for (auto [value, replacement] : replacements)
      value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
        return !alignment.operators.contains(use.getOwner()) && !members.contains(use.getOwner());
      });
  }

  /// Moves what uses `value` and stands before the graph, with all that uses it in turn, behind `last`.
  void moveUsersAfter(Value value, Operation *&last) {
    llvm::SetVector<Operation *> users;
    std::function<void(Value)> visit = [&](Value used) {
      for (Operation *user : used.getUsers()) {
        Operation *ancestor = block.findAncestorOpInBlock(*user);
        if (!ancestor || !ancestor->isBeforeInBlock(graph) || alignment.operators.contains(ancestor))
          continue;
        if (users.insert(ancestor))
          for (Value result : ancestor->getResults())
            visit(result);
      }
    };
    visit(value);
    SmallVector<Operation *> ordered = users.takeVector();
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *user : ordered) {
      user->moveAfter(last);
      last = user;
    }
  }

  BlockAlignment &alignment;
  ArrayRef<Operator *> group;
  /// Values of the program that earlier graphs compute now.
  IRMapping &replaced;
  OpBuilder builder;
  MLIRContext *context;
  OpBuilder body{context};
  Block &block;
  llvm::SmallPtrSet<Operation *, 16> members;
  llvm::DenseMap<DimTable::Dim, StringAttr> names;
  SmallVector<DimTable::Dim> order;
  llvm::MapVector<Value, TracedValue> outputs;
  GraphOp graph;
  llvm::DenseMap<Value, Value> spaces, scalars;
  std::vector<std::tuple<Value, SmallVector<Dims>, Value>> sources;
};

struct BuildPass : fusion::impl::SpaceMapBuildBase<BuildPass> {
  using SpaceMapBuildBase::SpaceMapBuildBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      // Bodies of linalg ops hold scalars only.
      if (!isa<linalg::LinalgOp>(op))
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
    });
    for (Block *block : blocks)
      runOnBlock(*block);
  }

  void runOnBlock(Block &block) {
    BlockAlignment alignment(block);
    alignment.run();
    numCuts += alignment.numCuts;
    if (wantsRemarks(getOperation()))
      explainBuild(block, alignment);
    IRMapping replaced;
    for (SmallVector<Operator *> &group : alignment.getGraphs()) {
      GraphBuilder(block, alignment, group, replaced).build();
      ++numGraphs;
      numOps += group.size();
    }
    // The operators, and reshapes and inits that only they used.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (alignment.operators.contains(&op) || isReshape(&op) ||
          isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(&op))
        if (op.use_empty())
          op.erase();
  }
};

} // namespace
