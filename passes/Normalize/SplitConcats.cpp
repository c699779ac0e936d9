//===- SplitConcats.cpp - What a concatenation feeds is computed in parts -----===//

#include "GenericRewriting.h"
#include "SliceRewriting.h"
#include "fusion/Analysis/FusibleOp.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace fusion {
#define GEN_PASS_DEF_SPLITCONCATS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// An axis of a tensor that is cut in parts of these sizes.
struct Cut {
  SmallVector<int64_t> sizes;

  int64_t getOffset(unsigned part) const {
    int64_t offset = 0;
    for (int64_t size : ArrayRef(sizes).take_front(part))
      offset += size;
    return offset;
  }
  /// The part that `slice` is along `axis`, if it is one.
  std::optional<unsigned> getPart(tensor::ExtractSliceOp slice, int64_t axis) const {
    if (!slice.hasUnitStride())
      return std::nullopt;
    for (unsigned part = 0; part < sizes.size(); ++part)
      if (isConstantIntValue(slice.getMixedOffsets()[axis], getOffset(part)) &&
          isConstantIntValue(slice.getMixedSizes()[axis], sizes[part]))
        return part;
    return std::nullopt;
  }
};

/// The axis of the reshaped tensor that is `axis` of the source, where all that joins or leaves it has extent 1.
std::optional<int64_t> followReshape(Operation *op, int64_t axis) {
  auto isUnitOr = [](RankedTensorType type, ArrayRef<int64_t> group, int64_t kept) {
    return llvm::all_of(group, [&](int64_t other) { return other == kept || type.getDimSize(other) == 1; });
  };
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (auto [result, group] : llvm::enumerate(collapse.getReassociationIndices()))
      if (llvm::is_contained(group, axis))
        return isUnitOr(collapse.getSrcType(), group, axis) ? std::optional<int64_t>(result) : std::nullopt;
    return std::nullopt;
  }
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!expand)
    return std::nullopt;
  ReassociationIndices group = expand.getReassociationIndices()[axis];
  int64_t extent = expand.getSrcType().getDimSize(axis);
  for (int64_t result : group)
    if (expand.getResultType().getDimSize(result) == extent && isUnitOr(expand.getResultType(), group, result))
      return result;
  return std::nullopt;
}

/// The axis of the result of `op` that carries on `axis` of operand `use`; none if it ends here.
std::optional<int64_t> followAxis(OpOperand &use, int64_t axis) {
  Operation *op = use.getOwner();
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    if (use.getOperandNumber() != 0 || !transpose.hasPureTensorSemantics())
      return std::nullopt;
    return std::distance(transpose.getPermutation().begin(), llvm::find(transpose.getPermutation(), axis));
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return followReshape(op, axis);
  auto loop = dyn_cast<AffineDimExpr>(generic.getMatchingIndexingMap(&use).getResult(axis));
  if (!loop)
    return std::nullopt;
  auto position = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).getResultPosition(loop);
  return position ? std::optional<int64_t>(*position) : std::nullopt;
}

/// The reduction loop of a fusible generic that `axis` of operand `use` runs over.
std::optional<unsigned> getReducedLoop(OpOperand &use, int64_t axis) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!generic || !generic.isDpsInput(&use))
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(generic.getMatchingIndexingMap(&use).getResult(axis));
  if (!loop || generic.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::reduction)
    return std::nullopt;
  FailureOr<fusion::FusibleOp> fusible = fusion::analyzeFusible(generic);
  return succeeded(fusible) && fusible->reducer ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
}

struct SplitConcats : fusion::impl::SplitConcatsBase<SplitConcats> {
  using SplitConcatsBase::SplitConcatsBase;

  void runOnOperation() override {
    SmallVector<tensor::ConcatOp> concats;
    getOperation()->walk([&](tensor::ConcatOp op) {
      if (op.getInputs().size() <= maxParts)
        concats.push_back(op);
    });
    for (tensor::ConcatOp concat : concats)
      split(concat);
  }

private:
  void split(tensor::ConcatOp concat) {
    int64_t axis = concat.getDim();
    Cut cut;
    for (Value input : concat.getInputs()) {
      auto type = cast<RankedTensorType>(input.getType());
      if (type.getEncoding() || type.isDynamicDim(axis) || llvm::is_contained(type.getShape(), 0))
        return;
      cut.sizes.push_back(type.getDimSize(axis));
    }
    DenseMap<Value, bool> known;
    if (concat->use_empty() || !endsInReductions(concat, axis, cut, known))
      return;
    force(concat, axis, cut);
    for (Operation *user : llvm::make_early_inc_range(concat->getUsers())) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      std::optional<unsigned> part = slice ? cut.getPart(slice, axis) : std::nullopt;
      if (!part)
        continue;
      OpBuilder builder(slice);
      fusion::Box box = fusion::getBox(slice);
      box.offsets[axis] = builder.getIndexAttr(0);
      Value input = concat.getInputs()[*part];
      SmallVector<OpFoldResult> strides(box.sizes.size(), builder.getIndexAttr(1));
      Value replacement = input;
      if (input.getType() != slice.getType() || !isWhole(input, box))
        replacement = tensor::ExtractSliceOp::create(builder, slice.getLoc(), slice.getType(), input, box.offsets,
                                                     box.sizes, strides);
      slice.getResult().replaceAllUsesWith(replacement);
      slice.erase();
    }
    if (concat->use_empty()) {
      concat.erase();
      ++numSplit;
    }
  }

  static bool isWhole(Value tensor, const fusion::Box &box) {
    for (unsigned axis = 0; axis < box.sizes.size(); ++axis)
      if (!fusion::isWholeAxis(tensor, axis, box.offsets[axis], box.sizes[axis]))
        return false;
    return true;
  }

  /// Whether all that is computed from `axis` of `value` ends in reductions along it, or in the parts themselves.
  bool endsInReductions(Value value, int64_t axis, const Cut &cut, DenseMap<Value, bool> &known) {
    // A value is met with one axis: had it two of them, both would be of the concatenation's extent and cut.
    auto [entry, isNew] = known.try_emplace(value, false);
    if (!isNew)
      return entry->second;
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (op->getBlock() != value.getDefiningOp()->getBlock())
        return false;
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (use.getOperandNumber() != 0 || !cut.getPart(slice, axis))
          return false;
        continue;
      }
      if (getReducedLoop(use, axis))
        continue;
      std::optional<int64_t> next = followAxis(use, axis);
      if (!next || op->getNumResults() != 1 || !isCuttable(op, use) ||
          !endsInReductions(op->getResult(0), *next, cut, known))
        return false;
    }
    known[value] = true;
    return true;
  }

  /// Whether slices of the result can be computed from slices of the operands.
  static bool isCuttable(Operation *op, OpOperand &use) {
    for (Type type : op->getOperandTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && llvm::is_contained(tensor.getShape(), 0))
        return false;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return !generic || (generic.isDpsInput(&use) && succeeded(fusion::analyzeFusible(generic)));
  }

  /// Rewrites what reads `value` so that it only reads parts.
  void force(Value value, int64_t axis, const Cut &cut) {
    // Each step changes the uses: take them one by one until only parts are read.
    while (true) {
      OpOperand *next = nullptr;
      for (OpOperand &use : value.getUses())
        if (!isa<tensor::ExtractSliceOp>(use.getOwner()))
          next = &use;
      if (!next)
        return;
      Operation *op = next->getOwner();
      if (std::optional<unsigned> loop = getReducedLoop(*next, axis)) {
        splitReduction(cast<linalg::GenericOp>(op), *loop, cut);
        continue;
      }
      std::optional<int64_t> result = followAxis(*next, axis);
      if (!result)
        return;
      if (isOpTriviallyDead(op)) {
        op->erase();
        continue;
      }
      force(op->getResult(0), *result, cut);
      if (fusion::pushSlicesAbove(op) == 0)
        return;
    }
  }

  /// One reduction after the other, each over a part, from the result of the one before.
  static void splitReduction(linalg::GenericOp op, unsigned loop, const Cut &cut) {
    OpBuilder builder(op);
    Value accumulated = op.getOutputs()[0];
    for (unsigned part = 0; part < cut.sizes.size(); ++part) {
      SmallVector<Value> inputs;
      for (OpOperand *input : op.getDpsInputOperands())
        inputs.push_back(slicePart(builder, op, *input, loop, cut, part));
      auto reduction = linalg::GenericOp::create(builder, op.getLoc(), op->getResultTypes(), inputs, accumulated,
                                                 op.getIndexingMaps(), op.getIteratorTypes(), op.getDocAttr(),
                                                 op.getLibraryCallAttr());
      IRMapping mapping;
      op.getRegion().cloneInto(&reduction.getRegion(), mapping);
      fusion::shiftIndex(reduction, loop, builder.getIndexAttr(cut.getOffset(part)));
      builder.setInsertionPointAfter(reduction);
      accumulated = reduction.getResult(0);
    }
    op.getResult(0).replaceAllUsesWith(accumulated);
    op.erase();
  }

  static Value slicePart(OpBuilder &builder, linalg::GenericOp op, OpOperand &operand, unsigned loop, const Cut &cut,
                         unsigned part) {
    auto axis = op.getMatchingIndexingMap(&operand).getResultPosition(getAffineDimExpr(loop, op.getContext()));
    if (!axis)
      return operand.get();
    fusion::Box box;
    auto type = cast<RankedTensorType>(operand.get().getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      bool isCut = i == static_cast<int64_t>(*axis);
      box.offsets.push_back(builder.getIndexAttr(isCut ? cut.getOffset(part) : 0));
      box.sizes.push_back(isCut ? OpFoldResult(builder.getIndexAttr(cut.sizes[part]))
                                : fusion::getExtent(builder, op.getLoc(), operand.get(), i));
    }
    return fusion::createSlice(builder, op.getLoc(), operand.get(), box);
  }
};

} // namespace
