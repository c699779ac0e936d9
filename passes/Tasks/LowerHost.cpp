//===- LowerHost.cpp - Operations on stores to calls of the run-time --------===//

#include "Lower.h"

#include "fusion/Runtime/Dist.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

namespace {

/// What is known of a store of the function.
struct StoreInfo {
  int64_t number = 0;
  Operation *definition = nullptr;
  /// Operations that use it, and the waits of exchanges of it.
  SmallVector<Operation *> uses;
  /// Where parts of it are touched; each once.
  llvm::SetVector<PlacementAttr> placements;
  bool isWritten = false;
  /// The operation of the block of the definition that uses it last; null if there is none or it is in another block.
  Operation *lastUse = nullptr;
  /// It is in the memory of its tensor; which may be reused for others after the last read of the tensor, so there is
  /// one at the end of the store's life, unless the tensor is an argument of the program, which is never written.
  bool isBorrowed = false, isReturned = false;
  /// The result whose memory it is made in.
  ToTensorOp result;
  Value resultBuffer;
};

class HostLowering {
public:
  HostLowering(func::FuncOp function, BodyBuilder &bodies, LowerCounts &counts)
      : function(function), module(function->getParentOfType<ModuleOp>()), bodies(bodies), counts(counts),
        builder(function.getContext()), pointer(LLVM::LLVMPointerType::get(function.getContext())),
        word(builder.getI64Type()) {}

  LogicalResult run();

private:
  // Analysis.
  LogicalResult collect();
  LogicalResult collectUse(Operation *op);
  void place(StoreInfo &info);
  void touch(StoreInfo &info, PartitionInterface partition, ArrayRef<int64_t> domain) {
    info.placements.insert(PlacementAttr::get(function.getContext(), partition, domain));
  }
  StoreInfo &getInfo(Value store) { return stores.find(store)->second; }

  // Emission.
  LogicalResult lower(Operation *op);
  LogicalResult lowerLaunch(LaunchOp op);
  void lowerCreate(StoreInfo &info);
  void returnTensor(StoreInfo &info);
  void lowerToTensor(ToTensorOp op);
  void lowerFill(FillOp op);
  void lowerCopy(CopyOp op);
  template <typename Exchange>
  Value createExchangeTable(Exchange op);
  /// The slots, and space for `words`.
  int64_t takeSlot() { return numSlots++; }

  Value constant(Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }
  /// The address of a constant table.
  Value createTable(Location loc, ArrayRef<int64_t> words);
  Value createText(Location loc, StringRef text);
  Value getAddress(Location loc, Value buffer);
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> arguments);
  void call(Location loc, StringRef name, ArrayRef<Value> arguments) {
    SmallVector<Type> types = llvm::map_to_vector(arguments, [](Value value) { return value.getType(); });
    LLVM::CallOp::create(builder, loc, declare(name, LLVM::LLVMVoidType::get(builder.getContext()), types), arguments);
  }
  int64_t getLaunchFlags(AccessOpInterface op, bool &reduces);

  func::FuncOp function;
  ModuleOp module;
  BodyBuilder &bodies;
  LowerCounts &counts;
  OpBuilder builder;
  Type pointer, word;
  Value context;
  llvm::MapVector<Value, StoreInfo> stores;
  /// Slots of the contributions that wait for a dist.all_reduce of this store, operator and placement.
  using Reduction = std::tuple<void *, const void *, const void *>;
  static Reduction getReduction(Value store, PrivilegeAttr privilege, PlacementAttr placement) {
    return {store.getAsOpaquePointer(), privilege.getAsOpaquePointer(), placement.getAsOpaquePointer()};
  }
  std::map<Reduction, int64_t> reductions;
  /// Tables of exchanges that were started.
  DenseMap<Value, Value> started;
  SmallVector<Operation *> order;
  int64_t numSlots = 0;
  unsigned numTables = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::collectUse(Operation *op) {
  auto note = [&](Value store) -> StoreInfo & {
    StoreInfo &info = getInfo(store);
    info.uses.push_back(op);
    return info;
  };
  for (Value operand : op->getOperands())
    if (isa<StoreType>(operand.getType()) && !stores.contains(operand))
      return op->emitOpError("takes a store that no operation of this function makes; is the program canonicalised?");
  if (auto access = dyn_cast<AccessOpInterface>(op)) {
    for (const Access &part : access.getAccesses()) {
      StoreInfo &info = note(part.store);
      touch(info, part.partition, access.getLaunchDomain());
      info.isWritten |= part.privilege.writes() || part.privilege.reduces();
    }
    return success();
  }
  PartitionInterface whole = NoneAttr::get(op->getContext());
  if (auto result = dyn_cast<ToTensorOp>(op)) {
    touch(note(result.getStore()), whole, {1});
  } else if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    StoreInfo &info = note(reduce.getStore());
    touch(info, reduce.getPlacement().getPartition(), reduce.getPlacement().getDomain());
    info.isWritten = true;
    reductions.try_emplace(getReduction(reduce.getStore(), reduce.getReduction(), reduce.getPlacement()), -1);
  } else if (auto wait = dyn_cast<ExchangeWaitOp>(op)) {
    auto start = wait.getToken().getDefiningOp<ExchangeStartOp>();
    if (!start)
      return op->emitOpError("waits for an exchange that is not started by a 'dist.exchange_start' in this function");
    note(start.getStore());
  } else {
    auto visit = [&](auto exchange) {
      StoreInfo &info = note(exchange.getStore());
      for (ArrayAttr placements : {exchange.getSources(), exchange.getTargets()})
        for (auto placement : placements.template getAsRange<PlacementAttr>())
          touch(info, placement.getPartition(), placement.getDomain());
      for (Value given : exchange.getGiven())
        note(given);
    };
    if (auto exchange = dyn_cast<ExchangeOp>(op))
      visit(exchange);
    else if (auto start = dyn_cast<ExchangeStartOp>(op))
      visit(start);
  }
  return success();
}

LogicalResult HostLowering::collect() {
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa_and_nonnull<DistDialect>(op->getDialect()))
      return WalkResult::advance();
    if (isa<ViewOp>(op)) {
      op->emitOpError("is a view, which canonicalisation must have removed before the program is lowered");
      return WalkResult::interrupt();
    }
    order.push_back(op);
    if (!isa<CreateOp, FromTensorOp>(op))
      return WalkResult::advance();
    auto type = cast<StoreType>(op->getResult(0).getType());
    if (!getElementCode(type.getElementType())) {
      op->emitOpError() << "makes a store of " << type.getElementType()
                        << "; elements of type f16, bf16, f32, f64, i1, "
                        << "i8, i16, i32, i64 and index can be run";
      return WalkResult::interrupt();
    }
    StoreInfo info;
    info.number = stores.size();
    info.definition = op;
    stores.insert({op->getResult(0), std::move(info)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (Operation *op : order)
    if (!isa<CreateOp, FromTensorOp>(op) && failed(collectUse(op)))
      return failure();
  for (auto &[store, info] : stores)
    place(info);
  for (auto &[reduction, slot] : reductions)
    slot = takeSlot();
  return success();
}

void HostLowering::place(StoreInfo &info) {
  Block *block = info.definition->getBlock();
  for (Operation *use : info.uses) {
    Operation *ancestor = block->findAncestorOpInBlock(*use);
    if (!ancestor) {
      info.lastUse = nullptr;
      break;
    }
    if (!info.lastUse || info.lastUse->isBeforeInBlock(ancestor))
      info.lastUse = ancestor;
  }
  auto type = cast<StoreType>(info.definition->getResult(0).getType());
  auto source = dyn_cast<FromTensorOp>(info.definition);
  if (source)
    touch(info, NoneAttr::get(function.getContext()), {1});
  if (type.getRank() == 0)
    return;
  bool isArgument = source && function.isPublic() && isa<BlockArgument>(source.getTensor()) &&
                    source.getTensor().getParentBlock() == &function.getBody().front();
  if (source && !info.isWritten && (isArgument || info.lastUse)) {
    info.isBorrowed = true;
    info.isReturned = !isArgument;
    ++counts.borrowed;
    return;
  }
  if (auto result = dyn_cast_or_null<ToTensorOp>(info.lastUse)) {
    info.result = result;
    ++counts.placed;
  }
}

//===----------------------------------------------------------------------===//
// Pieces of code
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp HostLowering::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(atStart, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value HostLowering::createTable(Location loc, ArrayRef<int64_t> words) {
  OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
  std::string name;
  do
    name = "dist.table." + function.getSymName().str() + "." + std::to_string(numTables++);
  while (module.lookupSymbol(name));
  auto type = LLVM::LLVMArrayType::get(word, words.size());
  auto content = DenseElementsAttr::get(RankedTensorType::get({int64_t(words.size())}, word), words);
  auto global = LLVM::GlobalOp::create(atStart, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, content,
                                       /*alignment=*/8);
  return LLVM::AddressOfOp::create(builder, loc, pointer, global.getSymName());
}

Value HostLowering::createText(Location loc, StringRef text) {
  OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
  std::string name;
  do
    name = "dist.text." + function.getSymName().str() + "." + std::to_string(numTables++);
  while (module.lookupSymbol(name));
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  auto global = LLVM::GlobalOp::create(atStart, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                       builder.getStringAttr(bytes));
  return LLVM::AddressOfOp::create(builder, loc, pointer, global.getSymName());
}

Value HostLowering::getAddress(Location loc, Value buffer) {
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value number = arith::IndexCastOp::create(builder, loc, word, index);
  return LLVM::IntToPtrOp::create(builder, loc, pointer, number);
}

int64_t HostLowering::getLaunchFlags(AccessOpInterface op, bool &reduces) {
  bool allScalars = true;
  reduces = false;
  for (const Access &access : op.getAccesses()) {
    allScalars &= cast<StoreType>(access.store.getType()).getRank() == 0;
    reduces |= access.privilege.reduces();
  }
  bool once = getNumPoints(op.getLaunchDomain()) == 1;
  if (!allScalars || !once || op.getAccesses().empty())
    return op.isReplicated() ? FUSION_DIST_REPLICATED : 0;
  // Every rank computes scalars for itself, but a contribution counts once: the scalars are then sent.
  return reduces ? FUSION_DIST_REPLICATED : FUSION_DIST_EVERYWHERE;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void HostLowering::lowerCreate(StoreInfo &info) {
  Location loc = info.definition->getLoc();
  auto type = cast<StoreType>(info.definition->getResult(0).getType());
  SmallVector<int64_t> words{takeSlot(), info.number, *getElementCode(type.getElementType()), type.getRank()};
  llvm::append_range(words, type.getShape());
  words.push_back(info.placements.size());
  for (PlacementAttr placement : info.placements)
    codePlacement(placement, words);
  Value table = createTable(loc, words);
  Value memory;
  if (info.result) {
    info.resultBuffer = memref::AllocOp::create(builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
    memory = getAddress(loc, info.resultBuffer);
  } else if (!info.isBorrowed) {
    memory = LLVM::ZeroOp::create(builder, loc, pointer);
  }
  auto source = dyn_cast<FromTensorOp>(info.definition);
  if (!source)
    return call(loc, "fusion_dist_create", {context, table, memory});
  auto bufferType = MemRefType::get(type.getShape(), type.getElementType());
  Value buffer = bufferization::ToBufferOp::create(builder, loc, bufferType, source.getTensor(), /*read_only=*/true);
  Value data = getAddress(loc, buffer);
  if (info.isBorrowed)
    return call(loc, "fusion_dist_borrow", {context, table, data});
  call(loc, "fusion_dist_from_tensor", {context, table, data, memory});
}

void HostLowering::returnTensor(StoreInfo &info) {
  auto source = cast<FromTensorOp>(info.definition);
  Location loc = source.getLoc();
  auto type = cast<RankedTensorType>(source.getTensor().getType());
  // Another type than at the beginning, or both would become one operation.
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, strides);
  auto bufferType = MemRefType::get(type.getShape(), type.getElementType(), layout);
  Value buffer = bufferization::ToBufferOp::create(builder, loc, bufferType, source.getTensor(), /*read_only=*/true);
  call(loc, "fusion_dist_return", {context, constant(loc, info.number), getAddress(loc, buffer)});
}

void HostLowering::lowerToTensor(ToTensorOp op) {
  StoreInfo &info = getInfo(op.getStore());
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  Value buffer = info.resultBuffer;
  if (info.result != op)
    buffer = memref::AllocOp::create(builder, op.getLoc(), MemRefType::get(type.getShape(), type.getElementType()));
  call(op.getLoc(), "fusion_dist_to_tensor",
       {context, constant(op.getLoc(), info.number), getAddress(op.getLoc(), buffer)});
  Value tensor = bufferization::ToTensorOp::create(builder, op.getLoc(), type, buffer, /*restrict=*/true,
                                                   /*writable=*/true);
  op.getTensor().replaceAllUsesWith(tensor);
}

void HostLowering::lowerFill(FillOp op) {
  Location loc = op.getLoc();
  bool reduces;
  SmallVector<int64_t> words{takeSlot(), getLaunchFlags(op, reduces)};
  codeDomain(op.getDomain(), words);
  words.push_back(getInfo(op.getStore()).number);
  codePartition(op.getPartition(), words);
  Value bits = op.getValue();
  if (bits.getType().isIndex())
    bits = arith::IndexCastOp::create(builder, loc, word, bits);
  if (isa<FloatType>(bits.getType()))
    bits = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits.getType().getIntOrFloatBitWidth()), bits);
  if (bits.getType() != word)
    bits = arith::ExtUIOp::create(builder, loc, word, bits);
  call(loc, "fusion_dist_fill", {context, createTable(loc, words), bits});
}

void HostLowering::lowerCopy(CopyOp op) {
  bool reduces;
  SmallVector<int64_t> words{takeSlot(), getLaunchFlags(op, reduces)};
  codeDomain(op.getDomain(), words);
  words.push_back(getInfo(op.getSource()).number);
  codePartition(op.getSourcePartition(), words);
  words.push_back(getInfo(op.getTarget()).number);
  codePartition(op.getTargetPartition(), words);
  call(op.getLoc(), "fusion_dist_copy", {context, createTable(op.getLoc(), words)});
}

LogicalResult HostLowering::lowerLaunch(LaunchOp op) {
  Location loc = op.getLoc();
  auto task = module.lookupSymbol<TaskOp>(op.getTask());
  if (!task)
    return op.emitOpError("refers to '@") << op.getTask() << "', which is no 'dist.task' of the module";
  bool reduces;
  SmallVector<int64_t> words{takeSlot(), getLaunchFlags(op, reduces)};
  codeDomain(op.getDomain(), words);
  words.push_back(op.getStores().size());
  SmallVector<SmallVector<int64_t>> boxes;
  for (const Access &access : op.getAccesses()) {
    StoreInfo &info = getInfo(access.store);
    auto type = cast<StoreType>(access.store.getType());
    PrivilegeAttr privilege = access.privilege;
    spacemap::Reducer reducer = privilege.getReducer();
    bool reduced = privilege.reduces();
    words.append({info.number, int64_t(privilege.getKind())});
    if (reduced) {
      auto placement = PlacementAttr::get(op.getContext(), access.partition, op.getDomain());
      auto waiting = reductions.find(getReduction(access.store, privilege, placement));
      words.append({getReducerCode(reducer, type.getElementType()), getIdentityBits(reducer, type.getElementType()),
                    waiting == reductions.end() ? FUSION_DIST_AT_ONCE : waiting->second});
    }
    codePartition(access.partition, words);
    boxes.push_back(getBoxShape(access.partition, type.getShape(), op.getDomain()));
  }
  Value table = createTable(loc, words);
  if (!task.isOpaque()) {
    func::FuncOp body = bodies.getBody(task, boxes);
    Value address = func::ConstantOp::create(builder, loc, body.getFunctionType(), body.getSymName());
    address = UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointer), address).getResult(0);
    call(loc, "fusion_dist_launch", {context, table, address});
    return success();
  }
  StringRef name = *task.getExternal();
  if (Operation *other = module.lookupSymbol(name); other && !isa<LLVM::LLVMFuncOp>(other))
    return task.emitOpError("calls the C function '") << name << "', but the module has a symbol of that name";
  declare(name, builder.getI32Type(), {pointer, builder.getI32Type()});
  Value address = LLVM::AddressOfOp::create(builder, loc, pointer, name);
  call(loc, "fusion_dist_launch_external", {context, table, address, createText(loc, getTaskName(task))});
  return success();
}

template <typename Exchange>
Value HostLowering::createExchangeTable(Exchange op) {
  SmallVector<int64_t> words{takeSlot(), getInfo(op.getStore()).number, int64_t(op.getSources().size())};
  // The newest first.
  for (Attribute source : llvm::reverse(op.getSources()))
    codePlacement(cast<PlacementAttr>(source), words);
  words.push_back(op.getTargets().size());
  for (Attribute target : op.getTargets())
    codePlacement(cast<PlacementAttr>(target), words);
  words.push_back(op.getGiven().size());
  for (auto [given, partition] : llvm::zip_equal(op.getGiven(), op.getGivenPartitions())) {
    words.push_back(getInfo(given).number);
    codePartition(cast<PartitionInterface>(partition), words);
  }
  return createTable(op.getLoc(), words);
}

LogicalResult HostLowering::lower(Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  if (isa<CreateOp, FromTensorOp>(op)) {
    lowerCreate(getInfo(op->getResult(0)));
  } else if (auto result = dyn_cast<ToTensorOp>(op)) {
    lowerToTensor(result);
  } else if (auto launch = dyn_cast<LaunchOp>(op)) {
    return lowerLaunch(launch);
  } else if (auto fill = dyn_cast<FillOp>(op)) {
    lowerFill(fill);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    lowerCopy(copy);
  } else if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    spacemap::Reducer reducer = reduce.getReduction().getReducer();
    Type element = cast<StoreType>(reduce.getStore().getType()).getElementType();
    int64_t waiting = reductions.at(getReduction(reduce.getStore(), reduce.getReduction(), reduce.getPlacement()));
    SmallVector<int64_t> words{takeSlot(), getInfo(reduce.getStore()).number, getReducerCode(reducer, element),
                               getIdentityBits(reducer, element), waiting};
    codePlacement(reduce.getPlacement(), words);
    call(loc, "fusion_dist_all_reduce", {context, createTable(loc, words)});
  } else if (auto exchange = dyn_cast<ExchangeOp>(op)) {
    call(loc, "fusion_dist_exchange", {context, createExchangeTable(exchange)});
  } else if (auto start = dyn_cast<ExchangeStartOp>(op)) {
    Value table = createExchangeTable(start);
    call(loc, "fusion_dist_exchange_start", {context, table});
    started[start.getToken()] = table;
  } else if (auto wait = dyn_cast<ExchangeWaitOp>(op)) {
    auto table = started.find(wait.getToken());
    if (table == started.end())
      return op->emitOpError("waits for an exchange that is started behind it");
    call(loc, "fusion_dist_exchange_wait", {context, table->second});
  } else {
    return op->emitOpError("has no lowering");
  }
  return success();
}

LogicalResult HostLowering::run() {
  if (failed(collect()))
    return failure();
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = function.getLoc();
  Value numStores = constant(loc, stores.size());
  Value slots = constant(loc, 0);
  context = LLVM::CallOp::create(builder, loc, declare("fusion_dist_begin", pointer, {word, word}),
                                 ValueRange{numStores, slots})
                .getResult();
  for (Operation *op : order)
    if (failed(lower(op)))
      return failure();
  slots.getDefiningOp<LLVM::ConstantOp>().setValueAttr(builder.getI64IntegerAttr(numSlots));
  for (auto &[store, info] : stores) {
    if (!info.lastUse)
      continue;
    builder.setInsertionPointAfter(info.lastUse);
    if (info.isReturned)
      returnTensor(info);
    else
      call(loc, "fusion_dist_destroy", {context, constant(loc, info.number)});
  }
  function.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    call(loc, "fusion_dist_end", {context});
  });
  for (Operation *op : llvm::reverse(order))
    op->erase();
  return success();
}

LogicalResult fusion::dist::lowerHost(func::FuncOp function, BodyBuilder &bodies, LowerCounts &counts) {
  return HostLowering(function, bodies, counts).run();
}
