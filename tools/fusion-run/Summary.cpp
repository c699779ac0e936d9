//===- Summary.cpp - What was fused, measured and compared ------------------===//

#include "Summary.h"

#include "fusion/SpaceMap/SpaceMap.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace fusion;
namespace json = llvm::json;

std::string fusion::describe(mlir::Location location) {
  std::string text = "-";
  location->walk([&](mlir::Location inner) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file)
      return mlir::WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return mlir::WalkResult::interrupt();
  });
  return text;
}

static bool isComputation(mlir::Operation *op) {
  if (llvm::isa<mlir::linalg::FillOp>(op))
    return false;
  if (llvm::isa<mlir::linalg::LinalgOp, mlir::linalg::SoftmaxOp, mlir::linalg::PackOp, mlir::linalg::UnPackOp>(op))
    return true;
  return llvm::isa<mlir::tensor::PadOp, mlir::tensor::ConcatOp, mlir::tensor::GatherOp, mlir::tensor::ScatterOp,
                   mlir::tensor::GenerateOp>(op);
}

/// Loop nests of a tile program, or mappings of a graph.
static unsigned countComputations(mlir::Operation *kernel) {
  unsigned count = 0;
  kernel->walk(
      [&](mlir::Operation *op) { count += isComputation(op) || llvm::isa<spacemap::MapOp, spacemap::AllToOneOp>(op); });
  return count;
}

/// "blocks of 1 x 64, loops over slices of 128".
static std::string describeSchedule(mlir::Operation *kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](mlir::OpFoldResult size) {
    if (std::optional<int64_t> constant = mlir::getConstantIntValue(size))
      os << *constant;
    else
      os << '?';
  };
  if (auto grid = llvm::dyn_cast<mlir::scf::ForallOp>(kernel)) {
    os << "blocks of ";
    llvm::interleave(grid.getMixedStep(), os, print, " x ");
  }
  llvm::SmallVector<mlir::scf::ForOp> loops;
  kernel->walk<mlir::WalkOrder::PreOrder>([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  if (!loops.empty()) {
    os << (text.empty() ? "" : ", ") << "serial slices of ";
    llvm::interleaveComma(loops, os, [&](mlir::scf::ForOp loop) { print(mlir::OpFoldResult(loop.getStep())); });
  }
  return text;
}

static void collect(mlir::FunctionOpInterface function, Fusion &fusion) {
  function->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    auto kernel = op->getAttrOfType<mlir::StringAttr>("fusion.kernel");
    if (kernel || llvm::isa<spacemap::GraphOp>(op)) {
      std::string name = kernel ? kernel.getValue().str() : "spacemap.graph";
      fusion.kernels.push_back({name, describe(op->getLoc()), countComputations(op), describeSchedule(op)});
      return mlir::WalkResult::skip();
    }
    // Rearranges an operand of the kernel behind it, or combines partial results of the one in front.
    if (op->hasAttr("fusion.packing") || op->hasAttr("fusion.combine"))
      return mlir::WalkResult::skip();
    if (isComputation(op)) {
      fusion.opaque.push_back({op->getName().getStringRef().str(), describe(op->getLoc()), 1, ""});
      return mlir::WalkResult::skip();
    }
    return mlir::WalkResult::advance();
  });
}

Fusion fusion::findFusion(mlir::ModuleOp module, llvm::StringRef entry) {
  Fusion result;
  llvm::SetVector<mlir::Operation *> functions;
  if (auto function = module.lookupSymbol<mlir::FunctionOpInterface>(entry))
    functions.insert(function);
  // Bodies of tasks are called by the run-time.
  for (auto function : module.getOps<mlir::FunctionOpInterface>())
    if (function->hasAttr("fusion.task"))
      functions.insert(function);
  for (unsigned next = 0; next < functions.size(); ++next) {
    auto function = llvm::cast<mlir::FunctionOpInterface>(functions[next]);
    collect(function, result);
    result.functions.push_back(function.getName().str());
    function->walk([&](mlir::CallOpInterface call) {
      if (auto callee = llvm::dyn_cast_if_present<mlir::FunctionOpInterface>(call.resolveCallable()))
        functions.insert(callee);
    });
  }
  return result;
}

bool Summary::isOk() const {
  return llvm::all_of(comparisons, [](const Comparison &comparison) { return comparison.ok; });
}

double Summary::getMinSeconds() const { return runSeconds.empty() ? 0 : *llvm::min_element(runSeconds); }

double Summary::getMedianSeconds() const {
  if (runSeconds.empty())
    return 0;
  std::vector<double> sorted = runSeconds;
  llvm::sort(sorted);
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// JSON has no infinity.
static json::Value number(double value) { return std::isfinite(value) ? json::Value(value) : json::Value(nullptr); }

void Summary::printTasks(json::OStream &stream) const {
  stream.attribute("ranks", ranks);
  stream.attribute("messages", int64_t(messages));
  stream.attribute("bytes_sent", int64_t(bytesSent));
  if (!tasks)
    return;
  stream.attribute("tasks_per_step", tasks->tasksPerStep);
  stream.attribute("groups_per_step", tasks->groupsPerStep);
  stream.attribute("stores_eliminated", tasks->storesEliminated);
  stream.attribute("bytes_eliminated", tasks->bytesEliminated);
  stream.attributeArray("boundaries", [&] {
    for (const TaskReport::Boundary &boundary : tasks->boundaries)
      stream.object([&] {
        stream.attribute("constraint", boundary.constraint);
        stream.attribute("at", boundary.at);
        stream.attribute("with", boundary.with);
        stream.attribute("store", boundary.store);
        stream.attribute("per_step", boundary.perStep);
      });
  });
}

void Summary::printJson(llvm::raw_ostream &os) const {
  double maxAbs = 0, maxRel = 0;
  for (const Comparison &comparison : comparisons) {
    maxAbs = std::max(maxAbs, comparison.maxAbsError);
    maxRel = std::max(maxRel, comparison.maxRelError);
  }
  json::OStream stream(os);
  stream.object([&] {
    stream.attribute("target", target);
    stream.attribute("kernels", int64_t(fusion.kernels.size()));
    stream.attribute("opaque_ops", int64_t(fusion.opaque.size()));
    stream.attribute("schedule_seconds", scheduleSeconds);
    stream.attribute("compile_seconds", compileSeconds);
    stream.attributeObject("run_seconds", [&] {
      stream.attribute("min", getMinSeconds());
      stream.attribute("median", getMedianSeconds());
    });
    stream.attribute("peak_bytes", int64_t(peakBytes));
    if (isDist)
      printTasks(stream);
    if (!launches.empty())
      stream.attributeBegin("launches"), stream.rawValue(launches), stream.attributeEnd();
    stream.attribute("max_abs_error", number(maxAbs));
    stream.attribute("max_rel_error", number(maxRel));
    stream.attribute("ok", isOk());
  });
  os << '\n';
}

void Summary::printReport(llvm::raw_ostream &os) const {
  os << fusion.kernels.size() << (fusion.kernels.size() == 1 ? " fused kernel" : " fused kernels") << ", "
     << fusion.opaque.size() << (fusion.opaque.size() == 1 ? " operation" : " operations") << " outside of kernels\n";
  for (const Fusion::Item &kernel : fusion.kernels)
    os << "  kernel " << kernel.name << " at " << kernel.location << ": " << kernel.numComputations
       << (kernel.numComputations == 1 ? " computation" : " computations")
       << (kernel.schedule.empty() ? "" : " in " + kernel.schedule) << '\n';
  for (const Fusion::Item &op : fusion.opaque)
    os << "  alone: " << op.name << " at " << op.location << '\n';
  os << "scheduled in " << llvm::format("%.4g", scheduleSeconds) << " s, compiled in "
     << llvm::format("%.4g", compileSeconds) << " s; a run takes " << llvm::format("%.4g", getMinSeconds())
     << " s at best, " << llvm::format("%.4g", getMedianSeconds()) << " s in the median of " << runSeconds.size()
     << ", and " << peakBytes << " bytes\n";
  if (tasks)
    tasks->print(os);
  if (isDist)
    os << messages << " messages with " << bytesSent << " bytes between " << ranks << (ranks == 1 ? " rank" : " ranks")
       << " in a run\n";
}

void fusion::printReport(llvm::raw_ostream &os, Report report, const Fusion &fusion) {
  auto isElsewhere = [&](const auto &item) { return !llvm::is_contained(fusion.functions, item.function); };
  llvm::erase_if(report.kernels, isElsewhere);
  llvm::erase_if(report.apart, isElsewhere);
  // Kernels of one place stand in the same order in both.
  std::vector<std::string> names;
  std::vector<bool> isTaken(fusion.kernels.size());
  for (const Report::Kernel &kernel : report.kernels) {
    std::string &name = names.emplace_back("without a name");
    for (auto [index, item] : llvm::enumerate(fusion.kernels))
      if (!isTaken[index] && item.location == kernel.place) {
        isTaken[index] = true;
        name = item.name;
        break;
      }
  }
  report.print(os, names);
}

void fusion::printArray(llvm::raw_ostream &os, const HostArray &array) {
  constexpr int64_t limit = 32;
  os << array.getTypeText() << " = [";
  for (int64_t i = 0, e = std::min(limit, array.getNumElements()); i < e; ++i) {
    os << (i ? ", " : "");
    if (isFloat(array.getKind()))
      os << llvm::format("%.7g", array.getDouble(i));
    else
      os << array.getInteger(i);
  }
  os << (array.getNumElements() > limit ? ", ...]" : "]");
}
