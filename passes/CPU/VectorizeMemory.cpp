//===- VectorizeMemory.cpp - Scalars and vectors from and to memory -----------------------------------------------===//

#include "VectorizeNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {

IntegerType rawType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return {};
}

//===--- Values ---------------------------------------------------------------------------------------------------===//

Value splat(ImplicitLocOpBuilder &b, Value scalar, unsigned lanes) {
  auto type = VectorType::get({lanes}, scalar.getType());
  if (auto constant = scalar.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, cast<TypedAttr>(constant.getValue())));
  return vector::BroadcastOp::create(b, type, scalar);
}

Value iota(ImplicitLocOpBuilder &b, Type element, unsigned lanes) {
  SmallVector<Attribute> values;
  for (unsigned lane = 0; lane < lanes; ++lane)
    values.push_back(b.getIntegerAttr(element, lane));
  return arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, element), values));
}

LaneMask firstLanes(ImplicitLocOpBuilder &b, Value count, unsigned lanes) {
  if (std::optional<int64_t> constant = getConstantIntValue(count)) {
    SmallVector<bool> bits;
    for (unsigned lane = 0; lane < lanes; ++lane)
      bits.push_back(lane < *constant);
    return {arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits)), count};
  }
  // 32-bit compares: one instruction for all lanes.
  Value limit = arith::MinSIOp::create(b, count, arith::ConstantIndexOp::create(b, lanes));
  Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), limit);
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota(b, b.getI32Type(), lanes), splat(b, narrow, lanes));
  return {inside, count};
}

/// An integer constant of a scalar or vector type.
static Value integerConstant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  TypedAttr scalar = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vectorType = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType, scalar));
  return arith::ConstantOp::create(b, scalar);
}

static Type withElement(Type type, Type element) {
  auto vectorType = dyn_cast<VectorType>(type);
  return vectorType ? Type(vectorType.clone(element)) : element;
}

/// Rounds f32, scalar or vector, to the bits of bf16 with integer instructions; without AVX512-BF16, LLVM would call a
/// function per element.
static Value roundToBF16(ImplicitLocOpBuilder &b, Value value) {
  Type type = withElement(value.getType(), b.getI32Type());
  auto constant = [&](int64_t bits) { return integerConstant(b, type, bits); };
  Value bits = arith::BitcastOp::create(b, type, value);
  Value high = arith::ShRUIOp::create(b, bits, constant(16));
  Value odd = arith::AndIOp::create(b, high, constant(1));
  Value rounded = arith::AddIOp::create(b, bits, arith::AddIOp::create(b, odd, constant(0x7fff)).getResult());
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value chosen = arith::SelectOp::create(b, isNaN, quiet, rounded);
  Value shifted = arith::ShRUIOp::create(b, chosen, constant(16));
  return arith::TruncIOp::create(b, withElement(type, b.getI16Type()), shifted);
}

/// f32 from the bits of bf16.
static Value widenBF16(ImplicitLocOpBuilder &b, Value bits) {
  Type type = withElement(bits.getType(), b.getI32Type());
  Value wide = arith::ExtUIOp::create(b, type, bits);
  Value shifted = arith::ShLIOp::create(b, wide, integerConstant(b, type, 16));
  return arith::BitcastOp::create(b, withElement(type, b.getF32Type()), shifted);
}

Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type from = getElementTypeOrSelf(value);
  if (from == element)
    return value;
  auto vectorType = dyn_cast<VectorType>(value.getType());
  Type to = vectorType ? Type(vectorType.clone(element)) : element;
  if (bitWidth(from) < bitWidth(element))
    return arith::ExtFOp::create(b, to, value);
  if (element.isBF16() && from.isF32() && vectorType)
    return arith::BitcastOp::create(b, to, roundToBF16(b, value));
  return arith::TruncFOp::create(b, to, value);
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

static Value toCompute(ImplicitLocOpBuilder &b, Value value, Type element) {
  return isa<FloatType>(element) ? convertFloat(b, value, computeType(element)) : value;
}

static Value toMemory(ImplicitLocOpBuilder &b, Value value, Type element) {
  return isa<FloatType>(element) ? convertFloat(b, value, element) : value;
}

/// Address of one element of a raw access.
static Value rawAddress(ImplicitLocOpBuilder &b, const Access &access, Value offset) {
  Value distance = arith::IndexCastOp::create(b, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, access.raw.getType(), rawType(access.element), access.raw, ValueRange{distance});
}

Value loadScalar(ImplicitLocOpBuilder &b, const Access &access, Value offset) {
  if (!isa<MemRefType>(access.flat.getType()))
    return toCompute(b, access.flat, access.element);
  if (access.element.isBF16())
    return widenBF16(b, LLVM::LoadOp::create(b, rawType(access.element), rawAddress(b, access, offset), 2));
  return toCompute(b, memref::LoadOp::create(b, access.flat, ValueRange{offset}), access.element);
}

void storeScalar(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset) {
  if (access.element.isBF16()) {
    LLVM::StoreOp::create(b, roundToBF16(b, value), rawAddress(b, access, offset), 2);
    return;
  }
  memref::StoreOp::create(b, toMemory(b, value, access.element), access.flat, ValueRange{offset});
}

/// Offsets of strided lanes; 32 bits where they certainly suffice.
static Value laneOffsets(ImplicitLocOpBuilder &b, OpFoldResult stride, unsigned lanes) {
  std::optional<int64_t> constant = getConstantIntValue(stride);
  if (constant && std::abs(*constant) < (int64_t(1) << 26)) {
    SmallVector<int32_t> offsets;
    for (unsigned lane = 0; lane < lanes; ++lane)
      offsets.push_back(lane * *constant);
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI32Type()), ArrayRef(offsets)));
  }
  return arith::MulIOp::create(b, iota(b, b.getIndexType(), lanes), splat(b, materialize(b, stride), lanes));
}

static Value allLanes(ImplicitLocOpBuilder &b, unsigned lanes) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
}

static Value zeros(ImplicitLocOpBuilder &b, VectorType type) {
  return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
}

/// Address of the first lane of a raw access, or addresses of all lanes if they are strided.
static Value rawAddresses(ImplicitLocOpBuilder &b, const Access &access, Value offset, OpFoldResult stride,
                          unsigned lanes) {
  Value first = rawAddress(b, access, offset);
  if (isConstantIntValue(stride, 1))
    return first;
  Value offsets = laneOffsets(b, stride, lanes);
  if (getElementTypeOrSelf(offsets).isIndex())
    offsets = arith::IndexCastOp::create(b, VectorType::get({lanes}, b.getI64Type()), offsets);
  return LLVM::GEPOp::create(b, VectorType::get({lanes}, first.getType()), rawType(access.element), first,
                             ValueRange{offsets});
}

/// The values of raw integers.
static Value fromRaw(ImplicitLocOpBuilder &b, Value loaded, Type element) {
  auto type = cast<VectorType>(loaded.getType());
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded, zeros(b, type));
  return widenBF16(b, loaded);
}

static Value loadRaw(ImplicitLocOpBuilder &b, const Access &access, Value offset, OpFoldResult stride, unsigned lanes,
                     const LaneMask &mask) {
  auto type = VectorType::get({lanes}, rawType(access.element));
  Value address = rawAddresses(b, access, offset, stride, lanes), loaded;
  unsigned alignment = rawType(access.element).getWidth() / 8;
  if (!isConstantIntValue(stride, 1))
    loaded = LLVM::masked_gather::create(b, type, address, mask ? mask.lanes : allLanes(b, lanes),
                                         ValueRange{zeros(b, type)}, alignment);
  else if (mask)
    loaded = LLVM::MaskedLoadOp::create(b, type, address, mask.lanes, zeros(b, type), alignment);
  else
    loaded = LLVM::LoadOp::create(b, type, address, alignment);
  return fromRaw(b, loaded, access.element);
}

static void storeRaw(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset, OpFoldResult stride,
                     const LaneMask &mask) {
  auto type = cast<VectorType>(value.getType()).clone(rawType(access.element));
  unsigned lanes = type.getNumElements(), alignment = rawType(access.element).getWidth() / 8;
  value = access.element.isBF16() ? roundToBF16(b, value) : arith::ExtUIOp::create(b, type, value).getResult();
  Value address = rawAddresses(b, access, offset, stride, lanes);
  if (!isConstantIntValue(stride, 1))
    LLVM::masked_scatter::create(b, value, address, mask ? mask.lanes : allLanes(b, lanes), alignment);
  else if (mask)
    LLVM::MaskedStoreOp::create(b, value, address, mask.lanes, alignment);
  else
    LLVM::StoreOp::create(b, value, address, alignment);
}

Value loadVector(ImplicitLocOpBuilder &b, const Access &access, Value offset, OpFoldResult stride, unsigned lanes,
                 const LaneMask &mask) {
  if (access.raw)
    return loadRaw(b, access, offset, stride, lanes, mask);
  auto type = VectorType::get({lanes}, access.element);
  Value loaded;
  if (!isConstantIntValue(stride, 1))
    loaded = vector::GatherOp::create(b, type, access.flat, ValueRange{offset}, laneOffsets(b, stride, lanes),
                                      mask ? mask.lanes : allLanes(b, lanes), zeros(b, type));
  else if (mask)
    loaded = vector::MaskedLoadOp::create(b, type, access.flat, ValueRange{offset}, mask.lanes, zeros(b, type));
  else
    loaded = vector::LoadOp::create(b, type, access.flat, ValueRange{offset});
  return toCompute(b, loaded, access.element);
}

void prefetchVector(ImplicitLocOpBuilder &b, const Access &access, Value offset, unsigned lanes) {
  unsigned line = kLineBytes * 8 / bitWidth(access.element);
  for (unsigned first = 0; first < lanes; first += line)
    memref::PrefetchOp::create(b, access.flat, ValueRange{add(b, offset, b.getIndexAttr(first))}, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
}

Value gatherVector(ImplicitLocOpBuilder &b, const Access &access, Value offsets, const LaneMask &mask) {
  unsigned lanes = cast<VectorType>(offsets.getType()).getNumElements();
  Value inside = mask ? mask.lanes : allLanes(b, lanes);
  if (access.raw) {
    auto type = VectorType::get({lanes}, rawType(access.element));
    Value distances = arith::IndexCastOp::create(b, VectorType::get({lanes}, b.getI64Type()), offsets);
    Value addresses = LLVM::GEPOp::create(b, VectorType::get({lanes}, access.raw.getType()), rawType(access.element),
                                          access.raw, ValueRange{distances});
    Value loaded = LLVM::masked_gather::create(b, type, addresses, inside, ValueRange{zeros(b, type)},
                                               rawType(access.element).getWidth() / 8);
    return fromRaw(b, loaded, access.element);
  }
  auto type = VectorType::get({lanes}, access.element);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value loaded = vector::GatherOp::create(b, type, access.flat, ValueRange{zero}, offsets, inside, zeros(b, type));
  return toCompute(b, loaded, access.element);
}

static void storeRow(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset) {
  auto store = vector::StoreOp::create(b, value, access.flat, ValueRange{offset});
  auto type = cast<VectorType>(value.getType());
  if (!access.isStreamed)
    return;
  // Past the caches there are only stores of aligned vectors.
  store.setNontemporal(true);
  store.setAlignment(std::min<int64_t>(type.getNumElements() * bitWidth(access.element) / 8, kLineBytes));
}

void storeVector(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset, OpFoldResult stride,
                 const LaneMask &mask) {
  unsigned lanes = cast<VectorType>(value.getType()).getNumElements();
  // LLVM 22 for AVX-512 makes a masked store of truncated integers whose mask is known to be one lane a store of the
  // whole integer before truncation. So that case gets its own branch, which goes away where the count is known.
  if (mask.count && (isa<IntegerType>(access.element) || access.raw) && bitWidth(access.element) <= 32) {
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value single = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, mask.count, one);
    auto branch = scf::IfOp::create(b, single, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    storeScalar(b, vector::ExtractOp::create(b, value, ArrayRef<int64_t>{0}), access, offset);
    b.setInsertionPointToStart(branch.elseBlock());
    storeVector(b, value, access, offset, stride, LaneMask{mask.lanes, Value()});
    b.setInsertionPointAfter(branch);
    return;
  }
  if (access.raw)
    return storeRaw(b, value, access, offset, stride, mask);
  value = toMemory(b, value, access.element);
  if (!isConstantIntValue(stride, 1))
    vector::ScatterOp::create(b, Type(), access.flat, ValueRange{offset}, laneOffsets(b, stride, lanes),
                              mask ? mask.lanes : allLanes(b, lanes), value);
  else if (mask)
    vector::MaskedStoreOp::create(b, access.flat, ValueRange{offset}, mask.lanes, value);
  else
    storeRow(b, value, access, offset);
}

} // namespace fusion::cpu
