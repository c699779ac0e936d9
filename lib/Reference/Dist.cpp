//===- Dist.cpp - Stores, and what launches do with them --------------------===//

#include "DistRun.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace fusion;
using namespace fusion::reference;
using mlir::failed;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;

FailureOr<StoreView> reference::getStore(Machine &machine, mlir::Operation *op, mlir::Value value) {
  const RuntimeValue *found = machine.lookup(op, value);
  if (!found)
    return mlir::failure();
  if (StoreView *store = found->getStore())
    return *store;
  return op->emitOpError("has an operand that is no store");
}

FailureOr<TensorValue> reference::makePoisoned(Machine &machine, mlir::Operation *op, ScalarType type,
                                               llvm::ArrayRef<int64_t> shape) {
  FailureOr<TensorValue> poison = machine.makeSplat(op, Scalar::makePoison(type), shape);
  if (failed(poison))
    return mlir::failure();
  FailureOr<TensorValue> tensor = machine.allocate(op, type, shape);
  if (mlir::succeeded(tensor))
    copyElements(*poison, *tensor);
  return tensor;
}

FailureOr<TensorValue> reference::combine(Machine &machine, mlir::Operation *op, spacemap::Reducer reducer,
                                          mlir::Type elementType, TensorValue old, TensorValue element) {
  LoopNest nest;
  nest.op = op;
  nest.extents = old.shape;
  nest.parallel.assign(nest.extents.size(), true);
  auto identity = mlir::AffineMap::getMultiDimIdentityMap(nest.extents.size(), op->getContext());
  nest.inputs.push_back({std::move(element), identity});
  nest.outputs.push_back({std::move(old), identity});
  if (failed(runLoopNest(machine, nest, machine.getCombiner(op, unsigned(reducer), elementType))))
    return mlir::failure();
  return std::move(nest.outputs.front().tensor);
}

//===----------------------------------------------------------------------===//
// Points and boxes
//===----------------------------------------------------------------------===//

Shape reference::getPoint(llvm::ArrayRef<int64_t> domain, int64_t number) {
  Shape point(domain.size());
  for (size_t axis = domain.size(); axis-- > 0; number /= domain[axis])
    point[axis] = number % domain[axis];
  return point;
}

unsigned reference::getRankOfPoint(int64_t number, int64_t numPoints, unsigned ranks) {
  return unsigned(__int128(number) * ranks / numPoints);
}

StoreBox reference::getBox(llvm::ArrayRef<int64_t> shape, dist::PartitionInterface partition,
                           llvm::ArrayRef<int64_t> point) {
  StoreBox box{Shape(shape.size(), 0), Shape(shape)};
  auto tiled = llvm::dyn_cast<dist::TiledAttr>(partition);
  if (!tiled)
    return box;
  llvm::SmallVector<int64_t> color = tiled.project(point);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    __int128 from = __int128(color[axis]) * tiled.getTile()[axis], to = from + tiled.getTile()[axis];
    __int128 extent = tiled.getExtent()[axis];
    box.lower[axis] = tiled.getOffset()[axis] + int64_t(std::min(from, extent));
    box.upper[axis] = tiled.getOffset()[axis] + int64_t(std::min(to, extent));
  }
  return box;
}

/// The element of a one-dimensional tensor of integers.
static int64_t loadInteger(const TensorValue &tensor, int64_t index) {
  return tensor.load(tensor.offset + index * tensor.strides[0]).integer;
}

FailureOr<StoreBox> reference::getImageBox(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, dist::ImageAttr image,
                                           llvm::ArrayRef<PointArgument> arguments) {
  StoreBox box{Shape(shape.size(), 0), Shape(shape)};
  int64_t lower = std::numeric_limits<int64_t>::max(), upper = 0;
  auto extend = [&](int64_t from, int64_t to) {
    if (from >= to)
      return;
    lower = std::min(lower, from);
    upper = std::max(upper, to);
  };
  const TensorValue &first = arguments[image.getArguments()[0]].content;
  if (image.getKind() == dist::ImageKind::Points) {
    for (int64_t i = 0; i < first.shape[0]; ++i)
      extend(loadInteger(first, i), loadInteger(first, i) + 1);
  } else {
    const TensorValue &second = arguments[image.getArguments()[1]].content;
    if (first.shape[0] != second.shape[0])
      return op->emitOpError("has an image of ranges with ")
             << first.shape[0] << " beginnings and " << second.shape[0] << " ends";
    for (int64_t i = 0; i < first.shape[0]; ++i)
      extend(loadInteger(first, i), loadInteger(second, i));
  }
  box.lower[0] = std::min(lower, upper);
  box.upper[0] = upper;
  if (box.lower[0] < 0 || box.upper[0] > shape[0])
    return op->emitOpError("has an image of coordinates from ")
           << box.lower[0] << " to " << box.upper[0] - 1 << " in a store of " << shape[0];
  return box;
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

static TensorValue getSlice(const TensorValue &whole, const StoreBox &box) {
  Shape steps(box.lower.size(), 1);
  return whole.slice(box.lower, box.getSizes(), steps);
}

FailureOr<TensorValue> reference::readBox(Machine &machine, mlir::Operation *op, const StoreView &view,
                                          const StoreBox &box, unsigned rank, const llvm::Twine &what) {
  const Store &store = *view.store;
  StoreBox rootBox = view.toRoot(box);
  if (machine.getNumRanks()) {
    if (!store.pending.empty())
      return op->emitOpError(what) << " is read, but contributions to the store are not combined yet: a "
                                   << "'dist.all_reduce' is missing";
    int64_t bad = -1;
    bool arrives = false;
    forEachElement(store.shape, rootBox, [&](int64_t element) {
      if (bad < 0 && store.arriving[rank][element]) {
        bad = element;
        arrives = true;
      }
      if (bad < 0 && store.held[rank][element] != store.current[element])
        bad = element;
    });
    if (bad >= 0)
      return op->emitOpError(what) << " reads element " << getElementText(store.shape, bad) << " on rank " << rank
                                   << " of " << machine.getNumRanks() << ", "
                                   << (arrives                      ? "which an exchange under way may overwrite"
                                       : store.held[rank][bad] == 0 ? "which has never got it"
                                                                    : "which has an old value of it");
  }
  FailureOr<TensorValue> copy = machine.allocate(op, store.type, box.getSizes());
  if (mlir::succeeded(copy))
    copyElements(getSlice(store.copies[rank], rootBox), *copy);
  return copy;
}

LogicalResult reference::writeBox(Machine &machine, mlir::Operation *op, const StoreView &view, const StoreBox &box,
                                  unsigned rank, const TensorValue &content, int64_t number) {
  Store &store = *view.store;
  StoreBox rootBox = view.toRoot(box);
  if (machine.getNumRanks()) {
    if (!store.pending.empty())
      return op->emitOpError("writes a store whose contributions are not combined yet: a 'dist.all_reduce' is missing");
    int64_t bad = -1;
    forEachElement(store.shape, rootBox, [&](int64_t element) {
      if (store.sending[rank][element] || store.arriving[rank][element])
        bad = element;
      store.current[element] = store.held[rank][element] = number;
    });
    if (bad >= 0)
      return op->emitOpError("writes element ") << getElementText(store.shape, bad) << " on rank " << rank << " of "
                                                << machine.getNumRanks() << ", which an exchange under way sends or "
                                                << "receives";
  }
  copyElements(content, getSlice(store.copies[rank], rootBox));
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// One execution of a launch, a fill or a copy.
class LaunchRun {
public:
  /// Gives the new contents of what is written or reduced, in order, from the arguments' contents at a point.
  using Body =
      llvm::function_ref<LogicalResult(llvm::MutableArrayRef<PointArgument>, llvm::SmallVectorImpl<TensorValue> &)>;

  LaunchRun(Machine &machine, dist::AccessOpInterface op) : machine(machine), op(op), accesses(op.getAccesses()) {}

  LogicalResult run(Body body);

private:
  LogicalResult runPoint(const Shape &point, unsigned rank, Body body);
  LogicalResult readAhead(bool everywhere);
  FailureOr<PointArgument> prepare(unsigned index, const StoreBox &box, llvm::StringRef pointText, unsigned rank);
  LogicalResult contribute(unsigned index, const StoreBox &box, unsigned rank, TensorValue content);

  Machine &machine;
  dist::AccessOpInterface op;
  llvm::SmallVector<dist::Access> accesses;
  llvm::SmallVector<StoreView> views;
  int64_t number = 0;
  /// Scalars that a launch reads whose points write the same scalars, by argument and rank: what they held before the
  /// launch.
  llvm::DenseMap<std::pair<unsigned, unsigned>, TensorValue> before;
};

} // namespace

LogicalResult LaunchRun::run(Body body) {
  bool onlyScalars = true, reduces = false;
  for (const dist::Access &access : accesses) {
    FailureOr<StoreView> view = getStore(machine, op, access.store);
    if (failed(view))
      return mlir::failure();
    onlyScalars &= view->shape.empty();
    reduces |= access.privilege.reduces();
    views.push_back(std::move(*view));
  }
  number = ++machine.numWrites;
  llvm::ArrayRef<int64_t> domain = op.getLaunchDomain();
  int64_t points = dist::getNumPoints(domain);
  unsigned ranks = machine.getNumRanks();
  bool everywhere = onlyScalars && points == 1 && !reduces;
  if ((op.isReplicated() || everywhere) && failed(readAhead(everywhere)))
    return mlir::failure();
  for (int64_t i = 0; i < points; ++i) {
    Shape point = getPoint(domain, i);
    if (everywhere) {
      for (unsigned rank = 0; rank < std::max(ranks, 1u); ++rank)
        if (failed(runPoint(point, rank, body)))
          return mlir::failure();
      return success();
    }
    if (failed(runPoint(point, ranks ? getRankOfPoint(i, points, ranks) : 0, body)))
      return mlir::failure();
  }
  return success();
}

LogicalResult LaunchRun::readAhead(bool everywhere) {
  int64_t points = dist::getNumPoints(op.getLaunchDomain());
  unsigned ranks = machine.getNumRanks();
  for (unsigned rank = 0; rank < std::max(ranks, 1u); ++rank) {
    bool hasPoint = everywhere || !ranks;
    for (int64_t i = 0; i < points && !hasPoint; ++i)
      hasPoint = getRankOfPoint(i, points, ranks) == rank;
    if (!hasPoint)
      continue;
    for (auto [index, access] : llvm::enumerate(accesses)) {
      if (!views[index].shape.empty() || !access.privilege.reads())
        continue;
      FailureOr<TensorValue> content =
          readBox(machine, op, views[index], StoreBox(), rank, "argument " + llvm::Twine(index));
      if (failed(content))
        return mlir::failure();
      before[{unsigned(index), rank}] = std::move(*content);
    }
  }
  return success();
}

FailureOr<PointArgument> LaunchRun::prepare(unsigned index, const StoreBox &box, llvm::StringRef pointText,
                                            unsigned rank) {
  const StoreView &view = views[index];
  dist::PrivilegeAttr privilege = accesses[index].privilege;
  FailureOr<TensorValue> content = mlir::failure();
  if (privilege.reads()) {
    auto known = before.find({index, rank});
    if (known != before.end())
      content = known->second;
    else
      content = readBox(machine, op, view, box, rank, "argument " + llvm::Twine(index) + " at point " + pointText);
  } else if (privilege.writes()) {
    content = makePoisoned(machine, op, view.store->type, box.getSizes());
  } else {
    mlir::TypedAttr attribute = spacemap::getIdentity(privilege.getReducer(), view.store->elementType);
    std::optional<Scalar> identity = attribute ? Scalar::get(attribute) : std::nullopt;
    if (!identity)
      return op.emitOpError("reduces elements of a type without an identity");
    content = machine.makeSplat(op, *identity, box.getSizes());
  }
  if (failed(content))
    return mlir::failure();
  return PointArgument{std::move(*content), box.lower};
}

LogicalResult LaunchRun::runPoint(const Shape &point, unsigned rank, Body body) {
  std::string pointText;
  llvm::raw_string_ostream(pointText) << "[" << llvm::interleaved(point) << "]";
  llvm::SmallVector<PointArgument> arguments(accesses.size());
  llvm::SmallVector<StoreBox> boxes(accesses.size());
  // Images refer to arguments that are none, or come before them.
  for (bool images : {false, true})
    for (auto [index, access] : llvm::enumerate(accesses)) {
      auto image = llvm::dyn_cast<dist::ImageAttr>(access.partition);
      if (bool(image) != images)
        continue;
      if (image) {
        FailureOr<StoreBox> box = getImageBox(op, views[index].shape, image, arguments);
        if (failed(box))
          return mlir::failure();
        boxes[index] = std::move(*box);
      } else {
        boxes[index] = getBox(views[index].shape, access.partition, point);
      }
      FailureOr<PointArgument> argument = prepare(index, boxes[index], pointText, rank);
      if (failed(argument))
        return mlir::failure();
      arguments[index] = std::move(*argument);
    }
  llvm::SmallVector<TensorValue> results;
  if (failed(body(arguments, results)))
    return mlir::failure();
  auto *result = results.begin();
  for (auto [index, access] : llvm::enumerate(accesses)) {
    if (access.privilege.getKind() == dist::PrivilegeKind::Read)
      continue;
    if (result == results.end() || result->shape != boxes[index].getSizes())
      return op.emitOpError("argument ") << index << " at point " << pointText
                                         << ": the new content has not the extents "
                                         << "of the box";
    LogicalResult written = access.privilege.reduces()
                                ? contribute(index, boxes[index], rank, std::move(*result))
                                : writeBox(machine, op, views[index], boxes[index], rank, *result, number);
    if (failed(written))
      return mlir::failure();
    ++result;
  }
  return success();
}

LogicalResult LaunchRun::contribute(unsigned index, const StoreBox &box, unsigned rank, TensorValue content) {
  StoreView &view = views[index];
  Store &store = *view.store;
  dist::PrivilegeAttr privilege = accesses[index].privilege;
  StoreBox rootBox = view.toRoot(box);
  if (!machine.getNumRanks()) {
    FailureOr<TensorValue> sum = combine(machine, op, privilege.getReducer(), store.elementType,
                                         getSlice(store.copies[0], rootBox), std::move(content));
    if (failed(sum))
      return mlir::failure();
    copyElements(*sum, getSlice(store.copies[0], rootBox));
    return success();
  }
  auto domain = op.getLaunchDomain();
  auto placement = dist::PlacementAttr::get(op->getContext(), accesses[index].partition, domain);
  PendingReduction *mine = nullptr;
  for (PendingReduction &pending : store.pending) {
    if (pending.reduction == privilege && pending.placement == placement) {
      mine = &pending;
      continue;
    }
    bool meets = false;
    forEachElement(store.shape, rootBox, [&](int64_t element) {
      for (const std::vector<bool> &touched : pending.touched)
        meets |= touched[element];
    });
    if (meets)
      return op.emitOpError("argument ") << index << " is reduced, but contributions of another reduction to the same "
                                         << "elements are not combined yet: a 'dist.all_reduce' is missing";
  }
  if (!mine) {
    mine = &store.pending.emplace_back();
    mine->reduction = privilege;
    mine->placement = placement;
    mine->touched.assign(machine.getNumRanks(), std::vector<bool>(store.current.size()));
    for (unsigned i = 0; i < machine.getNumRanks(); ++i) {
      FailureOr<TensorValue> memory = makePoisoned(machine, op, store.type, store.shape);
      std::optional<Scalar> identity = Scalar::get(spacemap::getIdentity(privilege.getReducer(), store.elementType));
      FailureOr<TensorValue> splat = machine.makeSplat(op, *identity, store.shape);
      if (failed(memory) || failed(splat))
        return mlir::failure();
      copyElements(*splat, *memory);
      mine->contributions.push_back(std::move(*memory));
    }
  }
  FailureOr<TensorValue> sum = combine(machine, op, privilege.getReducer(), store.elementType,
                                       getSlice(mine->contributions[rank], rootBox), std::move(content));
  if (failed(sum))
    return mlir::failure();
  copyElements(*sum, getSlice(mine->contributions[rank], rootBox));
  forEachElement(store.shape, rootBox, [&](int64_t element) { mine->touched[rank][element] = true; });
  return success();
}

static LogicalResult run(Machine &machine, dist::LaunchOp op) {
  auto task = machine.symbolTables.lookupNearestSymbolFrom<dist::TaskOp>(op, op.getTaskAttr());
  if (!task)
    return op.emitOpError("refers to '@") << op.getTask() << "', which is no 'dist.task'";
  return LaunchRun(machine, op)
      .run([&](llvm::MutableArrayRef<PointArgument> arguments,
               llvm::SmallVectorImpl<TensorValue> &results) -> LogicalResult {
        for (auto [index, argument] : llvm::enumerate(arguments)) {
          mlir::RankedTensorType type = task.getArgumentType(index);
          for (auto [wanted, given] : llvm::zip(type.getShape(), argument.content.shape))
            if (!mlir::ShapedType::isDynamic(wanted) && wanted != given)
              return op.emitOpError("argument ")
                     << index << " is a box of " << getTypeText(argument.content.type.kind, argument.content.shape)
                     << ", but '@" << op.getTask() << "' takes a " << type;
        }
        if (task.isOpaque()) {
          if (failed(runExternal(op, *task.getExternal(), arguments)))
            return mlir::failure();
          for (unsigned index : task.getYieldedArguments())
            results.push_back(arguments[index].content);
          return success();
        }
        Values values, yielded;
        for (PointArgument &argument : arguments)
          values.push_back(std::move(argument.content));
        if (failed(machine.runIsolated(task.getBody(), std::move(values), yielded)))
          return mlir::failure();
        for (RuntimeValue &value : yielded) {
          TensorValue *tensor = value.getTensor();
          if (!tensor)
            return op.emitOpError("runs a task that yields no tensor");
          results.push_back(std::move(*tensor));
        }
        return success();
      });
}

static LogicalResult run(Machine &machine, dist::FillOp op) {
  FailureOr<Scalar> value = machine.getScalar(op, op.getValue());
  if (failed(value))
    return mlir::failure();
  return LaunchRun(machine, op)
      .run([&](llvm::MutableArrayRef<PointArgument> arguments,
               llvm::SmallVectorImpl<TensorValue> &results) -> LogicalResult {
        FailureOr<TensorValue> splat = machine.makeSplat(op, *value, arguments[0].content.shape);
        if (failed(splat))
          return mlir::failure();
        results.push_back(std::move(*splat));
        return success();
      });
}

static LogicalResult run(Machine &machine, dist::CopyOp op) {
  return LaunchRun(machine, op)
      .run([&](llvm::MutableArrayRef<PointArgument> arguments,
               llvm::SmallVectorImpl<TensorValue> &results) -> LogicalResult {
        results.push_back(std::move(arguments[0].content));
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static FailureOr<std::shared_ptr<StoreView>> makeStore(Machine &machine, mlir::Operation *op, dist::StoreType type) {
  std::optional<ScalarType> element = ScalarType::get(type.getElementType());
  if (!element)
    return op->emitOpError("makes a store with elements of a type that the reference interpreter cannot hold");
  auto store = std::make_shared<Store>();
  store->shape.assign(type.getShape().begin(), type.getShape().end());
  store->type = *element;
  store->elementType = type.getElementType();
  unsigned ranks = machine.getNumRanks();
  for (unsigned i = 0; i < std::max(ranks, 1u); ++i) {
    FailureOr<TensorValue> copy = makePoisoned(machine, op, *element, type.getShape());
    if (failed(copy))
      return mlir::failure();
    store->copies.push_back(std::move(*copy));
  }
  if (ranks) {
    size_t elements = size_t(store->copies[0].getNumElements());
    store->current.assign(elements, 0);
    store->held.assign(ranks, std::vector<int64_t>(elements, 0));
    store->sending.assign(ranks, std::vector<int>(elements, 0));
    store->arriving.assign(ranks, std::vector<int>(elements, 0));
  }
  auto view = std::make_shared<StoreView>();
  view->offsets.assign(store->shape.size(), 0);
  view->shape = store->shape;
  view->store = std::move(store);
  return view;
}

static StoreBox getWhole(const StoreView &view) { return {Shape(view.shape.size(), 0), view.shape}; }

static LogicalResult run(Machine &machine, dist::CreateOp op) {
  auto store = makeStore(machine, op, llvm::cast<dist::StoreType>(op.getStore().getType()));
  return failed(store) ? mlir::failure() : machine.set(op, op.getStore(), std::move(*store));
}

static LogicalResult run(Machine &machine, dist::FromTensorOp op) {
  FailureOr<TensorValue> tensor = machine.getTensor(op, op.getTensor());
  auto store = makeStore(machine, op, llvm::cast<dist::StoreType>(op.getStore().getType()));
  if (failed(tensor) || failed(store) ||
      failed(writeBox(machine, op, **store, getWhole(**store), /*rank=*/0, *tensor, ++machine.numWrites)))
    return mlir::failure();
  // A scalar is sent to all ranks.
  for (unsigned rank = 1; (*store)->shape.empty() && rank < machine.getNumRanks(); ++rank)
    if (failed(writeBox(machine, op, **store, getWhole(**store), rank, *tensor, machine.numWrites)))
      return mlir::failure();
  return machine.set(op, op.getStore(), std::move(*store));
}

static LogicalResult run(Machine &machine, dist::ToTensorOp op) {
  FailureOr<StoreView> store = getStore(machine, op, op.getStore());
  if (failed(store))
    return mlir::failure();
  // Every rank has a scalar; the host program is that of the first rank.
  unsigned readers = store->shape.empty() ? std::max(machine.getNumRanks(), 1u) : 1;
  FailureOr<TensorValue> content = mlir::failure();
  for (unsigned rank = readers; rank-- > 0;) {
    content = readBox(machine, op, *store, getWhole(*store), rank, "of the whole store");
    if (failed(content))
      return mlir::failure();
  }
  return machine.set(op, op.getTensor(), std::move(*content));
}

static LogicalResult run(Machine &machine, dist::ViewOp op) {
  FailureOr<StoreView> source = getStore(machine, op, op.getSource());
  if (failed(source))
    return mlir::failure();
  auto view = std::make_shared<StoreView>(std::move(*source));
  for (auto [offset, more] : llvm::zip(view->offsets, op.getOffsets()))
    offset += more;
  llvm::ArrayRef<int64_t> shape = llvm::cast<dist::StoreType>(op.getView().getType()).getShape();
  view->shape.assign(shape.begin(), shape.end());
  return machine.set(op, op.getView(), std::move(view));
}

Handled reference::runDistOp(Machine &machine, mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, Handled>(op)
      .Case<dist::CreateOp, dist::FromTensorOp, dist::ToTensorOp, dist::ViewOp, dist::LaunchOp, dist::FillOp,
            dist::CopyOp>([&](auto known) { return run(machine, known); })
      .Case<dist::ExchangeOp, dist::ExchangeStartOp, dist::ExchangeWaitOp>(
          [&](auto known) { return runExchange(machine, known); })
      .Case([&](dist::AllReduceOp known) { return runAllReduce(machine, known); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}
