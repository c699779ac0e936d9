//===- Case.cpp - A folder with a program, its data and its results ---------===//

#include "Case.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace fusion;
using llvm::createStringError;
using llvm::StringRef;
namespace json = llvm::json;

std::string TestCase::getPath(StringRef file) const {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

std::string TestCase::getInputFile(unsigned number) const {
  return getPath(inputs.empty() ? "input_" + std::to_string(number) + ".npy" : inputs[number]);
}

std::string TestCase::getResultFile(unsigned number) const {
  return getPath(results.empty() ? "expected_" + std::to_string(number) + ".npy" : results[number]);
}

std::string TestCase::getBenchInput(unsigned number) const {
  std::string type = number < benchInputs.size() ? benchInputs[number] + "=" : "";
  llvm::StringRef kind = number < kinds.size() ? llvm::StringRef(kinds[number]) : "";
  // Variances must be positive; unscaled weights would make layer after layer grow.
  llvm::StringRef generator = kind == "buffer" ? "positive:" : kind == "parameter" ? "weights:" : "random:";
  return type + generator.str() + std::to_string(number);
}

/// "8x128xf32" of {"shape": [8, 128], "dtype": "f32"}.
static std::optional<std::string> readTypeText(const json::Object &array) {
  std::string text;
  const json::Array *shape = array.getArray("shape");
  std::optional<StringRef> dtype = array.getString("dtype");
  if (!shape || !dtype)
    return std::nullopt;
  for (const json::Value &extent : *shape) {
    std::optional<int64_t> number = extent.getAsInteger();
    if (!number)
      return std::nullopt;
    text += std::to_string(*number) + "x";
  }
  return text + dtype->str();
}

llvm::Expected<TestCase> fusion::readCase(StringRef directory) {
  TestCase result;
  result.directory = directory.str();
  std::string path = result.getPath("case.json");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  llvm::Expected<json::Value> root = json::parse((*file)->getBuffer());
  if (!root)
    return createStringError(path + ": " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  if (!object)
    return createStringError(path + ": the top level is not an object");
  if (std::optional<StringRef> entry = object->getString("entry"))
    result.entry = entry->str();

  auto readFiles = [&](StringRef key, std::vector<std::string> &files) -> llvm::Error {
    const json::Array *list = object->getArray(key);
    if (!list)
      return llvm::Error::success();
    for (const json::Value &element : *list) {
      const json::Object *array = element.getAsObject();
      std::optional<StringRef> name = array ? array->getString("file") : std::nullopt;
      if (!name)
        return createStringError(path + ": an element of '" + key + "' has no 'file'");
      files.push_back(name->str());
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = readFiles("inputs", result.inputs))
    return std::move(error);
  if (llvm::Error error = readFiles("results", result.results))
    return std::move(error);
  if (const json::Array *list = object->getArray("inputs"))
    for (const json::Value &element : *list)
      result.kinds.push_back(element.getAsObject()->getString("kind").value_or("").str());

  if (const json::Object *tolerance = object->getObject("tolerance")) {
    std::optional<double> rtol = tolerance->getNumber("rtol"), atol = tolerance->getNumber("atol");
    if (!rtol || !atol)
      return createStringError(path + ": 'tolerance' lacks 'rtol' or 'atol'");
    result.tolerance = Tolerance{*rtol, *atol};
  }
  if (const json::Object *bench = object->getObject("bench"))
    if (const json::Array *list = bench->getArray("inputs"))
      for (const json::Value &element : *list) {
        const json::Object *array = element.getAsObject();
        std::optional<std::string> type = array ? readTypeText(*array) : std::nullopt;
        if (!type)
          return createStringError(path + ": an element of 'bench.inputs' lacks 'shape' or 'dtype'");
        result.benchInputs.push_back(*type);
      }
  return result;
}
