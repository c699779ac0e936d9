//===- Distribute.cpp - Kernels to thread programs and launches -----------===//

#include "fusion/GPU/Passes.h"

#include "ThreadProgram.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_GPUDISTRIBUTE
#include "fusion/GPU/Passes.h.inc"

namespace {

constexpr StringLiteral moduleName = "fusion_gpu";

class Distribution {
public:
  Distribution(ModuleOp program, const GpuChip &chip) : program(program), chip(chip), builder(program.getContext()) {}

  LogicalResult run(scf::ForallOp forall) {
    createModule();
    // Fewer buffers ahead where shared memory does not suffice for more.
    int64_t needed = 0;
    for (int64_t stages : {3, 2, 1}) {
      FailureOr<int64_t> shared = emit(forall, stages);
      if (failed(shared))
        return failure();
      if (*shared <= chip.sharedPerBlock)
        return success();
      needed = *shared;
    }
    return forall.emitOpError() << "needs " << needed << " bytes of shared memory for a block, " << chip.name << " has "
                                << chip.sharedPerBlock;
  }

private:
  /// Emits the kernel, and its launch if it fits; returns the bytes of shared memory that it needs.
  FailureOr<int64_t> emit(scf::ForallOp forall, int64_t stages) {
    builder.setInsertionPointToEnd(&module.getBodyRegion().front());
    auto name = forall->getAttrOfType<StringAttr>(kernelAttr);
    auto voidType = LLVM::LLVMVoidType::get(builder.getContext());
    auto function = LLVM::LLVMFuncOp::create(builder, forall.getLoc(), name ? name.getValue() : "kernel",
                                             LLVM::LLVMFunctionType::get(voidType, {}));
    // Symbols of a module are unique: the table renames.
    symbols->insert(function);
    function.addEntryBlock(builder);
    ThreadProgram threads(forall, function, chip, stages);
    if (failed(threads.run()))
      return failure();
    int64_t shared = threads.getSharedBytes();
    if (shared > chip.sharedPerBlock) {
      symbols->erase(function);
      return shared;
    }
    finishFunction(function, forall, threads);
    emitLaunch(forall, function, threads);
    return shared;
  }

  void createModule() {
    if (module)
      return;
    builder.setInsertionPointToEnd(program.getBody());
    module = gpu::GPUModuleOp::create(builder, program.getLoc(), moduleName);
    auto target = NVVM::NVVMTargetAttr::get(builder.getContext(), /*O=*/3, "nvptx64-nvidia-cuda", chip.name,
                                            "+ptx" + std::to_string(chip.ptxVersion));
    module.setTargetsAttr(builder.getArrayAttr({target}));
    program->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());
    SymbolTable(program).insert(module);
    builder.setInsertionPointToStart(&module.getBodyRegion().front());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    LLVM::GlobalOp::create(builder, program.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External,
                           "fusion_shared", Attribute(), /*alignment=*/16, /*addrSpace=*/3);
    symbols.emplace(module);
  }

  void finishFunction(LLVM::LLVMFuncOp function, scf::ForallOp forall, const ThreadProgram &threads) {
    MLIRContext *context = builder.getContext();
    SmallVector<Type> types(function.getBody().front().getArgumentTypes());
    function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    int32_t numThreads = threads.getNumThreads();
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr({numThreads, 1, 1}));
    SmallVector<Attribute> list;
    for (auto [number, argument] : llvm::enumerate(threads.getArguments())) {
      NamedAttrList entry;
      Type type = argument.device.getType();
      if (argument.kind == KernelArgument::Buffer) {
        auto tensor = cast<RankedTensorType>(argument.host.getType());
        SmallVector<int64_t> shape;
        for (int64_t extent : tensor.getShape())
          shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
        entry.set("kind", builder.getStringAttr("buffer"));
        entry.set("shape", builder.getI64ArrayAttr(shape));
        entry.set("access", builder.getStringAttr(!argument.isWritten ? "read"
                                                  : argument.isRead   ? "read_write"
                                                                      : "write"));
        type = tensor.getElementType();
        function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
        if (!argument.isWritten)
          function.setArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
        function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(16));
      } else {
        entry.set("kind", builder.getStringAttr(argument.kind == KernelArgument::Size ? "size" : "scalar"));
      }
      entry.set("type", TypeAttr::get(type));
      list.push_back(entry.getDictionary(context));
    }
    NamedAttrList launch;
    launch.set("args", builder.getArrayAttr(list));
    launch.set("shared", builder.getI64IntegerAttr(threads.getSharedBytes()));
    if (std::optional<int64_t> grid = getStaticGrid(forall))
      launch.set("grid", builder.getI64IntegerAttr(*grid));
    function->setAttr("fusion.launch", launch.getDictionary(context));
  }

  static std::optional<int64_t> getStaticGrid(scf::ForallOp forall) {
    int64_t blocks = 1;
    for (auto [lower, upper, step] :
         llvm::zip(forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep())) {
      std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper),
                             each = getConstantIntValue(step);
      if (!first || !last || !each || *each <= 0)
        return std::nullopt;
      blocks *= *last > *first ? llvm::divideCeil(*last - *first, *each) : 0;
    }
    return blocks;
  }

  Value getGrid(scf::ForallOp forall) {
    Location loc = forall.getLoc();
    if (std::optional<int64_t> grid = getStaticGrid(forall))
      return arith::ConstantIndexOp::create(builder, loc, *grid);
    Value blocks = arith::ConstantIndexOp::create(builder, loc, 1);
    for (auto [lower, upper, step] :
         llvm::zip(forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep())) {
      auto toValue = [&](OpFoldResult value) { return getValueOrCreateConstantIndexOp(builder, loc, value); };
      Value extent = arith::SubIOp::create(builder, loc, toValue(upper), toValue(lower));
      Value count = arith::CeilDivSIOp::create(builder, loc, extent, toValue(step));
      count = arith::MaxSIOp::create(builder, loc, count, arith::ConstantIndexOp::create(builder, loc, 0));
      blocks = arith::MulIOp::create(builder, loc, blocks, count);
    }
    return blocks;
  }

  /// A buffer of its own for a result; with the start value where there is one.
  Value createResult(Location loc, Value init) {
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        sizes.push_back(tensor::DimOp::create(builder, loc, init, axis));
    auto bufferType = MemRefType::get(type.getShape(), type.getElementType());
    Value buffer = memref::AllocOp::create(builder, loc, bufferType, sizes);
    if (!init.getDefiningOp<tensor::EmptyOp>()) {
      auto copy = bufferization::MaterializeInDestinationOp::create(builder, loc, Type(), init, buffer);
      copy.setRestrict(true);
      copy.setWritable(true);
    }
    return buffer;
  }

  void emitLaunch(scf::ForallOp forall, LLVM::LLVMFuncOp function, const ThreadProgram &threads) {
    Location loc = forall.getLoc();
    builder.setInsertionPoint(forall);
    DenseMap<Value, Value> results;
    for (Value init : forall.getOutputs())
      results[init] = createResult(loc, init);
    SmallVector<Value> operands;
    for (const KernelArgument &argument : threads.getArguments()) {
      if (argument.kind == KernelArgument::Buffer) {
        if (Value buffer = results.lookup(argument.host)) {
          operands.push_back(buffer);
          continue;
        }
        auto type = cast<RankedTensorType>(argument.host.getType());
        operands.push_back(bufferization::ToBufferOp::create(
            builder, loc, MemRefType::get(type.getShape(), type.getElementType()), argument.host, /*read_only=*/true));
      } else if (argument.axis >= 0) {
        operands.push_back(tensor::DimOp::create(builder, loc, argument.host, argument.axis));
      } else {
        operands.push_back(argument.host);
      }
    }
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value numThreads = arith::ConstantIndexOp::create(builder, loc, threads.getNumThreads());
    Value shared = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(threads.getSharedBytes()));
    auto kernel = SymbolRefAttr::get(module.getNameAttr(), {SymbolRefAttr::get(function.getNameAttr())});
    gpu::LaunchFuncOp::create(builder, loc, kernel, gpu::KernelDim3{getGrid(forall), one, one},
                              gpu::KernelDim3{numThreads, one, one}, shared, operands);
    SmallVector<Value> tensors;
    for (auto [init, result] : llvm::zip(forall.getOutputs(), forall.getResults()))
      tensors.push_back(bufferization::ToTensorOp::create(builder, loc, result.getType(), results[init],
                                                          /*restrict=*/true, /*writable=*/true));
    forall.replaceAllUsesWith(tensors);
    forall.erase();
  }

  ModuleOp program;
  const GpuChip &chip;
  OpBuilder builder;
  gpu::GPUModuleOp module;
  std::optional<SymbolTable> symbols;
};

struct Distribute : impl::GPUDistributeBase<Distribute> {
  using GPUDistributeBase::GPUDistributeBase;

  void runOnOperation() override {
    llvm::Expected<GpuChip> target = getGpuChip(chip);
    if (!target) {
      getOperation().emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }
    SmallVector<scf::ForallOp> kernels;
    getOperation().walk([&](scf::ForallOp forall) {
      if (isKernel(forall))
        kernels.push_back(forall);
    });
    Distribution distribution(getOperation(), *target);
    for (scf::ForallOp kernel : kernels)
      if (failed(distribution.run(kernel)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace fusion
