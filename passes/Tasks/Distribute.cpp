//===- Distribute.cpp - Functions on tensors become programs of tasks -----===//

#include "Distribute.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace fusion {
#define GEN_PASS_DEF_DISTDISTRIBUTE
#include "fusion/Tasks/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

static constexpr llvm::StringLiteral domainName = "dist.domain";
static constexpr llvm::StringLiteral dimsName = "dist.dims";

namespace {

class Distributor {
public:
  Distributor(func::FuncOp function, ArrayRef<int64_t> domain, SymbolTable &symbols)
      : function(function), domain(domain), symbols(symbols), builder(function.getContext()) {}

  LogicalResult run() {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("cannot be distributed: it has control flow");
    SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front())
      operations.push_back(&op);
    for (Operation *op : operations)
      if (failed(convert(op)))
        return failure();
    for (Operation *op : llvm::reverse(operations))
      if (op->use_empty() && isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>())
        op->erase();
    function->removeAttr(domainName);
    return success();
  }

private:
  static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

  LogicalResult convert(Operation *op) {
    builder.setInsertionPoint(op);
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    bool hasTensors = false;
    for (Type type : types) {
      auto tensor = dyn_cast<TensorType>(type);
      hasTensors |= tensor != nullptr;
      if (tensor && !tensor.hasStaticShape())
        return op->emitOpError("cannot be distributed: a store has static extents, and here is a ") << type;
    }
    // Made where it is used.
    if (isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      return success();
    if (!hasTensors)
      return op->getNumRegions() == 0 ? success() : refuse(op);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return convertSlice(slice);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return convertInsert(insert);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return convertLinalg(linalgOp);
    if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isTensor(operand.get()))
          operand.set(getContent(operand.get()));
      return success();
    }
    return refuse(op);
  }

  LogicalResult refuse(Operation *op) {
    return op->emitOpError("cannot be distributed; there are linalg operations, and tensor.empty, extract_slice and "
                           "insert_slice without strides");
  }

  /// The store of a tensor. Those of arguments and constants are made here.
  StoredTensor get(Value tensor) {
    auto it = stored.find(tensor);
    if (it != stored.end())
      return it->second;
    auto type = cast<RankedTensorType>(tensor.getType());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(tensor);
    Type storeType = StoreType::get(builder.getContext(), type.getShape(), type.getElementType());
    Value store = FromTensorOp::create(builder, tensor.getLoc(), storeType, tensor);
    return stored[tensor] = {store, SmallVector<int64_t>(type.getRank(), 0)};
  }

  StoredTensor create(Location loc, RankedTensorType type) {
    Type storeType = StoreType::get(builder.getContext(), type.getShape(), type.getElementType());
    return {CreateOp::create(builder, loc, storeType), SmallVector<int64_t>(type.getRank(), 0)};
  }

  /// The tensor after all tasks so far.
  Value getContent(Value tensor) {
    // Nothing has computed it.
    if (!stored.contains(tensor))
      return tensor;
    StoredTensor source = stored[tensor];
    auto type = cast<RankedTensorType>(tensor.getType());
    Location loc = tensor.getLoc();
    if (cast<StoreType>(source.store.getType()).getShape() != type.getShape()) {
      StoredTensor target = create(loc, type);
      copy(loc, source, target, type);
      source = target;
    }
    return ToTensorOp::create(builder, loc, type, source.store);
  }

  /// A cut of all elements of a tensor along its first dimensions.
  LoopCut cutElements(RankedTensorType type) {
    LoopCut cut;
    cut.extents = llvm::to_vector(type.getShape());
    cut.pointDims.assign(type.getRank(), -1);
    if (type.getRank() < int64_t(domain.size())) {
      cut.domain = {1};
      return cut;
    }
    cut.domain = llvm::to_vector(domain);
    for (unsigned dim = 0; dim < domain.size(); ++dim)
      cut.pointDims[dim] = dim;
    return cut;
  }

  void copy(Location loc, const StoredTensor &source, const StoredTensor &target, RankedTensorType type) {
    LoopCut cut = cutElements(type);
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    CopyOp::create(builder, loc, source.store, dist::getPartition(cut, identity, source, type), target.store,
                   dist::getPartition(cut, identity, target, type), cut.domain);
  }

  LogicalResult convertSlice(tensor::ExtractSliceOp slice) {
    if (slice.getSourceType().getRank() != slice.getType().getRank() || !slice.hasUnitStride() ||
        llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic))
      return refuse(slice);
    StoredTensor source = get(slice.getSource());
    for (auto [offset, more] : llvm::zip(source.offsets, slice.getStaticOffsets()))
      offset += more;
    stored[slice.getResult()] = source;
    return success();
  }

  LogicalResult convertInsert(tensor::InsertSliceOp insert) {
    if (insert.getSourceType().getRank() != insert.getType().getRank() || !insert.hasUnitStride() ||
        llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic))
      return refuse(insert);
    StoredTensor result = create(insert.getLoc(), insert.getType());
    if (!insert.getDest().getDefiningOp<tensor::EmptyOp>())
      copy(insert.getLoc(), get(insert.getDest()), result, insert.getType());
    StoredTensor part = result;
    part.offsets = llvm::to_vector(insert.getStaticOffsets());
    copy(insert.getLoc(), get(insert.getSource()), part, insert.getSourceType());
    stored[insert.getResult()] = result;
    return success();
  }

  /// Sets the content that a result starts from.
  void initialize(Location loc, Value init, const StoredTensor &result, RankedTensorType type) {
    if (init.getDefiningOp<tensor::EmptyOp>())
      return;
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill)
      return copy(loc, get(init), result, type);
    LoopCut cut = cutElements(type);
    FillOp::create(builder, loc, fill.getInputs()[0], result.store,
                   dist::getPartition(cut, builder.getMultiDimIdentityMap(type.getRank()), result, type), cut.domain);
  }

  LogicalResult convertLinalg(linalg::LinalgOp op) {
    std::optional<ArrayRef<int64_t>> dims;
    if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>(dimsName))
      dims = attr.asArrayRef();
    FailureOr<LoopCut> cut = cutLoops(op, domain, dims);
    if (failed(cut))
      return failure();
    if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()); fill && !dims) {
      auto type = cast<RankedTensorType>(fill.getType(0));
      StoredTensor result = create(op.getLoc(), type);
      stored[fill.getResult(0)] = result;
      initialize(op.getLoc(), fill.getResult(0), result, type);
      return success();
    }
    SmallVector<Value> stores;
    SmallVector<Attribute> privileges, partitions, types;
    SmallVector<OpOperand *> passed;
    auto pass = [&](OpOperand &operand, const StoredTensor &tensor, PrivilegeAttr privilege) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = cast<RankedTensorType>(operand.get().getType());
      stores.push_back(tensor.store);
      privileges.push_back(privilege);
      partitions.push_back(dist::getPartition(*cut, map, tensor, type));
      types.push_back(TypeAttr::get(dist::getBoxType(*cut, map, type)));
      passed.push_back(&operand);
    };
    MLIRContext *context = op.getContext();
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (isTensor(input->get()))
        pass(*input, get(input->get()), PrivilegeAttr::get(context, PrivilegeKind::Read));
      else if (!matchPattern(input->get(), m_Constant()))
        return op.emitOpError("cannot be distributed: operand ")
               << input->getOperandNumber() << " is a value of the host program that is no constant";
    }
    bool cutsReduction = false;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      cutsReduction |= kind == utils::IteratorType::reduction && cut->isCut(loop);
    for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      auto type = cast<RankedTensorType>(init.get().getType());
      StoredTensor result = create(op.getLoc(), type);
      auto privilege = PrivilegeAttr::get(context, PrivilegeKind::Write);
      if (cutsReduction)
        privilege = PrivilegeAttr::get(context, PrivilegeKind::Reduce, *getCombiner(op, index));
      else if (op.payloadUsesValueFromOperand(&init) || !op.getMatchingIndexingMap(&init).isProjectedPermutation())
        privilege = PrivilegeAttr::get(context, PrivilegeKind::ReadWrite);
      if (privilege.getKind() != PrivilegeKind::Write)
        initialize(op.getLoc(), init.get(), result, type);
      pass(init, result, privilege);
      stored[op->getResult(index)] = result;
    }
    if (llvm::any_of(op->getRegions(), [&](Region &region) { return !capturesConstantsOnly(region); }))
      return op.emitOpError("cannot be distributed: its body uses a value of the host program that is no constant");
    TaskOp task = buildTask(op, passed, types, privileges);
    LaunchOp::create(builder, op.getLoc(), task.getSymName(), cut->domain, stores, builder.getArrayAttr(privileges),
                     builder.getArrayAttr(partitions), false);
    return success();
  }

  static bool capturesConstantsOnly(Region &region) {
    return !region
                .walk([&](Operation *inner) {
                  for (Value operand : inner->getOperands())
                    if (!region.isAncestor(operand.getParentRegion()) && !matchPattern(operand, m_Constant()))
                      return WalkResult::interrupt();
                  return WalkResult::advance();
                })
                .wasInterrupted();
  }

  TaskOp buildTask(linalg::LinalgOp op, ArrayRef<OpOperand *> passed, ArrayRef<Attribute> types,
                   ArrayRef<Attribute> privileges) {
    OpBuilder inner(op.getContext());
    std::string name = (function.getName() + "_" + op->getName().stripDialect()).str();
    auto task = TaskOp::create(inner, op.getLoc(), inner.getStringAttr(name), inner.getStringAttr("private"),
                               inner.getArrayAttr(types), inner.getArrayAttr(privileges), nullptr);
    SmallVector<Type> blockTypes;
    for (Attribute type : types)
      blockTypes.push_back(cast<TypeAttr>(type).getValue());
    Block *block =
        inner.createBlock(&task.getBody(), {}, blockTypes, SmallVector<Location>(blockTypes.size(), op.getLoc()));
    IRMapping mapping;
    auto cloneConstant = [&](Value value) {
      if (!mapping.contains(value))
        mapping.map(value, inner.clone(*value.getDefiningOp())->getResult(0));
    };
    for (Value operand : op->getOperands())
      if (!isTensor(operand))
        cloneConstant(operand);
    for (Region &region : op->getRegions())
      region.walk([&](Operation *user) {
        for (Value operand : user->getOperands())
          if (!region.isAncestor(operand.getParentRegion()))
            cloneConstant(operand);
      });
    // One tensor may be several operands, each with a box of its own.
    Operation *copy = inner.clone(*op, mapping);
    copy->removeAttr(dimsName);
    for (auto [operand, argument] : llvm::zip(passed, block->getArguments()))
      copy->setOperand(operand->getOperandNumber(), argument);
    auto linalgCopy = cast<linalg::LinalgOp>(copy);
    for (auto [result, init] : llvm::zip(copy->getResults(), linalgCopy.getDpsInits()))
      result.setType(init.getType());
    YieldOp::create(inner, op.getLoc(), copy->getResults());
    symbols.insert(task, Block::iterator(function));
    return task;
  }

  func::FuncOp function;
  ArrayRef<int64_t> domain;
  SymbolTable &symbols;
  OpBuilder builder;
  llvm::DenseMap<Value, StoredTensor> stored;
};

class Distribute : public fusion::impl::DistDistributeBase<Distribute> {
public:
  using DistDistributeBase::DistDistributeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      SmallVector<int64_t> extents(domain.begin(), domain.end());
      if (auto own = function->getAttrOfType<DenseI64ArrayAttr>(domainName))
        extents.assign(own.asArrayRef().begin(), own.asArrayRef().end());
      else if (!function.isPublic())
        continue;
      if (extents.empty() || function.isExternal())
        continue;
      if (llvm::any_of(extents, [](int64_t extent) { return extent < 1; })) {
        function.emitOpError("needs a launch domain with extents of at least 1");
        return signalPassFailure();
      }
      if (failed(Distributor(function, extents, symbols).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
