//===- Options.cpp - The command line of fusion-translate -----------------===//

#include "Options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static cl::OptionCategory category("Options of fusion-translate");

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<program.mlir>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> outputFile("o", cl::desc("File to write; - is standard output"), cl::init("-"),
                                       cl::cat(category));
static cl::opt<Output> kind(
    cl::desc("What to write:"), cl::Required,
    cl::values(clEnumValN(Output::Ptx, "fusion-to-ptx", "PTX text of all kernels"),
               clEnumValN(Output::Cubin, "fusion-to-cubin", "machine code for one chip"),
               clEnumValN(Output::FatBinary, "fusion-to-fatbin", "machine code for several chips, and PTX of the last"),
               clEnumValN(Output::Manifest, "fusion-to-manifest", "only the launch manifest"),
               clEnumValN(Output::Object, "fusion-to-object",
                          "object file for the CPU, to be linked with -lFusionRuntime -lm"),
               clEnumValN(Output::Shared, "fusion-to-shared", "the same as a shared library (calls the linker, cc)"),
               clEnumValN(Output::Header, "fusion-to-header", "C header of the object's functions"),
               clEnumValN(Output::LlvmIr, "fusion-to-llvmir", "optimised LLVM IR for the CPU"),
               clEnumValN(Output::Assembly, "fusion-to-assembly", "assembly for the CPU")),
    cl::cat(category));
static cl::list<std::string> chips("chip", cl::desc("Chips to compile for (default: sm_80)"), cl::CommaSeparated,
                                   cl::value_desc("sm_80,..."), cl::cat(category));
static cl::opt<std::string> manifestFile("manifest",
                                         cl::desc("File of the launch manifest; beside a binary it is <output>.json"),
                                         cl::cat(category));
static cl::opt<std::string> cpu("cpu", cl::desc("Instruction set of an object: host, generic, avx2, avx512"),
                                cl::init("host"), cl::cat(category));
enum class Switch { Off, On };
static cl::opt<Switch> fuseTasks("fuse-tasks", cl::desc("Whether the tasks of a dist program are fused:"),
                                 cl::values(clEnumValN(Switch::On, "on", "as far as they need no communication"),
                                            clEnumValN(Switch::Off, "off", "each is launched by itself")),
                                 cl::init(Switch::On), cl::cat(category));
static cl::opt<unsigned> planThreads("plan-threads",
                                     cl::desc("Threads that an object is planned for; 0 for those of this machine"),
                                     cl::init(0), cl::cat(category));
static cl::opt<std::string> cudaPath("cuda-path", cl::desc("Folder of the CUDA toolkit"), cl::cat(category));
static cl::opt<bool> report("report", cl::desc("Print registers, spills and occupancy of each kernel to stderr"),
                            cl::cat(category));

mlir::FailureOr<TranslateOptions> parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Programs to binaries for GPUs and CPUs\n");
  auto fail = [](const Twine &message) {
    WithColor::error(errs(), "fusion-translate") << message << "\n";
    return mlir::failure();
  };
  TranslateOptions options;
  options.input = inputFile;
  options.output = outputFile;
  options.manifest = manifestFile;
  options.cudaPath = cudaPath;
  options.kind = kind;
  options.report = report;
  options.cpu = cpu;
  options.fuseTasks = fuseTasks == Switch::On;
  options.threads = planThreads;
  if (isHostOutput(options.kind)) {
    if (!chips.empty() || !options.manifest.empty() || report)
      return fail("--chip, --manifest and --report need a GPU output");
    if (options.kind == Output::Shared && options.output == "-")
      return fail("--fusion-to-shared needs -o");
    return options;
  }
  if (chips.empty())
    chips.push_back("sm_80");
  for (StringRef name : chips) {
    Expected<fusion::GpuChip> chip = fusion::getGpuChip(name);
    if (!chip)
      return fail(toString(chip.takeError()));
    if (any_of(options.chips, [&](const fusion::GpuChip &known) { return known.name == chip->name; }))
      return fail("chip " + name + " is named twice");
    options.chips.push_back(*chip);
  }
  if (options.chips.size() > 1 && options.kind != Output::FatBinary)
    return fail("several chips need --fusion-to-fatbin");
  if (options.output != "-" && options.manifest.empty() && options.kind != Output::Manifest)
    options.manifest = options.output + ".json";
  return options;
}
