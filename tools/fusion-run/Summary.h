//===- Summary.h - What was fused, measured and compared ----------*- C++ -*-===//

#ifndef FUSION_TOOLS_FUSION_RUN_SUMMARY_H
#define FUSION_TOOLS_FUSION_RUN_SUMMARY_H

#include "fusion/Execution/Compare.h"
#include "fusion/Report/Report.h"
#include "fusion/Report/TaskReport.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace fusion {

/// Operations of the entry's call tree.
struct Fusion {
  struct Item {
    std::string name, location;
    /// For a kernel: how many computations it does, and its schedule in words.
    unsigned numComputations = 0;
    std::string schedule;
  };
  /// Fused kernels: operations that carry `fusion.kernel`, and space-mapping graphs that are not lowered yet.
  std::vector<Item> kernels;
  /// Computations on tensors that stand outside of kernels. Destinations (`tensor.empty`, `linalg.fill`) and views do
  /// not count.
  std::vector<Item> opaque;
  /// The functions of the call tree.
  std::vector<std::string> functions;
};

Fusion findFusion(mlir::ModuleOp module, llvm::StringRef entry);

/// "file:line:col", or "-" if the operation has no place in a file.
std::string describe(mlir::Location location);

struct Summary {
  std::string target;
  Fusion fusion;
  double scheduleSeconds = 0, compileSeconds = 0;
  std::vector<double> runSeconds;
  uint64_t peakBytes = 0;
  /// Of a dist program: what was fused, and what went between the ranks in one run.
  bool isDist = false;
  int ranks = 1;
  std::optional<TaskReport> tasks;
  uint64_t messages = 0, bytesSent = 0;
  /// JSON of the emulated device on each launch; empty for other targets.
  std::string launches;
  /// One per result that was compared.
  std::vector<Comparison> comparisons;

  bool isOk() const;
  double getMinSeconds() const;
  double getMedianSeconds() const;
  void printJson(llvm::raw_ostream &os) const;
  /// What was fused and what was not, in words.
  void printReport(llvm::raw_ostream &os) const;

private:
  void printTasks(llvm::json::OStream &stream) const;
};

/// The remarks on the functions of `fusion`, with the names that kernels have there.
void printReport(llvm::raw_ostream &os, Report report, const Fusion &fusion);

/// An array on one line, elided when it is long.
void printArray(llvm::raw_ostream &os, const HostArray &array);

} // namespace fusion

#endif // FUSION_TOOLS_FUSION_RUN_SUMMARY_H
