//===- ThreadArguments.cpp - What a kernel gets from the host program -----===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fusion {

Value ThreadProgram::addArgument(KernelArgument argument, Type type) {
  argument.device = function.getBody().front().addArgument(type, argument.host.getLoc());
  arguments.push_back(argument);
  return argument.device;
}

FailureOr<Value> ThreadProgram::getBuffer(Value tensor, bool isWritten) {
  for (KernelArgument &argument : arguments)
    if (argument.kind == KernelArgument::Buffer && argument.host == tensor) {
      (isWritten ? argument.isWritten : argument.isRead) = true;
      return argument.device;
    }
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.getElementType().isIntOrIndexOrFloat())
    return emitError(tensor.getLoc()) << "elements of type " << type.getElementType()
                                      << " cannot be passed to a GPU kernel: accepted are integers, index and floats";
  KernelArgument argument(KernelArgument::Buffer, tensor);
  (isWritten ? argument.isWritten : argument.isRead) = true;
  return addArgument(argument, LLVM::LLVMPointerType::get(builder.getContext(), 1));
}

Value ThreadProgram::getHostScalar(Value value) {
  for (KernelArgument &argument : arguments)
    if (argument.kind != KernelArgument::Buffer && argument.axis < 0 && argument.host == value)
      return scalars.lookup(value);
  bool isIndex = value.getType().isIndex();
  Value device = addArgument(KernelArgument(isIndex ? KernelArgument::Size : KernelArgument::Scalar, value),
                             isIndex ? builder.getI64Type() : value.getType());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  if (isIndex)
    device = arith::IndexCastOp::create(builder, value.getLoc(), builder.getIndexType(), device);
  scalars.map(value, device);
  return device;
}

OpFoldResult ThreadProgram::getHostExtent(Value tensor, unsigned axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  Value device;
  for (KernelArgument &argument : arguments)
    if (argument.host == tensor && argument.axis == axis)
      device = argument.device;
  if (!device)
    device = addArgument(KernelArgument(KernelArgument::Size, tensor, axis), builder.getI64Type());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return arith::IndexCastOp::create(builder, tensor.getLoc(), builder.getIndexType(), device).getResult();
}

Value ThreadProgram::getScalar(Value value) {
  if (Value known = scalars.lookupOrNull(value))
    return known;
  // Constants are made anew: an argument would hide them.
  if (Attribute constant; matchPattern(value, m_Constant(&constant))) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    Value made = arith::ConstantOp::create(builder, value.getLoc(), cast<TypedAttr>(constant));
    scalars.map(value, made);
    return made;
  }
  return getHostScalar(value);
}

OpFoldResult ThreadProgram::getIndex(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return builder.getIndexAttr(*constant);
  return getScalar(cast<Value>(value));
}

} // namespace fusion
