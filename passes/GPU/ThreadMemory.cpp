//===- ThreadMemory.cpp - Fragments from and to memory --------------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {
namespace {

/// How elements of `type` are stored: truth values and indices as whole bytes.
Type getMemoryType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return type;
}

Value toMemory(OpBuilder &builder, Location loc, Value value) {
  Type type = getMemoryType(value.getType());
  if (type == value.getType())
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value fromMemory(OpBuilder &builder, Location loc, Value value, Type type) {
  if (type == value.getType())
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

int64_t getBytes(Type type) { return llvm::divideCeil(getMemoryType(type).getIntOrFloatBitWidth(), 8); }

} // namespace

Value ThreadProgram::offsetPointer(Value pointer, Type elementType, OpFoldResult elements) {
  std::optional<int64_t> constant = getConstantIntValue(elements);
  if (constant == 0)
    return pointer;
  Type type = getMemoryType(elementType);
  if (constant && llvm::isInt<31>(*constant))
    return LLVM::GEPOp::create(builder, loc, pointer.getType(), type, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(*constant)});
  Value offset = getIndexValue(elements);
  offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), type, pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadProgram::loadAt(Value pointer, Type elementType, int64_t vector) {
  Type type = getMemoryType(elementType);
  unsigned alignment = getBytes(elementType) * vector;
  if (vector > 1)
    type = VectorType::get({vector}, type);
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment);
}

void ThreadProgram::storeAt(Value pointer, ArrayRef<Value> values) {
  Type type = values[0].getType();
  unsigned alignment = getBytes(type) * values.size();
  Value stored = toMemory(builder, loc, values[0]);
  if (values.size() > 1) {
    auto vectorType = VectorType::get({int64_t(values.size())}, stored.getType());
    stored = LLVM::PoisonOp::create(builder, loc, vectorType);
    for (auto [i, value] : llvm::enumerate(values))
      stored = LLVM::InsertElementOp::create(builder, loc, stored, toMemory(builder, loc, value), getI32(i));
  }
  LLVM::StoreOp::create(builder, loc, stored, pointer, alignment);
}

Value ThreadProgram::getAddress(const GlobalTile &tile, const Layout &layout, int64_t number) {
  OpFoldResult thread = builder.getIndexAttr(0), constant = builder.getIndexAttr(0);
  Layout::Point part = layout.getRegisterPart(number);
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    if (Value position = getThreadPart(layout, dim)) {
      position = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), position);
      thread = add(thread, multiply(position, tile.strides[dim]));
    }
    constant = add(constant, multiply(builder.getIndexAttr(part[dim]), tile.strides[dim]));
  }
  // The thread's part first: it is the same for all registers.
  return offsetPointer(offsetPointer(tile.pointer, tile.elementType, thread), tile.elementType, constant);
}

Value ThreadProgram::getMask(const Layout &layout, int64_t number, ArrayRef<OpFoldResult> extents,
                             ArrayRef<unsigned> dims, bool &isNever) {
  Value mask;
  isNever = false;
  Layout::Point part = layout.getRegisterPart(number), last = layout.getThreadPart(31, layout.getNumWarps() - 1);
  for (unsigned dim : dims) {
    std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
    if (extent && part[dim] + last[dim] < *extent)
      continue;
    if (extent && part[dim] >= *extent) {
      isNever = true;
      return Value();
    }
    Value position = getThreadPart(layout, dim);
    if (!position)
      position = getI32(0);
    Value limit = extent ? getI32(*extent - part[dim])
                         : arith::IndexCastOp::create(builder, loc, builder.getI32Type(), getIndexValue(extents[dim]));
    if (!extent && part[dim] != 0)
      position = arith::AddIOp::create(builder, loc, position, getI32(part[dim]));
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, position, limit);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, isInside) : isInside;
  }
  return mask;
}

Fragment ThreadProgram::load(const GlobalTile &tile, const Layout &layout, ArrayRef<OpFoldResult> extents) {
  Fragment fragment{layout, {}};
  int64_t vector = 1;
  if (tile.contiguous >= 0)
    vector = std::min(tile.vector, layout.getVectorLength(tile.contiguous));
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, layout.getRank()));
  Type memoryType = getMemoryType(tile.elementType);
  Type type = vector > 1 ? Type(VectorType::get({vector}, memoryType)) : memoryType;
  auto getZero = [&] { return LLVM::ZeroOp::create(builder, loc, type).getResult(); };
  for (int64_t number = 0; number < layout.getNumRegisters(); number += vector) {
    bool isNever = false;
    Value mask = getMask(layout, number, extents, dims, isNever), loaded;
    if (isNever) {
      loaded = getZero();
    } else if (mask) {
      auto branch = scf::IfOp::create(builder, loc, type, mask, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(builder, loc, loadAt(getAddress(tile, layout, number), tile.elementType, vector));
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, getZero());
      loaded = branch.getResult(0);
    } else {
      loaded = loadAt(getAddress(tile, layout, number), tile.elementType, vector);
    }
    for (int64_t i = 0; i < vector; ++i) {
      Value element = vector > 1 ? LLVM::ExtractElementOp::create(builder, loc, loaded, getI32(i)).getResult() : loaded;
      fragment.values.push_back(fromMemory(builder, loc, element, tile.elementType));
    }
  }
  return fragment;
}

/// Whether this thread is the first of those that hold the same elements; null where no others do.
Value ThreadProgram::getOwner(const Layout &layout) {
  int64_t lanes = 0, warps = 0;
  for (auto [i, bit] : llvm::enumerate(layout.getLaneBits()))
    lanes |= bit.isBroadcast() ? int64_t(1) << i : 0;
  for (auto [i, bit] : llvm::enumerate(layout.getWarpBits()))
    warps |= bit.isBroadcast() ? int64_t(1) << i : 0;
  Value isOwner;
  for (auto [number, bits] : {std::pair(lane, lanes), std::pair(warp, warps)}) {
    if (bits == 0)
      continue;
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                          arith::AndIOp::create(builder, loc, number, getI32(bits)), getI32(0));
    isOwner = isOwner ? arith::AndIOp::create(builder, loc, isOwner, isFirst).getResult() : isFirst;
  }
  return isOwner;
}

void ThreadProgram::store(const Fragment &fragment, const GlobalTile &tile, ArrayRef<OpFoldResult> extents) {
  const Layout &layout = fragment.layout;
  int64_t vector = 1;
  if (tile.contiguous >= 0)
    vector = std::min(tile.vector, layout.getVectorLength(tile.contiguous));
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, layout.getRank()));
  Value isOwner = getOwner(layout);
  for (int64_t number = 0; number < layout.getNumRegisters(); number += vector) {
    bool isNever = false;
    Value mask = getMask(layout, number, extents, dims, isNever);
    if (isNever)
      continue;
    if (isOwner)
      mask = mask ? arith::AndIOp::create(builder, loc, mask, isOwner) : isOwner;
    OpBuilder::InsertionGuard guard(builder);
    if (mask) {
      auto branch = scf::IfOp::create(builder, loc, mask, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    storeAt(getAddress(tile, layout, number), ArrayRef(fragment.values).slice(number, vector));
  }
}

Value ThreadProgram::allocateShared(int64_t bytes, int64_t alignment) {
  sharedBytes = llvm::alignTo(sharedBytes, alignment);
  Value pointer = LLVM::GEPOp::create(builder, loc, sharedBase.getType(), builder.getI8Type(), sharedBase,
                                      ArrayRef<LLVM::GEPArg>{int32_t(sharedBytes)});
  sharedBytes += bytes;
  return pointer;
}

void ThreadProgram::emitBarrier() {
  NVVM::BarrierOp::create(builder, loc, TypeRange(), Value(), Value(), NVVM::BarrierReductionAttr(), Value());
}

/// Through a row-major tile in shared memory.
Fragment ThreadProgram::exchange(const Fragment &fragment, const Layout &layout, Type type) {
  GlobalTile tile;
  tile.elementType = type;
  int64_t elements = 1;
  unsigned rank = layout.getRank();
  tile.strides.resize(rank);
  OpFoldResults extents(rank);
  for (unsigned dim = rank; dim-- > 0;) {
    int64_t extent = std::max(layout.getExtent(dim), fragment.layout.getExtent(dim));
    extents[dim] = builder.getIndexAttr(extent);
    tile.strides[dim] = builder.getIndexAttr(elements);
    elements *= extent;
  }
  if (rank > 0 && getMemoryType(type).getIntOrFloatBitWidth() <= 64) {
    tile.contiguous = rank - 1;
    tile.vector = 16 / getBytes(type);
  }
  tile.pointer = allocateShared(elements * getBytes(type));
  // The previous trip of a loop may still be reading.
  if (loopDepth > 0)
    emitBarrier();
  store(fragment, tile, extents);
  emitBarrier();
  return load(tile, layout, extents);
}

} // namespace fusion
