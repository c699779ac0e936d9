//===- DistDialect.cpp - Dialect, types and attributes --------------------===//

#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

#include "fusion/Dist/DistAttrInterfaces.cpp.inc"
#include "fusion/Dist/DistDialect.cpp.inc"
#include "fusion/Dist/DistEnums.cpp.inc"
#include "fusion/Dist/DistInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/Dist/DistTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dist/DistAttrs.cpp.inc"

namespace {

/// Tilings are long and come again and again: they get names.
struct DistAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    if (!isa<TiledAttr>(attr))
      return AliasResult::NoAlias;
    os << "tiles";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void DistDialect::initialize() {
  addInterfaces<DistAsmInterface>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "fusion/Dist/DistTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fusion/Dist/DistAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dist/DistOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Store
//===----------------------------------------------------------------------===//

LogicalResult StoreType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                Type elementType) {
  if (!elementType.isSignlessIntOrIndexOrFloat())
    return emitError() << "a store has elements of signless integer, index or float type, not " << elementType;
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent) || extent < 0)
      return emitError() << "a store has static extents";
    if (llvm::MulOverflow(elements, extent, elements) || elements > std::numeric_limits<int64_t>::max() / 8)
      return emitError() << "the store has more elements than can be addressed";
  }
  return success();
}

RankedTensorType StoreType::getTensorType() const { return RankedTensorType::get(getShape(), getElementType()); }

Type StoreType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(elementType) ||
      parser.parseGreater())
    return nullptr;
  return StoreType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType);
}

void StoreType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape())
    printer << extent << "x";
  printer << getElementType() << ">";
}

//===----------------------------------------------------------------------===//
// Privilege
//===----------------------------------------------------------------------===//

void PrivilegeAttr::printKeyword(raw_ostream &os) const {
  os << stringifyPrivilegeKind(getKind());
  if (reduces())
    os << "<" << spacemap::stringifyReducer(getReducer()) << ">";
}

PrivilegeAttr PrivilegeAttr::parseKeyword(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return nullptr;
  std::optional<PrivilegeKind> kind = symbolizePrivilegeKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "'" << keyword << "' is no privilege; there are read, write, read_write and reduce<op>";
    return nullptr;
  }
  auto reducer = spacemap::Reducer::Sum;
  if (*kind == PrivilegeKind::Reduce) {
    StringRef name;
    if (parser.parseLess() || parser.parseKeyword(&name))
      return nullptr;
    std::optional<spacemap::Reducer> parsed = spacemap::symbolizeReducer(name);
    if (!parsed) {
      parser.emitError(loc) << "'" << name << "' is no reduction operator";
      return nullptr;
    }
    reducer = *parsed;
    if (parser.parseGreater())
      return nullptr;
  }
  return PrivilegeAttr::get(parser.getContext(), *kind, reducer);
}

Attribute PrivilegeAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return nullptr;
  PrivilegeAttr privilege = parseKeyword(parser);
  if (!privilege || parser.parseGreater())
    return nullptr;
  return privilege;
}

void PrivilegeAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printKeyword(printer.getStream());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// The extents of a launch domain are not negative.
static LogicalResult verifyDomain(ArrayRef<int64_t> domain, function_ref<InFlightDiagnostic()> emitError) {
  if (domain.empty())
    return emitError() << "a launch domain has at least one dimension";
  for (int64_t extent : domain)
    if (extent < 1)
      return emitError() << "a launch domain has extents of at least 1, not " << extent;
  return success();
}

LogicalResult PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError, PartitionInterface partition,
                                    ArrayRef<int64_t> domain) {
  return verifyDomain(domain, emitError);
}
