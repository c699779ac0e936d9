//===- ParallelCalls.cpp - Calls of kernels through the run-time ------------===//

#include "FailureTexts.h"

#include "fusion/CPU/Passes.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUPARALLELCALLS
#include "fusion/CPU/Passes.h.inc"

namespace {

constexpr StringLiteral parallelFor = "fusion_rt_parallel_for";

struct ParallelCalls : impl::CPUParallelCallsBase<ParallelCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    rename("_mlir_memref_to_llvm_alloc", "fusion_rt_alloc");
    placeAllocations();
    rename("_mlir_memref_to_llvm_free", "fusion_rt_free");

    SmallVector<LLVM::CallOp> calls;
    module.walk([&](LLVM::CallOp call) {
      auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : nullptr;
      if (callee && callee->hasAttr("fusion.parallel_body"))
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls)
      rewrite(call, module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()));
    keepRecursion();
  }

  void rename(StringRef from, StringRef to) {
    auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(from);
    if (!function)
      return;
    // Fails only for uses in unknown nested symbol tables, of which a lowered module has none.
    if (failed(SymbolTable::replaceAllSymbolUses(function, StringAttr::get(&getContext(), to), getOperation())))
      return signalPassFailure();
    function.setSymName(to);
    if (isa<LLVM::LLVMPointerType>(function.getFunctionType().getReturnType()))
      function.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), UnitAttr::get(&getContext()));
  }

  /// Allocations say for what operation they are.
  void placeAllocations() {
    ModuleOp module = getOperation();
    auto old = module.lookupSymbol<LLVM::LLVMFuncOp>("_mlir_memref_to_llvm_aligned_alloc");
    if (!old)
      return;
    OpBuilder builder(old);
    Type pointer = LLVM::LLVMPointerType::get(&getContext()), size = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(pointer, {size, size, pointer});
    auto function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), "fusion_rt_aligned_alloc", type);
    function.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    FailureTexts texts(module);
    SmallVector<LLVM::CallOp> calls;
    module.walk([&](LLVM::CallOp call) {
      if (call.getCallee() == old.getSymName())
        calls.push_back(call);
    });
    for (LLVM::CallOp call : calls) {
      builder.setInsertionPoint(call);
      Value place = texts.getAddress(builder, call.getLoc(), describePlace(call.getLoc()));
      SmallVector<Value> operands(call.getArgOperands());
      operands.push_back(place);
      call.replaceAllUsesWith(LLVM::CallOp::create(builder, call.getLoc(), function, operands));
      call.erase();
    }
    old.erase();
  }

  /// A recursion that is turned into a loop would never meet the end of the stack.
  void keepRecursion() {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      SmallVector<LLVM::CallOp> calls;
      function.walk([&](LLVM::CallOp call) { calls.push_back(call); });
      if (llvm::any_of(calls, [](LLVM::CallOp call) { return call.getCallee() == "fusion_rt_check_stack"; }))
        for (LLVM::CallOp call : calls)
          call.setTailCallKind(LLVM::TailCallKind::NoTail);
    }
  }

  LLVM::LLVMFuncOp getParallelFor() {
    if (auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(parallelFor))
      return function;
    OpBuilder builder(getOperation().getBodyRegion());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer, builder.getI64Type()});
    return LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), parallelFor, type);
  }

  /// void @kernel.range(context, begin, end): unpacks the structure and calls the kernel.
  LLVM::LLVMFuncOp getRangeFunction(LLVM::LLVMFuncOp kernel, LLVM::LLVMStructType packed) {
    std::string name = (kernel.getName() + ".range").str();
    if (auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name))
      return function;
    Location loc = kernel.getLoc();
    OpBuilder builder(kernel);
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer, i64, i64});
    auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type, LLVM::Linkage::Internal);
    Block *entry = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    SmallVector<Value> operands{entry->getArgument(1), entry->getArgument(2)};
    for (auto [i, field] : llvm::enumerate(packed.getBody())) {
      Value address = LLVM::GEPOp::create(builder, loc, pointer, packed, entry->getArgument(0),
                                          ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
      operands.push_back(LLVM::LoadOp::create(builder, loc, field, address));
    }
    LLVM::CallOp::create(builder, loc, kernel, operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    return function;
  }

  void rewrite(LLVM::CallOp call, LLVM::LLVMFuncOp kernel) {
    Location loc = call.getLoc();
    auto operands = call.getArgOperands().drop_front(2);
    Value count = call.getArgOperands()[1];
    auto packed = LLVM::LLVMStructType::getLiteral(&getContext(), llvm::to_vector(operands.getTypes()));
    LLVM::LLVMFuncOp range = getRangeFunction(kernel, packed);

    // In the entry block: an alloca in a loop would grow the stack with every iteration.
    auto caller = call->getParentOfType<LLVM::LLVMFuncOp>();
    OpBuilder builder = OpBuilder::atBlockBegin(&caller.getBody().front());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
    Value context = LLVM::AllocaOp::create(builder, loc, pointer, packed, one, /*alignment=*/8);
    builder.setInsertionPoint(call);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, packed, context, ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
      LLVM::StoreOp::create(builder, loc, operand, address);
    }
    Value function = LLVM::AddressOfOp::create(builder, loc, range);
    LLVM::CallOp::create(builder, loc, getParallelFor(), ValueRange{function, context, count});
    call.erase();
  }
};

} // namespace
} // namespace fusion
