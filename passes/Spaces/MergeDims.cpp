//===- MergeDims.cpp - One dimension for all uses of an input --------------===//
//
// The builder gives each use of a tensor from outside dimensions of its own. Where no space would get a dimension
// twice, the uses can share them: then a row that is read three times is one source, and its reductions are chains
// along one dimension, which can be sliced.
//
//===------------------------------------------------------------------------===//

#include "fusion/Spaces/MergeDims.h"
#include "SpaceExpr.h"

#include "fusion/Spaces/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SmallBitVector.h"

namespace fusion {
#define GEN_PASS_DEF_SPACEMAPMERGEDIMS
#include "fusion/Spaces/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion::spacemap;

namespace {

/// Dimensions of a graph that are to be one; the first stands for all.
class MergedDims {
public:
  explicit MergedDims(GraphOp graph) : graph(graph) {
    unsigned count = graph.getNumDims();
    for (unsigned dim = 0; dim < count; ++dim)
      representative.push_back(dim);
    // Which dimensions occur together in a space.
    together.assign(count, llvm::SmallBitVector(count));
    llvm::SmallDenseSet<Type> seen;
    graph.getBody().walk([&](Operation *op) {
      for (Type type : op->getResultTypes()) {
        auto space = dyn_cast<SpaceType>(type);
        if (!space || !seen.insert(type).second)
          continue;
        for (StringAttr a : space.getDims())
          for (StringAttr b : space.getDims())
            together[graph.getDimIndex(a)].set(graph.getDimIndex(b));
      }
    });
  }

  unsigned find(unsigned dim) const { return representative[dim]; }
  unsigned find(StringAttr dim) { return find(graph.getDimIndex(dim)); }

  bool merge(StringAttr a, StringAttr b) {
    unsigned first = find(a), second = find(b);
    if (first == second || together[first].test(second))
      return false;
    if (first > second)
      std::swap(first, second);
    for (unsigned &other : representative)
      if (other == second)
        other = first;
    together[first] |= together[second];
    for (unsigned other : together[second].set_bits())
      together[other].set(first);
    return true;
  }

private:
  GraphOp graph;
  SmallVector<unsigned> representative;
  SmallVector<llvm::SmallBitVector> together;
};

} // namespace

unsigned fusion::spacemap::mergeDims(GraphOp graph) {
  Block &body = graph.getBody().front();
  if (graph.getBlockSizes() || !body.getOps<TemporalOp>().empty())
    return 0;
  // Uses of one tensor, whichever argument it comes in by.
  MergedDims merged(graph);
  unsigned count = 0;
  llvm::DenseMap<Value, SmallVector<SourceOp>> uses;
  for (auto source : body.getOps<SourceOp>()) {
    auto argument = dyn_cast<BlockArgument>(source.getInput());
    if (!argument)
      continue;
    SmallVector<SourceOp> &others = uses[graph.getInputs()[argument.getArgNumber()]];
    for (SourceOp other : others)
      for (auto [a, b] : llvm::zip_equal(getNames(other.getAxes()), getNames(source.getAxes())))
        count += merged.merge(a, b);
    others.push_back(source);
  }
  if (count == 0)
    return 0;

  MLIRContext *context = graph.getContext();
  auto renamed = [&](StringAttr dim) { return graph.getDimName(merged.find(dim)); };
  auto rename = [&](ArrayAttr dims) {
    SmallVector<Attribute> names;
    for (StringAttr dim : getNames(dims))
      names.push_back(renamed(dim));
    return ArrayAttr::get(context, names);
  };
  graph.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto space = dyn_cast<SpaceType>(result.getType());
      if (!space)
        continue;
      Dims dims = llvm::map_to_vector(space.getDims(), renamed);
      graph.sortDims(dims);
      result.setType(SpaceType::get(context, dims, space.getElementType()));
    }
    if (auto source = dyn_cast<SourceOp>(op)) {
      source.setAxesAttr(rename(source.getAxes()));
    } else if (auto oneToAll = dyn_cast<OneToAllOp>(op)) {
      oneToAll.setAlongAttr(rename(oneToAll.getAlong()));
    } else if (auto allToOne = dyn_cast<AllToOneOp>(op)) {
      allToOne.setAlongAttr(rename(allToOne.getAlong()));
    } else if (auto index = dyn_cast<IndexOp>(op)) {
      index.setDimAttr(renamed(index.getDimAttr()));
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      SmallVector<Attribute> axes;
      for (Attribute list : output.getAxes())
        axes.push_back(rename(cast<ArrayAttr>(list)));
      output.setAxesAttr(ArrayAttr::get(context, axes));
    }
  });

  // The dimensions that are left.
  SmallVector<Attribute> names;
  SmallVector<int64_t> extents;
  SmallVector<Value> dynamic;
  for (unsigned dim = 0; dim < graph.getNumDims(); ++dim) {
    if (merged.find(dim) != dim)
      continue;
    names.push_back(graph.getDimName(dim));
    extents.push_back(graph.getStaticExtents()[dim]);
    if (ShapedType::isDynamic(extents.back()))
      dynamic.push_back(cast<Value>(graph.getExtent(graph.getDimName(dim))));
  }
  graph.getDynamicExtentsMutable().assign(dynamic);
  graph.setDimNamesAttr(ArrayAttr::get(context, names));
  graph.setStaticExtents(extents);

  // Sources that are the same now, and what is computed from them.
  DominanceInfo dominance(graph);
  IRRewriter rewriter(context);
  eliminateCommonSubExpressions(rewriter, dominance, graph);
  return count;
}

namespace {

struct MergeDimsPass : fusion::impl::SpaceMapMergeDimsBase<MergeDimsPass> {
  void runOnOperation() override {
    unsigned count = 0;
    getOperation()->walk([&](GraphOp graph) { count += mergeDims(graph); });
    numMerged += count;
    if (count == 0)
      markAllAnalysesPreserved();
  }
};

} // namespace
