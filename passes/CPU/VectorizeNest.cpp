//===- VectorizeNest.cpp - Loop nests over flat memory accesses ---------------------------------------------------===//

#include "VectorizeNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

//===--- Views ----------------------------------------------------------------------------------------------------===//

Access buildAccess(ImplicitLocOpBuilder &b, Value memref, ArrayRef<LinearIndex> indices, unsigned numLoops) {
  auto type = cast<MemRefType>(memref.getType());
  Access access;
  access.element = type.getElementType();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  // The extent is never read; only the address of an element is.
  auto flatType =
      MemRefType::get({ShapedType::kDynamic}, access.element,
                      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}), type.getMemorySpace());
  Value bound = arith::ConstantIndexOp::create(b, std::numeric_limits<int64_t>::max());
  access.flat =
      memref::ReinterpretCastOp::create(b, flatType, metadata.getBaseBuffer(), OpFoldResult(materialize(b, offset)),
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

Access buildAccess(ImplicitLocOpBuilder &b, Value memref) {
  SmallVector<LinearIndex> indices;
  for (int64_t dim = 0; dim < cast<MemRefType>(memref.getType()).getRank(); ++dim)
    indices.push_back(LinearIndex::ofLoop(dim));
  return buildAccess(b, memref, indices, indices.size());
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
  if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
      constant && binary.getKind() == AffineExprKind::Mul)
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
