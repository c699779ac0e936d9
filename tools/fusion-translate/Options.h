//===- Options.h - The command line of fusion-translate -------------------===//

#ifndef FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H
#define FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H

#include "fusion/Target/GpuChip.h"

#include <string>

/// What is written.
enum class Output { Ptx, Cubin, FatBinary, Manifest };

struct TranslateOptions {
  std::string input, output, manifest, cudaPath;
  Output kind;
  llvm::SmallVector<fusion::GpuChip, 1> chips;
  bool report = false;
};

/// Parses and checks the command line; on failure one line has been printed.
mlir::FailureOr<TranslateOptions> parseOptions(int argc, char **argv);

#endif // FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H
