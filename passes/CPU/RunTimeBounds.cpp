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
    if (isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) && mayEndCall(op))
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
    }
  }
}

} // namespace fusion
