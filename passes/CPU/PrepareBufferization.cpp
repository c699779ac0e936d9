//===- PrepareBufferization.cpp - One destination for each writer -----------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUPREPAREBUFFERIZATION
#include "fusion/CPU/Passes.h.inc"

namespace {

bool hasTensor(TypeRange types) { return llvm::any_of(types, llvm::IsaPred<TensorType>); }

struct PrepareBufferization : impl::CPUPrepareBufferizationBase<PrepareBufferization> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) {
      // Terminators of structured ops and functions are handled with their parents.
      if (op->isRegistered() && (!hasTensor(op->getOperandTypes()) && !hasTensor(op->getResultTypes())))
        return WalkResult::advance();
      if (op->isRegistered() && (isa<bufferization::BufferizableOpInterface>(op) ||
                                 op->hasTrait<OpTrait::IsTerminator>() || isa<tensor::ParallelInsertSliceOp>(op)))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' has no lowering for the CPU";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    reshapeOpenExpansions();

    // In order, so that a chain is already made of new ops when it is itself part of another.
    SmallVector<OpOperand *> destinations;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto style = dyn_cast<DestinationStyleOpInterface>(op)) {
        for (OpOperand &operand : style.getDpsInitsMutable())
          destinations.push_back(&operand);
      } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
        for (OpOperand &operand : loop.getInitsMutable())
          destinations.push_back(&operand);
      }
    });
    for (OpOperand *destination : destinations)
      if (isMade(destination->get())) {
        OpBuilder builder(destination->getOwner());
        destination->set(makeAgain(builder, destination->get()));
      }
    // The old ones, users before producers. Nothing removes a dead fill after bufferization.
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::FillOp, tensor::ExtractSliceOp, tensor::EmptyOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && op->getNumResults() == 1)
        op->erase();
  }

  /// LLVM 22 cannot lower an expansion with two run-time extents in one group; it crashes.
  void reshapeOpenExpansions() {
    SmallVector<tensor::ExpandShapeOp> expansions;
    getOperation().walk([&](tensor::ExpandShapeOp op) {
      bool isOpen = llvm::any_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
        return llvm::count_if(group, [&](int64_t axis) { return op.getResultType().isDynamicDim(axis); }) > 1;
      });
      if (isOpen)
        expansions.push_back(op);
    });
    for (tensor::ExpandShapeOp op : expansions) {
      OpBuilder builder(op);
      SmallVector<Value> extents = llvm::map_to_vector(op.getMixedOutputShape(), [&](OpFoldResult extent) {
        return getValueOrCreateConstantIndexOp(builder, op.getLoc(), extent);
      });
      Value shape = tensor::FromElementsOp::create(builder, op.getLoc(), extents);
      op.replaceAllUsesWith(
          tensor::ReshapeOp::create(builder, op.getLoc(), op.getResultType(), op.getSrc(), shape).getResult());
      op.erase();
    }
  }

  /// A tensor of nothing but `tensor.empty`, slices of it and a fill: cheaper made again than copied.
  static bool isMade(Value value) {
    Operation *def = value.getDefiningOp();
    if (isa_and_nonnull<tensor::EmptyOp>(def))
      return true;
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(def))
      return isMade(slice.getSource());
    auto fill = dyn_cast_or_null<linalg::FillOp>(def);
    return fill && isMade(fill.getOutputs()[0]);
  }

  static Value makeAgain(OpBuilder &builder, Value value) {
    Operation *def = value.getDefiningOp();
    IRMapping map;
    for (Value operand : def->getOperands())
      if (isa<TensorType>(operand.getType()))
        map.map(operand, makeAgain(builder, operand));
    return builder.clone(*def, map)->getResult(0);
  }
};

} // namespace
} // namespace fusion
