//===- fusion-translate.cpp - Programs to binaries ------------------------===//
//
// For CPUs see Host.h. For GPUs: compiles a program by the pipeline `fusion-gpu` and writes its kernels as PTX, cubin
// or fat binary, with the launch manifest beside it. A module that has been through the pipeline already is translated
// as it is. Nothing is written unless all of it worked.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Manifest.h"
#include "Options.h"

#include "fusion/InitAll.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Version.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using fusion::GpuChip;

namespace {

/// The device code of `module` for `chip`, in a copy of it.
FailureOr<gpu::GPUModuleOp> compile(ModuleOp module, const GpuChip &chip) {
  auto find = [&] {
    auto modules = module.getOps<gpu::GPUModuleOp>();
    return modules.empty() ? gpu::GPUModuleOp() : *modules.begin();
  };
  if (gpu::GPUModuleOp ready = find())
    return ready;
  PassManager passes(module.getContext());
  fusion::GpuPipelineOptions options;
  options.chip = chip.name.str();
  fusion::buildGpuPipeline(passes, options);
  if (failed(passes.run(module)))
    return failure();
  gpu::GPUModuleOp compiled = find();
  if (!compiled)
    return module.emitError("has no kernel that could be compiled for a GPU");
  return compiled;
}

class Translation {
public:
  Translation(const TranslateOptions &options, ModuleOp program) : options(options), program(program) {
    ptxOptions.toolkit = fusion::CudaToolkit::find(options.cudaPath);
  }

  /// Fills `binary` and `manifest`.
  llvm::Error run() {
    std::vector<fusion::CudaImage> images;
    for (const GpuChip &chip : options.chips) {
      OwningOpRef<ModuleOp> copy = program.clone();
      FailureOr<gpu::GPUModuleOp> module = compile(*copy, chip);
      if (failed(module))
        return llvm::createStringError("");
      llvm::Expected<llvm::json::Value> described = makeManifest(*module, options.chips);
      if (!described)
        return described.takeError();
      // Chips may get schedules of their own: launches differ then.
      manifests.insert_or_assign(chip.name.str(), std::move(*described));
      if (options.kind == Output::Manifest)
        continue;
      llvm::Expected<std::string> ptx = fusion::translateToPtx(*module, chip, ptxOptions);
      if (!ptx)
        return ptx.takeError();
      if (options.kind == Output::Ptx && !options.report) {
        binary = *ptx;
        continue;
      }
      std::vector<fusion::PtxasReport> reports;
      llvm::Expected<std::string> cubin = fusion::assemblePtx(*ptx, chip, ptxOptions.toolkit, &reports);
      if (!cubin)
        return cubin.takeError();
      if (options.report)
        printReport(*module, chip, reports, llvm::errs());
      binary = options.kind == Output::Ptx ? *ptx : *cubin;
      images.push_back({chip, *cubin, &chip == &options.chips.back() ? *ptx : ""});
    }
    if (options.kind != Output::FatBinary)
      return llvm::Error::success();
    llvm::Expected<std::string> fat = fusion::makeFatBinary(images, ptxOptions.toolkit);
    if (!fat)
      return fat.takeError();
    binary = *fat;
    return llvm::Error::success();
  }

  llvm::Error write() {
    if (options.kind == Output::Manifest)
      return writeFile(options.output, getManifest());
    if (!options.manifest.empty())
      if (llvm::Error error = writeFile(options.manifest, getManifest()))
        return error;
    return writeFile(options.output, binary);
  }

private:
  std::string getManifest() {
    llvm::json::Object all;
    for (auto &[chip, manifest] : manifests)
      all[chip] = manifest;
    return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all))).str();
  }

  llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content) {
    std::string message;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
    if (!file)
      return llvm::createStringError(message);
    file->os() << content;
    file->keep();
    return llvm::Error::success();
  }

  const TranslateOptions &options;
  ModuleOp program;
  fusion::PtxOptions ptxOptions;
  std::string binary;
  std::map<std::string, llvm::json::Value> manifests;
};

} // namespace

int main(int argc, char **argv) {
  llvm::setBugReportMsg("This is a fault of Fusion " FUSION_VERSION
                        ", not of LLVM. Please report it to the developers of Fusion with the command line, the input "
                        "and the text below.\n");
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "Fusion version " FUSION_VERSION "\n"; });
  FailureOr<TranslateOptions> options = parseOptions(argc, argv);
  if (failed(options))
    return EXIT_FAILURE;
  DialectRegistry registry;
  fusion::registerAllDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(options->input, &message);
  if (!input) {
    llvm::WithColor::error(llvm::errs(), "fusion-translate") << message << "\n";
    return EXIT_FAILURE;
  }
  sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> program = parseSourceFile<ModuleOp>(sources, &context);
  if (!program)
    return EXIT_FAILURE;
  if (isHostOutput(options->kind)) {
    if (llvm::Error error = translateForHost(*options, *program)) {
      if (std::string text = llvm::toString(std::move(error)); !text.empty())
        llvm::WithColor::error(llvm::errs(), "fusion-translate") << text << "\n";
      return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
  }
  Translation translation(*options, *program);
  llvm::Error error = translation.run();
  if (!error)
    error = translation.write();
  if (!error)
    return EXIT_SUCCESS;
  // A failed pass has said what is wrong.
  if (std::string text = llvm::toString(std::move(error)); !text.empty())
    llvm::WithColor::error(llvm::errs(), "fusion-translate") << text << "\n";
  return EXIT_FAILURE;
}
