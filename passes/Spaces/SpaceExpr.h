//===- SpaceExpr.h - Spaces as symbolic scalars, and back --------*- C++ -*-===//
//
// The element of a space as an expression over the elements of other spaces (`fusion::algebra`), and the other way:
// expressions as maps, each part over no more dimensions than it needs.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_SPACES_SPACEEXPR_H
#define FUSION_PASSES_SPACES_SPACEEXPR_H

#include "fusion/Algebra/Expr.h"
#include "fusion/SpaceMap/SpaceMap.h"

namespace fusion::spacemap {

using Dims = llvm::SmallVector<mlir::StringAttr>;

/// The dimensions of a space.
llvm::ArrayRef<mlir::StringAttr> getDims(mlir::Value space);
mlir::Type getElementType(mlir::Value space);

/// Expressions of the spaces of one graph. A space is inlined through One-to-One and One-to-All mappings down to
/// leaves.
class SpaceExprs {
public:
  explicit SpaceExprs(algebra::ExprContext &context) : context(context) {}

  /// Decides of a space whether it is a leaf: gives its role or nothing. Spaces that are neither maps nor One-to-All
  /// are always leaves.
  using Classify = llvm::function_ref<std::optional<algebra::Role>(mlir::Value)>;

  /// The expression of `space`; null, with a text in `reason`, if a body cannot be understood. Constant spaces are
  /// constants, never leaves. For one object, `classify` must always decide alike.
  algebra::Expr get(mlir::Value space, Classify classify, std::string &reason);

  /// A space for each leaf, and for each inner expression that a space holds over just the dimensions it depends on.
  const llvm::DenseMap<const algebra::Node *, mlir::Value> &getSpaces() const { return spaces; }
  /// The space of a leaf or of an inner expression; null if there is none.
  mlir::Value getSpace(algebra::Expr expr) const { return spaces.lookup(expr.get()); }

private:
  algebra::Expr makeLeaf(mlir::Value space, algebra::Role role, Classify classify, std::string &reason);
  algebra::LeafFacts getSigns(mlir::Value space);

  algebra::ExprContext &context;
  llvm::DenseMap<mlir::Value, algebra::Expr> exprs;
  llvm::DenseMap<const algebra::Node *, mlir::Value> spaces;
  llvm::DenseMap<mlir::Value, algebra::LeafFacts> signs;
};

/// Emits expressions as maps of a graph.
class SpaceEmitter {
public:
  /// `spaces` gives the space of each leaf, and perhaps of inner expressions, which are then not computed again.
  SpaceEmitter(
      mlir::OpBuilder &builder, mlir::Location loc, GraphOp graph,
      llvm::DenseMap<const algebra::Node *, mlir::Value> spaces = llvm::DenseMap<const algebra::Node *, mlir::Value>())
      : builder(builder), loc(loc), graph(graph), spaces(std::move(spaces)) {}

  /// The space of `expr`, over the dimensions `dims`, which are at least those of its leaves. Parts that depend on
  /// fewer dimensions become maps of their own, and are mapped One-to-All. Null if a leaf has no space.
  mlir::Value emit(algebra::Expr expr, llvm::ArrayRef<mlir::StringAttr> dims);

  /// The space of `expr` over the dimensions of its leaves.
  mlir::Value emitNatural(algebra::Expr expr) { return emitNatural(expr, getNaturalDims(expr)); }

  /// `space` over the dimensions `dims`.
  mlir::Value broadcast(mlir::Value space, llvm::ArrayRef<mlir::StringAttr> dims);

  void setSpace(algebra::Expr expr, mlir::Value space) { spaces[expr.get()] = space; }

private:
  Dims getNaturalDims(algebra::Expr expr);
  mlir::Value emitNatural(algebra::Expr expr, llvm::ArrayRef<mlir::StringAttr> dims);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  GraphOp graph;
  llvm::DenseMap<const algebra::Node *, mlir::Value> spaces;
  llvm::DenseMap<const algebra::Node *, Dims> naturalDims;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> broadcasts;
};

/// The extent of a dimension as a space of type index without dimensions, read at the start of the graph; null if it is
/// static.
mlir::Value getExtentSpace(GraphOp graph, mlir::StringAttr dim);

/// Erases operations of the graph that nothing uses.
void eraseDeadOps(GraphOp graph);

} // namespace fusion::spacemap

#endif // FUSION_PASSES_SPACES_SPACEEXPR_H
