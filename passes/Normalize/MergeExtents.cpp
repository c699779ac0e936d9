//===- MergeExtents.cpp - Equal run-time extents get one name -----------------===//

#include "BroadcastGuard.h"
#include "ExtentFacts.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fusion {
#define GEN_PASS_DEF_MERGEEXTENTS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using fusion::ExtentFacts;
using fusion::Polynomial;

namespace {

/// The groups of axes of two shapes of equal products: first[i] axes of the source make second[i] axes of the result.
struct ReshapeGroups {
  SmallVector<ReassociationIndices> source, result;
};

std::optional<ReshapeGroups> matchGroups(ArrayRef<Polynomial> source, ArrayRef<Polynomial> result) {
  ReshapeGroups groups;
  const Polynomial one = Polynomial::constant(1);
  unsigned s = 0, r = 0;
  while (s < source.size() && r < result.size()) {
    ReassociationIndices from{s}, to{r};
    Polynomial have = source[s++], want = result[r++];
    while (!(have == want)) {
      // Whichever divides the other lacks factors.
      if (have.getTerms().empty() || want.getTerms().empty())
        return std::nullopt;
      if (r < result.size() && have.divideExactly(want)) {
        to.push_back(r);
        want = want * result[r++];
      } else if (s < source.size() && want.divideExactly(have)) {
        from.push_back(s);
        have = have * source[s++];
      } else {
        return std::nullopt;
      }
    }
    groups.source.push_back(from);
    groups.result.push_back(to);
  }
  if (groups.source.empty())
    return std::nullopt;
  for (; s < source.size(); ++s) {
    if (!(source[s] == one))
      return std::nullopt;
    groups.source.back().push_back(s);
  }
  for (; r < result.size(); ++r) {
    if (!(result[r] == one))
      return std::nullopt;
    groups.result.back().push_back(r);
  }
  return groups;
}

/// Walks one function.
class FunctionWalk {
public:
  struct Counts {
    unsigned merged = 0, asserts = 0, reshapes = 0, guards = 0, conditionalGuards = 0;
  };

  explicit FunctionWalk(MLIRContext *context) : builder(context) {}

  void run(Region &region) {
    visit(region);
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty())
        op->erase();
  }

  const Counts &getCounts() const { return counts; }

private:
  using Key = std::pair<Polynomial, const void *>; // polynomial, type

  /// Ends with its lifetime the names and facts of a region or block.
  class Scope {
  public:
    explicit Scope(FunctionWalk &walk)
        : walk(walk), facts(walk.facts), numNames(walk.nameLog.size()), numAsserted(walk.assertedLog.size()) {}
    ~Scope() {
      for (; walk.nameLog.size() > numNames; walk.nameLog.pop_back())
        walk.names.erase(walk.nameLog.back());
      for (; walk.assertedLog.size() > numAsserted; walk.assertedLog.pop_back())
        walk.asserted.erase(walk.assertedLog.back());
    }

  private:
    FunctionWalk &walk;
    ExtentFacts::Scope facts;
    size_t numNames, numAsserted;
  };

  void visit(Region &region) {
    if (region.empty())
      return;
    Scope scope(*this);
    // The entry block dominates the others; of the others nothing is assumed.
    visit(region.front());
    for (Block &block : llvm::drop_begin(region)) {
      Scope inner(*this);
      visit(block);
    }
  }

  void visit(Block &block) {
    for (BlockArgument argument : block.getArguments())
      rename(argument);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && removeGuard(generic))
        continue;
      for (Region &region : op.getRegions())
        visit(region);
      if (auto assertion = dyn_cast<cf::AssertOp>(op))
        visitAssert(assertion);
      else if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
        visitReshape(reshape);
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        addLoopFacts(structured);
      for (OpResult result : op.getResults())
        rename(result);
    }
  }

  /// Replaces a scalar by a constant or by the first value that is provably equal, or makes it the name of its value.
  void rename(Value value) {
    Operation *def = value.getDefiningOp();
    Type type = value.getType();
    if (type.isInteger(1) && isa_and_nonnull<arith::CmpIOp, arith::AndIOp, arith::OrIOp>(def)) {
      std::optional<bool> known = facts.evaluateCondition(value);
      if (!known || value.use_empty())
        return;
      builder.setInsertionPoint(def);
      replace(value, arith::ConstantOp::create(builder, def->getLoc(), builder.getBoolAttr(*known)));
      return;
    }
    if (!type.isIndex() && !type.isInteger(64))
      return;
    Polynomial polynomial = facts.evaluate(value);
    if (def && def->hasTrait<OpTrait::ConstantLike>())
      return;
    if (std::optional<int64_t> constant = polynomial.getConstant(); constant && def) {
      builder.setInsertionPoint(def);
      replace(value, arith::ConstantOp::create(builder, def->getLoc(), builder.getIntegerAttr(type, *constant)));
      return;
    }
    Key key{polynomial, type.getAsOpaquePointer()};
    auto known = names.find(key);
    if (known != names.end()) {
      replace(value, known->second);
      return;
    }
    names[key] = value;
    nameLog.push_back(key);
    if (!def || !type.isIndex())
      return;
    // The name of an argument's extent is its tensor.dim.
    std::optional<unsigned> atom = polynomial.getAtom();
    auto extent = atom ? facts.getExtentOfAtom(*atom) : std::nullopt;
    auto dim = dyn_cast<tensor::DimOp>(def);
    if (!extent || (dim && dim.getSource() == extent->first))
      return;
    builder.setInsertionPoint(def);
    Value name = tensor::DimOp::create(builder, def->getLoc(), extent->first, extent->second);
    names[key] = name;
    replace(value, name);
  }

  void replace(Value value, Value with) {
    if (value.use_empty())
      return;
    value.replaceAllUsesWith(with);
    ++counts.merged;
  }

  void visitAssert(cf::AssertOp assertion) {
    if (facts.evaluateCondition(assertion.getArg()) == true || asserted.contains(assertion.getArg())) {
      dead.push_back(assertion);
      ++counts.asserts;
      return;
    }
    facts.addCondition(assertion.getArg());
    asserted.insert(assertion.getArg());
    assertedLog.push_back(assertion.getArg());
  }

  /// Operands that share a loop have equal extents along it, else the operation is undefined.
  void addLoopFacts(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return;
    SmallVector<std::optional<Polynomial>> extents(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        Polynomial extent = facts.getExtent(operand.get(), axis);
        std::optional<Polynomial> &known = extents[loop.getPosition()];
        if (known)
          facts.addEquality(*known, extent);
        else
          known = extent;
      }
    }
  }

  bool removeGuard(linalg::GenericOp op) {
    std::optional<fusion::BroadcastGuard> guard = fusion::matchBroadcastGuard(op, facts);
    if (!guard)
      return false;
    Operation *previous = op->getPrevNode();
    std::optional<unsigned> open = fusion::removeBroadcastGuard(builder, *guard, facts);
    if (!open)
      return false;
    ++(*open ? counts.conditionalGuards : counts.guards);
    dead.push_back(op);
    // What was made in its place gets names too.
    Operation *first = previous ? previous->getNextNode() : &op->getBlock()->front();
    for (Operation *made = first; made != op; made = made->getNextNode())
      for (OpResult result : made->getResults())
        rename(result);
    return true;
  }

  /// An index value equal to the extent `polynomial`, `value` if there is no name yet.
  Value getIndex(const Polynomial &polynomial, Value value) {
    auto known = names.find({polynomial, builder.getIndexType().getAsOpaquePointer()});
    if (known != names.end())
      return known->second;
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(builder, value.getLoc(), builder.getIndexType(), value);
  }

  void visitReshape(tensor::ReshapeOp op) {
    auto shape = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto resultType = dyn_cast<RankedTensorType>(op.getType());
    if (!shape || !sourceType || !resultType || sourceType.getEncoding() || resultType.getEncoding())
      return;
    SmallVector<Polynomial> from, to;
    for (int64_t axis = 0; axis < sourceType.getRank(); ++axis)
      from.push_back(facts.getExtent(op.getSource(), axis));
    for (auto [axis, element] : llvm::enumerate(shape.getElements())) {
      if (!element.getType().isIndex() && !element.getType().isInteger(64))
        return;
      to.push_back(resultType.isDynamicDim(axis) ? facts.evaluate(element)
                                                 : Polynomial::constant(resultType.getDimSize(axis)));
    }
    std::optional<ReshapeGroups> groups = matchGroups(from, to);
    if (!groups)
      return;

    builder.setInsertionPoint(op);
    Value value = op.getSource();
    auto isTrivial = [](ArrayRef<ReassociationIndices> all) {
      return llvm::all_of(all, [](const ReassociationIndices &group) { return group.size() == 1; });
    };
    if (!isTrivial(groups->source))
      value = tensor::CollapseShapeOp::create(builder, op.getLoc(), value, groups->source);
    if (!isTrivial(groups->result)) {
      SmallVector<OpFoldResult> extents;
      SmallVector<int64_t> staticShape;
      for (auto [polynomial, element] : llvm::zip(to, shape.getElements())) {
        if (std::optional<int64_t> constant = polynomial.getConstant()) {
          extents.push_back(builder.getIndexAttr(*constant));
          staticShape.push_back(*constant);
        } else {
          extents.push_back(getIndex(polynomial, element));
          staticShape.push_back(ShapedType::kDynamic);
        }
      }
      // A group of static axes stems from a static axis.
      SmallVector<int64_t> collapsed;
      for (const ReassociationIndices &group : groups->result) {
        int64_t product = 1;
        for (int64_t axis : group)
          product = ShapedType::isDynamic(product) || ShapedType::isDynamic(staticShape[axis])
                        ? ShapedType::kDynamic
                        : product * staticShape[axis];
        collapsed.push_back(product);
      }
      auto collapsedType = RankedTensorType::get(collapsed, resultType.getElementType());
      if (value.getType() != collapsedType)
        value = tensor::CastOp::create(builder, op.getLoc(), collapsedType, value);
      value = tensor::ExpandShapeOp::create(builder, op.getLoc(),
                                            RankedTensorType::get(staticShape, resultType.getElementType()), value,
                                            groups->result, extents);
    }
    if (value.getType() != resultType)
      value = tensor::CastOp::create(builder, op.getLoc(), resultType, value);
    op.getResult().replaceAllUsesWith(value);
    dead.push_back(op);
    ++counts.reshapes;
  }

  OpBuilder builder;
  ExtentFacts facts;
  std::map<Key, Value> names;
  std::vector<Key> nameLog;
  DenseSet<Value> asserted;
  std::vector<Value> assertedLog;
  SmallVector<Operation *> dead;
  Counts counts;
};

struct MergeExtents : fusion::impl::MergeExtentsBase<MergeExtents> {
  using MergeExtentsBase::MergeExtentsBase;

  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface function) {
      FunctionWalk walk(&getContext());
      walk.run(function.getFunctionBody());
      numMerged += walk.getCounts().merged;
      numAsserts += walk.getCounts().asserts;
      numReshapes += walk.getCounts().reshapes;
      numGuards += walk.getCounts().guards;
      numConditionalGuards += walk.getCounts().conditionalGuards;
    });
  }
};

} // namespace
