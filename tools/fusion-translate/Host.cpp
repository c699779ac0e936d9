//===- Host.cpp - Programs to object files --------------------------------===//

#include "Host.h"

#include "fusion/Execution/RunOnCpu.h"
#include "fusion/Target/HostCpu.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using llvm::createStringError;

static llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
  if (!file)
    return createStringError(message);
  file->os() << content;
  file->keep();
  return llvm::Error::success();
}

/// A shared library of one object. The run-time's functions stay open: who loads it has them.
static llvm::Error link(llvm::StringRef object, llvm::StringRef path) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("cc");
  if (!linker)
    return createStringError("--fusion-to-shared calls 'cc', which is not on the path");
  llvm::SmallString<128> temporary;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("fusion", "o", temporary))
    return createStringError("no temporary file: " + code.message());
  llvm::FileRemover remover(temporary);
  if (llvm::Error error = writeFile(temporary, object))
    return error;
  std::string message;
  llvm::StringRef arguments[] = {*linker, "-shared", "-o", path, temporary, "-lm"};
  if (llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, {}, 0, 0, &message) != 0)
    return createStringError("the linker failed" + (message.empty() ? "" : ": " + message));
  return llvm::Error::success();
}

llvm::Error translateForHost(const TranslateOptions &options, ModuleOp program) {
  if (options.kind == Output::Header) {
    llvm::StringRef name = options.output == "-" ? options.input : options.output;
    llvm::Expected<std::string> header = makeHeader(program, llvm::sys::path::filename(name));
    if (!header)
      return header.takeError();
    return writeFile(options.output, *header);
  }
  if (llvm::Expected<fusion::CpuTarget> target = fusion::getCpuTarget(options.cpu); !target)
    return target.takeError();
  fusion::CpuCompileOptions compile;
  compile.code.target = options.cpu;
  compile.fuseTasks = options.fuseTasks;
  compile.threads = options.threads;
  if (llvm::Error error = fusion::lowerForCpu(program, compile)) {
    // Passes report at the operation.
    llvm::consumeError(std::move(error));
    return createStringError("");
  }
  fusion::MachineCode kind = options.kind == Output::LlvmIr     ? fusion::MachineCode::LlvmIr
                             : options.kind == Output::Assembly ? fusion::MachineCode::Assembly
                                                                : fusion::MachineCode::Object;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (llvm::Error error = fusion::emitMachineCode(program, compile.code, kind, os))
    return error;
  llvm::StringRef content(bytes.data(), bytes.size());
  return options.kind == Output::Shared ? link(content, options.output) : writeFile(options.output, content);
}
