//===- DistAccess.cpp - Launches, fills and copies ------------------------===//

#include "fusion/Dist/Dist.h"

using namespace mlir;
using namespace fusion::dist;

Value fusion::dist::getRootStore(Value store) {
  while (auto view = store.getDefiningOp<ViewOp>())
    store = view.getSource();
  return store;
}

//===----------------------------------------------------------------------===//
// Rules that all of them obey
//===----------------------------------------------------------------------===//

bool fusion::dist::areApart(PartitionInterface a, PartitionInterface b) {
  auto first = dyn_cast<TiledAttr>(a), second = dyn_cast<TiledAttr>(b);
  if (!first || !second || first.getRank() != second.getRank())
    return false;
  for (int64_t dim = 0; dim < first.getRank(); ++dim)
    if (first.getOffset()[dim] + first.getExtent()[dim] <= second.getOffset()[dim] ||
        second.getOffset()[dim] + second.getExtent()[dim] <= first.getOffset()[dim])
      return true;
  return false;
}

LogicalResult fusion::dist::detail::verifyAccesses(Operation *op) {
  auto launch = dyn_cast<AccessOpInterface>(op);
  if (!launch)
    return failure();
  ArrayRef<int64_t> domain = launch.getLaunchDomain();
  if (domain.empty())
    return op->emitOpError("needs a launch domain of at least one dimension");
  for (int64_t extent : domain)
    if (extent < 1)
      return op->emitOpError("needs a launch domain with extents of at least 1, not ") << extent;
  SmallVector<Access> accesses = launch.getAccesses();
  for (auto [index, access] : llvm::enumerate(accesses)) {
    auto type = dyn_cast<StoreType>(access.store.getType());
    if (!type || !access.partition || !access.privilege)
      return op->emitOpError("needs a store, a partition and a privilege for argument ") << index;
    if (!isa_and_nonnull<CreateOp, FromTensorOp, ViewOp>(access.store.getDefiningOp()))
      return op->emitOpError("argument ")
             << index << " must be made by 'dist.create', 'dist.from_tensor' or 'dist.view': stores are not passed "
             << "through block arguments or function results, since two of them might then be the same";
    auto emitError = [&, number = index] { return op->emitOpError("argument ") << number << ": "; };
    if (failed(access.partition.verifyFor(type.getShape(), domain, emitError)))
      return failure();
    if (auto image = dyn_cast<ImageAttr>(access.partition))
      for (unsigned source : image.getArguments()) {
        if (source >= accesses.size() || source == index)
          return emitError() << "the image refers to argument " << source << ", which is not another argument";
        auto sourceType = dyn_cast<StoreType>(accesses[source].store.getType());
        if (!sourceType || !sourceType.getElementType().isIntOrIndex() || sourceType.getRank() != 1)
          return emitError() << "the image refers to argument " << source << ", which is no one-dimensional store of "
                             << "integers";
        if (isa<ImageAttr>(accesses[source].partition) && source > index)
          return emitError() << "the image refers to argument " << source
                             << ", itself an image, which must then come before it";
        if (!accesses[source].privilege.reads())
          return emitError() << "the image refers to argument " << source << ", which is not read";
      }
    // A point that read what another one writes would not be on its own.
    bool scalarOfItsOwn =
        launch.isReplicated() && type.getRank() == 0 && access.privilege.getKind() == PrivilegeKind::Write;
    if (access.privilege.writes() && !access.partition.isDisjoint(domain) && !scalarOfItsOwn)
      return emitError() << "the partition is written, but gives different points of the domain the same elements";
    if (access.privilege.reduces() && !fusion::spacemap::isLegal(access.privilege.getReducer(), type.getElementType()))
      return emitError() << "elements of type " << type.getElementType() << " cannot be reduced with '"
                         << fusion::spacemap::stringifyReducer(access.privilege.getReducer()) << "'";
  }
  for (auto [i, first] : llvm::enumerate(accesses))
    for (unsigned j = i + 1; j < accesses.size(); ++j) {
      const Access &second = accesses[j];
      if (getRootStore(first.store) != getRootStore(second.store))
        continue;
      if (first.privilege.getKind() == PrivilegeKind::Read && second.privilege.getKind() == PrivilegeKind::Read)
        continue;
      if (first.store == second.store && first.partition == second.partition)
        return op->emitOpError("arguments ")
               << i << " and " << j << " are the same part of one store; a part that is written or reduced is one "
               << "argument";
      // Through a view the coordinates differ; canonicalisation makes them comparable, and comes back here.
      if (first.store != second.store)
        continue;
      if (!areApart(first.partition, second.partition))
        return op->emitOpError("arguments ")
               << i << " and " << j << " are overlapping parts of one store, and one of them is written or reduced";
    }
  return success();
}

static void addEffects(ArrayRef<Access> accesses, MutableArrayRef<OpOperand> operands,
                       SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto *resource = SideEffects::DefaultResource::get();
  for (const Access &access : accesses)
    for (OpOperand &operand : operands) {
      if (operand.get() != access.store)
        continue;
      if (!access.privilege.writes() || access.privilege.reads())
        effects.emplace_back(MemoryEffects::Read::get(), &operand, resource);
      if (access.privilege.writes() || access.privilege.reduces())
        effects.emplace_back(MemoryEffects::Write::get(), &operand, resource);
      break;
    }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> LaunchOp::getLaunchDomain() { return getDomain(); }

SmallVector<Access> LaunchOp::getAccesses() {
  SmallVector<Access> accesses;
  for (auto [store, partition, privilege] : llvm::zip(getStores(), getPartitions(), getPrivileges()))
    accesses.push_back({store, dyn_cast<PartitionInterface>(partition), dyn_cast<PrivilegeAttr>(privilege)});
  return accesses;
}

bool LaunchOp::isReplicated() { return getReplicated(); }

void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(getAccesses(), getStoresMutable(), effects);
}

LogicalResult LaunchOp::verify() {
  if (getPrivileges().size() != getStores().size() || getPartitions().size() != getStores().size())
    return emitOpError("needs one privilege and one partition for each store");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto task = symbols.lookupNearestSymbolFrom<TaskOp>(*this, getTaskAttr());
  if (!task)
    return emitOpError("refers to '@") << getTask() << "', which is no 'dist.task'";
  if (task.getNumTaskArguments() != getStores().size())
    return emitOpError("passes ") << getStores().size() << " stores to '@" << getTask() << "', which takes "
                                  << task.getNumTaskArguments();
  for (auto [index, access] : llvm::enumerate(getAccesses())) {
    RankedTensorType wanted = task.getArgumentType(index);
    auto store = dyn_cast<StoreType>(access.store.getType());
    if (!wanted || !store || wanted.getRank() != store.getRank() || wanted.getElementType() != store.getElementType())
      return emitOpError("argument ") << index << " is a " << access.store.getType() << ", but '@" << getTask()
                                      << "' takes boxes of type " << wanted;
    if (task.getPrivilege(index) != access.privilege) {
      InFlightDiagnostic error = emitOpError("argument ") << index << " has privilege ";
      std::string given, declared;
      llvm::raw_string_ostream givenStream(given), declaredStream(declared);
      access.privilege.printKeyword(givenStream);
      task.getPrivilege(index).printKeyword(declaredStream);
      return error << "'" << given << "', but '@" << getTask() << "' declares '" << declared << "'";
    }
  }
  return success();
}

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  FlatSymbolRefAttr task;
  SmallVector<int64_t> domain;
  SmallVector<OpAsmParser::UnresolvedOperand> stores;
  SmallVector<Attribute> privileges, partitions;
  SmallVector<Type> types;
  auto parseExtent = [&] { return parser.parseInteger(domain.emplace_back()); };
  auto parseArgument = [&]() -> ParseResult {
    if (parser.parseOperand(stores.emplace_back()))
      return failure();
    PrivilegeAttr privilege = PrivilegeAttr::parseKeyword(parser);
    PartitionInterface partition;
    if (!privilege || parser.parseAttribute(partition))
      return failure();
    privileges.push_back(privilege);
    partitions.push_back(partition);
    return success();
  };
  if (parser.parseAttribute(task) || parser.parseKeyword("on") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseExtent))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("replicated")))
    result.addAttribute(getReplicatedAttrName(result.name), builder.getUnitAttr());
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArgument) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (!stores.empty() && parser.parseColonTypeList(types))
    return failure();
  result.addAttribute(getTaskAttrName(result.name), task);
  result.addAttribute(getDomainAttrName(result.name), builder.getDenseI64ArrayAttr(domain));
  result.addAttribute(getPrivilegesAttrName(result.name), builder.getArrayAttr(privileges));
  result.addAttribute(getPartitionsAttrName(result.name), builder.getArrayAttr(partitions));
  return parser.resolveOperands(stores, types, loc, result.operands);
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getTask());
  printer << " on [" << getDomain() << "] ";
  if (getReplicated())
    printer << "replicated ";
  printer << "(";
  llvm::interleaveComma(getAccesses(), printer, [&](const Access &access) {
    printer << access.store << ' ';
    access.privilege.printKeyword(printer.getStream());
    printer << ' ' << access.partition;
  });
  printer << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getTaskAttrName(), getDomainAttrName(), getPrivilegesAttrName(),
                                                      getPartitionsAttrName(), getReplicatedAttrName()});
  if (!getStores().empty())
    printer << " : " << getStores().getTypes();
}

//===----------------------------------------------------------------------===//
// Fill and copy
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> FillOp::getLaunchDomain() { return getDomain(); }

SmallVector<Access> FillOp::getAccesses() {
  return {{getStore(), getPartition(), PrivilegeAttr::get(getContext(), PrivilegeKind::Write)}};
}

void FillOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(getAccesses(), getStoreMutable(), effects);
}

LogicalResult FillOp::verify() {
  Type elementType = cast<StoreType>(getStore().getType()).getElementType();
  if (getValue().getType() != elementType)
    return emitOpError("fills a store of ") << elementType << " with a value of type " << getValue().getType();
  return success();
}

ArrayRef<int64_t> CopyOp::getLaunchDomain() { return getDomain(); }

SmallVector<Access> CopyOp::getAccesses() {
  return {{getSource(), getSourcePartition(), PrivilegeAttr::get(getContext(), PrivilegeKind::Read)},
          {getTarget(), getTargetPartition(), PrivilegeAttr::get(getContext(), PrivilegeKind::Write)}};
}

void CopyOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(getAccesses(), getOperation()->getOpOperands(), effects);
}

/// What the boxes of a partition have in common with those of another of the same extents at every point.
static bool haveSameBoxes(PartitionInterface a, ArrayRef<int64_t> shapeA, PartitionInterface b,
                          ArrayRef<int64_t> shapeB) {
  auto tiledA = dyn_cast<TiledAttr>(a), tiledB = dyn_cast<TiledAttr>(b);
  if (tiledA && tiledB)
    return tiledA.getTile() == tiledB.getTile() && tiledA.getExtent() == tiledB.getExtent() &&
           tiledA.getProjection() == tiledB.getProjection();
  auto isWhole = [](TiledAttr tiled) {
    return tiled.getProjection().isConstant() &&
           llvm::all_of(tiled.getProjection().getConstantResults(), [](int64_t color) { return color == 0; });
  };
  auto getSingleBox = [&](PartitionInterface partition, TiledAttr tiled,
                          ArrayRef<int64_t> shape) -> std::optional<SmallVector<int64_t>> {
    if (isa<NoneAttr>(partition))
      return SmallVector<int64_t>(shape);
    if (!tiled || !isWhole(tiled))
      return std::nullopt;
    SmallVector<int64_t> box;
    for (auto [tile, extent] : llvm::zip(tiled.getTile(), tiled.getExtent()))
      box.push_back(std::min(tile, extent));
    return box;
  };
  auto boxA = getSingleBox(a, tiledA, shapeA), boxB = getSingleBox(b, tiledB, shapeB);
  return boxA && boxB && *boxA == *boxB;
}

LogicalResult CopyOp::verify() {
  auto source = cast<StoreType>(getSource().getType()), target = cast<StoreType>(getTarget().getType());
  if (source.getElementType() != target.getElementType())
    return emitOpError("copies elements of type ")
           << source.getElementType() << " to a store of " << target.getElementType();
  if (source.getRank() != target.getRank() ||
      !haveSameBoxes(getSourcePartition(), source.getShape(), getTargetPartition(), target.getShape()))
    return emitOpError("needs partitions whose boxes have the same extents at every point");
  return success();
}
