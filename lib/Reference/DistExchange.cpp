//===- DistExchange.cpp - Communication between simulated ranks -------------===//
//
// Element by element, from the definitions in DistOps.td: slow, and independent of the box arithmetic of the run-time.
//
//===------------------------------------------------------------------------===//

#include "DistRun.h"

using namespace fusion;
using namespace fusion::reference;
using mlir::failed;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;

namespace {

/// By element: the ranks that have it in a box of one of their points, one bit each.
using RankSets = std::vector<uint64_t>;

} // namespace

static uint64_t getAllRanks(unsigned ranks) { return ranks >= 64 ? ~uint64_t(0) : (uint64_t(1) << ranks) - 1; }

static RankSets getRankSets(Machine &machine, const Store &store, dist::PlacementAttr placement) {
  RankSets sets(store.current.size(), 0);
  llvm::ArrayRef<int64_t> domain = placement.getDomain();
  int64_t points = dist::getNumPoints(domain);
  for (int64_t i = 0; i < points; ++i) {
    uint64_t bit = uint64_t(1) << getRankOfPoint(i, points, machine.getNumRanks());
    StoreBox box = getBox(store.shape, placement.getPartition(), getPoint(domain, i));
    forEachElement(store.shape, box, [&](int64_t element) { sets[element] |= bit; });
  }
  return sets;
}

/// The same for an image, from the contents of the stores that it refers to.
template <typename Op>
static FailureOr<RankSets> getImageSets(Machine &machine, Op op, const Store &store, dist::PlacementAttr placement) {
  RankSets sets(store.current.size(), 0);
  llvm::ArrayRef<int64_t> domain = placement.getDomain();
  int64_t points = dist::getNumPoints(domain);
  llvm::SmallVector<StoreView> views;
  for (mlir::Value given : op.getGiven()) {
    FailureOr<StoreView> view = getStore(machine, op, given);
    if (failed(view))
      return mlir::failure();
    views.push_back(std::move(*view));
  }
  for (int64_t i = 0; i < points; ++i) {
    unsigned rank = getRankOfPoint(i, points, machine.getNumRanks());
    Shape point = getPoint(domain, i);
    llvm::SmallVector<PointArgument> arguments(views.size());
    auto getBoxOf = [&](llvm::ArrayRef<int64_t> shape, mlir::Attribute partition) -> FailureOr<StoreBox> {
      if (auto image = llvm::dyn_cast<dist::ImageAttr>(partition))
        return getImageBox(op, shape, image, arguments);
      return getBox(shape, llvm::cast<dist::PartitionInterface>(partition), point);
    };
    for (auto [index, view, partition] : llvm::enumerate(views, op.getGivenPartitions())) {
      FailureOr<StoreBox> box = getBoxOf(view.shape, partition);
      if (failed(box))
        return mlir::failure();
      FailureOr<TensorValue> content =
          readBox(machine, op, view, *box, rank, "store " + llvm::Twine(index) + " that is given");
      if (failed(content))
        return mlir::failure();
      arguments[index] = {std::move(*content), box->lower};
    }
    FailureOr<StoreBox> box = getBoxOf(store.shape, placement.getPartition());
    if (failed(box))
      return mlir::failure();
    forEachElement(store.shape, *box, [&](int64_t element) { sets[element] |= uint64_t(1) << rank; });
  }
  return sets;
}

/// What is to be moved. Where the sources name a rank with an old value there is an error.
template <typename Op>
static FailureOr<Transfer> planTransfer(Machine &machine, Op op) {
  FailureOr<StoreView> view = getStore(machine, op, op.getStore());
  if (failed(view))
    return mlir::failure();
  const Store &store = *view->store;
  // Contributions that are not combined yet lie apart: old elements may be brought to where they will be.
  unsigned ranks = machine.getNumRanks();
  RankSets needed(store.current.size(), 0);
  for (mlir::Attribute attribute : op.getTargets()) {
    auto placement = llvm::cast<dist::PlacementAttr>(attribute);
    FailureOr<RankSets> sets = llvm::isa<dist::ImageAttr>(placement.getPartition())
                                   ? getImageSets(machine, op, store, placement)
                                   : FailureOr<RankSets>(getRankSets(machine, store, placement));
    if (failed(sets))
      return mlir::failure();
    for (auto [all, more] : llvm::zip(needed, *sets))
      all |= store.shape.empty() ? getAllRanks(ranks) : more;
  }
  llvm::SmallVector<RankSets> layers;
  for (mlir::Attribute source : op.getSources())
    layers.push_back(getRankSets(machine, store, llvm::cast<dist::PlacementAttr>(source)));
  Transfer transfer;
  transfer.store = view->store;
  for (int64_t element = 0, count = needed.size(); element < count; ++element) {
    uint64_t holders = 0;
    for (const RankSets &layer : llvm::reverse(layers))
      if ((holders = layer[element]))
        break;
    if (!holders)
      continue;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      if (!(needed[element] >> rank & 1))
        continue;
      // The rank itself first, then the next higher ones.
      unsigned from = rank;
      while (!(holders >> from & 1))
        from = (from + 1) % ranks;
      if (store.held[from][element] != store.current[element])
        return op.emitOpError("takes element ")
               << getElementText(store.shape, element) << " from rank " << from << " of " << ranks
               << ", which the sources name, but which has an old value of it";
      if (from != rank)
        transfer.elements.push_back({from, rank, element});
    }
  }
  return transfer;
}

/// Counts messages: elements with the same sender and receiver go together.
static void countMessages(Machine &machine, mlir::Operation *op, const Transfer &transfer) {
  llvm::DenseSet<std::pair<unsigned, unsigned>> pairs;
  for (const Transfer::Element &element : transfer.elements)
    pairs.insert({element.from, element.to});
  machine.count(op, pairs.size(), transfer.elements.size() * getByteWidth(transfer.store->type.kind));
}

static LogicalResult deliver(mlir::Operation *op, const Transfer &transfer) {
  Store &store = *transfer.store;
  for (const Transfer::Element &element : transfer.elements) {
    store.copies[element.to].store(element.element, store.copies[element.from].load(element.element));
    store.held[element.to][element.element] = store.held[element.from][element.element];
  }
  return success();
}

LogicalResult reference::runExchange(Machine &machine, dist::ExchangeOp op) {
  if (!machine.getNumRanks())
    return success();
  FailureOr<Transfer> transfer = planTransfer(machine, op);
  if (failed(transfer))
    return mlir::failure();
  countMessages(machine, op, *transfer);
  for (const Transfer::Element &element : transfer->elements)
    if (transfer->store->arriving[element.to][element.element] || transfer->store->sending[element.to][element.element])
      return op.emitOpError("overwrites an element that another exchange under way sends or receives");
  return deliver(op, *transfer);
}

LogicalResult reference::runExchange(Machine &machine, dist::ExchangeStartOp op) {
  auto started = std::make_shared<Transfer>();
  if (machine.getNumRanks()) {
    FailureOr<Transfer> transfer = planTransfer(machine, op);
    if (failed(transfer))
      return mlir::failure();
    countMessages(machine, op, *transfer);
    *started = std::move(*transfer);
    Store &store = *started->store;
    for (const Transfer::Element &element : started->elements) {
      if (store.arriving[element.to][element.element] || store.arriving[element.from][element.element])
        return op.emitOpError("sends or overwrites an element that another exchange under way brings");
      ++store.sending[element.from][element.element];
    }
    for (const Transfer::Element &element : started->elements)
      ++store.arriving[element.to][element.element];
  }
  return machine.set(op, op.getToken(), std::move(started));
}

LogicalResult reference::runExchange(Machine &machine, dist::ExchangeWaitOp op) {
  const RuntimeValue *token = machine.lookup(op, op.getToken());
  Transfer *transfer = token ? token->getTransfer() : nullptr;
  if (!transfer)
    return op.emitOpError("waits for something that is no exchange");
  if (!machine.getNumRanks())
    return success();
  if (!transfer->store)
    return op.emitOpError("waits for an exchange that has been waited for");
  for (const Transfer::Element &element : transfer->elements) {
    --transfer->store->sending[element.from][element.element];
    --transfer->store->arriving[element.to][element.element];
  }
  LogicalResult delivered = deliver(op, *transfer);
  *transfer = Transfer();
  return delivered;
}

LogicalResult reference::runAllReduce(Machine &machine, dist::AllReduceOp op) {
  unsigned ranks = machine.getNumRanks();
  FailureOr<StoreView> view = getStore(machine, op, op.getStore());
  if (failed(view))
    return mlir::failure();
  Store &store = *view->store;
  auto pending = llvm::find_if(store.pending, [&](const PendingReduction &candidate) {
    return candidate.reduction == op.getReduction() && candidate.placement == op.getPlacement();
  });
  if (!ranks || pending == store.pending.end()) {
    if (ranks)
      machine.count(op, 0, 0);
    return success();
  }
  RankSets sets = getRankSets(machine, store, op.getPlacement());
  // The result is combined in a copy of its own, rank by rank; elements that nobody contributed to are left alone.
  FailureOr<TensorValue> result = makePoisoned(machine, op, store.type, store.shape);
  if (failed(result))
    return mlir::failure();
  llvm::DenseSet<std::pair<unsigned, unsigned>> pairs;
  uint64_t moved = 0;
  for (int64_t element = 0, count = store.current.size(); element < count; ++element) {
    uint64_t contributors = 0;
    for (unsigned rank = 0; rank < ranks; ++rank)
      contributors |= uint64_t(pending->touched[rank][element]) << rank;
    if (!contributors)
      continue;
    uint64_t receivers = store.shape.empty() ? getAllRanks(ranks) : sets[element];
    for (unsigned rank = 0; rank < ranks; ++rank) {
      if (!(receivers >> rank & 1))
        continue;
      if (store.held[rank][element] != store.current[element])
        return op.emitOpError("combines contributions with element ")
               << getElementText(store.shape, element) << " on rank " << rank << " of " << ranks
               << ", which has an old value of it: an exchange is missing";
      for (unsigned from = 0; from < ranks; ++from)
        if (from != rank && (contributors >> from & 1)) {
          pairs.insert({from, rank});
          ++moved;
        }
    }
    unsigned first = 0;
    while (!(receivers >> first & 1))
      ++first;
    result->store(element, store.copies[first].load(element));
  }
  for (unsigned rank = 0; rank < ranks; ++rank) {
    FailureOr<TensorValue> sum = combine(machine, op, op.getReduction().getReducer(), store.elementType,
                                         std::move(*result), pending->contributions[rank]);
    if (failed(sum))
      return mlir::failure();
    result = std::move(*sum);
  }
  int64_t number = ++machine.numWrites;
  for (int64_t element = 0, count = store.current.size(); element < count; ++element) {
    bool touched = llvm::any_of(pending->touched, [&](const std::vector<bool> &of) { return of[element]; });
    if (!touched)
      continue;
    store.current[element] = number;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      if (!store.shape.empty() && !(sets[element] >> rank & 1))
        continue;
      if (store.sending[rank][element] || store.arriving[rank][element])
        return op.emitOpError("changes an element that an exchange under way sends or receives");
      store.copies[rank].store(element, result->load(element));
      store.held[rank][element] = number;
    }
  }
  machine.count(op, pairs.size(), moved * getByteWidth(store.type.kind));
  store.pending.erase(pending);
  return success();
}
