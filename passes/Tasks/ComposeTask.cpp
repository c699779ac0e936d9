//===- ComposeTask.cpp - One task of the bodies of several ----------------===//

#include "ComposeTask.h"
#include "FuseOptions.h"
#include "StoreLiveness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

//===----------------------------------------------------------------------===//
// Extents of temporaries
//===----------------------------------------------------------------------===//

namespace {

/// What the extent of a box along one dimension depends on. Equal keys: equal extents at every point.
struct ExtentKey {
  int64_t tile = 0, extent = 0;
  AffineExpr color;
  /// The same at all points, if known.
  std::optional<int64_t> constant;
  bool operator==(const ExtentKey &other) const {
    if (constant || other.constant)
      return constant == other.constant;
    return tile == other.tile && extent == other.extent && color == other.color;
  }
};

} // namespace

static ExtentKey getExtentKey(const Access &access, ArrayRef<int64_t> domain, unsigned dim) {
  ExtentKey key;
  if (isa<NoneAttr>(access.partition)) {
    key.constant = cast<StoreType>(access.store.getType()).getShape()[dim];
    return key;
  }
  auto tiled = cast<TiledAttr>(access.partition);
  key.tile = tiled.getTile()[dim];
  key.extent = tiled.getExtent()[dim];
  key.color = tiled.getProjection().getResult(dim);
  if (auto color = dyn_cast<AffineConstantExpr>(key.color)) {
    int64_t start = color.getValue() * key.tile;
    key.constant = std::clamp<int64_t>(key.extent - start, 0, key.tile);
  } else if (auto position = dyn_cast<AffineDimExpr>(key.color)) {
    // All tiles are full, and there is one for each point.
    if (key.extent % key.tile == 0 && domain[position.getPosition()] <= key.extent / key.tile)
      key.constant = key.tile;
  }
  return key;
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

namespace {

class Composer {
public:
  Composer(ArrayRef<Operation *> members, TaskStreamBuilder &stream, SymbolTableCollection &tables)
      : members(members), stream(stream), tables(tables), context(members.front()->getContext()) {
    std::vector<tasks::Task> described;
    for (Operation *member : members)
      described.push_back(stream.get(cast<AccessOpInterface>(member)));
    fused = tasks::buildArguments(described);
    setDomain(described);
    setSlots();
  }

  /// Decides which slots vanish.
  void findTemporaries(Composition &result) {
    isTemporary.assign(slots.size(), false);
    SmallVector<unsigned> candidates = tasks::findTemporaries(
        fused, [&](uint32_t number) { return isLiveAfter(members.back(), stream.getStore(number)); });
    for (unsigned slot : candidates)
      isTemporary[slot] = true;
    // Those without extents stay, and may be what others take theirs from.
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned slot : candidates)
        if (isTemporary[slot] && !hasExtents(slot)) {
          isTemporary[slot] = false;
          result.kept.push_back(slots[slot].store);
          changed = true;
        }
    }
    for (auto [slot, access] : llvm::enumerate(slots))
      if (isTemporary[slot])
        result.eliminated.push_back({access.store, getBytes(access.store)});
  }

  bool writesAnything() const {
    for (auto [slot, access] : llvm::enumerate(slots))
      if (!isTemporary[slot] && access.privilege.getKind() != PrivilegeKind::Read)
        return true;
    return false;
  }

  /// The task, in no module yet.
  TaskOp buildTask() {
    OpBuilder builder(context);
    SmallVector<Attribute> types, privileges;
    SmallVector<Type> blockTypes;
    SmallVector<Location> locations;
    for (unsigned slot : getArguments()) {
      RankedTensorType type = slotTypes[slot];
      types.push_back(TypeAttr::get(type));
      privileges.push_back(slots[slot].privilege);
      blockTypes.push_back(type);
      locations.push_back(slots[slot].store.getLoc());
    }
    auto task = TaskOp::create(builder, getLocation(), builder.getStringAttr(getName()), nullptr,
                               builder.getArrayAttr(types), builder.getArrayAttr(privileges), nullptr);
    Block *block = builder.createBlock(&task.getBody(), {}, blockTypes, locations);
    current.assign(slots.size(), Value());
    argumentOf.assign(slots.size(), Value());
    for (auto [argument, slot] : llvm::zip(block->getArguments(), getArguments()))
      current[slot] = argumentOf[slot] = argument;
    for (auto [index, member] : llvm::enumerate(members)) {
      if (auto launch = dyn_cast<LaunchOp>(member))
        addBody(builder, launch, index);
      else if (auto fill = dyn_cast<FillOp>(member))
        addFill(builder, fill, fused.slots[index][0]);
      else
        addCopy(builder, cast<CopyOp>(member), index);
    }
    SmallVector<Value> yielded;
    for (unsigned slot : getArguments())
      if (slots[slot].privilege.getKind() != PrivilegeKind::Read)
        yielded.push_back(castTo(builder, current[slot], slotTypes[slot]));
    YieldOp::create(builder, getLocation(), yielded);
    return task;
  }

  LaunchOp buildLaunch(TaskOp task) {
    OpBuilder builder(members.back());
    SmallVector<Value> stores;
    SmallVector<Attribute> privileges, partitions;
    bool replicated = false;
    for (unsigned slot : getArguments()) {
      stores.push_back(slots[slot].store);
      privileges.push_back(slots[slot].privilege);
      partitions.push_back(slots[slot].partition);
      replicated |= fused.arguments[slot].isScalar && slots[slot].privilege.writes();
    }
    return LaunchOp::create(builder, getLocation(), task.getSymName(), domain, stores, builder.getArrayAttr(privileges),
                            builder.getArrayAttr(partitions), replicated && getNumPoints(domain) > 1);
  }

private:
  void setDomain(ArrayRef<tasks::Task> described) {
    // That of the first that is not promoted.
    Operation *chosen = members.front();
    for (auto [member, task] : llvm::zip(members, described))
      if (!tasks::isPromotable(task)) {
        chosen = member;
        break;
      }
    domain = llvm::to_vector(cast<AccessOpInterface>(chosen).getLaunchDomain());
  }

  void setSlots() {
    slots.resize(fused.arguments.size());
    slotTypes.resize(slots.size());
    for (auto [index, member] : llvm::enumerate(members)) {
      auto access = cast<AccessOpInterface>(member);
      for (auto [number, argument] : llvm::enumerate(access.getAccesses())) {
        unsigned slot = fused.slots[index][number];
        RankedTensorType type = getBoxType(member, number);
        if (!slots[slot].store) {
          slots[slot] = argument;
          slotTypes[slot] = type;
          continue;
        }
        // Static only where all agree.
        SmallVector<int64_t> shape(slotTypes[slot].getShape());
        for (auto [extent, other] : llvm::zip(shape, type.getShape()))
          if (extent != other)
            extent = ShapedType::kDynamic;
        slotTypes[slot] = RankedTensorType::get(shape, type.getElementType());
      }
    }
    for (auto [access, argument] : llvm::zip(slots, fused.arguments)) {
      access.privilege = argument.privilege == tasks::Privilege::Reduce
                             ? PrivilegeAttr::get(context, PrivilegeKind::Reduce, spacemap::Reducer(argument.reducer))
                             : PrivilegeAttr::get(context, PrivilegeKind(argument.privilege));
      // That of a promoted task is for another domain.
      if (argument.isScalar)
        access.partition = NoneAttr::get(context);
    }
  }

  TaskOp getTask(LaunchOp launch) { return tables.lookupNearestSymbolFrom<TaskOp>(launch, launch.getTaskAttr()); }

  RankedTensorType getBoxType(Operation *member, unsigned argument) {
    if (auto launch = dyn_cast<LaunchOp>(member))
      return getTask(launch).getArgumentType(argument);
    auto store = cast<StoreType>(cast<AccessOpInterface>(member).getAccesses()[argument].store.getType());
    SmallVector<int64_t> shape(store.getRank(), ShapedType::kDynamic);
    return RankedTensorType::get(shape, store.getElementType());
  }

  SmallVector<unsigned> getArguments() const {
    SmallVector<unsigned> arguments;
    for (unsigned slot = 0; slot < slots.size(); ++slot)
      if (!isTemporary[slot])
        arguments.push_back(slot);
    return arguments;
  }

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  Location getLocation() const {
    SmallVector<Location> locations;
    for (Operation *member : members)
      locations.push_back(member->getLoc());
    return FusedLoc::get(context, locations);
  }

  /// Up to three members by name, further ones by number.
  std::string getName() {
    SmallVector<std::string> names;
    for (Operation *member : members) {
      if (auto launch = dyn_cast<LaunchOp>(member))
        names.push_back(launch.getTask().str());
      else
        names.push_back(isa<FillOp>(member) ? "fill" : "copy");
    }
    if (names.size() == 1)
      return names.front();
    if (names.size() <= 3)
      return "fused_" + llvm::join(names, "_");
    return "fused_" + names.front() + "_to_" + names.back() + "_" + std::to_string(names.size());
  }

  //===--------------------------------------------------------------------===//
  // Extents
  //===--------------------------------------------------------------------===//

  /// The argument, and its dimension, that has the extent of dimension `dim` of a slot.
  std::optional<std::pair<unsigned, unsigned>> findExtent(unsigned slot, unsigned dim) const {
    ExtentKey key = getExtentKey(slots[slot], domain, dim);
    auto look = [&](bool sameDim) -> std::optional<std::pair<unsigned, unsigned>> {
      for (auto [other, access] : llvm::enumerate(slots))
        if (!isTemporary[other] && !isa<ImageAttr>(access.partition))
          for (unsigned d = 0, e = slotTypes[other].getRank(); d < e; ++d)
            if ((!sameDim || d == dim) && getExtentKey(access, domain, d) == key)
              return std::pair(unsigned(other), d);
      return std::nullopt;
    };
    // The same dimension of a box of the same rank looks most natural.
    if (auto found = look(true))
      return found;
    return look(false);
  }

  bool hasExtents(unsigned slot) const {
    for (unsigned dim = 0, e = slotTypes[slot].getRank(); dim < e; ++dim)
      if (!findExtent(slot, dim) && !getExtentKey(slots[slot], domain, dim).constant)
        return false;
    return true;
  }

  /// A tensor without content with the extents of the slot's boxes.
  Value makeEmpty(OpBuilder &builder, unsigned slot) {
    RankedTensorType type = slotTypes[slot];
    Location loc = members.front()->getLoc();
    SmallVector<Value> extents;
    for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      if (auto found = findExtent(slot, dim))
        extents.push_back(tensor::DimOp::create(builder, loc, argumentOf[found->first], int64_t(found->second)));
      else
        extents.push_back(
            arith::ConstantIndexOp::create(builder, loc, *getExtentKey(slots[slot], domain, dim).constant));
    }
    return tensor::EmptyOp::create(builder, loc, type, extents);
  }

  //===--------------------------------------------------------------------===//
  // Bodies
  //===--------------------------------------------------------------------===//

  Value castTo(OpBuilder &builder, Value value, Type type) {
    return value.getType() == type ? value : tensor::CastOp::create(builder, value.getLoc(), type, value).getResult();
  }

  /// Something to overwrite.
  Value getDestination(OpBuilder &builder, unsigned slot) {
    return argumentOf[slot] ? argumentOf[slot] : makeEmpty(builder, slot);
  }

  void addBody(OpBuilder &builder, LaunchOp launch, unsigned index) {
    TaskOp task = getTask(launch);
    IRMapping mapping;
    for (BlockArgument argument : task.getBody().getArguments()) {
      unsigned slot = fused.slots[index][argument.getArgNumber()];
      PrivilegeAttr privilege = task.getPrivilege(argument.getArgNumber());
      Value value = current[slot];
      if (privilege.getKind() == PrivilegeKind::Write)
        value = getDestination(builder, slot);
      else if (privilege.reduces() && value != argumentOf[slot])
        value = makeIdentity(builder, slot);
      mapping.map(argument, castTo(builder, value, argument.getType()));
    }
    Block &body = task.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    auto yield = cast<YieldOp>(body.getTerminator());
    for (auto [argument, value] : llvm::zip(task.getYieldedArguments(), yield.getValues())) {
      unsigned slot = fused.slots[index][argument];
      Value result = mapping.lookupOrDefault(value);
      if (task.getPrivilege(argument).reduces() && current[slot] != argumentOf[slot])
        result = combine(builder, slot, current[slot], result);
      current[slot] = result;
    }
  }

  /// What a further reduction into one store starts from.
  Value makeIdentity(OpBuilder &builder, unsigned slot) {
    Location loc = members.front()->getLoc();
    TypedAttr identity = spacemap::getIdentity(slots[slot].privilege.getReducer(), slotTypes[slot].getElementType());
    Value constant = arith::ConstantOp::create(builder, loc, identity);
    return linalg::FillOp::create(builder, loc, constant, makeEmpty(builder, slot)).getResult(0);
  }

  /// The contributions of two members to one store.
  Value combine(OpBuilder &builder, unsigned slot, Value first, Value second) {
    Location loc = members.front()->getLoc();
    RankedTensorType type = slotTypes[slot];
    first = castTo(builder, first, type);
    second = castTo(builder, second, type);
    Value empty = makeEmpty(builder, slot);
    SmallVector<AffineMap> maps(3, builder.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               builder, loc, type, ValueRange{first, second}, empty, maps, iterators,
               [&](OpBuilder &inner, Location at, ValueRange operands) {
                 linalg::YieldOp::create(
                     inner, at,
                     spacemap::createCombine(inner, at, slots[slot].privilege.getReducer(), operands[0], operands[1]));
               })
        .getResult(0);
  }

  void addFill(OpBuilder &builder, FillOp fill, unsigned slot) {
    Attribute value;
    matchPattern(fill.getValue(), m_Constant(&value));
    Value constant = arith::ConstantOp::create(builder, fill.getLoc(), cast<TypedAttr>(value));
    current[slot] =
        linalg::FillOp::create(builder, fill.getLoc(), constant, getDestination(builder, slot)).getResult(0);
  }

  void addCopy(OpBuilder &builder, CopyOp copy, unsigned index) {
    unsigned target = fused.slots[index][1];
    Value source = current[fused.slots[index][0]];
    Value destination = getDestination(builder, target);
    current[target] = linalg::CopyOp::create(builder, copy.getLoc(), source, destination).getResult(0);
  }

  ArrayRef<Operation *> members;
  TaskStreamBuilder &stream;
  SymbolTableCollection &tables;
  MLIRContext *context;
  SmallVector<int64_t> domain;
  tasks::FusedArguments fused;
  SmallVector<Access> slots;
  SmallVector<RankedTensorType> slotTypes;
  std::vector<bool> isTemporary;
  /// The content of each slot so far, and its argument.
  SmallVector<Value> current, argumentOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tasks of a module
//===----------------------------------------------------------------------===//

TaskOp TaskComposer::insert(TaskOp task, Operation *user) {
  Operation *table = SymbolTable::getNearestSymbolTable(user);
  auto key = std::make_pair(table, unsigned(llvm::hash_combine(task.getArgumentTypes(), task.getPrivileges(),
                                                               task.getBody().front().getOperations().size())));
  SmallVector<TaskOp, 1> &candidates = known[key];
  for (TaskOp other : candidates)
    if (other.getArgumentTypes() == task.getArgumentTypes() && other.getPrivileges() == task.getPrivileges() &&
        OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &task.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      task.erase();
      return other;
    }
  // Before the function that launches it.
  Operation *place = user;
  while (place->getParentOp() != table)
    place = place->getParentOp();
  tables.getSymbolTable(table).insert(task, Block::iterator(place));
  candidates.push_back(task);
  ++numTasks;
  return task;
}

Composition TaskComposer::compose(ArrayRef<Operation *> members, TaskStreamBuilder &stream) {
  Composition result;
  Composer composer(members, stream, tables);
  composer.findTemporaries(result);
  if (composer.writesAnything())
    result.launch = composer.buildLaunch(insert(composer.buildTask(), members.back()));
  for (Operation *member : members)
    member->erase();
  return result;
}

Composition TaskComposer::composeIfSmaller(Operation *member, TaskStreamBuilder &stream) {
  Composition result;
  Composer composer(member, stream, tables);
  composer.findTemporaries(result);
  if (result.eliminated.empty() || !composer.writesAnything())
    return result;
  result.launch = composer.buildLaunch(insert(composer.buildTask(), member));
  member->erase();
  return result;
}
