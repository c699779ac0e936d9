//===- SplitAsserts.cpp - Assertions leave the bodies of linalg.generic -------===//

#include "GenericRewriting.h"
#include "fusion/Normalize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace fusion {
#define GEN_PASS_DEF_SPLITASSERTS
#include "fusion/Normalize/Passes.h.inc"
} // namespace fusion

using namespace mlir;

namespace {

/// The operations and arguments of the body that `condition` is computed from, operations in program order.
struct Slice {
  Slice(Value condition, Block *body) : body(body) {
    add(condition);
    for (Operation &inner : *body)
      if (members.contains(&inner))
        operations.push_back(&inner);
  }

  void add(Value condition) {
    SmallVector<Value> worklist{condition};
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == body)
          arguments.insert(argument.getArgNumber());
        continue;
      }
      Operation *def = value.getDefiningOp();
      if (def->getBlock() == body && members.insert(def).second)
        llvm::append_range(worklist, def->getOperands());
    }
  }

  Block *body;
  DenseSet<Operation *> members;
  SmallVector<Operation *> operations;
  llvm::SetVector<unsigned> arguments;
};

struct SplitAsserts : fusion::impl::SplitAssertsBase<SplitAsserts> {
  using SplitAssertsBase::SplitAssertsBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && !op.getBody()->getOps<cf::AssertOp>().empty() && isSplittable(op))
        generics.push_back(op);
    });
    for (linalg::GenericOp op : generics)
      for (cf::AssertOp assertion : llvm::make_early_inc_range(op.getBody()->getOps<cf::AssertOp>()))
        split(op, assertion);
  }

private:
  /// Apart from assertions the body is pure arithmetic: nothing in it may rely on an assertion.
  static bool isSplittable(linalg::GenericOp op) {
    return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
      if (isa<cf::AssertOp>(inner))
        return true;
      bool readsTensor = llvm::any_of(inner.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); });
      return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) && !readsTensor;
    });
  }

  void split(linalg::GenericOp op, cf::AssertOp assertion) {
    Slice slice(assertion.getArg(), op.getBody());
    // The old value of a reduction changes from point to point; only an elementwise op's init is one tensor.
    bool readsInit = llvm::any_of(slice.arguments, [&](unsigned i) { return i >= op.getNumDpsInputs(); });
    if (readsInit && op.getNumReductionLoops() != 0)
      return;

    // The operands that the condition reads, and as many others as bound the loops.
    SmallVector<OpOperand *> operands;
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands())
      if (slice.arguments.contains(operand.getOperandNumber())) {
        operands.push_back(&operand);
        maps.push_back(op.getMatchingIndexingMap(&operand));
      }
    for (OpOperand &operand : op->getOpOperands())
      if (!slice.arguments.contains(operand.getOperandNumber()) && op.getNumLoops() != 0 &&
          !fusion::boundsAllLoops(maps)) {
        operands.push_back(&operand);
        maps.push_back(op.getMatchingIndexingMap(&operand));
      }

    OpBuilder builder(op);
    Location loc = assertion.getLoc();
    maps.push_back(AffineMap::get(op.getNumLoops(), 0, builder.getContext()));
    SmallVector<Value> inputs = llvm::map_to_vector(operands, [](OpOperand *operand) { return operand->get(); });
    SmallVector<utils::IteratorType> iterators(op.getNumLoops(), utils::IteratorType::reduction);
    Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), builder.getI1Type());
    Value init = linalg::FillOp::create(builder, loc, yes, empty).getResult(0);
    auto body = [&](OpBuilder &b, Location l, ValueRange arguments) {
      IRMapping mapping;
      for (auto [operand, argument] : llvm::zip(operands, arguments))
        mapping.map(op.getBody()->getArgument(operand->getOperandNumber()), argument);
      for (Operation *inner : slice.operations)
        b.clone(*inner, mapping);
      Value both = arith::AndIOp::create(b, l, mapping.lookupOrDefault(assertion.getArg()), arguments.back());
      linalg::YieldOp::create(b, l, both);
    };
    auto check = linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, iterators, body);
    Value holds = tensor::ExtractOp::create(builder, loc, check.getResult(0), ValueRange());
    cf::AssertOp::create(builder, loc, holds, assertion.getMsg());
    assertion.erase();
    ++numAsserts;
  }
};

} // namespace
