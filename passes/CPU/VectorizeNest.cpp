//===- VectorizeNest.cpp - Loop nests over flat memory accesses ---------------------------------------------------===//

#include "VectorizeNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace fusion::cpu {

VectorTarget VectorTarget::host() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](StringRef name) { return features.lookup(name); };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    return {512, 32};
  if (has("avx2") && has("fma"))
    return {256, 16};
  return {128, 16};
}

Type computeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return element;
}

unsigned bitWidth(Type scalar) { return scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth(); }

bool isVectorElement(Type scalar) {
  if (auto integer = dyn_cast<IntegerType>(scalar))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(scalar);
}

//===--- Index arithmetic -----------------------------------------------------------------------------------------===//

Value materialize(ImplicitLocOpBuilder &b, OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
}

OpFoldResult multiply(ImplicitLocOpBuilder &b, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return b.getIndexAttr(*l * *r);
  if ((l && *l == 0) || (r && *r == 0))
    return b.getIndexAttr(0);
  if (l && *l == 1)
    return rhs;
  if (r && *r == 1)
    return lhs;
  return arith::MulIOp::create(b, materialize(b, lhs), materialize(b, rhs), arith::IntegerOverflowFlags::nsw)
      .getResult();
}

static OpFoldResult sum(ImplicitLocOpBuilder &b, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return b.getIndexAttr(*l + *r);
  return add(b, materialize(b, lhs), rhs);
}

Value add(ImplicitLocOpBuilder &b, Value lhs, OpFoldResult rhs) {
  if (isConstantIntValue(rhs, 0))
    return lhs;
  if (!lhs || isConstantIntValue(lhs, 0))
    return materialize(b, rhs);
  return arith::AddIOp::create(b, lhs, materialize(b, rhs), arith::IntegerOverflowFlags::nsw);
}

Value advance(ImplicitLocOpBuilder &b, Value offset, OpFoldResult iv, OpFoldResult stride) {
  Value sum = add(b, offset, multiply(b, iv, stride));
  return sum ? sum : arith::ConstantIndexOp::create(b, 0).getResult();
}

/// The integers by which vectors of an element are read and written; null: as they are.
static IntegerType rawType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return {};
}

//===--- Views ----------------------------------------------------------------------------------------------------===//

Access buildAccess(ImplicitLocOpBuilder &b, Value memref, ArrayRef<LinearIndex> indices, unsigned numLoops) {
  auto type = cast<MemRefType>(memref.getType());
  Access access;
  access.element = type.getElementType();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  // The extent is never read; only the address of an element is.
  auto flatType = MemRefType::get({ShapedType::kDynamic}, access.element,
                                  StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}),
                                  type.getMemorySpace());
  Value bound = arith::ConstantIndexOp::create(b, std::numeric_limits<int64_t>::max());
  access.flat = memref::ReinterpretCastOp::create(b, flatType, metadata.getBaseBuffer(),
                                                  OpFoldResult(materialize(b, offset)),
                                                  ArrayRef<OpFoldResult>{bound}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  if (rawType(access.element)) {
    Value aligned = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
    OpFoldResult distance = multiply(b, offset, b.getIndexAttr(rawType(access.element).getWidth() / 8));
    Value address = arith::IndexCastOp::create(b, b.getI64Type(), add(b, aligned, distance));
    access.raw = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address);
  }
  access.strides.assign(numLoops, b.getIndexAttr(0));
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    for (auto [loop, factor] : index.terms) {
      OpFoldResult step = multiply(b, stride, b.getIndexAttr(factor));
      access.strides[loop] = access.absent(loop) ? step : sum(b, access.strides[loop], step);
    }
    if (index.constant)
      access.offset = advance(b, access.offset, stride, b.getIndexAttr(index.constant));
  }
  if (type.getLayout().isIdentity())
    for (size_t i = 1; i < indices.size(); ++i)
      if (indices[i - 1].isLoop() && indices[i].isLoop())
        access.contiguous.push_back({indices[i - 1].terms[0].first, indices[i].terms[0].first});
  // A loop that occurs twice does not run over memory like its neighbours.
  llvm::SmallDenseSet<unsigned> seen, repeated;
  for (const LinearIndex &index : indices)
    for (auto [loop, factor] : index.terms)
      if (!seen.insert(loop).second)
        repeated.insert(loop);
  llvm::erase_if(access.contiguous, [&](std::pair<unsigned, unsigned> pair) {
    return repeated.contains(pair.first) || repeated.contains(pair.second);
  });
  return access;
}

/// The linear form of an index expression; fails on anything else.
static LogicalResult addTerms(AffineExpr expr, int64_t factor, LinearIndex &index) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.constant += factor * constant.getValue();
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    index.terms.push_back({dim.getPosition(), factor});
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(addTerms(binary.getLHS(), factor, index)) &&
                   succeeded(addTerms(binary.getRHS(), factor, index)));
  if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS()); constant && binary.getKind() == AffineExprKind::Mul)
    return addTerms(binary.getLHS(), factor * constant.getValue(), index);
  return failure();
}

FailureOr<LoopNest> buildLoopNest(ImplicitLocOpBuilder &b, linalg::GenericOp op) {
  LoopNest nest;
  nest.body = op.getBody();
  nest.numInputs = op.getNumDpsInputs();
  unsigned numLoops = op.getNumLoops();
  SmallVector<SmallVector<LinearIndex>> indices;
  SmallVector<Value> extentSource(numLoops);
  SmallVector<int64_t> extentPosition(numLoops), extent(numLoops, ShapedType::kDynamic);
  for (OpOperand &operand : op->getOpOperands()) {
    indices.emplace_back();
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type && isVectorElement(operand.get().getType()))
      continue;
    if (!type || !type.isStrided() || !isVectorElement(type.getElementType()))
      return failure();
    for (auto [position, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      LinearIndex &index = indices.back().emplace_back();
      if (failed(addTerms(expr, 1, index)) || (op.isDpsInit(&operand) && !index.isLoop() && !index.terms.empty()))
        return failure();
      if (!index.isLoop())
        continue;
      unsigned loop = index.terms[0].first;
      if (!extentSource[loop] || (ShapedType::isDynamic(extent[loop]) && !type.isDynamicDim(position))) {
        extentSource[loop] = operand.get();
        extentPosition[loop] = position;
        extent[loop] = type.getDimSize(position);
      }
    }
  }
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (!extentSource[loop])
      return failure();
    nest.loopOfDim.push_back(loop);
  }
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (ShapedType::isDynamic(extent[loop]))
      nest.extents.push_back(memref::DimOp::create(b, extentSource[loop], extentPosition[loop]).getResult());
    else
      nest.extents.push_back(b.getIndexAttr(extent[loop]));
  }
  for (auto [operand, positions] : llvm::zip_equal(op->getOpOperands(), indices)) {
    if (isa<MemRefType>(operand.get().getType())) {
      nest.accesses.push_back(buildAccess(b, operand.get(), positions, numLoops));
      continue;
    }
    Access &scalar = nest.accesses.emplace_back();
    scalar.flat = operand.get();
    scalar.element = operand.get().getType();
    scalar.strides.assign(numLoops, b.getIndexAttr(0));
  }
  return nest;
}

/// Removes `loop`; a removed loop that was joined lives on in `into`.
static void eraseLoop(LoopNest &nest, unsigned loop, int into) {
  nest.extents.erase(nest.extents.begin() + loop);
  auto renumber = [&](unsigned other) { return other > loop ? other - 1 : other; };
  for (Access &access : nest.accesses) {
    access.strides.erase(access.strides.begin() + loop);
    SmallVector<std::pair<unsigned, unsigned>> kept;
    for (auto [outer, inner] : access.contiguous) {
      if (inner == loop && into >= 0)
        inner = into;
      if (outer == loop || inner == loop || outer == inner)
        continue;
      kept.push_back({renumber(outer), renumber(inner)});
    }
    access.contiguous = kept;
  }
  for (int &mapped : nest.loopOfDim) {
    if (mapped == int(loop))
      mapped = -1;
    else if (mapped > int(loop))
      --mapped;
  }
}

/// True if `outer` and `inner` together run over memory as one loop of the product of their extents.
static bool canJoin(const LoopNest &nest, unsigned outer, unsigned inner) {
  std::optional<int64_t> extent = getConstantIntValue(nest.extents[inner]);
  return llvm::all_of(nest.accesses, [&](const Access &access) {
    if (access.absent(outer) || access.absent(inner))
      return access.absent(outer) && access.absent(inner);
    if (llvm::is_contained(access.contiguous, std::pair(outer, inner)))
      return true;
    std::optional<int64_t> o = getConstantIntValue(access.strides[outer]);
    std::optional<int64_t> i = getConstantIntValue(access.strides[inner]);
    return extent && o && i && *o == *i * *extent;
  });
}

void simplify(ImplicitLocOpBuilder &b, LoopNest &nest) {
  for (unsigned loop = nest.numLoops(); loop-- > 0;)
    if (isConstantIntValue(nest.extents[loop], 1)) {
      // Loops around a unit loop are contiguous with the loop inside of it.
      for (Access &access : nest.accesses) {
        int outer = -1, inner = -1;
        for (auto [o, i] : access.contiguous) {
          if (i == loop)
            outer = o;
          if (o == loop)
            inner = i;
        }
        if (outer >= 0 && inner >= 0)
          access.contiguous.push_back({unsigned(outer), unsigned(inner)});
      }
      eraseLoop(nest, loop, -1);
    }
  llvm::SmallDenseSet<unsigned> pinned;
  if (nest.body)
    nest.body->walk([&](linalg::IndexOp op) {
      if (int loop = nest.loopOfDim[op.getDim()]; loop >= 0)
        pinned.insert(loop);
    });
  // Loop numbers change with each join, the pinned ones with them.
  auto joinOne = [&]() {
    for (unsigned outer = 0; outer < nest.numLoops(); ++outer)
      for (unsigned inner = 0; inner < nest.numLoops(); ++inner) {
        if (outer == inner || pinned.contains(outer) || pinned.contains(inner) || !canJoin(nest, outer, inner))
          continue;
        nest.extents[inner] = multiply(b, nest.extents[outer], nest.extents[inner]);
        eraseLoop(nest, outer, inner);
        llvm::SmallDenseSet<unsigned> moved;
        for (unsigned loop : pinned)
          moved.insert(loop > outer ? loop - 1 : loop);
        pinned = moved;
        return true;
      }
    return false;
  };
  while (joinOne())
    ;
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

/// Rounds f32 lanes to the bits of bf16 with integer instructions; without AVX512-BF16, LLVM would call a function per lane.
static Value roundToBF16(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<VectorType>(value.getType());
  auto intType = type.clone(b.getI32Type());
  auto constant = [&](int64_t bits) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(intType, b.getI32IntegerAttr(bits))).getResult();
  };
  Value bits = arith::BitcastOp::create(b, intType, value);
  Value high = arith::ShRUIOp::create(b, bits, constant(16));
  Value odd = arith::AndIOp::create(b, high, constant(1));
  Value rounded = arith::AddIOp::create(b, bits, arith::AddIOp::create(b, odd, constant(0x7fff)).getResult());
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value chosen = arith::SelectOp::create(b, isNaN, quiet, rounded);
  Value shifted = arith::ShRUIOp::create(b, chosen, constant(16));
  return arith::TruncIOp::create(b, type.clone(b.getI16Type()), shifted);
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

Value loadScalar(ImplicitLocOpBuilder &b, const Access &access, Value offset) {
  if (!isa<MemRefType>(access.flat.getType()))
    return toCompute(b, access.flat, access.element);
  return toCompute(b, memref::LoadOp::create(b, access.flat, ValueRange{offset}), access.element);
}

void storeScalar(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset) {
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
static Value rawAddress(ImplicitLocOpBuilder &b, const Access &access, Value offset, OpFoldResult stride,
                        unsigned lanes) {
  auto pointer = access.raw.getType();
  Value distance = arith::IndexCastOp::create(b, b.getI64Type(), offset);
  Value first = LLVM::GEPOp::create(b, pointer, rawType(access.element), access.raw, ValueRange{distance});
  if (isConstantIntValue(stride, 1))
    return first;
  Value offsets = laneOffsets(b, stride, lanes);
  if (getElementTypeOrSelf(offsets).isIndex())
    offsets = arith::IndexCastOp::create(b, VectorType::get({lanes}, b.getI64Type()), offsets);
  return LLVM::GEPOp::create(b, VectorType::get({lanes}, pointer), rawType(access.element), first, ValueRange{offsets});
}

static Value loadRaw(ImplicitLocOpBuilder &b, const Access &access, Value offset, OpFoldResult stride, unsigned lanes,
                     const LaneMask &mask) {
  auto type = VectorType::get({lanes}, rawType(access.element));
  Value address = rawAddress(b, access, offset, stride, lanes), loaded;
  unsigned alignment = rawType(access.element).getWidth() / 8;
  if (!isConstantIntValue(stride, 1))
    loaded = LLVM::masked_gather::create(b, type, address, mask ? mask.lanes : allLanes(b, lanes),
                                         ValueRange{zeros(b, type)}, alignment);
  else if (mask)
    loaded = LLVM::MaskedLoadOp::create(b, type, address, mask.lanes, zeros(b, type), alignment);
  else
    loaded = LLVM::LoadOp::create(b, type, address, alignment);
  if (access.element.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded, zeros(b, type));
  auto wide = type.clone(b.getI32Type());
  Value sixteen = arith::ConstantOp::create(b, DenseElementsAttr::get(wide, b.getI32IntegerAttr(16)));
  Value shifted = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, wide, loaded).getResult(), sixteen);
  return arith::BitcastOp::create(b, type.clone(b.getF32Type()), shifted);
}

static void storeRaw(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset, OpFoldResult stride,
                     const LaneMask &mask) {
  auto type = cast<VectorType>(value.getType()).clone(rawType(access.element));
  unsigned lanes = type.getNumElements(), alignment = rawType(access.element).getWidth() / 8;
  value = access.element.isBF16() ? roundToBF16(b, value) : arith::ExtUIOp::create(b, type, value).getResult();
  Value address = rawAddress(b, access, offset, stride, lanes);
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

void storeVector(ImplicitLocOpBuilder &b, Value value, const Access &access, Value offset, OpFoldResult stride,
                 const LaneMask &mask) {
  unsigned lanes = cast<VectorType>(value.getType()).getNumElements();
  // LLVM 22 for AVX-512 makes a masked store of truncated integers whose mask is known to be one lane a store of the whole
  // integer before truncation. So that case gets its own branch, which goes away where the count is known.
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
    vector::StoreOp::create(b, value, access.flat, ValueRange{offset});
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

scf::ForOp openLoop(ImplicitLocOpBuilder &b, OpFoldResult lower, OpFoldResult upper, int64_t step, ValueRange inits) {
  auto loop = scf::ForOp::create(b, materialize(b, lower), materialize(b, upper),
                                 arith::ConstantIndexOp::create(b, step), inits);
  b.setInsertionPointToStart(loop.getBody());
  return loop;
}

void closeLoop(ImplicitLocOpBuilder &b, scf::ForOp loop, ValueRange yields) {
  // A loop without results was made with its terminator.
  if (!yields.empty())
    scf::YieldOp::create(b, yields);
  b.setInsertionPointAfter(loop);
}

} // namespace fusion::cpu
