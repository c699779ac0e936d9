//===- SpaceMapDialect.cpp - Dialect and types ----------------------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "DimNames.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion::spacemap;

#include "fusion/SpaceMap/SpaceMapDialect.cpp.inc"
#include "fusion/SpaceMap/SpaceMapEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/SpaceMap/SpaceMapTypes.cpp.inc"

void SpaceMapDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fusion/SpaceMap/SpaceMapTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/SpaceMap/SpaceMapOps.cpp.inc"
      >();
}

LogicalResult SpaceType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> dims,
                                Type elementType) {
  if (!elementType.isIntOrIndexOrFloat())
    return emitError() << "a space has elements of integer, index or float type, not " << elementType;
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (StringAttr dim : dims) {
    if (!dim || dim.getValue().empty())
      return emitError() << "a dimension of a space needs a name";
    if (!seen.insert(dim).second)
      return emitError() << "a space has each dimension once, but '" << dim.getValue() << "' is listed twice";
  }
  return success();
}

SmallVector<StringAttr> fusion::spacemap::getNames(ArrayAttr names) {
  auto range = names.getAsRange<StringAttr>();
  return SmallVector<StringAttr>(range.begin(), range.end());
}
