//===- Header.cpp - C headers of compiled programs ------------------------===//

#include "Host.h"

#include "fusion/Execution/HostArray.h"
#include "fusion/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using llvm::createStringError;

/// The C type of an element; 16-bit floats are their bits.
static llvm::StringRef getElementText(fusion::ElementKind kind) {
  switch (kind) {
  case fusion::ElementKind::F16:
  case fusion::ElementKind::BF16:
    return "uint16_t";
  case fusion::ElementKind::F32:
    return "float";
  case fusion::ElementKind::F64:
    return "double";
  case fusion::ElementKind::I1:
    return "uint8_t";
  case fusion::ElementKind::I8:
    return "int8_t";
  case fusion::ElementKind::I16:
    return "int16_t";
  case fusion::ElementKind::I32:
    return "int32_t";
  case fusion::ElementKind::I64:
  case fusion::ElementKind::Index:
    return "int64_t";
  }
  llvm_unreachable("every kind is handled above");
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A name that C accepts.
static std::string makeName(llvm::StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  return name;
}

static void printFunction(llvm::raw_ostream &os, func::FuncOp function) {
  llvm::StringRef name = function.getSymName();
  FunctionType type = function.getFunctionType();
  os << "/* " << name << '(';
  llvm::interleaveComma(type.getInputs(), os, [&](Type input) { os << input; });
  os << ") -> (";
  llvm::interleaveComma(type.getResults(), os, [&](Type result) { os << result; });
  os << ") */\nint32_t fusion_entry_" << name << "(void **arguments_and_results);\n\n";
  std::string parameters, slots;
  auto add = [&](const std::string &parameter, const std::string &slot) {
    parameters += (parameters.empty() ? "" : ", ") + parameter;
    slots += (slots.empty() ? "" : ", ") + slot;
  };
  for (auto [number, input] : llvm::enumerate(type.getInputs())) {
    std::string argument = "argument" + std::to_string(number);
    if (auto tensor = dyn_cast<RankedTensorType>(input))
      add("const FusionTensor" + std::to_string(tensor.getRank()) + " *" + argument, "(void *)" + argument);
    else
      add((getElementText(*fusion::getElementKind(input)) + " " + argument).str(), "&" + argument);
  }
  for (auto [number, output] : llvm::enumerate(type.getResults())) {
    std::string result = "result" + std::to_string(number);
    if (auto tensor = dyn_cast<RankedTensorType>(output))
      add("FusionTensor" + std::to_string(tensor.getRank()) + " *" + result, result);
    else
      add((getElementText(*fusion::getElementKind(output)) + " *" + result).str(), result);
  }
  os << "static inline int32_t fusion_call_" << name << '(' << (parameters.empty() ? "void" : parameters) << ") {\n"
     << "  void *slots[] = {" << (slots.empty() ? "0" : slots) << "};\n"
     << "  return fusion_entry_" << name << "(slots);\n}\n\n";
}

llvm::Expected<std::string> makeHeader(ModuleOp program, llvm::StringRef name) {
  std::set<int64_t> ranks;
  std::vector<func::FuncOp> functions;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (makeName(function.getSymName()) != function.getSymName())
      return createStringError("'" + function.getSymName() + "' is not a name in C");
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!fusion::getElementKind(tensor ? tensor.getElementType() : type))
        return createStringError("'" + function.getSymName() + "' has an argument or result of type " + print(type) +
                                 ", which a C program cannot pass");
      if (tensor)
        ranks.insert(tensor.getRank());
    }
    functions.push_back(function);
  }
  std::string text, guard = llvm::StringRef("FUSION_PROGRAM_" + makeName(name)).upper();
  llvm::raw_string_ostream os(text);
  os << "/* Functions of a program that Fusion has compiled. Link with -lFusionRuntime -lm.\n"
     << "\n"
     << "   A call returns 0, or a status whose text fusion_rt_last_error() has. Tensors are strided arrays: element\n"
     << "   (i, j) is data[offset + i * strides[0] + j * strides[1]]; arguments are in C order, and only read. The "
        "caller\n"
     << "   frees `allocated` of each result with fusion_rt_free, once where two results share it. 16-bit floats are\n"
     << "   passed as their bits. Functions may be called by any thread.\n";
  if (fusion::isDistProgram(program))
    os << "\n"
       << "   All ranks call the function (fusion/Runtime/Mpi.h says how they are found). The elements of tensors are\n"
       << "   those of the first rank, and so are those of results; only scalars are the same on all ranks. A failure "
          "of\n"
       << "   one rank ends all of them. */\n";
  else
    os << "*/\n";
  os << "#ifndef " << guard << "\n#define " << guard << "\n\n#include \"fusion/Runtime/Runtime.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (int64_t rank : ranks) {
    os << "#ifndef FUSION_TENSOR_" << rank << "\n#define FUSION_TENSOR_" << rank << "\n"
       << "typedef struct FusionTensor" << rank << " {\n  void *allocated;\n  void *data;\n  int64_t offset;\n";
    if (rank > 0)
      os << "  int64_t sizes[" << rank << "];\n  int64_t strides[" << rank << "];\n";
    os << "} FusionTensor" << rank << ";\n#endif\n\n";
  }
  for (func::FuncOp function : functions)
    printFunction(os, function);
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}
