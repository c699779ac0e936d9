//===- SpaceMapDialect.cpp - Dialect and types ----------------------------===//

#include "fusion/SpaceMap/SpaceMap.h"

#include "DimNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fusion::spacemap;

#include "fusion/SpaceMap/SpaceMapDialect.cpp.inc"
#include "fusion/SpaceMap/SpaceMapEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fusion/SpaceMap/SpaceMapTypes.cpp.inc"

namespace {

/// The body of a map is a closed function: constants made by folding stay in it.
struct SpaceMapFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final { return isa<MapOp>(region->getParentOp()); }
};

} // namespace

void SpaceMapDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fusion/SpaceMap/SpaceMapTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/SpaceMap/SpaceMapOps.cpp.inc"
      >();
  addInterfaces<SpaceMapFoldInterface>();
}

LogicalResult SpaceType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> dims,
                                Type elementType) {
  if (!elementType.isSignlessIntOrIndexOrFloat())
    return emitError() << "a space has elements of signless integer, index or float type, not " << elementType;
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
