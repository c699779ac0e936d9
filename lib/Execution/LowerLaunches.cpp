//===- LowerLaunches.cpp - Launches of kernels into calls -------------------===//
//
// Each launch moves into a function of its own that takes buffers. So bufferization and deallocation see an opaque call,
// and no buffer can be freed while only its address is alive.
//
//===------------------------------------------------------------------------===//

#include "fusion/Execution/RunOnDevice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace fusion {
namespace {

class LaunchLowering {
public:
  explicit LaunchLowering(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i64(builder.getI64Type()) {}

  LogicalResult lower(gpu::LaunchFuncOp launch);

private:
  /// How a kernel uses each of its arguments, from `fusion.launch`.
  FailureOr<SmallVector<int64_t>> getAccesses(gpu::LaunchFuncOp launch);
  LLVM::LLVMFuncOp getRuntimeFunction();
  Value getName(Location loc, StringRef name);
  Value constant(Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value));
  }
  Value toI64(Location loc, Value value) {
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(builder, loc, i64, value);
    return value.getType() == i64 ? value : Value(arith::ExtUIOp::create(builder, loc, i64, value));
  }
  /// Address and size of a buffer.
  std::pair<Value, Value> describe(Location loc, Value buffer);
  /// Writes one FusionStagedArgument.
  void store(Location loc, Value array, int64_t number, Value address, Value bytes, int64_t access);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  Type pointer, i64;
  unsigned count = 0;
};

} // namespace

LLVM::LLVMFuncOp LaunchLowering::getRuntimeFunction() {
  constexpr StringLiteral name = "fusion_rt_launch_staged";
  if (auto function = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, i64, i64, i64, pointer, i64});
  auto function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
  symbols.insert(function);
  return function;
}

Value LaunchLowering::getName(Location loc, StringRef name) {
  std::string text = name.str();
  text.push_back('\0');
  std::string symbol = ("fusion_kernel_name_" + name).str();
  auto global = symbols.lookup<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
                                    builder.getStringAttr(text));
    symbols.insert(global);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

FailureOr<SmallVector<int64_t>> LaunchLowering::getAccesses(gpu::LaunchFuncOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(launch, launch.getKernelAttr());
  auto description = kernel ? kernel->getAttrOfType<DictionaryAttr>("fusion.launch") : DictionaryAttr();
  auto arguments = description ? description.getAs<ArrayAttr>("args") : ArrayAttr();
  if (!arguments || arguments.size() != launch.getNumKernelOperands())
    return launch.emitError("its kernel has no 'fusion.launch' that describes its ")
           << launch.getNumKernelOperands() << " arguments";
  SmallVector<int64_t> accesses;
  for (Attribute attribute : arguments) {
    auto argument = dyn_cast<DictionaryAttr>(attribute);
    auto access = argument ? argument.getAs<StringAttr>("access") : StringAttr();
    StringRef text = access ? access.getValue() : "";
    accesses.push_back(text == "read" ? 1 : text == "write" ? 2 : text == "read_write" ? 3 : 0);
  }
  return accesses;
}

std::pair<Value, Value> LaunchLowering::describe(Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value address = LLVM::IntToPtrOp::create(builder, loc, pointer, toI64(loc, index));
  Value bytes = constant(loc, std::max(type.getElementTypeBitWidth() / 8, 1u));
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value extent = type.isDynamicDim(d) ? toI64(loc, memref::DimOp::create(builder, loc, buffer, d))
                                        : constant(loc, type.getDimSize(d));
    bytes = LLVM::MulOp::create(builder, loc, bytes, extent);
  }
  return {address, bytes};
}

void LaunchLowering::store(Location loc, Value array, int64_t number, Value address, Value bytes, int64_t access) {
  auto set = [&](int64_t field, Value value) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, i64, array, ArrayRef<LLVM::GEPArg>{int32_t(3 * number + field)});
    LLVM::StoreOp::create(builder, loc, value, slot);
  };
  set(0, address);
  set(1, bytes);
  set(2, constant(loc, access));
}

LogicalResult LaunchLowering::lower(gpu::LaunchFuncOp launch) {
  Location loc = launch.getLoc();
  FailureOr<SmallVector<int64_t>> accesses = getAccesses(launch);
  if (failed(accesses))
    return failure();
  auto isOne = [](Value value) { return matchPattern(value, m_One()); };
  if (!isOne(launch.getGridSizeY()) || !isOne(launch.getGridSizeZ()) || !isOne(launch.getBlockSizeY()) ||
      !isOne(launch.getBlockSizeZ()) || launch.getAsyncToken() || !launch.getAsyncDependencies().empty())
    return launch.emitError("launches with more than one dimension, or in a stream, are not lowered");
  for (Value operand : launch.getKernelOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()); type && !type.getLayout().isIdentity())
      return launch.emitError("has a buffer that is not contiguous");

  builder.setInsertionPoint(launch);
  SmallVector<Value> operands(launch.getKernelOperands());
  operands.append({launch.getGridSizeX(), launch.getBlockSizeX()});
  Value shared = launch.getDynamicSharedMemorySize();
  if (!shared)
    shared = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  operands.push_back(shared);
  auto type = builder.getFunctionType(ValueRange(operands).getTypes(), {});
  std::string name = "fusion_launch_" + std::to_string(count++);
  auto function = func::FuncOp::create(loc, name, type);
  function.setPrivate();
  function.setNoInline(true);
  symbols.insert(function);
  func::CallOp::create(builder, loc, function, operands);

  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  int64_t numArguments = launch.getNumKernelOperands();
  Value array = LLVM::AllocaOp::create(builder, loc, pointer, i64, constant(loc, std::max<int64_t>(3 * numArguments, 1)));
  for (int64_t i = 0; i < numArguments; ++i) {
    Value argument = body->getArgument(i);
    if (isa<MemRefType>(argument.getType())) {
      auto [address, bytes] = describe(loc, argument);
      store(loc, array, i, address, bytes, (*accesses)[i]);
      continue;
    }
    if (argument.getType().isIndex())
      argument = toI64(loc, argument);
    unsigned bits = argument.getType().getIntOrFloatBitWidth();
    Value slot = LLVM::AllocaOp::create(builder, loc, pointer, argument.getType(), constant(loc, 1));
    LLVM::StoreOp::create(builder, loc, argument, slot);
    store(loc, array, i, slot, constant(loc, std::max(bits / 8, 1u)), 0);
  }
  Value blocks = toI64(loc, body->getArgument(numArguments)), threads = toI64(loc, body->getArgument(numArguments + 1));
  Value bytes = toI64(loc, body->getArgument(numArguments + 2));
  Value kernel = getName(loc, launch.getKernelName().getValue());
  LLVM::CallOp::create(builder, loc, getRuntimeFunction(),
                       ValueRange{kernel, blocks, threads, bytes, array, constant(loc, numArguments)});
  func::ReturnOp::create(builder, loc);
  launch.erase();
  return success();
}

LogicalResult lowerLaunches(ModuleOp module) {
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  LaunchLowering lowering(module);
  for (gpu::LaunchFuncOp launch : launches)
    if (failed(lowering.lower(launch)))
      return failure();
  return success();
}

} // namespace fusion
