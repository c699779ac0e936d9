//===- Options.h - The command line of fusion-translate -------------------===//

#ifndef FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H
#define FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H

#include "fusion/Target/GpuChip.h"

#include <string>

/// What is written.
enum class Output { Ptx, Cubin, FatBinary, Manifest, Object, Shared, Header, LlvmIr, Assembly };

/// Whether it is for the CPU.
inline bool isHostOutput(Output kind) { return kind >= Output::Object; }

struct TranslateOptions {
  std::string input, output, manifest, cudaPath;
  Output kind;
  llvm::SmallVector<fusion::GpuChip, 1> chips;
  bool report = false;
  /// For the CPU: the instruction set, whether tasks are fused, and the threads to plan for (0: those of this machine).
  std::string cpu;
  bool fuseTasks = true;
  unsigned threads = 0;
};

/// Parses and checks the command line; on failure one line has been printed.
mlir::FailureOr<TranslateOptions> parseOptions(int argc, char **argv);

#endif // FUSION_TOOLS_FUSION_TRANSLATE_OPTIONS_H
