//===- SpaceExpr.cpp - Spaces as symbolic scalars, and back ----------------===//

#include "SpaceExpr.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fusion::spacemap;
namespace algebra = fusion::algebra;
using fusion::algebra::Expr;
using fusion::algebra::ExprContext;
using fusion::algebra::LeafFacts;
using fusion::algebra::Node;
using fusion::algebra::Role;

ArrayRef<StringAttr> fusion::spacemap::getDims(Value space) { return cast<SpaceType>(space.getType()).getDims(); }

Type fusion::spacemap::getElementType(Value space) { return cast<SpaceType>(space.getType()).getElementType(); }

//===----------------------------------------------------------------------===//
// SpaceExprs
//===----------------------------------------------------------------------===//

/// What is known of the sign of a space, from the operations that make it.
LeafFacts SpaceExprs::getSigns(Value space) {
  if (auto it = signs.find(space); it != signs.end())
    return it->second;
  LeafFacts facts;
  Operation *op = space.getDefiningOp();
  if (auto map = dyn_cast_or_null<MapOp>(op)) {
    // The same operand is the same leaf, so that squares are seen.
    SmallVector<Expr> arguments;
    for (Value operand : map.getOperands()) {
      std::string name;
      llvm::raw_string_ostream(name) << "sign" << operand.getAsOpaquePointer();
      arguments.push_back(context.leaf(Role::Parameter, name, getElementType(operand), getSigns(operand)));
    }
    std::string ignored;
    Expr expr = context.fromBody(map.getBody().front(), arguments, ignored);
    if (expr && expr.getTreeSize() < Expr::maxTreeSize) {
      facts.positive = isPositive(expr);
      facts.notNegative = isPositive(expr, /*orZero=*/true);
    }
  } else if (auto oneToAll = dyn_cast_or_null<OneToAllOp>(op)) {
    facts = getSigns(oneToAll.getSource());
  } else if (auto allToOne = dyn_cast_or_null<AllToOneOp>(op)) {
    if (keepsSign(allToOne.getReducer()))
      facts = getSigns(allToOne.getSource());
  }
  facts.signsAreKnown = true;
  signs[space] = facts;
  return facts;
}

Expr SpaceExprs::makeLeaf(Value space, Role role, Classify classify, std::string &reason) {
  LeafFacts facts = getSigns(space);
  auto reduction = space.getDefiningOp<AllToOneOp>();
  if (role == Role::State && reduction) {
    Expr source = get(reduction.getSource(), classify, reason);
    if (!source)
      return {};
    facts.reducer = reduction.getReducer();
    facts.source = source.get();
  }
  static const char *const prefixes[] = {"x", "p", "d", "d", "y"};
  std::string name = prefixes[static_cast<unsigned>(role)] + std::to_string(context.size());
  Expr leaf = context.leaf(role, name, getElementType(space), facts);
  spaces[leaf.get()] = space;
  return leaf;
}

Expr SpaceExprs::get(Value space, Classify classify, std::string &reason) {
  if (auto it = exprs.find(space); it != exprs.end())
    return it->second;
  Operation *op = space.getDefiningOp();
  auto map = dyn_cast_or_null<MapOp>(op);
  auto oneToAll = dyn_cast_or_null<OneToAllOp>(op);
  Expr expr;
  if (oneToAll) {
    expr = get(oneToAll.getSource(), classify, reason);
  } else if (map && map.getNumOperands() == 0) {
    expr = context.fromBody(map.getBody().front(), {}, reason);
    if (expr && !expr.isConstant())
      expr = makeLeaf(space, classify(space).value_or(Role::Parameter), classify, reason);
  } else if (std::optional<Role> role = classify(space); role || !map) {
    expr = makeLeaf(space, role.value_or(Role::Varying), classify, reason);
  } else {
    SmallVector<Expr> arguments;
    for (Value operand : map.getOperands()) {
      arguments.push_back(get(operand, classify, reason));
      if (!arguments.back())
        return {};
    }
    expr = context.fromBody(map.getBody().front(), arguments, reason);
    if (expr && !expr.isConstant()) {
      // Worth keeping as it is, if it is no larger than what it depends on.
      llvm::SmallSetVector<StringAttr, 4> dims;
      for (Expr leaf : expr.leaves())
        if (Value space = getSpace(leaf))
          dims.insert_range(getDims(space));
      if (dims.size() == getDims(space).size())
        spaces.try_emplace(expr.get(), space);
    }
  }
  if (expr)
    exprs[space] = expr;
  return expr;
}

//===----------------------------------------------------------------------===//
// SpaceEmitter
//===----------------------------------------------------------------------===//

Dims SpaceEmitter::getNaturalDims(Expr expr) {
  if (auto it = naturalDims.find(expr.get()); it != naturalDims.end())
    return it->second;
  Dims dims;
  if (Value space = spaces.lookup(expr.get())) {
    dims.assign(getDims(space).begin(), getDims(space).end());
  } else {
    llvm::SmallSetVector<StringAttr, 4> all;
    for (unsigned i = 0; i < expr.size(); ++i)
      all.insert_range(getNaturalDims(expr[i]));
    dims.assign(all.begin(), all.end());
    graph.sortDims(dims);
  }
  naturalDims[expr.get()] = dims;
  return dims;
}

Value SpaceEmitter::broadcast(Value space, ArrayRef<StringAttr> dims) {
  if (getDims(space) == dims)
    return space;
  Type type = SpaceType::get(graph.getContext(), dims, getElementType(space));
  Value &result = broadcasts[{space, type}];
  if (result)
    return result;
  SmallVector<Attribute> along;
  for (StringAttr dim : dims)
    if (!llvm::is_contained(getDims(space), dim))
      along.push_back(dim);
  result = OneToAllOp::create(builder, loc, type, space, builder.getArrayAttr(along));
  return result;
}

Value SpaceEmitter::emit(Expr expr, ArrayRef<StringAttr> dims) {
  Value space = emitNatural(expr, getNaturalDims(expr));
  return space ? broadcast(space, dims) : Value();
}

Value SpaceEmitter::emitNatural(Expr expr, ArrayRef<StringAttr> dims) {
  if (Value space = spaces.lookup(expr.get()))
    return space;
  if (expr.isLeaf())
    return {};
  // Operands of the map: what is a space already, or depends on fewer dimensions.
  llvm::SetVector<Expr> operands;
  llvm::SmallPtrSet<const Node *, 16> visited;
  auto collect = [&](auto &self, Expr inner) -> void {
    if (inner.isConstant() || !visited.insert(inner.get()).second)
      return;
    if (inner != expr && (spaces.contains(inner.get()) || inner.isLeaf() || ArrayRef(getNaturalDims(inner)) != dims)) {
      operands.insert(inner);
      return;
    }
    for (unsigned i = 0; i < inner.size(); ++i)
      self(self, inner[i]);
  };
  collect(collect, expr);

  SmallVector<Value> values;
  for (Expr operand : operands) {
    Value value = emit(operand, dims);
    if (!value)
      return {};
    values.push_back(value);
  }
  OpBuilder::InsertionGuard guard(builder);
  auto map = MapOp::create(builder, loc, SpaceType::get(graph.getContext(), dims, expr.type()), values);
  Block *body = builder.createBlock(&map.getBody());
  llvm::DenseMap<const Node *, Value> scalars;
  for (auto [operand, value] : llvm::zip_equal(operands, values))
    scalars[operand.get()] = body->addArgument(getElementType(value), loc);
  Value result = algebra::emit(builder, loc, expr, scalars);
  if (!result) {
    map.erase();
    return {};
  }
  YieldOp::create(builder, loc, result);
  spaces[expr.get()] = map.getResult();
  return map.getResult();
}

Value fusion::spacemap::getExtentSpace(GraphOp graph, StringAttr dim) {
  if (!ShapedType::isDynamic(graph.getStaticExtent(dim)))
    return {};
  Value operand = cast<Value>(graph.getExtent(dim));
  Block &body = graph.getBody().front();
  // Read already? Then where everything can use it.
  for (auto source : body.getOps<SourceOp>()) {
    auto argument = dyn_cast<BlockArgument>(source.getInput());
    if (!argument || graph.getInputs()[argument.getArgNumber()] != operand)
      continue;
    source->moveBefore(&body, body.begin());
    return source;
  }
  graph.getInputsMutable().append(operand);
  BlockArgument argument = body.addArgument(operand.getType(), graph.getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto type = SpaceType::get(graph.getContext(), {}, operand.getType());
  return SourceOp::create(builder, graph.getLoc(), type, argument, builder.getStrArrayAttr({}));
}

void fusion::spacemap::eraseDeadOps(GraphOp graph) {
  graph.getBody().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (op->getDialect() && isa<SpaceMapDialect>(op->getDialect()) && isOpTriviallyDead(op))
      op->erase();
  });
}
