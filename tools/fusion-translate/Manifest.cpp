//===- Manifest.cpp - What a host must know to launch kernels -------------===//

#include "Manifest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
namespace json = llvm::json;

static json::Value toJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto type = dyn_cast<TypeAttr>(attribute)) {
    std::string text;
    llvm::raw_string_ostream(text) << type.getValue();
    return text;
  }
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    json::Array array;
    for (Attribute element : list)
      array.push_back(toJson(element));
    return array;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue()] = toJson(entry.getValue());
    return object;
  }
  return nullptr;
}

static int64_t getNumThreads(LLVM::LLVMFuncOp kernel) {
  auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
  int64_t threads = 1;
  for (int32_t size : sizes ? sizes.asArrayRef() : ArrayRef<int32_t>())
    threads *= size;
  return threads;
}

static int64_t getSharedBytes(LLVM::LLVMFuncOp kernel) {
  auto launch = kernel->getAttrOfType<DictionaryAttr>("fusion.launch");
  auto shared = launch ? launch.getAs<IntegerAttr>("shared") : IntegerAttr();
  return shared ? shared.getInt() : 0;
}

llvm::Expected<json::Value> makeManifest(gpu::GPUModuleOp module, ArrayRef<fusion::GpuChip> chips) {
  json::Array kernels;
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    auto launch = function->getAttrOfType<DictionaryAttr>("fusion.launch");
    if (!launch)
      return llvm::createStringError("kernel '" + function.getName() +
                                     "' does not say how it is launched (fusion.launch)");
    json::Value kernel = toJson(launch);
    (*kernel.getAsObject())["name"] = function.getName();
    (*kernel.getAsObject())["threads"] = getNumThreads(function);
    kernels.push_back(std::move(kernel));
  }
  json::Array names;
  for (const fusion::GpuChip &chip : chips)
    names.push_back(chip.name);
  return json::Object{{"chips", std::move(names)}, {"kernels", std::move(kernels)}};
}

/// Blocks of a kernel that one multiprocessor holds.
static int64_t getBlocksPerUnit(const fusion::GpuChip &chip, int64_t threads, int64_t registers, int64_t shared) {
  // Registers are given out per warp in pieces of 256; a block's shared memory has one KiB for the system.
  int64_t warps = llvm::divideCeil(threads, fusion::gpuWarpSize);
  int64_t blocks = std::min<int64_t>(32, chip.threadsPerUnit / (warps * fusion::gpuWarpSize));
  if (registers > 0)
    blocks = std::min(blocks, fusion::gpuRegistersPerUnit / int64_t(warps * llvm::alignTo(registers * 32, 256)));
  return std::min(blocks, chip.sharedPerUnit / (shared + 1024));
}

void printReport(gpu::GPUModuleOp module, const fusion::GpuChip &chip, ArrayRef<fusion::PtxasReport> reports,
                 llvm::raw_ostream &os) {
  for (const fusion::PtxasReport &report : reports) {
    auto kernel = module.lookupSymbol<LLVM::LLVMFuncOp>(report.kernel);
    if (!kernel)
      continue;
    int64_t threads = getNumThreads(kernel), shared = getSharedBytes(kernel) + report.staticShared;
    int64_t blocks = getBlocksPerUnit(chip, threads, report.registers, shared);
    os << report.kernel << " " << chip.name << ": " << report.registers << " registers, " << report.spillStores << "/"
       << report.spillLoads << " bytes spilled, " << report.stackBytes << " bytes of stack, " << shared
       << " bytes of shared memory, " << threads << " threads, " << blocks << " blocks per multiprocessor ("
       << 100 * blocks * threads / chip.threadsPerUnit << " % occupancy)\n";
  }
}
