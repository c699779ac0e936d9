//===- LowerAsserts.cpp - Assertions end the call, not the process ----------===//

#include "FailureTexts.h"

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPULOWERASSERTS
#include "fusion/CPU/Passes.h.inc"

namespace {

constexpr StringLiteral failFunction = "fusion_rt_assert_fail", stackFunction = "fusion_rt_check_stack";

LLVM::LLVMFuncOp declare(ModuleOp module, StringRef name) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder builder(module.getBodyRegion());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                          {LLVM::LLVMPointerType::get(module.getContext())});
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
}

LLVM::LLVMFuncOp getFailFunction(ModuleOp module) {
  LLVM::LLVMFuncOp function = declare(module, failFunction);
  function.setPassthroughAttr(OpBuilder(module.getContext()).getStrArrayAttr({"noreturn", "cold"}));
  return function;
}

struct LowerAsserts : impl::CPULowerAssertsBase<LowerAsserts> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
    FailureTexts texts(getOperation());
    lowerStackChecks(texts);
    for (cf::AssertOp op : asserts) {
      Operation *parent = op->getParentOp();
      if (!isa<func::FuncOp, LLVM::LLVMFuncOp>(parent)) {
        op.emitOpError("stands in structured control flow, which must be lowered first");
        return signalPassFailure();
      }
      Location loc = op.getLoc();
      OpBuilder builder(op);
      Block *block = op->getBlock();
      Block *rest = block->splitBlock(op);
      Block *fail = builder.createBlock(rest->getParent(), rest->getParent()->end());
      std::string message = describePlace(loc) + "assertion failed: " + op.getMsg().str();
      Value text = texts.getAddress(builder, loc, message);
      LLVM::CallOp::create(builder, loc, getFailFunction(getOperation()), text);
      LLVM::UnreachableOp::create(builder, loc);
      builder.setInsertionPointToEnd(block);
      cf::CondBranchOp::create(builder, loc, op.getArg(), rest, fail);
      op.erase();
    }
  }

  void lowerStackChecks(FailureTexts &texts) {
    auto declaration = getOperation().lookupSymbol<func::FuncOp>(stackFunction);
    if (!declaration)
      return;
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) {
      if (call.getCallee() == stackFunction)
        calls.push_back(call);
    });
    declaration.erase();
    LLVM::LLVMFuncOp function = declare(getOperation(), stackFunction);
    for (func::CallOp call : calls) {
      OpBuilder builder(call);
      std::string message = describePlace(call.getLoc()) + "the stack is exhausted: does the recursion end?";
      LLVM::CallOp::create(builder, call.getLoc(), function, texts.getAddress(builder, call.getLoc(), message));
      call.erase();
    }
  }
};

} // namespace
} // namespace fusion
