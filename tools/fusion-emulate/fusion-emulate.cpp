//===- fusion-emulate.cpp - Runs one kernel on the emulated device ----------===//
//
// For device code by itself: a module at the NVVM level (a gpu.module, or the functions alone) or LLVM IR for NVPTX, one
// kernel, its arguments. Prints results and the report of the emulator. Exits with 0 if the kernel has run without a
// finding, with 1 if the emulator has found a fault, with 2 if there was nothing to run.
//
//===------------------------------------------------------------------------===//

#include "Arguments.h"

#include "fusion/Emulator/Emulator.h"
#include "fusion/Execution/Npy.h"
#include "fusion/InitAll.h"
#include "fusion/Runtime/Emulator.h"
#include "fusion/Version.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace fusion;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options of fusion-emulate");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> kernelName("kernel", cl::desc("The kernel; not needed if there is only one"),
                                       cl::cat(category));
static cl::opt<std::string> chipName("chip", cl::desc("The chip to emulate"), cl::init("sm_80"), cl::cat(category));
static cl::list<uint32_t> gridSize("grid", cl::CommaSeparated, cl::desc("Blocks along x, y, z"), cl::cat(category));
static cl::list<uint32_t> blockSize("block", cl::CommaSeparated,
                                    cl::desc("Threads along x, y, z; default: what the kernel requires"),
                                    cl::cat(category));
static cl::opt<uint32_t> sharedBytes("shared", cl::desc("Bytes of dynamic shared memory"), cl::init(0),
                                     cl::cat(category));
static cl::list<std::string> argumentTexts(
    "arg", cl::desc("An argument, in order: @file.npy, 8x16xf32=iota|zeros|ones|uninit|random:SEED, i64:5, tma:0:64x64:128"),
    cl::cat(category));
static cl::list<std::string> printed("print", cl::desc("Print the argument with that number after the run"),
                                     cl::cat(category));
static cl::list<std::string> outputs("output", cl::desc("N=@file.npy: write the argument with that number"),
                                     cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print the emulator's report"), cl::cat(category));

static int fail(const llvm::Twine &text) {
  llvm::errs() << "fusion-emulate: error: " << text << '\n';
  return 2;
}

static int failLast() { return fail(fusion_rt_last_error()); }

namespace {
/// Closes the device at the end, whatever happens.
struct OpenDevice {
  FusionDevice *device = nullptr;
  ~OpenDevice() { fusion_rt_device_close(device); }
};

/// What the module itself says of the launch.
struct Launch {
  std::string image;
  std::string kernel;
  /// Of the kernel, if it is known.
  std::optional<unsigned> numArguments;
  FusionLaunch launch = {{1, 1, 1}, {1, 1, 1}, 0};
};
} // namespace

static void readLaunch(mlir::LLVM::LLVMFuncOp function, Launch &launch) {
  launch.kernel = function.getName().str();
  launch.numArguments = function.getNumArguments();
  if (auto threads = function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid"))
    for (auto [d, count] : llvm::enumerate(threads.asArrayRef()))
      if (d < 3)
        launch.launch.block[d] = uint32_t(count);
  auto description = function->getAttrOfType<mlir::DictionaryAttr>("fusion.launch");
  if (!description)
    return;
  if (auto shared = description.getAs<mlir::IntegerAttr>("shared"))
    launch.launch.shared_bytes = uint32_t(shared.getInt());
  if (auto grid = description.getAs<mlir::IntegerAttr>("grid"))
    launch.launch.grid[0] = uint32_t(grid.getInt());
}

/// Device code in MLIR becomes bitcode; LLVM IR is taken as it is.
static int readModule(Launch &launch) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!file)
    return fail(inputFile + ": " + file.getError().message());
  llvm::StringRef text = (*file)->getBuffer();
  launch.kernel = kernelName;
  if (llvm::StringRef(inputFile).ends_with(".ll") || llvm::StringRef(inputFile).ends_with(".bc")) {
    launch.image = text.str();
    return launch.kernel.empty() ? fail("--kernel is needed for LLVM IR") : 0;
  }
  // The host program around the device module may be in any dialect.
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, inputFile);
  if (!module)
    return 2;
  mlir::Operation *device = *module;
  module->walk([&](mlir::gpu::GPUModuleOp op) { device = op; });
  llvm::SmallVector<mlir::LLVM::LLVMFuncOp> kernels;
  device->walk([&](mlir::LLVM::LLVMFuncOp function) {
    if (function->hasAttr("nvvm.kernel"))
      kernels.push_back(function);
  });
  if (kernels.size() == 1 && kernelName.empty())
    readLaunch(kernels.front(), launch);
  for (mlir::LLVM::LLVMFuncOp kernel : kernels)
    if (kernel.getName() == kernelName)
      readLaunch(kernel, launch);
  if (launch.kernel.empty())
    return fail(inputFile + ": has " + llvm::Twine(kernels.size()) + " kernels; --kernel names one");
  auto image = translateDeviceModule(device);
  if (!image)
    return fail(llvm::toString(image.takeError()));
  launch.image = std::move(*image);
  return 0;
}

static int upload(FusionDevice *device, std::vector<KernelArgument> &arguments) {
  for (KernelArgument &argument : arguments) {
    if (!argument.array)
      continue;
    uint64_t bytes = argument.array->getSizeInBytes();
    if (fusion_rt_device_alloc(device, bytes, &argument.address))
      return failLast();
    if (argument.isInitialised &&
        fusion_rt_copy_to_device(device, argument.address, argument.array->getData(), bytes, nullptr))
      return failLast();
  }
  for (KernelArgument &argument : arguments) {
    if (!argument.mapOf)
      continue;
    if (*argument.mapOf >= arguments.size() || !arguments[*argument.mapOf].array)
      return fail("a tensor map names argument " + llvm::Twine(*argument.mapOf) + ", which is no buffer");
    describeTensor(arguments[*argument.mapOf], argument.map);
    if (fusion_rt_tensor_map_encode(device, &argument.map, argument.encoded))
      return failLast();
  }
  return 0;
}

static int printFindings(FusionDevice *device) {
  const char *report = nullptr;
  if (fusion_rt_emulator_report(device, &report))
    return failLast();
  if (asJson)
    llvm::outs() << report << '\n';
  auto json = llvm::json::parse(report);
  if (!json)
    return fail("the report is no JSON: " + llvm::toString(json.takeError()));
  for (const llvm::json::Value &launch : *json->getAsArray())
    for (const llvm::json::Value &finding : *launch.getAsObject()->getArray("findings")) {
      const llvm::json::Object &fields = *finding.getAsObject();
      auto get = [&](llvm::StringRef key) { return fields.getString(key).value_or(""); };
      llvm::StringRef location = get("location");
      llvm::errs() << (location.empty() ? "" : location + ": ") << "error: " << get("kind") << ": '" << get("operation")
                   << "': " << get("text") << '\n';
    }
  return 0;
}

static int download(FusionDevice *device, std::vector<KernelArgument> &arguments) {
  auto fetch = [&](llvm::StringRef number, KernelArgument *&argument) {
    unsigned index = 0;
    if (number.getAsInteger(10, index) || index >= arguments.size() || !arguments[index].array)
      return fail("argument " + number + " is no buffer");
    argument = &arguments[index];
    HostArray &array = *argument->array;
    return fusion_rt_copy_to_host(device, array.getMutableData(), argument->address, array.getSizeInBytes(), nullptr)
               ? failLast()
               : 0;
  };
  for (const std::string &number : printed) {
    KernelArgument *argument = nullptr;
    if (int status = fetch(number, argument))
      return status;
    llvm::outs() << number << ':';
    for (int64_t i = 0; i < argument->array->getNumElements(); ++i)
      if (isFloat(argument->array->getKind()))
        llvm::outs() << ' ' << llvm::format("%.9g", argument->array->getDouble(i));
      else
        llvm::outs() << ' ' << argument->array->getInteger(i);
    llvm::outs() << '\n';
  }
  for (const std::string &output : outputs) {
    auto [number, file] = llvm::StringRef(output).split("=@");
    KernelArgument *argument = nullptr;
    if (int status = fetch(number, argument))
      return status;
    if (llvm::Error error = writeNpy(file, *argument->array))
      return fail(llvm::toString(std::move(error)));
  }
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "Fusion version " FUSION_VERSION "\n"; });
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs a kernel on the emulated device\n", &llvm::errs()))
    return 2;
  registerEmulatorCompiler();
  Launch request;
  if (int status = readModule(request))
    return status;
  for (auto [d, count] : llvm::enumerate(gridSize))
    if (d < 3)
      request.launch.grid[d] = count;
  for (auto [d, count] : llvm::enumerate(blockSize))
    if (d < 3)
      request.launch.block[d] = count;
  if (sharedBytes.getNumOccurrences())
    request.launch.shared_bytes = sharedBytes;
  std::vector<KernelArgument> arguments;
  for (const std::string &text : argumentTexts) {
    auto argument = parseArgument(text);
    if (!argument)
      return fail(llvm::toString(argument.takeError()));
    arguments.push_back(std::move(*argument));
  }

  if (request.numArguments && *request.numArguments != arguments.size())
    return fail("'" + request.kernel + "' takes " + llvm::Twine(*request.numArguments) + " arguments, " +
                llvm::Twine(arguments.size()) + " are given by --arg");

  OpenDevice open;
  FusionModule *module = nullptr;
  FusionKernel *kernel = nullptr;
  if (fusion_rt_device_open(("emulator:" + chipName).c_str(), &open.device))
    return failLast();
  FusionDevice *device = open.device;
  if (fusion_rt_module_load(device, request.image.data(), request.image.size(), &module) ||
      fusion_rt_module_kernel(device, module, request.kernel.c_str(), &kernel))
    return failLast();
  if (int status = upload(device, arguments))
    return status;
  std::vector<void *> values;
  for (KernelArgument &argument : arguments)
    values.push_back(argument.array   ? static_cast<void *>(&argument.address)
                     : argument.mapOf ? static_cast<void *>(argument.encoded)
                                      : static_cast<void *>(&argument.scalar));
  FusionStatus status = fusion_rt_kernel_launch(device, kernel, &request.launch, values.data(), nullptr);
  if (status != FUSION_OK && status != FUSION_KERNEL_FAULTY)
    return failLast();
  if (int problem = printFindings(device))
    return problem;
  if (int problem = download(device, arguments))
    return problem;
  return status == FUSION_OK ? 0 : 1;
}
