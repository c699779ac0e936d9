//===- fusion-opt.cpp - Optimizer driver ----------------------------------===//
//
// mlir-opt with all of Fusion's dialects and passes besides MLIR's own. Linked to the shared libMLIR, so that plugins
// find the symbols they need.
//
//===----------------------------------------------------------------------===//

#include "fusion/InitAll.h"
#include "fusion/Version.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/WithColor.h"

/// Loads every plugin that the command line names as `--<option>=<file>` or `--<option> <file>`. MlirOptMain loads
/// them again, which is cheap; but where it fails it ignores the request, and the user's pipeline runs without it.
template <typename Plugin>
static bool checkPlugins(llvm::ArrayRef<const char *> arguments, llvm::StringRef option) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (!argument.consume_front("-"))
      continue;
    argument.consume_front("-");
    if (!argument.consume_front(option))
      continue;
    std::string file;
    if (argument.consume_front("="))
      file = argument.str();
    else if (argument.empty() && i + 1 < arguments.size())
      file = arguments[++i];
    else
      continue;
    if (llvm::Expected<Plugin> plugin = Plugin::load(file); !plugin) {
      llvm::WithColor::error() << llvm::toString(plugin.takeError()) << "\n";
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  llvm::setBugReportMsg("This is a fault of Fusion " FUSION_VERSION
                        ", not of LLVM. Please report it to the developers of Fusion with the command line, the input "
                        "and the text below.\n");
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "Fusion version " FUSION_VERSION "\n"; });

  llvm::ArrayRef<const char *> arguments(argv + 1, argc > 0 ? argc - 1 : 0);
  if (!checkPlugins<mlir::PassPlugin>(arguments, "load-pass-plugin") ||
      !checkPlugins<mlir::DialectPlugin>(arguments, "load-dialect-plugin"))
    return EXIT_FAILURE;

  mlir::registerAllPasses();
  fusion::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  fusion::registerAllDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Fusion optimizer\n", registry));
}
