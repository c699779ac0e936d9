//===- Jit.cpp - Compile a lowered module and call its functions ------------===//

#include "fusion/Execution/Jit.h"

#include "MachineCode.h"

#include "fusion/Runtime/Dist.h"
#include "fusion/Runtime/HalfFloat.h"
#include "fusion/Runtime/Runtime.h"
#include "fusion/Target/HostCpu.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/DynamicLibrary.h"

#include <map>

using namespace mlir;

namespace fusion {

struct JitModule::Impl {
  struct Entry {
    FunctionType signature;
    int32_t (*function)(void **) = nullptr;
  };
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Entry, std::less<>> entries;
};

JitModule::JitModule() : impl(std::make_unique<Impl>()) {}
JitModule::~JitModule() = default;

/// What generated code may call; everything else must be in libm.
static llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, void *address) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("fusion_rt_alloc", reinterpret_cast<void *>(fusion_rt_alloc));
  add("fusion_rt_aligned_alloc", reinterpret_cast<void *>(fusion_rt_aligned_alloc));
  add("fusion_rt_free", reinterpret_cast<void *>(fusion_rt_free));
  add("fusion_rt_parallel_for", reinterpret_cast<void *>(fusion_rt_parallel_for));
  add("fusion_rt_invoke", reinterpret_cast<void *>(fusion_rt_invoke));
  add("fusion_rt_check_stack", reinterpret_cast<void *>(fusion_rt_check_stack));
  add("fusion_rt_assert_fail", reinterpret_cast<void *>(fusion_rt_assert_fail));
  size_t count = 0;
  const FusionDistSymbol *tasks = fusion_dist_symbols(&count);
  for (size_t i = 0; i < count; ++i)
    add(tasks[i].name, tasks[i].address);
  const FusionSupportFunction *functions = fusion_rt_support_functions(&count);
  for (size_t i = 0; i < count; ++i)
    add(functions[i].name, functions[i].address);
  return symbols;
}

llvm::Expected<std::unique_ptr<JitModule>> JitModule::create(ModuleOp module, const CompileOptions &options) {
  llvm::Expected<CpuTarget> target = getCpuTarget(options.target);
  if (!target)
    return target.takeError();
  if (llvm::Error error = checkRunsHere(*target))
    return std::move(error);

  auto object = compileToObject(module, *target, options);
  if (!object)
    return object.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(*target, options.optLevel);
  if (!machine)
    return machine.takeError();

  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(target->triple)};
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(builder))
                 .setDataLayout((*machine)->createDataLayout())
                 // Generated code has no global constructors and throws nothing.
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  llvm::orc::JITDylib &main = (*jit)->getMainJITDylib();
  if (llvm::Error error = main.define(llvm::orc::absoluteSymbols(getRuntimeSymbols(**jit))))
    return std::move(error);
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  main.addGenerator(std::move(*process));
  // Told here: the linker would only name the symbol, on stderr.
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal() && !function.getName().starts_with("fusion_rt_") &&
        !function.getName().starts_with("fusion_dist_") &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(function.getName().str())) {
      Location loc = function.getLoc();
      module.walk([&](LLVM::CallOp call) {
        if (call.getCallee() != function.getName())
          return WalkResult::advance();
        loc = call.getLoc();
        return WalkResult::interrupt();
      });
      std::string message = "the program calls '" + function.getName().str() + "', which has no body";
      emitError(loc, message);
      return llvm::createStringError(message);
    }
  if (llvm::Error error = (*jit)->addObjectFile(std::move(*object)))
    return std::move(error);

  std::unique_ptr<JitModule> result(new JitModule);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto name = function->getAttrOfType<StringAttr>("fusion.entry");
    auto attr = function->getAttrOfType<TypeAttr>("fusion.signature");
    if (auto signature = attr && name ? dyn_cast<FunctionType>(attr.getValue()) : FunctionType())
      result->impl->entries[name.str()].signature = signature;
  }
  for (auto &[name, entry] : result->impl->entries) {
    auto address = (*jit)->lookup("fusion_entry_" + name);
    if (!address)
      return address.takeError();
    entry.function = address->toPtr<int32_t (*)(void **)>();
  }
  result->impl->jit = std::move(*jit);
  return result;
}

FunctionType JitModule::getSignature(llvm::StringRef entry) const {
  auto it = impl->entries.find(entry);
  return it == impl->entries.end() ? FunctionType() : it->second.signature;
}

static Type getElementType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

static int64_t getRank(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

template <typename... Values>
static llvm::Error makeError(Values &&...values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (os << ... << values);
  return llvm::createStringError(text);
}

llvm::Error checkArguments(llvm::StringRef entry, FunctionType signature, llvm::ArrayRef<HostArray> inputs) {
  for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (!getElementKind(getElementType(type)))
      return makeError("'", entry, "' has an argument or result of type ", type, ", which host arrays cannot hold");
  if (inputs.size() != signature.getNumInputs())
    return makeError("'", entry, "' takes ", signature.getNumInputs(), " arguments, ", inputs.size(), " were given");
  for (auto [i, type, array] : llvm::enumerate(signature.getInputs(), inputs)) {
    ElementKind kind = *getElementKind(getElementType(type));
    // An index array cannot be told from i64 in a file.
    auto normal = [](ElementKind k) { return k == ElementKind::Index ? ElementKind::I64 : k; };
    bool fits = normal(kind) == normal(array.getKind()) && array.getRank() == getRank(type);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t d = 0; fits && d < tensor.getRank(); ++d)
        fits = tensor.isDynamicDim(d) || tensor.getDimSize(d) == array.getShape()[d];
    if (!fits)
      return makeError("argument ", i, " of '", entry, "' is ", type, ", the array given is ", array.getTypeText());
  }
  return llvm::Error::success();
}

llvm::Expected<PreparedCall> JitModule::prepare(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs) const {
  auto it = impl->entries.find(entry);
  if (it == impl->entries.end()) {
    std::string known;
    for (const auto &other : impl->entries)
      known += (known.empty() ? "" : ", ") + other.first;
    return makeError("there is no public function '", entry, "'; there are: ", known);
  }
  FunctionType signature = it->second.signature;
  if (llvm::Error error = checkArguments(entry, signature, inputs))
    return std::move(error);

  PreparedCall call;
  call.entry = it->second.function;
  call.signature = signature;
  call.inputs.assign(inputs.begin(), inputs.end());
  auto addSlot = [&](Type type) -> uint64_t * {
    size_t words = isa<RankedTensorType>(type) ? 3 + 2 * getRank(type) : 1;
    call.storage.push_back(std::make_unique<uint64_t[]>(words));
    call.pointers.push_back(call.storage.back().get());
    return call.storage.back().get();
  };
  for (auto [type, array] : llvm::zip_equal(signature.getInputs(), call.inputs)) {
    uint64_t *slot = addSlot(type);
    if (!isa<RankedTensorType>(type)) {
      std::memcpy(slot, array.getData(), getByteWidth(array.getKind()));
      continue;
    }
    // Arguments are never written: RecordSignatures says so to bufferization.
    slot[0] = slot[1] = reinterpret_cast<uint64_t>(array.getData());
    slot[2] = 0;
    int64_t rank = array.getRank(), stride = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      slot[3 + d] = array.getShape()[d];
      slot[3 + rank + d] = stride;
      stride *= array.getShape()[d];
    }
  }
  for (Type type : signature.getResults())
    addSlot(type);
  return call;
}

PreparedCall::~PreparedCall() { freeResults(); }

void PreparedCall::freeResults() {
  if (!hasResults)
    return;
  hasResults = false;
  llvm::SmallPtrSet<void *, 4> freed;
  for (auto [i, type] : llvm::enumerate(signature.getResults())) {
    if (!isa<RankedTensorType>(type))
      continue;
    void *allocated = reinterpret_cast<void *>(storage[signature.getNumInputs() + i][0]);
    if (freed.insert(allocated).second)
      fusion_rt_free(allocated);
  }
}

llvm::Error PreparedCall::invoke() {
  freeResults();
  if (entry(pointers.data()) != FUSION_OK)
    return llvm::createStringError(fusion_rt_last_error());
  hasResults = true;
  return llvm::Error::success();
}

/// Copies a strided array of the program to C order.
static void copyStrided(char *target, const char *source, llvm::ArrayRef<int64_t> shape, const uint64_t *strides,
                        unsigned width) {
  if (shape.empty()) {
    std::memcpy(target, source, width);
    return;
  }
  int64_t inner = width;
  for (int64_t extent : shape.drop_front())
    inner *= extent;
  for (int64_t i = 0; i < shape[0]; ++i)
    copyStrided(target + i * inner, source + int64_t(i * strides[0]) * width, shape.drop_front(), strides + 1, width);
}

llvm::Expected<llvm::SmallVector<HostArray>> PreparedCall::takeResults() {
  llvm::SmallVector<HostArray> results;
  if (!hasResults)
    return makeError("there are no results to take");
  // Each distinct allocation gets one owner; from here on nothing is freed by hand.
  llvm::DenseMap<void *, std::shared_ptr<void>> owners;
  llvm::ArrayRef<std::unique_ptr<uint64_t[]>> slots = llvm::ArrayRef(storage).drop_front(signature.getNumInputs());
  for (auto [type, slot] : llvm::zip_equal(signature.getResults(), slots))
    if (isa<RankedTensorType>(type))
      if (void *allocated = reinterpret_cast<void *>(slot[0]); !owners.count(allocated))
        owners[allocated] = std::shared_ptr<void>(allocated, fusion_rt_free);
  hasResults = false;

  llvm::SmallPtrSet<void *, 4> used;
  for (auto [type, slot] : llvm::zip_equal(signature.getResults(), slots)) {
    ElementKind kind = *getElementKind(getElementType(type));
    unsigned width = getByteWidth(kind);
    if (!isa<RankedTensorType>(type)) {
      auto array = HostArray::createUninitialized(kind, {});
      if (!array)
        return array.takeError();
      std::memcpy(array->getMutableData(), slot.get(), width);
      results.push_back(std::move(*array));
      continue;
    }
    int64_t rank = getRank(type);
    llvm::SmallVector<int64_t> shape(slot.get() + 3, slot.get() + 3 + rank);
    const uint64_t *strides = slot.get() + 3 + rank;
    char *data = reinterpret_cast<char *>(slot[1]) + slot[2] * width;
    std::optional<int64_t> elements = getNumElements(shape);
    if (!elements)
      return makeError("a result has the impossible shape ", fusion::getTypeText(kind, shape));
    bool contiguous = true;
    int64_t expected = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      contiguous &= shape[d] == 1 || int64_t(strides[d]) == expected;
      expected *= shape[d];
    }
    void *allocated = reinterpret_cast<void *>(slot[0]);
    if (used.insert(allocated).second && (contiguous || *elements == 0)) {
      auto buffer = HostBuffer::wrap(data, uint64_t(*elements) * width, owners[allocated]);
      results.push_back(HostArray::fromBuffer(kind, shape, std::move(buffer)));
      continue;
    }
    auto array = HostArray::createUninitialized(kind, shape);
    if (!array)
      return array.takeError();
    if (*elements != 0)
      copyStrided(static_cast<char *>(array->getMutableData()), data, shape, strides, width);
    results.push_back(std::move(*array));
  }
  return results;
}

llvm::Error JitModule::run(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                           llvm::SmallVectorImpl<HostArray> &outputs) const {
  llvm::Expected<PreparedCall> call = prepare(entry, inputs);
  if (!call)
    return call.takeError();
  if (llvm::Error error = call->invoke())
    return error;
  auto results = call->takeResults();
  if (!results)
    return results.takeError();
  outputs.assign(results->begin(), results->end());
  return llvm::Error::success();
}

} // namespace fusion
