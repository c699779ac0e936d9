//===- Case.h - A folder with a program, its data and its results -*- C++ -*-===//
//
// `--case=DIR` reads DIR/case.json: the entry, the files of the arguments and results, the tolerance and, for
// `--bench`, the shapes of the large variant. Where the lists of files are missing the files are input_<k>.npy and
// expected_<k>.npy.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_CASE_H
#define FUSION_TOOLS_FUSION_RUN_CASE_H

#include "fusion/Execution/Compare.h"

namespace fusion {

struct TestCase {
  std::string directory;
  std::string entry = "main";
  /// Files of the arguments and results; empty where case.json does not list them.
  std::vector<std::string> inputs, results;
  std::optional<Tolerance> tolerance;
  /// Types of the arguments at bench size, "8x128xf32"; empty where they are not listed.
  std::vector<std::string> benchInputs;

  /// What each argument is, where that is listed: "activation", "parameter", "buffer".
  std::vector<std::string> kinds;

  /// The `--input` of an argument at bench size: random numbers that suit what it is.
  std::string getBenchInput(unsigned number) const;
  std::string getPath(llvm::StringRef file) const;
  std::string getInputFile(unsigned number) const;
  std::string getResultFile(unsigned number) const;
};

llvm::Expected<TestCase> readCase(llvm::StringRef directory);

} // namespace fusion

#endif // FUSION_TOOLS_FUSION_RUN_CASE_H
