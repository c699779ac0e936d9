//===- SplitGraph.h - Parts of a graph as graphs of their own -------------===//

#ifndef FUSION_PASSES_SPACES_SPLITGRAPH_H
#define FUSION_PASSES_SPACES_SPLITGRAPH_H

#include "fusion/SpaceMap/SpaceMap.h"

namespace fusion::spacemap {

/// A unit of partitioning: ops of one graph that no cut may separate. A contraction's product stays with its reduction,
/// and an elementwise chain stays whole. In program order; only the last op is read by other units.
using Unit = llvm::SmallVector<mlir::Operation *, 4>;

/// Gives each output of `graph` that is a source, a coordinate, a broadcast or a constant a map that computes it, so that
/// every output is computed by some unit.
void materializeOutputs(GraphOp graph);

/// The units of `graph` in topological order. Sources, coordinates, generators (maps of nothing but constants and
/// coordinates) and One-to-All mappings belong to none: each part has its own copies.
std::vector<Unit> getUnits(GraphOp graph);

/// Groups `units` (indices into `all`) that read each other's results, directly or through others of the list.
std::vector<llvm::SmallVector<unsigned>> getComponents(llvm::ArrayRef<Unit> all, llvm::ArrayRef<unsigned> units);

/// A new graph, at the place of `builder`, of the ops of `units` (topological order). What other ops of the graph or its
/// output read becomes a result; `results` gets the spaces of `graph` that they stand for, each with its axes. Spaces
/// that come from other units are inputs, which `getTensor` supplies together with their axes.
struct SubgraphResult {
  mlir::Value space;
  llvm::SmallVector<mlir::StringAttr> axes;
};
struct SubgraphInput {
  mlir::Value tensor;
  llvm::SmallVector<mlir::StringAttr> axes;
};
GraphOp extractSubgraph(mlir::OpBuilder &builder, GraphOp graph, llvm::ArrayRef<Unit> all,
                        llvm::ArrayRef<unsigned> units, llvm::function_ref<SubgraphInput(mlir::Value)> getTensor,
                        llvm::SmallVectorImpl<SubgraphResult> &results);

/// Replaces `graph` by one graph per part. Parts are lists of units in topological order, and cover all units.
void splitGraph(GraphOp graph, llvm::ArrayRef<Unit> all, llvm::ArrayRef<llvm::SmallVector<unsigned>> parts);

} // namespace fusion::spacemap

#endif // FUSION_PASSES_SPACES_SPLITGRAPH_H
