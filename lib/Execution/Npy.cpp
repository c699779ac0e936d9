//===- Npy.cpp - NumPy's .npy files -----------------------------------------===//

#include "fusion/Execution/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace fusion;
using llvm::StringRef;

static_assert(llvm::endianness::native == llvm::endianness::little, "elements are copied as they lie in the file");

static constexpr char magic[] = {char(0x93), 'N', 'U', 'M', 'P', 'Y'};

namespace {

struct Header {
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;
};

/// Parses the header, a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// Returns what is wrong, or an empty text.
  std::string parse(Header &header) {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!consume("{"))
      return "the header is not a dictionary";
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !consume(":"))
        return "the header's dictionary is malformed";
      bool *seen = key == "descr"           ? &hasDescr
                   : key == "fortran_order" ? &hasOrder
                   : key == "shape"         ? &hasShape
                                            : nullptr;
      if (!seen)
        return "the header has an unknown key '" + printable(key) + "'";
      if (*seen)
        return "the header has the key '" + key + "' twice";
      *seen = true;
      skipSpace();
      if (seen == &hasDescr) {
        if (rest.starts_with("["))
          return "structured element types are not supported";
        if (!parseString(header.descr))
          return "the header's 'descr' is not a string";
      } else if (seen == &hasOrder) {
        if (consume("True"))
          header.fortranOrder = true;
        else if (!consume("False"))
          return "the header's 'fortran_order' is neither True nor False";
      } else if (!parseShape(header.shape)) {
        return "the header's 'shape' is not a tuple of non-negative integers";
      }
      if (!consume(",")) {
        if (consume("}"))
          break;
        return "the header's dictionary is malformed";
      }
    }
    skipSpace();
    if (!rest.empty())
      return "there is text after the header's dictionary";
    if (!hasDescr || !hasOrder || !hasShape)
      return "the header lacks one of 'descr', 'fortran_order', 'shape'";
    return "";
  }

  static std::string printable(StringRef text) {
    std::string result;
    llvm::raw_string_ostream os(result);
    llvm::printEscapedString(text.take_front(40), os);
    return result;
  }

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }
  bool parseString(std::string &value) {
    skipSpace();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return false;
    value = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
    if (!consume("("))
      return false;
    bool comma = true;
    while (!consume(")")) {
      int64_t extent;
      skipSpace();
      if (!comma || rest.empty() || !llvm::isDigit(rest[0]) || rest.consumeInteger(10, extent))
        return false;
      shape.push_back(extent);
      comma = consume(",");
    }
    // "(3)" is a number in Python, not a tuple.
    return shape.size() != 1 || comma;
  }

  StringRef rest;
};

} // namespace

/// The kind that a type descriptor without its byte order ("f4") stands for; `unsignedInt` for u1..u8.
static std::optional<ElementKind> getStoredKind(StringRef code, bool &isUnsigned) {
  isUnsigned = code.starts_with("u");
  if (code == "f2")
    return ElementKind::F16;
  if (code == "f4")
    return ElementKind::F32;
  if (code == "f8")
    return ElementKind::F64;
  if (code == "b1")
    return ElementKind::I1;
  if (code == "i1" || code == "u1")
    return ElementKind::I8;
  if (code == "i2" || code == "u2")
    return ElementKind::I16;
  if (code == "i4" || code == "u4")
    return ElementKind::I32;
  if (code == "i8" || code == "u8")
    return ElementKind::I64;
  return std::nullopt;
}

/// The kind of the elements, or what is wrong with the descriptor.
static std::string resolveKind(StringRef descr, std::optional<ElementKind> expected, ElementKind &kind) {
  std::string shown = "element type '" + HeaderParser::printable(descr) + "'";
  if (descr.size() < 2)
    return shown + " is malformed";
  char order = descr[0];
  StringRef code = descr.drop_front();
  bool isUnsigned = false;
  std::optional<ElementKind> stored = getStoredKind(code, isUnsigned);
  bool rawBFloat = code == "V2" && expected == ElementKind::BF16;
  if (rawBFloat)
    stored = ElementKind::BF16;
  if (!stored)
    return shown + " is not supported";
  if (order == '>' && getByteWidth(*stored) > 1)
    return "big-endian " + shown + " is not supported; convert with .astype('<" + code.str() + "')";
  bool orderIsRight = order == '<' || (order == '|' && (getByteWidth(*stored) == 1 || rawBFloat)) ||
                      (order == '>' && getByteWidth(*stored) == 1);
  if (!orderIsRight)
    return shown + " is malformed";
  kind = *stored;
  if (!expected)
    return "";
  if (*expected == ElementKind::BF16 && kind == ElementKind::I16 && isUnsigned)
    kind = ElementKind::BF16;
  if (*expected == ElementKind::Index && kind == ElementKind::I64)
    kind = ElementKind::Index;
  if (kind != *expected) {
    std::string hint = *expected == ElementKind::BF16    ? " (stored as '<u2')"
                       : *expected == ElementKind::Index ? " (stored as '<i8')"
                                                         : "";
    return shown + " where " + getName(*expected).str() + hint + " is expected";
  }
  return "";
}

/// Copies an array in Fortran order (the first axis is contiguous) to C order.
static void copyTransposed(const char *source, char *target, llvm::ArrayRef<int64_t> shape, unsigned width) {
  int64_t rank = shape.size();
  llvm::SmallVector<int64_t> strides(rank), index(rank, 0);
  int64_t stride = 1, count = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= shape[axis];
    count *= shape[axis];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * width, source + offset * width, width);
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

llvm::Expected<HostArray> fusion::parseNpy(llvm::MemoryBufferRef buffer, std::optional<ElementKind> expected) {
  StringRef data = buffer.getBuffer();
  auto error = [&](const llvm::Twine &what) {
    return llvm::createStringError(buffer.getBufferIdentifier() + ": " + what);
  };
  if (!data.starts_with(StringRef(magic, sizeof(magic))))
    return error("not a .npy file");
  if (data.size() < 10)
    return error("the file is truncated in its header");
  unsigned version = uint8_t(data[6]);
  if (version < 1 || version > 3)
    return error("format version " + llvm::Twine(version) + " is not supported");
  uint64_t lengthBytes = version == 1 ? 2 : 4;
  if (data.size() < 8 + lengthBytes)
    return error("the file is truncated in its header");
  uint64_t headerLength = version == 1 ? llvm::support::endian::read16le(data.data() + 8)
                                       : llvm::support::endian::read32le(data.data() + 8);
  uint64_t begin = 8 + lengthBytes;
  if (data.size() - begin < headerLength)
    return error("the file is truncated in its header");
  Header header;
  std::string problem = HeaderParser(data.substr(begin, headerLength)).parse(header);
  if (!problem.empty())
    return error(problem);
  ElementKind kind;
  problem = resolveKind(header.descr, expected, kind);
  if (!problem.empty())
    return error(problem);

  StringRef elements = data.drop_front(begin + headerLength);
  std::optional<int64_t> count = getNumElements(header.shape);
  if (!count)
    return error("the extents are too large");
  uint64_t bytes = uint64_t(*count) * getByteWidth(kind);
  if (elements.size() != bytes)
    return error(llvm::Twine(elements.size() < bytes ? "the file is truncated: " : "the file is too long: ") +
                 getTypeText(kind, header.shape) + " takes " + llvm::Twine(bytes) + " bytes, there are " +
                 llvm::Twine(elements.size()));
  llvm::Expected<HostArray> array = HostArray::createUninitialized(kind, header.shape);
  if (!array)
    return error(llvm::toString(array.takeError()));
  char *target = static_cast<char *>(array->getMutableData());
  if (header.fortranOrder)
    copyTransposed(elements.data(), target, header.shape, getByteWidth(kind));
  else
    std::memcpy(target, elements.data(), bytes);
  if (kind == ElementKind::I1)
    for (int64_t i = 0; i < *count; ++i)
      target[i] = target[i] != 0;
  return array;
}

llvm::Expected<HostArray> fusion::readNpy(StringRef path, std::optional<ElementKind> expected) {
  if (llvm::sys::fs::is_directory(path))
    return llvm::createStringError(path + ": is a directory");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError(path + ": " + file.getError().message());
  return parseNpy((*file)->getMemBufferRef(), expected);
}

llvm::Error fusion::writeNpy(StringRef path, const HostArray &array) {
  static constexpr const char *codes[] = {"<f2", "<u2", "<f4", "<f8", "|b1", "|i1", "<i2", "<i4", "<i8", "<i8"};
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << codes[unsigned(array.getKind())] << "', 'fortran_order': False, 'shape': (";
  for (auto [axis, extent] : llvm::enumerate(array.getShape()))
    os << (axis ? ", " : "") << extent;
  os << (array.getRank() == 1 ? ",), }" : "), }");
  // The elements begin at a multiple of 64, as NumPy writes them; the header ends with a line feed.
  size_t total = llvm::alignTo(10 + header.size() + 1, 64);
  header.append(total - 10 - header.size() - 1, ' ');
  header.push_back('\n');
  if (header.size() > UINT16_MAX)
    return llvm::createStringError(path + ": the shape has too many axes for a .npy file");
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &out) -> llvm::Error {
    out << StringRef(magic, sizeof(magic)) << char(1) << char(0) << char(header.size() & 0xff)
        << char(header.size() >> 8) << header;
    out.write(static_cast<const char *>(array.getData()), array.getSizeInBytes());
    return llvm::Error::success();
  });
  if (error)
    return llvm::createStringError(path + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}
