//===- Diagnostics.h - One line per problem -----------------------*- C++ -*-===//
//
// MLIR's handlers print the offending line and dumps of operations. A user of fusion-run wants one line with a place.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_DIAGNOSTICS_H
#define FUSION_TOOLS_FUSION_RUN_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace fusion {

/// Where problems are told: stderr, or memory while they are held.
llvm::raw_ostream &getProblemStream();
/// From here on keeps problems back, for a rank that is not the first.
void holdProblems();
/// Prints what was kept back.
void releaseProblems();

/// Prints the first error of a run with its notes, and warnings; keeps remarks. An error without a place is reported at
/// the name of the input.
class LineDiagnostics {
public:
  LineDiagnostics(mlir::MLIRContext &context, std::string inputName);

  /// Whether an error has been printed.
  bool hasError() const { return numErrors != 0; }
  /// "file:line:col: text" of every remark.
  const std::vector<std::string> &getRemarks() const { return remarks; }

private:
  void handle(mlir::Diagnostic &diagnostic);
  std::string getPlace(mlir::Location location) const;

  std::string inputName;
  unsigned numErrors = 0;
  std::vector<std::string> remarks;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace fusion

#endif // FUSION_TOOLS_FUSION_RUN_DIAGNOSTICS_H
