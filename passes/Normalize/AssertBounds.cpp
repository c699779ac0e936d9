//===- AssertBounds.cpp - What only run time knows ends the call --------------===//

#include "BoundsCheck.h"
#include "BroadcastGuard.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace fusion {
#define GEN_PASS_DEF_ASSERTBOUNDS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using fusion::BoundsCheck;
using fusion::ExtentFacts;
using fusion::Polynomial;
using P = arith::CmpIPredicate;

namespace {

bool isRanked(Value value) { return isa<RankedTensorType>(value.getType()); }

bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

/// The least and the greatest value of `expr` for loops from 0 to their extents, or none where `expr` is no index
/// expression of the usual kind.
std::optional<std::pair<OpFoldResult, OpFoldResult>> getRange(BoundsCheck &check, AffineExpr expr,
                                                              ArrayRef<OpFoldResult> extents) {
  using Range = std::pair<OpFoldResult, OpFoldResult>;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range(check.getIndex(constant.getValue()), check.getIndex(constant.getValue()));
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return Range(check.getIndex(0), check.add(extents[loop.getPosition()], check.getIndex(-1)));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Range> lhs = getRange(check, binary.getLHS(), extents);
  if (!lhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<Range> rhs = getRange(check, binary.getRHS(), extents);
    if (!rhs)
      return std::nullopt;
    return Range(check.add(lhs->first, rhs->first), check.add(lhs->second, rhs->second));
  }
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  int64_t by = constant.getValue();
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    if (by < 0)
      std::swap(lhs->first, lhs->second);
    return Range(check.multiply(lhs->first, check.getIndex(by)), check.multiply(lhs->second, check.getIndex(by)));
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv: {
    if (by <= 0)
      return std::nullopt;
    bool up = expr.getKind() == AffineExprKind::CeilDiv;
    return Range(check.divide(lhs->first, by, up), check.divide(lhs->second, by, up));
  }
  case AffineExprKind::Mod:
    if (by <= 0)
      return std::nullopt;
    return Range(check.getIndex(0), check.getIndex(by - 1));
  default:
    return std::nullopt;
  }
}

/// Walks one function.
class FunctionWalk {
public:
  explicit FunctionWalk(unsigned &numAsserts) : numAsserts(numAsserts) {}

  void run(Region &region) {
    visit(region);
    for (Operation *op : llvm::reverse(made)) {
      if (isa<cf::AssertOp>(op))
        ++numAsserts;
      else if (op->use_empty())
        op->erase();
    }
  }

private:
  void visit(Region &region) {
    if (region.empty())
      return;
    ExtentFacts::Scope scope(facts);
    // The entry block dominates the others; of the others nothing is assumed.
    visit(region.front());
    for (Block &block : llvm::drop_begin(region)) {
      ExtentFacts::Scope inner(facts);
      visit(block);
    }
  }

  void visit(Block &block) {
    SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
    for (Operation *op : ops) {
      if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
        facts.addCondition(assertion.getArg());
        continue;
      }
      check(op);
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        ExtentFacts::Scope scope(facts);
        facts.addCondition(branch.getCondition());
        visit(branch.getThenRegion());
      }
      for (Region &region : op->getRegions().drop_front(isa<scf::IfOp>(op)))
        visit(region);
    }
  }

  void check(Operation *op) {
    BoundsCheck check(op, facts, made);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](linalg::LinalgOp linalg) { checkLoops(linalg, check); })
        .Case([&](linalg::SoftmaxOp softmax) { requireSameShape(softmax.getInput(), softmax.getOutput(), check); })
        .Case([&](linalg::PackOp pack) {
          requireTiles(pack, pack.getSource(), pack.getDest(), /*isExact=*/!pack.getPaddingValue(), check);
        })
        .Case([&](linalg::UnPackOp unpack) {
          requireTiles(unpack, unpack.getDest(), unpack.getSource(), /*isExact=*/false, check);
        })
        .Case([&](linalg::IndexOp index) { addLoopRange(index); })
        .Case([&](scf::ForOp loop) {
          if (!getConstantIntValue(loop.getStep()))
            check.require(P::sgt, loop.getStep(), check.getIndex(0));
          check.emit("has a step that is not positive");
          std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
          if (first && *first >= 0)
            facts.addRange(loop.getInductionVar(), facts.evaluate(loop.getUpperBound()));
        })
        .Case([&](tensor::EmptyOp empty) { requireExtents(empty.getType(), empty.getDynamicSizes(), check); })
        .Case([&](tensor::GenerateOp generate) {
          requireExtents(cast<RankedTensorType>(generate.getType()), generate.getDynamicExtents(), check);
        })
        .Case([&](tensor::SplatOp splat) {
          requireExtents(cast<RankedTensorType>(splat.getType()), splat.getDynamicSizes(), check);
        })
        .Case([&](tensor::DimOp dim) {
          if (isRanked(dim.getSource()))
            check.requireIndex(dim.getIndex(),
                               check.getIndex(cast<RankedTensorType>(dim.getSource().getType()).getRank()));
          check.emit("asks for an axis that its operand does not have");
        })
        .Case([&](tensor::ExtractOp extract) {
          if (!isPartOfGuard(extract))
            requireIndices(extract.getTensor(), extract.getIndices(), check);
          check.emit("reads outside of its tensor");
        })
        .Case([&](tensor::InsertOp insert) {
          requireIndices(insert.getDest(), insert.getIndices(), check);
          check.emit("writes outside of its tensor");
        })
        .Case([&](tensor::ExtractSliceOp slice) {
          requireSlice(slice, slice.getSource(), check);
          check.emit("reads outside of its tensor");
        })
        .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>([&](auto slice) {
          requireSlice(slice, slice.getDest(), check);
          check.emit("writes outside of its tensor");
          llvm::SmallBitVector dropped = slice.getDroppedDims();
          int64_t axis = 0;
          for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
            if (!dropped.test(i))
              requireEqual(size, check.getExtent(slice.getSource(), axis++), check);
          check.emit("has sizes that are not the extents of its operand");
        })
        .Case([&](tensor::CastOp cast) {
          auto type = dyn_cast<RankedTensorType>(cast.getType());
          for (int64_t axis = 0; type && isRanked(cast.getSource()) && axis < type.getRank(); ++axis)
            if (!type.isDynamicDim(axis))
              requireEqual(check.getExtent(cast.getSource(), axis), check.getIndex(type.getDimSize(axis)), check);
          check.emit("does not fit the extents of its operand");
        })
        .Case([&](tensor::ExpandShapeOp expand) { checkExpansion(expand, check); })
        .Case([&](tensor::ReshapeOp reshape) { checkReshape(reshape, check); })
        .Case([&](tensor::ConcatOp concat) {
          Value first = concat.getInputs().front();
          for (Value input : llvm::drop_begin(concat.getInputs()))
            for (int64_t axis = 0; axis < concat.getRank(); ++axis)
              if (axis != static_cast<int64_t>(concat.getDim()))
                requireEqual(check.getExtent(first, axis), check.getExtent(input, axis), check);
          check.emit("has operands whose extents differ on another axis than the one of the concatenation");
        })
        .Case([&](tensor::PadOp pad) {
          for (OpFoldResult amount : llvm::concat<OpFoldResult>(pad.getMixedLowPad(), pad.getMixedHighPad()))
            check.requireNotNegative(amount);
          check.emit("has a negative amount of padding");
        })
        .Default([&](Operation *) {
          if (!op->hasTrait<OpTrait::Elementwise>() || llvm::none_of(op->getOperands(), isDynamic))
            return;
          Value first = *llvm::find_if(op->getOperands(), isDynamic);
          for (Value operand : op->getOperands())
            if (operand != first && isRanked(operand))
              requireSameShape(first, operand, check);
        });
  }

  static void requireEqual(OpFoldResult lhs, OpFoldResult rhs, BoundsCheck &check) {
    if (isa<Value>(lhs) || isa<Value>(rhs))
      check.require(P::eq, lhs, rhs);
  }

  static void requireIndices(Value tensor, ValueRange indices, BoundsCheck &check) {
    for (auto [axis, index] : llvm::enumerate(indices))
      check.requireIndex(index, check.getExtent(tensor, axis));
  }

  static void requireSameShape(Value lhs, Value rhs, BoundsCheck &check) {
    for (int64_t axis = 0, rank = cast<RankedTensorType>(lhs.getType()).getRank(); axis < rank; ++axis)
      requireEqual(check.getExtent(lhs, axis), check.getExtent(rhs, axis), check);
    check.emit("has operands of different shapes");
  }

  static void requireExtents(RankedTensorType type, ValueRange extents, BoundsCheck &check) {
    for (Value extent : extents)
      check.requireNotNegative(extent);
    check.emit("has a negative extent");
    check.requireMemory(type, extents);
    check.emit("makes a tensor that is too large for the memory of any machine");
  }

  /// The tiles of `packed` hold all of `plain`, without a rest if `isExact`.
  template <typename PackOp>
  static void requireTiles(PackOp op, Value plain, Value packed, bool isExact, BoundsCheck &check) {
    if (!isRanked(plain) || (!isDynamic(plain) && !isDynamic(packed)))
      return;
    int64_t rank = cast<RankedTensorType>(plain.getType()).getRank();
    SmallVector<OpFoldResult> held(rank);
    ArrayRef<int64_t> permutation = op.getOuterDimsPerm();
    for (int64_t axis = 0; axis < rank; ++axis)
      held[permutation.empty() ? axis : permutation[axis]] = check.getExtent(packed, axis);
    llvm::SmallBitVector isTiled(rank);
    for (auto [number, axis, tile] : llvm::enumerate(op.getInnerDimsPos(), op.getMixedTiles())) {
      requireEqual(tile, check.getExtent(packed, rank + number), check);
      held[axis] = check.multiply(held[axis], tile);
      isTiled.set(axis);
    }
    for (int64_t axis = 0; axis < rank; ++axis) {
      OpFoldResult extent = check.getExtent(plain, axis);
      if (isExact || !isTiled.test(axis))
        requireEqual(extent, held[axis], check);
      else if (isa<Value>(extent) || isa<Value>(held[axis]))
        check.require(P::sle, extent, held[axis]);
    }
    check.emit("has tiles that do not fit the extents of its operands");
  }

  template <typename SliceOp>
  static void requireSlice(SliceOp slice, Value tensor, BoundsCheck &check) {
    for (auto [axis, offset, size, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides()))
      check.requireRange(offset, size, stride, check.getExtent(tensor, axis));
  }

  /// Operands that share a loop have one extent along it; what is read at an expression of loops is there.
  void checkLoops(linalg::LinalgOp op, BoundsCheck &check) {
    if (!op.hasPureTensorSemantics() || llvm::none_of(op->getOperands(), isDynamic))
      return;
    struct Place {
      unsigned operand;
      int64_t axis;
    };
    SmallVector<std::optional<Place>> places(op.getNumLoops());
    auto getType = [&](const Place &place) { return cast<RankedTensorType>(op->getOperand(place.operand).getType()); };
    auto visitAxes = [&](auto visit) {
      for (OpOperand &operand : op->getOpOperands())
        if (isRanked(operand.get()))
          for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
            visit(Place{operand.getOperandNumber(), static_cast<int64_t>(axis)}, expr);
    };
    // A loop has the extent of its first static axis, or of its first axis.
    visitAxes([&](Place place, AffineExpr expr) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return;
      std::optional<Place> &known = places[loop.getPosition()];
      if (!known || (getType(*known).isDynamicDim(known->axis) && !getType(place).isDynamicDim(place.axis)))
        known = place;
    });
    auto getExtent = [&](const Place &place) { return check.getExtent(op->getOperand(place.operand), place.axis); };
    auto describe = [&](const Place &place) {
      return ("operand " + Twine(place.operand) + " on axis " + Twine(place.axis)).str();
    };
    SmallVector<OpFoldResult> extents;
    for (const std::optional<Place> &place : places)
      extents.push_back(place ? getExtent(*place) : check.getIndex(0));
    visitAxes([&](Place place, AffineExpr expr) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        Place other = *places[loop.getPosition()];
        if (other.operand == place.operand && other.axis == place.axis)
          return;
        requireEqual(getExtent(other), getExtent(place), check);
        check.emit("has operands whose extents differ: " + describe(other) + " and " + describe(place) +
                   " share a loop");
        return;
      }
      bool isStatic = llvm::all_of(extents, [](OpFoldResult extent) { return isa<Attribute>(extent); });
      if (isStatic && !getType(place).isDynamicDim(place.axis))
        return;
      auto range = getRange(check, expr, extents);
      if (!range)
        return;
      if (isa<Value>(range->first))
        check.requireNotNegative(range->first);
      check.require(P::slt, range->second, getExtent(place));
      check.emit("reaches outside of " + describe(place));
    });
  }

  void addLoopRange(linalg::IndexOp index) {
    auto op = dyn_cast<linalg::LinalgOp>(index->getParentOp());
    if (!op || !op.hasPureTensorSemantics())
      return;
    for (OpOperand &operand : op->getOpOperands())
      for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && loop.getPosition() == index.getDim()) {
          facts.addRange(index, facts.getExtent(operand.get(), axis));
          return;
        }
  }

  /// A read at position 0 where the extent is 1, else at the loop's, needs no check of every element.
  bool isPartOfGuard(tensor::ExtractOp extract) {
    auto generic = dyn_cast<linalg::GenericOp>(extract->getParentOp());
    std::optional<fusion::BroadcastGuard> guard = generic ? fusion::matchBroadcastGuard(generic, facts) : std::nullopt;
    if (!guard || generic.getBody()->getTerminator()->getOperand(0) != extract.getResult())
      return false;
    BoundsCheck check(generic, facts, made);
    Value init = generic.getOutputs()[0];
    for (auto [axis, access] : llvm::enumerate(guard->axes)) {
      if (!access.loop)
        continue;
      OpFoldResult extent = check.getExtent(guard->source, axis);
      OpFoldResult loop = check.getExtent(init, guard->getResultAxis(axis));
      if (isa<Attribute>(extent) && (extent == loop || isConstantIntValue(extent, 1)))
        continue;
      SmallVector<std::pair<OpFoldResult, OpFoldResult>> pairs{{extent, loop}};
      if (access.isGuarded)
        pairs.push_back({extent, check.getIndex(1)});
      check.requireOneEqual(pairs);
    }
    check.emit("reads a tensor whose extents are neither 1 nor its own");
    return true;
  }

  /// Each group has as many elements as the axis that it is made of.
  static void checkExpansion(tensor::ExpandShapeOp expand, BoundsCheck &check) {
    SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
    for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices())) {
      OpFoldResult product = check.getIndex(1);
      for (int64_t to : group) {
        check.requireNotNegative(shape[to]);
        product = check.multiply(product, shape[to]);
      }
      requireEqual(product, check.getExtent(expand.getSrc(), axis), check);
    }
    check.emit("does not fit the extents of its operand");
  }

  static void checkReshape(tensor::ReshapeOp op, BoundsCheck &check) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !isRanked(op.getSource()))
      return;
    OpFoldResult have = check.getIndex(1), want = check.getIndex(1);
    for (int64_t axis = 0; axis < cast<RankedTensorType>(op.getSource().getType()).getRank(); ++axis)
      have = check.multiply(have, check.getExtent(op.getSource(), axis));
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      OpFoldResult extent = check.getElement(op.getShape(), axis);
      if (type.isDynamicDim(axis))
        check.requireNotNegative(extent);
      else
        requireEqual(extent, check.getIndex(type.getDimSize(axis)), check);
      want = check.multiply(want, type.isDynamicDim(axis) ? extent : check.getIndex(type.getDimSize(axis)));
    }
    requireEqual(have, want, check);
    check.emit("does not have as many elements as its operand");
  }

  ExtentFacts facts;
  /// Everything that checks have made.
  SmallVector<Operation *> made;
  unsigned &numAsserts;
};

struct AssertBounds : fusion::impl::AssertBoundsBase<AssertBounds> {
  using AssertBoundsBase::AssertBoundsBase;

  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface function) {
      unsigned count = 0;
      FunctionWalk(count).run(function.getFunctionBody());
      numAsserts += count;
    });
  }
};

} // namespace
