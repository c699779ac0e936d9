//===- RunTimeBounds.cpp - Extents and slices that only run time knows ---------===//

#include "RunTimeBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace fusion {
namespace {

/// Kernels are checked by whoever makes them, and no thread of theirs could end the call.
bool mayEndCall(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa_and_nonnull<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(parent))
    parent = parent->getParentOp();
  return isa_and_nonnull<func::FuncOp>(parent);
}

struct Bounds {
  Bounds(Operation *op) : op(op), loc(op->getLoc()), builder(op) {}

  /// A bound that can be false only at run time; null stands for none.
  void require(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
    all = all ? builder.createOrFold<arith::AndIOp>(loc, all, holds) : holds;
  }

  void requireNotNegative(OpFoldResult value) {
    auto dynamic = dyn_cast<Value>(value);
    if (dynamic && !dynamic.getDefiningOp<tensor::DimOp>())
      require(arith::CmpIPredicate::sge, dynamic, index(0));
  }

  /// Also for a size of 0: its offset is at most the extent.
  void requireSlice(Value tensor, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                    ArrayRef<OpFoldResult> strides) {
    for (auto [axis, offset, size, stride] : llvm::enumerate(offsets, sizes, strides)) {
      std::optional<int64_t> step = getConstantIntValue(stride);
      OpFoldResult extent = tensor::getMixedSize(builder, loc, tensor, axis);
      if (isConstantIntValue(offset, 0) && isConstantIntValue(stride, 1) && isEqualConstantIntOrValue(size, extent))
        continue;
      bool isStatic = getConstantIntValue(offset) && getConstantIntValue(size) && getConstantIntValue(extent);
      if (!step || *step <= 0 || isStatic)
        continue;
      requireNotNegative(offset);
      requireNotNegative(size);
      Value last = builder.createOrFold<arith::SubIOp>(loc, asValue(size), index(1));
      last = builder.createOrFold<arith::MulIOp>(loc, last, index(*step));
      last = builder.createOrFold<arith::AddIOp>(loc, last, asValue(offset));
      require(arith::CmpIPredicate::slt, last, asValue(extent));
    }
  }

  void requireIndices(Value tensor, ValueRange indices) {
    for (auto [axis, at] : llvm::enumerate(indices))
      require(arith::CmpIPredicate::ult, at, asValue(tensor::getMixedSize(builder, loc, tensor, axis)));
  }

  /// The extents that `to` has and the type of `from` leaves open.
  void requireCast(Value from, RankedTensorType to) {
    auto type = dyn_cast<RankedTensorType>(from.getType());
    for (int64_t axis = 0; type && axis < to.getRank(); ++axis)
      if (type.isDynamicDim(axis) && !to.isDynamicDim(axis))
        require(arith::CmpIPredicate::eq, asValue(tensor::getMixedSize(builder, loc, from, axis)),
                index(to.getDimSize(axis)));
  }

  /// The extents of each group have the product that the extent of its source axis is.
  void requireExpansion(tensor::ExpandShapeOp expand) {
    SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
    for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices())) {
      Value product = index(1);
      for (int64_t to : group) {
        requireNotNegative(shape[to]);
        product = builder.createOrFold<arith::MulIOp>(loc, product, asValue(shape[to]));
      }
      if (llvm::any_of(group, [&](int64_t to) { return isa<Value>(shape[to]); }) ||
          expand.getSrcType().isDynamicDim(axis))
        require(arith::CmpIPredicate::eq, product,
                asValue(tensor::getMixedSize(builder, loc, expand.getSrc(), axis)));
    }
  }

  void emit(const Twine &message) {
    if (all && !matchPattern(all, m_One()))
      cf::AssertOp::create(builder, loc, all, ("'" + op->getName().getStringRef() + "' op " + message).str());
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value asValue(OpFoldResult value) { return getValueOrCreateConstantIndexOp(builder, loc, value); }

  Operation *op;
  Location loc;
  OpBuilder builder;
  Value all;
};

} // namespace

void assertBounds(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp, tensor::InsertOp,
            tensor::CastOp, tensor::ExpandShapeOp>(op) &&
        mayEndCall(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Bounds bounds(op);
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      for (Value extent : empty.getDynamicSizes())
        bounds.requireNotNegative(extent);
      bounds.emit("has a negative extent");
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      bounds.requireSlice(slice.getSource(), slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
      bounds.emit("reads outside of its tensor");
    } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      bounds.requireSlice(slice.getDest(), slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
      bounds.emit("writes outside of its tensor");
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      bounds.requireIndices(extract.getTensor(), extract.getIndices());
      bounds.emit("reads outside of its tensor");
    } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      bounds.requireIndices(insert.getDest(), insert.getIndices());
      bounds.emit("writes outside of its tensor");
    } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      if (auto type = dyn_cast<RankedTensorType>(cast.getType()))
        bounds.requireCast(cast.getSource(), type);
      bounds.emit("does not fit the extents of its operand");
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      bounds.requireExpansion(expand);
      bounds.emit("does not fit the extents of its operand");
    }
  }
}

} // namespace fusion
