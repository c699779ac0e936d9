//===- CudaTools.cpp - NVIDIA's assembler and its companions --------------===//

#include "fusion/Target/Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace fusion {
namespace {

/// A file that is gone when the object is.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(StringRef suffix, StringRef content = "") {
    SmallString<128> path;
    int descriptor;
    if (std::error_code code = sys::fs::createTemporaryFile("fusion", suffix, descriptor, path))
      return createStringError("cannot make a temporary file: " + code.message());
    TemporaryFile file(path);
    raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << content;
    os.close();
    if (os.has_error()) {
      std::string text = os.error().message();
      os.clear_error();
      return createStringError("cannot write " + path + ": " + text);
    }
    return std::move(file);
  }
  TemporaryFile(TemporaryFile &&other) : path(std::move(other.path)) { other.path.clear(); }
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile() {
    if (!path.empty())
      sys::fs::remove(path);
  }

  StringRef getPath() const { return path; }

  Expected<std::string> read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return createStringError("cannot read " + path + ": " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  explicit TemporaryFile(StringRef path) : path(path) {}
  SmallString<128> path;
};

/// Runs a tool and returns what it printed; a failure is the first line of it that says what is wrong.
Expected<std::string> run(StringRef tool, ArrayRef<StringRef> arguments) {
  Expected<TemporaryFile> output = TemporaryFile::create("txt");
  if (!output)
    return output.takeError();
  SmallVector<StringRef> command = {tool};
  append_range(command, arguments);
  std::optional<StringRef> redirects[] = {StringRef(""), output->getPath(), output->getPath()};
  std::string message;
  int status =
      sys::ExecuteAndWait(tool, command, std::nullopt, redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  Expected<std::string> text = output->read();
  if (!text)
    return text.takeError();
  if (status == 0)
    return text;
  if (!message.empty())
    return createStringError(sys::path::filename(tool) + ": " + message);
  SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  auto *line = find_if(lines, [](StringRef line) { return line.contains("fatal") || line.contains("error"); });
  if (line == lines.end())
    return createStringError(sys::path::filename(tool) + " failed with status " + Twine(status));
  return createStringError(*line);
}

/// `Used 32 registers, used 1 barriers, 16 bytes smem` and the lines before it.
void parseReport(StringRef text, std::vector<PtxasReport> &report) {
  auto numberBefore = [](StringRef line, StringRef what) -> int64_t {
    size_t end = line.find(what);
    if (end == StringRef::npos)
      return 0;
    StringRef head = line.take_front(end).rtrim();
    int64_t number = 0;
    head.substr(head.find_last_not_of("0123456789") + 1).getAsInteger(10, number);
    return number;
  };
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef name = line;
    if (size_t at = line.find("Compiling entry function '"); at != StringRef::npos) {
      name = line.substr(at + strlen("Compiling entry function '"));
      report.push_back({name.take_until([](char c) { return c == '\''; }).str()});
    }
    if (report.empty())
      continue;
    PtxasReport &entry = report.back();
    if (line.contains("bytes stack frame")) {
      entry.stackBytes = numberBefore(line, " bytes stack frame");
      entry.spillStores = numberBefore(line, " bytes spill stores");
      entry.spillLoads = numberBefore(line, " bytes spill loads");
    }
    if (line.contains("Used ")) {
      entry.registers = numberBefore(line, " registers");
      entry.staticShared = numberBefore(line, " bytes smem");
    }
  }
}

} // namespace

CudaToolkit CudaToolkit::find(StringRef root) {
  if (!root.empty())
    return {root.str()};
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> value = sys::Process::GetEnv(variable); value && !value->empty())
      return {*value};
  if (ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas")) {
    SmallString<128> real;
    if (!sys::fs::real_path(*ptxas, real))
      return {sys::path::parent_path(sys::path::parent_path(real)).str()};
  }
  return {"/usr/local/cuda"};
}

Expected<std::string> CudaToolkit::getTool(StringRef name) const {
  SmallString<128> path(root);
  sys::path::append(path, "bin", name);
  if (!sys::fs::can_execute(path))
    return createStringError("no " + name + " in " + sys::path::parent_path(path) +
                             ": install the CUDA toolkit, or name its folder by --cuda-path or CUDA_PATH");
  return path.str().str();
}

Expected<std::string> CudaToolkit::getLibDevice() const {
  SmallString<128> path(root);
  sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
  if (!sys::fs::exists(path))
    return createStringError("no " + path +
                             ", which has the mathematical functions of the kernels: install the CUDA "
                             "toolkit, or name its folder by --cuda-path or CUDA_PATH");
  return path.str().str();
}

Expected<std::string> assemblePtx(StringRef ptx, const GpuChip &chip, const CudaToolkit &toolkit,
                                  std::vector<PtxasReport> *report) {
  Expected<std::string> ptxas = toolkit.getTool("ptxas");
  if (!ptxas)
    return ptxas.takeError();
  Expected<TemporaryFile> input = TemporaryFile::create("ptx", ptx), output = TemporaryFile::create("cubin");
  if (!input || !output)
    return joinErrors(input.takeError(), output.takeError());
  std::string arch = "--gpu-name=" + chip.name.str();
  Expected<std::string> text = run(*ptxas, {"--verbose", arch, input->getPath(), "-o", output->getPath()});
  if (!text) {
    std::string reason = toString(text.takeError());
    if (StringRef(reason).contains("gpu-name") || StringRef(reason).contains("Unsupported .version"))
      return createStringError(*ptxas + " does not assemble PTX " + Twine(chip.ptxVersion / 10) + "." +
                               Twine(chip.ptxVersion % 10) + " for " + chip.name +
                               ": use a CUDA toolkit that does, or emit PTX only");
    return createStringError(reason);
  }
  if (report)
    parseReport(*text, *report);
  return output->read();
}

Expected<std::string> makeFatBinary(ArrayRef<CudaImage> images, const CudaToolkit &toolkit) {
  Expected<std::string> tool = toolkit.getTool("fatbinary");
  if (!tool)
    return tool.takeError();
  std::vector<TemporaryFile> files;
  std::vector<std::string> arguments = {"-64"};
  auto add = [&](StringRef kind, const GpuChip &chip, StringRef content) -> Error {
    Expected<TemporaryFile> file = TemporaryFile::create(kind == "ptx" ? "ptx" : "cubin", content);
    if (!file)
      return file.takeError();
    // sm_90a -> 90a
    StringRef number = chip.name.drop_front(3);
    arguments.push_back(("--image3=kind=" + kind + ",sm=" + number + ",file=" + file->getPath()).str());
    files.push_back(std::move(*file));
    return Error::success();
  };
  for (const CudaImage &image : images) {
    if (Error error = add("elf", image.chip, image.cubin))
      return std::move(error);
    if (!image.ptx.empty())
      if (Error error = add("ptx", image.chip, image.ptx))
        return std::move(error);
  }
  Expected<TemporaryFile> output = TemporaryFile::create("fatbin");
  if (!output)
    return output.takeError();
  arguments.push_back(("--create=" + output->getPath()).str());
  SmallVector<StringRef> references(arguments.begin(), arguments.end());
  Expected<std::string> text = run(*tool, references);
  if (!text)
    return text.takeError();
  return output->read();
}

} // namespace fusion
