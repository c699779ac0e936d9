//===- LowerBodies.cpp - Functions of tasks ---------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::dist;

func::FuncOp BodyBuilder::getBody(TaskOp task, ArrayRef<SmallVector<int64_t>> boxes) {
  std::vector<std::vector<int64_t>> key;
  for (const SmallVector<int64_t> &box : boxes)
    key.emplace_back(box.begin(), box.end());
  func::FuncOp &body = bodies[{task, key}];
  if (!body)
    body = build(task, boxes);
  return body;
}

/// The struct that a memref descriptor of that rank is.
static Type getDescriptorType(MLIRContext *context, int64_t rank) {
  Type pointer = LLVM::LLVMPointerType::get(context), word = IntegerType::get(context, 64);
  SmallVector<Type> fields{pointer, pointer, word};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(word, rank));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

/// Windows are row-major boxes of a row-major box.
static MemRefType getBufferType(ArrayRef<int64_t> box, Type element) {
  if (box.size() < 2)
    return MemRefType::get(box, element);
  SmallVector<int64_t> strides(box.size(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(box, element, StridedLayoutAttr::get(element.getContext(), 0, strides));
}

static Value loadBuffer(OpBuilder &builder, Location loc, Value pointers, unsigned index, MemRefType type) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, pointers, ArrayRef<LLVM::GEPArg>{int32_t(index)});
  Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
  Value descriptor =
      LLVM::LoadOp::create(builder, loc, getDescriptorType(builder.getContext(), type.getRank()), address);
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(type), descriptor).getResult(0);
}

/// A tensor of the extents of a buffer, without content.
static Value createEmpty(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType(), extents);
}

/// What the body sees of an argument.
static Value createContent(OpBuilder &builder, Location loc, Value buffer, PrivilegeAttr privilege) {
  auto type = cast<MemRefType>(buffer.getType());
  auto tensorType = RankedTensorType::get(type.getShape(), type.getElementType());
  if (privilege.reduces()) {
    Value identity =
        arith::ConstantOp::create(builder, loc, spacemap::getIdentity(privilege.getReducer(), type.getElementType()));
    return linalg::FillOp::create(builder, loc, identity, createEmpty(builder, loc, buffer)).getResult(0);
  }
  if (privilege.getKind() == PrivilegeKind::Write)
    return createEmpty(builder, loc, buffer);
  // `restrict`: what is written lies apart from all other arguments, the verifier of launches says.
  return bufferization::ToTensorOp::create(builder, loc, tensorType, buffer, /*restrict=*/true,
                                           /*writable=*/privilege.writes());
}

static Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value : tensor::CastOp::create(builder, loc, type, value).getResult();
}

func::FuncOp BodyBuilder::build(TaskOp task, ArrayRef<SmallVector<int64_t>> boxes) {
  Location loc = task.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string base = "dist.body." + getTaskName(task).str() + ".", name;
  for (unsigned number = 0; number == 0 || module.lookupSymbol(name); ++number)
    name = base + std::to_string(number);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(pointer, {}));
  function.setPrivate();
  function->setAttr("fusion.task", builder.getStringAttr(getTaskName(task)));
  builder.setInsertionPointToStart(function.addEntryBlock());

  Block &body = task.getBody().front();
  IRMapping map;
  SmallVector<Value> buffers;
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    RankedTensorType type = task.getArgumentType(index);
    // What the task says is known, too.
    SmallVector<int64_t> box(boxes[index]);
    for (auto [extent, declared] : llvm::zip_equal(box, type.getShape()))
      if (ShapedType::isDynamic(extent))
        extent = declared;
    Value buffer = loadBuffer(builder, loc, function.getArgument(0), index, getBufferType(box, type.getElementType()));
    buffers.push_back(buffer);
    Value content = createContent(builder, argument.getLoc(), buffer, task.getPrivilege(index));
    map.map(argument, castTo(builder, argument.getLoc(), content, type));
  }
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [index, value] : llvm::zip_equal(task.getYieldedArguments(), yield.getValues())) {
    auto type = cast<MemRefType>(buffers[index].getType());
    Value result = castTo(builder, yield.getLoc(), map.lookup(value),
                          RankedTensorType::get(type.getShape(), type.getElementType()));
    bufferization::MaterializeInDestinationOp::create(builder, yield.getLoc(), TypeRange(), result, buffers[index],
                                                      /*restrict=*/true, /*writable=*/true);
  }
  func::ReturnOp::create(builder, loc);
  return function;
}
