//===- EntryPoints.cpp - A uniform, guarded entry for public functions ------===//

#include "fusion/CPU/Passes.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUENTRYPOINTS
#include "fusion/CPU/Passes.h.inc"

namespace {

/// Of a program with ranks, all must learn of a failure of one.
constexpr StringLiteral invoke = "fusion_rt_invoke", invokeRanks = "fusion_mpi_invoke";

struct EntryPoints : impl::CPUEntryPointsBase<EntryPoints> {
  void runOnOperation() override {
    struct Entry {
      LLVM::LLVMFuncOp function;
      StringRef name;
      FunctionType signature;
    };
    SmallVector<Entry> entries;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal())
        continue;
      // Only the entries are seen from outside: no clash with a symbol of the process, and unused code goes away.
      function.setLinkage(LLVM::Linkage::Internal);
      auto name = function->getAttrOfType<StringAttr>("fusion.entry");
      auto type = function->getAttrOfType<TypeAttr>("fusion.signature");
      if (name && type && isa<FunctionType>(type.getValue()))
        entries.push_back({function, name.getValue(), cast<FunctionType>(type.getValue())});
    }
    for (const Entry &entry : entries)
      if (failed(emitEntry(entry.function, entry.name, entry.signature)))
        return signalPassFailure();
  }

  LLVM::LLVMFuncOp getInvoke(bool hasRanks) {
    StringRef name = hasRanks ? invokeRanks : invoke;
    if (auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name))
      return function;
    OpBuilder builder(getOperation().getBodyRegion());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer});
    return LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), name, type);
  }

  /// The fields of the descriptor of a tensor of that rank, as parameters of a lowered function.
  SmallVector<Type> getDescriptorFields(int64_t rank) {
    Type pointer = LLVM::LLVMPointerType::get(&getContext()), i64 = IntegerType::get(&getContext(), 64);
    SmallVector<Type> fields{pointer, pointer};
    fields.append(1 + 2 * rank, i64);
    return fields;
  }

  LogicalResult emitEntry(LLVM::LLVMFuncOp function, StringRef name, FunctionType signature) {
    Location loc = function.getLoc();
    OpBuilder builder(function->getContext());
    builder.setInsertionPointAfter(function);
    Type pointer = LLVM::LLVMPointerType::get(&getContext()), i64 = builder.getI64Type();
    auto bodyType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer});
    auto body =
        LLVM::LLVMFuncOp::create(builder, loc, ("fusion_body_" + name).str(), bodyType, LLVM::Linkage::Internal);
    auto entryType = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer});
    auto entry = LLVM::LLVMFuncOp::create(builder, loc, ("fusion_entry_" + name).str(), entryType);

    Block *block = entry.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    Value bodyAddress = LLVM::AddressOfOp::create(builder, loc, body);
    auto status = LLVM::CallOp::create(builder, loc, getInvoke(function->hasAttr("fusion.ranks")),
                                       ValueRange{bodyAddress, block->getArgument(0)});
    LLVM::ReturnOp::create(builder, loc, status.getResult());

    block = body.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    Value array = block->getArgument(0);
    unsigned position = 0;
    auto nextPointer = [&]() -> Value {
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{int32_t(position++)});
      return LLVM::LoadOp::create(builder, loc, pointer, address);
    };
    // The descriptor is an array of words of 8 bytes: two pointers, then integers.
    auto word = [&](Value descriptor, int64_t index) -> Value {
      return LLVM::GEPOp::create(builder, loc, pointer, i64, descriptor, ArrayRef<LLVM::GEPArg>{int32_t(index)});
    };

    SmallVector<Value> operands;
    for (Type type : signature.getInputs()) {
      Value source = nextPointer();
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        for (auto [i, field] : llvm::enumerate(getDescriptorFields(tensor.getRank())))
          operands.push_back(LLVM::LoadOp::create(builder, loc, field, word(source, i)));
        continue;
      }
      if (operands.size() >= function.getNumArguments())
        break;
      operands.push_back(LLVM::LoadOp::create(builder, loc, function.getArgument(operands.size()).getType(), source));
    }
    if (TypeRange(operands) != TypeRange(function.getArgumentTypes()))
      return function.emitOpError("does not have the arguments of its signature ") << signature;
    auto call = LLVM::CallOp::create(builder, loc, function, operands);

    for (auto [i, type] : llvm::enumerate(signature.getResults())) {
      Value target = nextPointer(), value = call.getResult();
      if (signature.getNumResults() > 1)
        value = LLVM::ExtractValueOp::create(builder, loc, value, int64_t(i));
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor) {
        LLVM::StoreOp::create(builder, loc, value, target);
        continue;
      }
      int64_t rank = tensor.getRank();
      for (int64_t field = 0; field < 3; ++field)
        LLVM::StoreOp::create(builder, loc, LLVM::ExtractValueOp::create(builder, loc, value, field),
                              word(target, field));
      for (int64_t part = 0; part < 2; ++part)
        for (int64_t d = 0; d < rank; ++d)
          LLVM::StoreOp::create(builder, loc,
                                LLVM::ExtractValueOp::create(builder, loc, value, ArrayRef<int64_t>{3 + part, d}),
                                word(target, 3 + part * rank + d));
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    return success();
  }
};

} // namespace
} // namespace fusion
