//===- Diagnostics.cpp - One line per problem -------------------------------===//

#include "Diagnostics.h"

#include "Summary.h"

using namespace fusion;

namespace {
/// Null while problems are printed at once.
std::unique_ptr<llvm::raw_string_ostream> heldStream;
std::string heldText;
} // namespace

llvm::raw_ostream &fusion::getProblemStream() {
  return heldStream ? static_cast<llvm::raw_ostream &>(*heldStream) : llvm::errs();
}

void fusion::holdProblems() {
  if (!heldStream)
    heldStream = std::make_unique<llvm::raw_string_ostream>(heldText);
}

void fusion::releaseProblems() {
  heldStream.reset();
  llvm::errs() << heldText;
  heldText.clear();
}

LineDiagnostics::LineDiagnostics(mlir::MLIRContext &context, std::string inputName)
    : inputName(std::move(inputName)), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        handle(diagnostic);
        return mlir::success();
      }) {}

std::string LineDiagnostics::getPlace(mlir::Location location) const {
  std::string place = describe(location);
  return place == "-" ? inputName : place;
}

/// The text on one line.
static std::string flatten(const mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  for (char &c : text)
    if (c == '\n' || c == '\r')
      c = ' ';
  return text;
}

void LineDiagnostics::handle(mlir::Diagnostic &diagnostic) {
  std::string line = getPlace(diagnostic.getLocation());
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Remark:
    remarks.push_back(line + ": " + flatten(diagnostic));
    return;
  case mlir::DiagnosticSeverity::Error:
    // What follows is a consequence, or the same in the words of a caller.
    if (numErrors++)
      return;
    line += ": error: ";
    break;
  case mlir::DiagnosticSeverity::Warning:
    line += ": warning: ";
    break;
  case mlir::DiagnosticSeverity::Note:
    line += ": note: ";
    break;
  }
  getProblemStream() << line << flatten(diagnostic) << '\n';
}
