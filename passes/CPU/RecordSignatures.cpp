//===- RecordSignatures.cpp - Keep the tensor signatures of entry points ----===//

#include "fusion/CPU/Passes.h"
#include "fusion/Target/HostCpu.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPURECORDSIGNATURES
#include "fusion/CPU/Passes.h.inc"

namespace {

/// No machine addresses more; sizes and offsets below it cannot overflow 64 bits.
constexpr int64_t maxBytes = int64_t(1) << 46;

/// What is wrong with a type for code generation; empty if nothing.
std::string getFault(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!tensor.hasRank()) {
    os << "unranked tensor " << type << " is not supported, the rank must be known";
    return text;
  }
  if (llvm::is_contained(tensor.getShape(), 0))
    return "";
  int64_t bytes = 8;
  for (int64_t extent : tensor.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (bytes > maxBytes / extent) {
      os << type << " is too large for the memory of any machine";
      return text;
    }
    bytes *= extent;
  }
  return "";
}

/// Functions that can call themselves, through others or not.
SmallVector<func::FuncOp> findRecursive(ModuleOp module, SymbolTable &symbols) {
  llvm::MapVector<Operation *, SmallVector<Operation *>> callees;
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<Operation *> &called = callees[function];
    function.walk([&](func::CallOp call) {
      if (Operation *callee = symbols.lookup(call.getCallee()))
        called.push_back(callee);
    });
  }
  SmallVector<func::FuncOp> result;
  for (auto &[function, called] : callees) {
    SmallVector<Operation *> pending(called);
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!pending.empty()) {
      Operation *next = pending.pop_back_val();
      if (seen.insert(next).second)
        if (auto it = callees.find(next); it != callees.end())
          llvm::append_range(pending, it->second);
    }
    if (seen.contains(function))
      result.push_back(cast<func::FuncOp>(function));
  }
  return result;
}

/// A recursion without end must not end the process: recursive functions check the stack first.
void checkStack(ModuleOp module, ArrayRef<func::FuncOp> functions) {
  if (functions.empty())
    return;
  constexpr StringLiteral name = "fusion_rt_check_stack";
  OpBuilder builder(module.getContext());
  auto check = module.lookupSymbol<func::FuncOp>(name);
  if (!check) {
    builder.setInsertionPointToStart(module.getBody());
    check = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType({}, {}));
    check.setPrivate();
  }
  for (func::FuncOp function : functions) {
    builder.setInsertionPointToStart(&function.getBody().front());
    func::CallOp::create(builder, function.getLoc(), check);
  }
}

struct RecordSignatures : impl::CPURecordSignaturesBase<RecordSignatures> {
  using CPURecordSignaturesBase::CPURecordSignaturesBase;

  void runOnOperation() override {
    if (llvm::Expected<CpuTarget> known = getCpuTarget(target); !known) {
      getOperation().emitError() << llvm::toString(known.takeError());
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (std::string fault = getFault(type); !fault.empty()) {
          op->emitOpError() << "cannot be compiled for the CPU: " << fault;
          return WalkResult::interrupt();
        }
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (std::string fault = getFault(argument.getType()); !fault.empty()) {
              emitError(argument.getLoc()) << "argument " << argument.getArgNumber() << " of '" << op->getName()
                                           << "' cannot be compiled for the CPU: " << fault;
              return WalkResult::interrupt();
            }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    Builder builder(&getContext());
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> recursive = findRecursive(getOperation(), symbols);
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      StringAttr name = function.getSymNameAttr();
      if (failed(symbols.rename(function, builder.getStringAttr("fusion." + name.getValue())))) {
        function.emitOpError("cannot be renamed");
        return signalPassFailure();
      }
      if (!function.isPublic())
        continue;
      for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
        if (isa<BaseMemRefType>(type)) {
          function.emitOpError() << "has an argument or result of type " << type
                                 << ", a program must be on tensors to be compiled";
          return signalPassFailure();
        }
      function->setAttr("fusion.entry", name);
      function->setAttr("fusion.signature", TypeAttr::get(function.getFunctionType()));
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
        if (isa<TensorType>(function.getArgument(i).getType()))
          function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
    }
    checkStack(getOperation(), recursive);
  }
};

} // namespace
} // namespace fusion
