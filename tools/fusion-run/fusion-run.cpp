//===- fusion-run.cpp - Run a program and compare its results ---------------===//
//
// Exit status: 0 if the program ran and every expected result matched, 1 on a mismatch, 2 on any other error.
//
//===------------------------------------------------------------------------===//

#include "Case.h"
#include "Diagnostics.h"
#include "Inputs.h"
#include "OnDevice.h"
#include "Ranks.h"
#include "Summary.h"

#include "fusion/Execution/Npy.h"
#include "fusion/Execution/RunOnCpu.h"
#include "fusion/InitAll.h"
#include "fusion/Reference/Interpreter.h"
#include "fusion/Report/Report.h"
#include "fusion/Runtime/Mpi.h"
#include "fusion/Version.h"

#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace fusion;
namespace cl = llvm::cl;

static cl::OptionCategory category("fusion-run options");

static cl::opt<std::string> modelFile(cl::Positional, cl::desc("<model.mlir>"), cl::cat(category));
static cl::opt<std::string> entryName("entry", cl::desc("The function to run; main by default"), cl::value_desc("name"),
                                      cl::cat(category));
static cl::list<std::string> inputSpecs(
    "input",
    cl::desc("An argument, in their order: @file.npy, <type>=<generator> such as 8x128xf32=random:7, a generator "
             "alone for a static argument (random, positive or weights[:seed], ones, zeros, iota, value:<number>), or "
             "a scalar"),
    cl::value_desc("spec"), cl::cat(category));
static cl::list<std::string>
    expectedSpecs("expected",
                  cl::desc("A result to compare with, in their order: @file.npy or what --input takes. 'reference' "
                           "once compares all results with those of the reference interpreter"),
                  cl::value_desc("spec"), cl::cat(category));
static cl::list<std::string> outputFiles("output", cl::desc("A file to write a result to, in their order"),
                                         cl::value_desc("@file.npy"), cl::cat(category));
static cl::opt<double> rtolOption("rtol", cl::desc("Relative tolerance; a default per element type, or the case's"),
                                  cl::init(-1), cl::cat(category));
static cl::opt<double> atolOption("atol", cl::desc("Absolute tolerance; a default per element type, or the case's"),
                                  cl::init(-1), cl::cat(category));
static cl::opt<std::string> targetName("target",
                                       cl::desc("cpu (compile and run, the default), reference (interpret "
                                                "the text), emulator (compile for a GPU and run its code on an "
                                                "emulated device, which checks it), cuda or cuda:N"),
                                       cl::init("cpu"), cl::cat(category));
static cl::opt<std::string> chipName("chip",
                                     cl::desc("The GPU to compile for: sm_80 by default, with --target=cuda the "
                                              "device's own"),
                                     cl::cat(category));
static cl::opt<unsigned> simulatedRanks("ranks",
                                        cl::desc("With --target=reference: execute the planned communication of a "
                                                 "dist program on that many simulated ranks (at most 64)"),
                                        cl::init(0), cl::cat(category));
static cl::opt<std::string> cpuName("cpu", cl::desc("Instruction set for --target=cpu: host, generic, avx2, avx512"),
                                    cl::init("host"), cl::cat(category));
static cl::opt<unsigned> repeatCount("repeat",
                                     cl::desc("Measured runs; with more than one there is a run before that warms up"),
                                     cl::init(1), cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print one JSON object"), cl::cat(category));
static cl::opt<bool> wantsReport("report", cl::desc("Say what was fused and why the rest was not"), cl::cat(category));
static cl::opt<std::string> caseDirectory("case",
                                          cl::desc("A folder with model.mlir, case.json, input_<k>.npy and "
                                                   "expected_<k>.npy: runs and compares it"),
                                          cl::value_desc("folder"), cl::cat(category));
static cl::opt<bool> runsBench("bench", cl::desc("With --case: bench.mlir on random arguments of the bench shapes"),
                               cl::cat(category));
static cl::opt<std::string> stagePipeline("stage", cl::desc("A pass pipeline to run before the program is executed"),
                                          cl::value_desc("pipeline"), cl::cat(category));
static cl::opt<bool> noFuse("no-fuse", cl::desc("Compile every operation by itself"), cl::cat(category));
enum class Switch { Off, On };
static cl::opt<Switch> fuseTasks("fuse-tasks", cl::desc("Whether the tasks of a dist program are fused:"),
                                 cl::values(clEnumValN(Switch::On, "on", "as far as they need no communication"),
                                            clEnumValN(Switch::Off, "off", "each is launched by itself")),
                                 cl::init(Switch::On), cl::cat(category));
static cl::list<std::string> libraries("library",
                                       cl::desc("A library with C functions that opaque tasks name; may be repeated"),
                                       cl::value_desc("lib.so"), cl::cat(category));
static cl::opt<bool> narrowF64("narrow-f64", cl::desc("Compute f64 islands of an f32 program in f32"),
                               cl::cat(category));

/// LLVM's shared library has an option of this name, too; ours takes its place once main runs.
static cl::opt<unsigned> &getThreadOption() {
  static cl::opt<unsigned> *option = [] {
    if (cl::Option *other = cl::getRegisteredOptions().lookup("threads"))
      other->removeArgument();
    return new cl::opt<unsigned>("threads",
                                 cl::desc("Threads of a rank; 0 (the default) for FUSION_THREADS or all CPUs"),
                                 cl::init(0), cl::cat(category));
  }();
  return *option;
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static int fail(const llvm::Twine &what) {
  getProblemStream() << "fusion-run: error: " << what << '\n';
  return 2;
}

namespace {

class Runner {
public:
  Runner(mlir::MLIRContext &context, LineDiagnostics &diagnostics, Ranks &ranks)
      : context(context), diagnostics(diagnostics), ranks(ranks) {
    if (wantsReport)
      collector.emplace(context);
  }

  int run(llvm::StringRef model);
  /// What it was doing last: "reading the program", ...
  llvm::StringRef getPhase() const { return phase; }
  std::optional<TestCase> testCase;

private:
  int prepare(llvm::StringRef model);
  int parse(llvm::StringRef model);
  int checkRanks();
  int readInputs();
  int readExpected();
  int applyStage();
  int execute(std::vector<HostArray> &results);
  int executeReference(std::vector<HostArray> &results);
  int executeCpu(std::vector<HostArray> &results);
  int executeDevice(std::vector<HostArray> &results);
  int compile();
  int finish(const std::vector<HostArray> &results);
  int failAt(mlir::Location location, const llvm::Twine &what) {
    mlir::emitError(location, what);
    return 2;
  }
  /// After a failure: a line for it, unless a diagnostic has been printed.
  int failIn(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (diagnostics.hasError())
      return 2;
    // The text of a failed assertion begins with its place.
    mlir::Location location = mlir::UnknownLoc::get(&context);
    llvm::SmallVector<llvm::StringRef> parts;
    unsigned line = 0, column = 0;
    if (llvm::Regex("^(.+):([0-9]+):([0-9]+): (.*)$").match(text, &parts) && !parts[2].getAsInteger(10, line) &&
        !parts[3].getAsInteger(10, column)) {
      location = mlir::FileLineColLoc::get(&context, parts[1], line, column);
      text = parts[4].str();
    }
    mlir::emitError(location, text);
    return 2;
  }

  mlir::MLIRContext &context;
  LineDiagnostics &diagnostics;
  Ranks &ranks;
  llvm::StringRef phase = "reading the program";
  std::string inputName, entry;
  /// Where the entry stands in the text.
  std::string place;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::FunctionOpInterface function;
  std::vector<HostArray> inputs, expected;
  std::unique_ptr<JitModule> compiled;
  std::optional<PreparedCall> call;
  Summary summary;
  std::optional<ReportCollector> collector;
};

} // namespace

int Runner::parse(llvm::StringRef model) {
  inputName = model.str();
  if (model != "-" && llvm::sys::fs::is_directory(model))
    return fail(model + ": is a directory");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(model, /*IsText=*/true);
  if (!file)
    return fail(model + ": " + file.getError().message());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return diagnostics.hasError() ? 2 : fail(model + ": could not be parsed");
  function = module->lookupSymbol<mlir::FunctionOpInterface>(entry);
  if (!function)
    return failAt(module->getLoc(), "there is no function '" + entry + "'; --entry names another");
  return 0;
}

int Runner::readInputs() {
  llvm::ArrayRef<mlir::Type> types = function.getArgumentTypes();
  std::vector<std::string> specs(inputSpecs.begin(), inputSpecs.end());
  if (specs.empty() && testCase) {
    for (unsigned i = 0; i < types.size(); ++i) {
      if (!runsBench)
        specs.push_back("@" + (i < testCase->inputs.size() || testCase->inputs.empty()
                                   ? testCase->getInputFile(i)
                                   : testCase->getPath("input_" + std::to_string(i) + ".npy")));
      else
        specs.push_back(testCase->getBenchInput(i));
    }
  }
  if (specs.size() != types.size())
    return failAt(function.getLoc(), "'" + entry + "' takes " + llvm::Twine(types.size()) + " arguments, " +
                                         llvm::Twine(specs.size()) + " are given by --input");
  for (auto [number, spec, type] : llvm::enumerate(specs, types)) {
    llvm::Expected<HostArray> array = makeInput(spec, type);
    if (!array)
      return failAt(function.getLoc(),
                    "argument " + llvm::Twine(number) + " of '" + entry + "': " + llvm::toString(array.takeError()));
    inputs.push_back(std::move(*array));
  }
  return 0;
}

int Runner::readExpected() {
  llvm::ArrayRef<mlir::Type> types = function.getResultTypes();
  std::vector<std::string> specs(expectedSpecs.begin(), expectedSpecs.end());
  if (specs.size() == 1 && specs[0] == "reference") {
    llvm::SmallVector<HostArray> results;
    if (mlir::failed(interpret(*module, entry, inputs, results)))
      return 2;
    expected.assign(results.begin(), results.end());
    return 0;
  }
  if (specs.empty() && testCase && !runsBench)
    for (unsigned i = 0; i < types.size(); ++i)
      specs.push_back("@" + (i < testCase->results.size() || testCase->results.empty()
                                 ? testCase->getResultFile(i)
                                 : testCase->getPath("expected_" + std::to_string(i) + ".npy")));
  if (specs.size() > types.size())
    return failAt(function.getLoc(), "'" + entry + "' has " + llvm::Twine(types.size()) + " results, " +
                                         llvm::Twine(specs.size()) + " are given by --expected");
  for (auto [number, spec, type] : llvm::zip(llvm::seq<size_t>(0, specs.size()), specs, types)) {
    llvm::Expected<HostArray> array = makeInput(spec, type);
    if (!array)
      return failAt(function.getLoc(), "expected result " + llvm::Twine(number) + " of '" + entry +
                                           "': " + llvm::toString(array.takeError()));
    expected.push_back(std::move(*array));
  }
  return 0;
}

int Runner::applyStage() {
  if (stagePipeline.empty())
    return 0;
  mlir::PassManager passes(&context);
  llvm::StringRef pipeline = llvm::StringRef(stagePipeline).trim();
  if (pipeline.consume_front("builtin.module(") && !pipeline.consume_back(")"))
    return fail("--stage: 'builtin.module(' is not closed");
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (mlir::failed(mlir::parsePassPipeline(pipeline, passes, os))) {
    llvm::StringRef first = llvm::StringRef(problem).trim().split('\n').first;
    return fail("--stage: " + (first.empty() ? llvm::StringRef("the pipeline cannot be parsed") : first));
  }
  double start = now();
  if (mlir::failed(passes.run(*module)))
    return diagnostics.hasError() ? 2 : fail("--stage: a pass failed");
  summary.scheduleSeconds = now() - start;
  return 0;
}

int Runner::executeReference(std::vector<HostArray> &results) {
  summary.fusion = findFusion(*module, entry);
  summary.compileSeconds = summary.scheduleSeconds;
  HostBuffer::resetPeak();
  uint64_t before = HostBuffer::getLiveBytes();
  ReferenceOptions options;
  options.ranks = simulatedRanks;
  for (unsigned i = 0; i < repeatCount; ++i) {
    llvm::SmallVector<HostArray> outputs;
    double start = now();
    if (mlir::failed(interpret(*module, entry, inputs, outputs, options)))
      return diagnostics.hasError() ? 2 : fail("the program could not be interpreted");
    summary.runSeconds.push_back(now() - start);
    results.assign(outputs.begin(), outputs.end());
  }
  summary.peakBytes = HostBuffer::getPeakBytes() - before;
  return 0;
}

int Runner::compile() {
  CpuCompileOptions options;
  options.code.target = cpuName;
  options.fuse = !noFuse;
  options.fuseTasks = fuseTasks == Switch::On;
  unsigned threads = getThreadOption();
  if (threads == 0 && ranks.getSize() > 1)
    threads = ranks.getDefaultThreads();
  options.threads = threads;
  options.narrowF64 = narrowF64;
  options.onTasks = [&](mlir::ModuleOp tasks) { summary.tasks = TaskReport::read(tasks); };
  options.onTiles = [&](mlir::ModuleOp tiles) { summary.fusion = findFusion(tiles, entry); };
  if (fusion_rt_set_thread_count(int32_t(threads)) != FUSION_OK)
    return fail(llvm::Twine("--threads: ") + fusion_rt_last_error());
  CpuCompileTimes times;
  auto module = compileForCpu(*this->module, options, &times);
  if (!module)
    return failIn(module.takeError());
  compiled = std::move(*module);
  summary.scheduleSeconds += times.scheduleSeconds;
  summary.compileSeconds = summary.scheduleSeconds + times.codegenSeconds;
  auto prepared = compiled->prepare(entry, inputs);
  if (!prepared)
    return failIn(prepared.takeError());
  call.emplace(std::move(*prepared));
  return 0;
}

int Runner::executeCpu(std::vector<HostArray> &results) {
  if (int status = ranks.agree(compile()))
    return status;
  phase = "running it: does it divide by zero or leave a tensor's bounds? --target=reference says where";
  fusion_rt_reset_memory_statistics();
  for (unsigned i = 0; i < repeatCount + (repeatCount > 1); ++i) {
    ranks.waitForAll();
    fusion_mpi_reset_statistics();
    double start = now();
    if (llvm::Error error = call->invoke())
      return failIn(std::move(error));
    if (i > 0 || repeatCount == 1)
      summary.runSeconds.push_back(now() - start);
  }
  FusionMemoryStatistics memory = {};
  fusion_rt_memory_statistics(&memory);
  RankTotals totals = ranks.getTotals(memory.peak_bytes);
  summary.messages = totals.messages;
  summary.bytesSent = totals.bytesSent;
  summary.peakBytes = totals.peakBytes;
  if (!ranks.isRoot())
    return 0;
  auto outputs = call->takeResults();
  if (!outputs)
    return failIn(outputs.takeError());
  results.assign(outputs->begin(), outputs->end());
  // The memory of the results belongs to the compiled module's run-time; copies outlive it.
  for (HostArray &result : results) {
    llvm::Expected<HostArray> copy = HostArray::createUninitialized(result.getKind(), result.getShape());
    if (!copy)
      return failIn(copy.takeError());
    std::memcpy(copy->getMutableData(), result.getData(), result.getSizeInBytes());
    result = std::move(*copy);
  }
  return 0;
}

int Runner::executeDevice(std::vector<HostArray> &results) {
  DeviceCompileOptions options;
  options.device = targetName;
  options.chip = !chipName.empty() ? chipName : targetName == "emulator" ? std::string("sm_80") : "";
  if (llvm::Error error = runOnDevice(*module, entry, inputs, options, repeatCount, summary, results))
    return failIn(std::move(error));
  return 0;
}

int Runner::finish(const std::vector<HostArray> &results) {
  for (auto [number, result, want] : llvm::zip(llvm::seq<size_t>(0, expected.size()), results, expected)) {
    Tolerance tolerance = getDefaultTolerance(want.getKind());
    if (testCase && testCase->tolerance && isFloat(want.getKind()))
      tolerance = *testCase->tolerance;
    if (rtolOption >= 0)
      tolerance.rtol = rtolOption;
    if (atolOption >= 0)
      tolerance.atol = atolOption;
    summary.comparisons.push_back(compare(result, want, tolerance));
    if (!summary.comparisons.back().ok)
      llvm::errs() << place << ": error: result " << number << " of '" << entry
                   << "' does not match: " << summary.comparisons.back().problem << '\n';
  }
  for (auto [file, result] : llvm::zip(outputFiles, results))
    if (llvm::Error error = writeNpy(llvm::StringRef(file).ltrim('@'), result))
      return fail(llvm::toString(std::move(error)));
  if (asJson)
    summary.printJson(llvm::outs());
  if (wantsReport) {
    llvm::raw_ostream &os = asJson ? llvm::errs() : llvm::outs();
    summary.printReport(os);
    printReport(os, collector->getReport(), summary.fusion);
    for (const std::string &remark : diagnostics.getRemarks())
      os << remark << '\n';
  }
  if (!asJson && !wantsReport && outputFiles.empty()) {
    if (expected.empty())
      for (auto [number, result] : llvm::enumerate(results)) {
        llvm::outs() << "result " << number << ": ";
        printArray(llvm::outs(), result);
        llvm::outs() << '\n';
      }
    else if (summary.isOk())
      llvm::outs() << "ok: " << summary.comparisons.size()
                   << (summary.comparisons.size() == 1 ? " result matches\n" : " results match\n");
  }
  return summary.isOk() ? 0 : 1;
}

int Runner::checkRanks() {
  if (ranks.getSize() > 1 && !summary.isDist)
    return failAt(function.getLoc(), "'" + entry +
                                         "' has no operations of the dist dialect and runs on one rank only, " +
                                         llvm::Twine(ranks.getSize()) + " were started");
  for (const std::string &library : libraries) {
    std::string problem;
    if (llvm::sys::DynamicLibrary::LoadLibraryPermanently(library.c_str(), &problem))
      return fail("--library=" + library + ": " + problem);
  }
  if (targetName == "cpu" && mlir::failed(checkExternals(*module)))
    return 2;
  return 0;
}

int Runner::prepare(llvm::StringRef model) {
  entry = !entryName.empty() ? entryName : testCase ? testCase->entry : "main";
  summary.target = targetName;
  if (int status = parse(model))
    return status;
  if (outputFiles.size() > function.getNumResults())
    return failAt(function.getLoc(), "'" + entry + "' has " + llvm::Twine(function.getNumResults()) + " results, " +
                                         llvm::Twine(outputFiles.size()) + " are to be written by --output");
  summary.isDist = isDistProgram(*module);
  summary.ranks = ranks.getSize();
  if (int status = checkRanks())
    return status;
  phase = "reading the arguments";
  if (!ranks.isRoot())
    return 0;
  if (int status = readInputs())
    return status;
  return readExpected();
}

int Runner::run(llvm::StringRef model) {
  if (int status = ranks.agree(prepare(model)))
    return status;
  if (llvm::Error error = ranks.share(inputs))
    return failIn(std::move(error));
  // The function itself does not outlive the passes.
  place = describe(function.getLoc());
  phase = "running the passes of --stage";
  if (int status = ranks.agree(applyStage()))
    return status;
  phase = targetName == "reference" ? "interpreting it" : "compiling it";
  std::vector<HostArray> results;
  if (targetName == "cpu") {
    if (int status = executeCpu(results))
      return status;
  } else if (targetName != "reference") {
    if (int status = executeDevice(results))
      return ranks.agree(status);
  } else if (ranks.isRoot()) {
    // One process is all that it takes.
    if (int status = executeReference(results))
      return ranks.agree(status);
  }
  phase = "comparing the results";
  return ranks.agree(ranks.isRoot() ? finish(results) : 0);
}

/// What can be wrong with options by themselves.
static int checkOptions() {
  bool isDevice = targetName == "emulator" || targetName == "cuda" || llvm::StringRef(targetName).starts_with("cuda:");
  if (targetName != "cpu" && targetName != "reference" && !isDevice)
    return fail("--target=" + targetName + " is unknown; cpu, reference, emulator, cuda and cuda:N are accepted");
  if (!chipName.empty() && !isDevice)
    return fail("--chip needs --target=emulator or --target=cuda");
  if (simulatedRanks > 64 || (simulatedRanks > 0 && targetName != "reference"))
    return fail("--ranks takes at most 64, and needs --target=reference");
  if (modelFile.empty() && caseDirectory.empty())
    return fail("no program is given: name a file or a --case");
  if (repeatCount == 0)
    return fail("--repeat=0 runs nothing");
  if (runsBench && caseDirectory.empty())
    return fail("--bench needs --case");
  if (rtolOption.getNumOccurrences() && !(rtolOption >= 0))
    return fail("--rtol must not be negative");
  if (atolOption.getNumOccurrences() && !(atolOption >= 0))
    return fail("--atol must not be negative");
  if (noFuse && targetName != "cpu")
    return fail("--no-fuse needs --target=cpu");
  if (!libraries.empty() && targetName != "cpu")
    return fail("--library needs --target=cpu");
  for (const std::string &file : outputFiles)
    if (!llvm::StringRef(file).starts_with("@"))
      return fail("--output=" + file + ": a file is written @file.npy");
  return 0;
}

static int readTestCase(std::optional<TestCase> &testCase, std::string &model) {
  if (caseDirectory.empty())
    return 0;
  llvm::Expected<TestCase> read = readCase(caseDirectory);
  if (!read)
    return fail(llvm::toString(read.takeError()));
  testCase = std::move(*read);
  if (model.empty())
    model = testCase->getPath(runsBench ? "bench.mlir" : "model.mlir");
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("This is a fault of Fusion " FUSION_VERSION
                        ", not of LLVM. Please report it to the developers of Fusion with the command line, the input "
                        "and the text below.\n");
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "Fusion version " FUSION_VERSION "\n"; });
  mlir::registerAllPasses();
  fusion::registerAllPasses();
  getThreadOption();
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs a program and compares its results\n", &llvm::errs()))
    return 2;
  if (int status = checkOptions())
    return status;

  Ranks ranks;
  if (int status = ranks.start())
    return status;
  std::optional<TestCase> testCase;
  std::string model = modelFile;
  if (int status = ranks.agree(readTestCase(testCase, model)))
    return ranks.finish(status);

  mlir::DialectRegistry registry;
  fusion::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  LineDiagnostics diagnostics(context, model);
  Runner runner(context, diagnostics, ranks);
  runner.testCase = std::move(testCase);
  // MLIR's parser and passes may fail hard on malformed input after they have reported it (linalg.transpose does, in
  // LLVM 22). What is left of the process is not sound after that: it says what it knows and ends.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  int status = 2;
  if (recovery.RunSafely([&] { status = runner.run(model); }))
    return ranks.finish(status);
  if (!diagnostics.hasError())
    llvm::errs() << model << ": error: the process failed while " << runner.getPhase() << '\n';
  llvm::outs().flush();
  std::_Exit(2);
}
