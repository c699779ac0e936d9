//===- LowerAsserts.cpp - Assertions end the call, not the process ----------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPULOWERASSERTS
#include "fusion/CPU/Passes.h.inc"

namespace {

constexpr StringLiteral failFunction = "fusion_rt_assert_fail";

LLVM::LLVMFuncOp getFailFunction(ModuleOp module) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(failFunction))
    return function;
  OpBuilder builder(module.getBodyRegion());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                          {LLVM::LLVMPointerType::get(module.getContext())});
  auto function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), failFunction, type);
  function.setPassthroughAttr(builder.getStrArrayAttr({"noreturn", "cold"}));
  return function;
}

std::string makeText(cf::AssertOp op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Location loc = op.getLoc();
  while (!isa<FileLineColLoc>(loc)) {
    if (auto named = dyn_cast<NameLoc>(loc))
      loc = named.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(loc))
      loc = call.getCallee();
    else if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
      loc = fused.getLocations().front();
    else
      break;
  }
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    os << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn() << ": ";
  os << "assertion failed: " << op.getMsg();
  return text;
}

struct LowerAsserts : impl::CPULowerAssertsBase<LowerAsserts> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
    llvm::StringMap<LLVM::GlobalOp> texts;
    for (cf::AssertOp op : asserts) {
      Operation *parent = op->getParentOp();
      if (!isa<func::FuncOp, LLVM::LLVMFuncOp>(parent)) {
        op.emitOpError("stands in structured control flow, which must be lowered first");
        return signalPassFailure();
      }
      LLVM::GlobalOp &global = texts[makeText(op)];
      if (!global)
        global = makeGlobal(makeText(op), texts.size() - 1);

      Location loc = op.getLoc();
      OpBuilder builder(op);
      Block *block = op->getBlock();
      Block *rest = block->splitBlock(op);
      Block *fail = builder.createBlock(rest->getParent(), rest->getParent()->end());
      Value text = LLVM::AddressOfOp::create(builder, loc, global);
      LLVM::CallOp::create(builder, loc, getFailFunction(getOperation()), text);
      LLVM::UnreachableOp::create(builder, loc);
      builder.setInsertionPointToEnd(block);
      cf::CondBranchOp::create(builder, loc, op.getArg(), rest, fail);
      op.erase();
    }
  }

  LLVM::GlobalOp makeGlobal(StringRef text, unsigned index) {
    OpBuilder builder(getOperation().getBodyRegion());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    return LLVM::GlobalOp::create(builder, getOperation().getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                  ("fusion_assert_text_" + Twine(index)).str(), builder.getStringAttr(bytes));
  }
};

} // namespace
} // namespace fusion
