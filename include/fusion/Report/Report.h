//===- Report.h - What was fused, and why the rest was not ------------------===//
//
// Collects the remarks of fusion/Report/Remarks.h while passes run.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_REPORT_REPORT_H
#define FUSION_REPORT_REPORT_H

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>
#include <vector>

namespace fusion {

/// Remarks in the order of the text, whatever the order in which threads made them.
struct Report {
  struct Kernel {
    /// The function that it is in, and its place, "file:line:col".
    std::string function, place;
    /// Names and values: Ops, Dims, Blocks, ... (KernelRemark).
    std::vector<std::pair<std::string, std::string>> facts;
  };
  struct Pair {
    std::string function, place;
    /// The name of the reason, and the whole sentence.
    std::string reason, text;
  };
  std::vector<Kernel> kernels;
  std::vector<Pair> apart;

  /// In words, several lines. `names` are the kernels' names in the compiled program, as far as known.
  void print(llvm::raw_ostream &os, llvm::ArrayRef<std::string> names = {}) const;
};

/// Listens to the fusion remarks of a context. Replaces the context's remark engine.
class ReportCollector {
public:
  explicit ReportCollector(mlir::MLIRContext &context);
  ~ReportCollector();
  /// What has been collected so far. Not while passes run.
  Report getReport() const;

private:
  struct Records;
  class Streamer;
  std::shared_ptr<Records> records;
};

} // namespace fusion

#endif // FUSION_REPORT_REPORT_H
