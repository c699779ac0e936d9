//===- DistTask.cpp - The task operation ----------------------------------===//

#include "fusion/Dist/Dist.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace fusion::dist;

PrivilegeAttr TaskOp::getPrivilege(unsigned argument) { return dyn_cast<PrivilegeAttr>(getPrivileges()[argument]); }

RankedTensorType TaskOp::getArgumentType(unsigned argument) {
  auto type = dyn_cast<TypeAttr>(getArgumentTypes()[argument]);
  return type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
}

SmallVector<unsigned> TaskOp::getYieldedArguments() {
  SmallVector<unsigned> arguments;
  for (unsigned i = 0; i < getNumTaskArguments(); ++i)
    if (PrivilegeAttr privilege = getPrivilege(i); privilege && (privilege.writes() || privilege.reduces()))
      arguments.push_back(i);
  return arguments;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult TaskOp::verify() {
  if (getArgumentTypes().size() != getPrivileges().size())
    return emitOpError("needs one privilege for each argument");
  for (unsigned i = 0; i < getNumTaskArguments(); ++i)
    if (!getPrivilege(i) || !getArgumentType(i))
      return emitOpError("argument ") << i << " must be a ranked tensor with a privilege";
  if (isOpaque() && !getExternal())
    return emitOpError("needs a body or the name of a C function");
  if (!isOpaque() && getExternal())
    return emitOpError("has a body, so it cannot name a C function");
  if (getExternal() && getExternal()->empty())
    return emitOpError("needs the name of a C function that is not empty");
  return success();
}

/// Whether a use of an argument without content is one that does not read it.
static bool overwrites(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp>(user))
    return true;
  // What an indexing map leaves out would keep its old elements.
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(user))
    return linalgOp.isDpsInit(&use) && !linalgOp.payloadUsesValueFromOperand(&use) &&
           linalgOp.getMatchingIndexingMap(&use).isProjectedPermutation();
  // As a destination that is given to another operation, the cast is looked through.
  if (isa<tensor::CastOp>(user))
    return llvm::all_of(user->getUses(), [](OpOperand &inner) { return overwrites(inner); });
  return false;
}

/// Whether a use of an argument that is reduced is its accumulation.
static bool accumulates(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp, YieldOp>(user))
    return true;
  if (isa<tensor::CastOp>(user))
    return llvm::all_of(user->getUses(), [](OpOperand &inner) { return accumulates(inner); });
  auto destination = dyn_cast<DestinationStyleOpInterface>(user);
  return destination && destination.isDpsInit(&use);
}

LogicalResult TaskOp::verifyRegions() {
  if (isOpaque())
    return success();
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumTaskArguments())
    return emitOpError("has ") << getNumTaskArguments() << " arguments, but its body has " << block.getNumArguments();
  for (BlockArgument argument : block.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (argument.getType() != getArgumentType(index))
      return emitOpError("argument ") << index << " is a " << getArgumentType(index) << ", but the body takes a "
                                      << argument.getType();
    PrivilegeAttr privilege = getPrivilege(index);
    for (OpOperand &use : argument.getUses()) {
      if (privilege.getKind() == PrivilegeKind::Write && !overwrites(use))
        return use.getOwner()->emitOpError("reads argument ")
               << index << " of the task, which has privilege 'write' and so no old elements";
      if (privilege.reduces() && !accumulates(use))
        return use.getOwner()->emitOpError("uses argument ")
               << index << " of the task, which has privilege 'reduce', for something else than accumulation";
    }
  }
  auto yield = dyn_cast<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError("needs a body that ends with 'dist.yield'");
  SmallVector<unsigned> written = getYieldedArguments();
  if (yield.getNumOperands() != written.size())
    return yield.emitOpError("gives ") << yield.getNumOperands() << " tensors, but the task writes or reduces "
                                       << written.size() << " arguments";
  for (auto [index, value] : llvm::zip(written, yield.getValues()))
    if (value.getType() != getArgumentType(index))
      return yield.emitOpError("gives a ")
             << value.getType() << " for argument " << index << ", which is a " << getArgumentType(index);
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringRef visibility;
  if (succeeded(parser.parseOptionalKeyword(&visibility, {"public", "private", "nested"})))
    result.addAttribute(getSymVisibilityAttrName(result.name), builder.getStringAttr(visibility));
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> types, privileges;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    OptionalParseResult named = parser.parseOptionalArgument(argument, /*allowType=*/true);
    if (named.has_value()) {
      if (failed(*named))
        return failure();
      arguments.push_back(argument);
    } else if (parser.parseType(argument.type)) {
      return failure();
    }
    PrivilegeAttr privilege = PrivilegeAttr::parseKeyword(parser);
    if (!privilege)
      return failure();
    types.push_back(TypeAttr::get(argument.type));
    privileges.push_back(privilege);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArgument))
    return failure();
  if (!arguments.empty() && arguments.size() != types.size())
    return parser.emitError(loc, "name all arguments (of a task with a body) or none (of an external one)");
  result.addAttribute(getArgumentTypesAttrName(result.name), builder.getArrayAttr(types));
  result.addAttribute(getPrivilegesAttrName(result.name), builder.getArrayAttr(privileges));
  Region *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("external"))) {
    StringAttr external;
    if (parser.parseAttribute(external))
      return failure();
    result.addAttribute(getExternalAttrName(result.name), external);
    return parser.parseOptionalAttrDictWithKeyword(result.attributes);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  OptionalParseResult region = parser.parseOptionalRegion(*body, arguments);
  return region.has_value() ? *region : ParseResult::success();
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << ' ';
  printer.printSymbolName(getSymName());
  printer << "(";
  bool hasArguments = !isOpaque() && getBody().getNumArguments() == getNumTaskArguments();
  llvm::interleaveComma(llvm::seq(getNumTaskArguments()), printer, [&](unsigned index) {
    if (hasArguments)
      printer << getBody().getArgument(index) << ": ";
    printer << getArgumentTypes()[index] << ' ';
    getPrivilege(index).printKeyword(printer.getStream());
  });
  printer << ")";
  if (std::optional<StringRef> external = getExternal()) {
    printer << " external ";
    printer.printAttribute(getExternalAttr());
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getSymVisibilityAttrName(), getPrivilegesAttrName(),
                                            getArgumentTypesAttrName(), getExternalAttrName()});
  if (!isOpaque()) {
    printer << ' ';
    printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  }
}
