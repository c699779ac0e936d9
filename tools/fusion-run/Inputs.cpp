//===- Inputs.cpp - What --input may say ------------------------------------===//

#include "Inputs.h"

#include "fusion/Execution/Npy.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace fusion;
using llvm::createStringError;
using llvm::StringRef;

static std::string print(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

/// SplitMix64.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static llvm::Error setValue(HostArray &array, int64_t at, StringRef text) {
  if (isFloat(array.getKind())) {
    double value;
    if (text.getAsDouble(value))
      return createStringError("'" + text + "' is not a number");
    array.setDouble(at, value);
    return llvm::Error::success();
  }
  int64_t value;
  if (text == "true" || text == "false")
    value = text == "true";
  else if (text.getAsInteger(0, value))
    return createStringError("'" + text + "' is not an integer");
  array.setInteger(at, value);
  return llvm::Error::success();
}

llvm::Expected<HostArray> fusion::generate(ElementKind kind, llvm::ArrayRef<int64_t> shape, StringRef generator) {
  auto [name, parameter] = generator.split(':');
  uint64_t state = 0;
  bool isRandom = name == "random" || name == "positive" || name == "weights";
  bool isKnown = isRandom || name == "ones" || name == "zeros" || name == "iota" || name == "value";
  bool takesParameter = isRandom || name == "value";
  if (!isKnown || (!takesParameter && generator.contains(':')))
    return createStringError("'" + generator +
                             "' is none of random[:seed], positive[:seed], weights[:seed], ones, "
                             "zeros, iota, value:<number>");
  if (isRandom && generator.contains(':') && parameter.getAsInteger(10, state))
    return createStringError("'" + parameter + "' is not a seed: a non-negative integer is expected");
  llvm::Expected<HostArray> array = HostArray::create(kind, shape);
  if (!array)
    return array;
  if (array->getNumElements() == 0 || name == "zeros")
    return array;
  if (name == "value") {
    for (int64_t i = 0, e = array->getNumElements(); i < e; ++i)
      if (llvm::Error error = setValue(*array, i, parameter))
        return std::move(error);
    return array;
  }
  double offset = name == "positive" ? 1.0 : 0.0;
  double scale = name == "positive"                    ? 0.5
                 : name == "weights" && !shape.empty() ? 1.0 / std::sqrt(double(shape.back()))
                                                       : 1.0;
  for (int64_t i = 0, e = array->getNumElements(); i < e; ++i) {
    if (name == "iota") {
      array->setDouble(i, double(i));
    } else if (name == "ones") {
      array->setInteger(i, 1);
    } else {
      uint64_t bits = nextRandom(state);
      if (isFloat(kind))
        array->setDouble(i, offset + scale * (double(bits >> 11) * 0x1p-52 - 1.0));
      else
        array->setInteger(i, int64_t(bits >> 61));
    }
  }
  return array;
}

/// Splits "8x128xf32" into extents and element type.
static llvm::Error parseType(StringRef text, ElementKind &kind, llvm::SmallVectorImpl<int64_t> &shape) {
  StringRef rest = text;
  while (!rest.empty() && llvm::isDigit(rest[0])) {
    int64_t extent;
    if (rest.consumeInteger(10, extent) || !rest.consume_front("x"))
      return createStringError("'" + text + "' is not a type such as 8x128xf32");
    shape.push_back(extent);
  }
  std::optional<ElementKind> parsed = parseElementKind(rest);
  if (!parsed)
    return createStringError("'" + rest +
                             "' is no element type; f16, bf16, f32, f64, i1, i8, i16, i32, i64 and index "
                             "are");
  kind = *parsed;
  return llvm::Error::success();
}

llvm::Error fusion::checkType(const HostArray &array, mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  std::optional<ElementKind> kind = getElementKind(mlir::getElementTypeOrSelf(type));
  bool fits = kind == array.getKind() && array.getRank() == (tensor ? tensor.getRank() : 0);
  for (int64_t axis = 0; fits && tensor && axis < tensor.getRank(); ++axis)
    fits = tensor.isDynamicDim(axis) || tensor.getDimSize(axis) == array.getShape()[axis];
  if (!fits)
    return createStringError("the type is " + print(type) + ", the array is " + array.getTypeText());
  return llvm::Error::success();
}

static llvm::Expected<HostArray> makeArray(StringRef spec, mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  std::optional<ElementKind> kind = getElementKind(mlir::getElementTypeOrSelf(type));
  if (!kind || (!tensor && llvm::isa<mlir::ShapedType>(type)))
    return createStringError("values of type " + print(type) + " cannot be passed");
  if (spec.consume_front("@"))
    return readNpy(spec, *kind);
  if (spec.contains('=')) {
    auto [typeText, generator] = spec.split('=');
    ElementKind given;
    llvm::SmallVector<int64_t> shape;
    if (llvm::Error error = parseType(typeText, given, shape))
      return std::move(error);
    // "f32=3.5" is a scalar with its type.
    double number;
    if (shape.empty() && !generator.getAsDouble(number))
      return fusion::generate(given, shape, ("value:" + generator).str());
    return fusion::generate(given, shape, generator);
  }
  bool isGenerator = !spec.empty() && llvm::isAlpha(spec[0]) && spec != "true" && spec != "false" &&
                     !spec.equals_insensitive("nan") && !spec.equals_insensitive("inf");
  if (isGenerator) {
    if (tensor && !tensor.hasStaticShape())
      return createStringError("'" + spec + "' leaves the extents of " + print(type) + " open; write <shape>x" +
                               getName(*kind) + "=" + spec);
    return fusion::generate(*kind, tensor ? tensor.getShape() : llvm::ArrayRef<int64_t>(), spec);
  }
  if (tensor && tensor.getRank() != 0)
    return createStringError("'" + spec + "' is a scalar, the type is " + print(type));
  return fusion::generate(*kind, {}, ("value:" + spec).str());
}

llvm::Expected<HostArray> fusion::makeInput(StringRef spec, mlir::Type type) {
  llvm::Expected<HostArray> array = makeArray(spec, type);
  if (!array)
    return array;
  if (llvm::Error error = checkType(*array, type))
    return std::move(error);
  return array;
}
