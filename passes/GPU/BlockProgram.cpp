//===- BlockProgram.cpp - What the GPU passes ask of a kernel's tile program =//

#include "BlockProgram.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <numeric>

using namespace mlir;

namespace fusion {

bool isKernel(scf::ForallOp forall) { return forall->hasAttr(kernelAttr); }

FailureOr<SmallVector<int64_t>> getTileShape(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(extent))
      continue;
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
        presburger::BoundType::UB, {tile, int64_t(dim)}, /*stopCondition=*/nullptr,
        /*closedUB=*/true);
    if (failed(bound))
      return emitError(tile.getLoc()) << "extent " << dim
                                      << " of a tile has no constant bound: a kernel's tiles must fit "
                                      << "into the registers of a block";
    extent = std::max<int64_t>(*bound, 1);
  }
  return shape;
}

FailureOr<SmallVector<int64_t>> getLoopShape(linalg::LinalgOp op) {
  SmallVector<int64_t> shape(op.getNumLoops(), ShapedType::kDynamic);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    FailureOr<SmallVector<int64_t>> tile = getTileShape(operand.get());
    if (failed(tile))
      return failure();
    for (auto [extent, expr] : llvm::zip(*tile, op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t &known = shape[dim.getPosition()];
        known = ShapedType::isDynamic(known) ? extent : std::min(known, extent);
      }
  }
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return op->emitOpError("has a loop whose extent no operand tells");
  return shape;
}

int64_t getDivisor(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::abs(*constant);
  auto ofLoop = [](OpFoldResult lower, OpFoldResult step) { return std::gcd(getDivisor(lower), getDivisor(step)); };
  auto operand = cast<Value>(value);
  if (auto argument = dyn_cast<BlockArgument>(operand)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
      return ofLoop(loop.getLowerBound(), loop.getStep());
    if (auto forall = dyn_cast<scf::ForallOp>(parent))
      if (unsigned number = argument.getArgNumber(); number < forall.getRank())
        return ofLoop(forall.getMixedLowerBound()[number], forall.getMixedStep()[number]);
    return 1;
  }
  if (auto apply = operand.getDefiningOp<affine::AffineApplyOp>()) {
    // Each operand stands for one that is 0 modulo its divisor.
    std::function<int64_t(AffineExpr)> ofExpr = [&](AffineExpr expr) -> int64_t {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        return std::abs(constant.getValue());
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        return getDivisor(apply.getDimOperands()[dim.getPosition()]);
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        return getDivisor(apply.getSymbolOperands()[symbol.getPosition()]);
      auto binary = cast<AffineBinaryOpExpr>(expr);
      int64_t left = ofExpr(binary.getLHS()), right = ofExpr(binary.getRHS());
      if (binary.getKind() == AffineExprKind::Add)
        return std::gcd(left, right);
      return binary.getKind() == AffineExprKind::Mul ? left * right : 1;
    };
    return ofExpr(apply.getAffineMap().getResult(0));
  }
  return 1;
}

FailureOr<SmallVector<unsigned>> getDims(AffineMap map) {
  SmallVector<unsigned> dims;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || llvm::is_contained(dims, dim.getPosition()))
      return failure();
    dims.push_back(dim.getPosition());
  }
  return dims;
}

bool isTransparent(linalg::LinalgOp op) {
  return isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(op.getOperation());
}

FailureOr<Layout> getAssignedLayout(linalg::LinalgOp op) {
  auto text = op->getAttrOfType<StringAttr>(layoutAttr);
  if (!text)
    return op->emitOpError("has no layout: run fusion-gpu-assign-layouts first");
  std::optional<Layout> layout = Layout::parse(text.getValue());
  if (!layout || layout->getRank() != op.getNumLoops())
    return op->emitOpError() << "'" << text.getValue() << "' is no layout of its " << op.getNumLoops() << " loops";
  return *layout;
}

/// Follows slices and transposes to a tensor of the whole program. `offsets` are divisors per axis of it, `moves` says
/// whether the position along an axis may be other than 0.
static bool trace(Value tile, TileAccess &access, SmallVectorImpl<int64_t> &offsets, SmallVectorImpl<bool> &moves) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (!trace(slice.getSource(), access, offsets, moves))
      return false;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<unsigned> axes;
    for (unsigned dim = 0; dim < dropped.size(); ++dim) {
      unsigned axis = access.axes[dim];
      OpFoldResult offset = slice.getMixedOffsets()[dim];
      if (getConstantIntValue(slice.getMixedStrides()[dim]) != 1)
        return false;
      offsets[axis] = std::gcd(offsets[axis], getDivisor(offset));
      moves[axis] |= getConstantIntValue(offset) != 0;
      if (!dropped.test(dim))
        axes.push_back(axis);
    }
    access.axes = axes;
    return true;
  }
  if (auto transpose = tile.getDefiningOp<linalg::TransposeOp>()) {
    if (!trace(transpose.getInput(), access, offsets, moves))
      return false;
    SmallVector<unsigned> axes;
    for (int64_t from : transpose.getPermutation())
      axes.push_back(access.axes[from]);
    access.axes = axes;
    return true;
  }
  if (auto copy = tile.getDefiningOp<linalg::CopyOp>())
    return trace(copy.getInputs()[0], access, offsets, moves);
  auto argument = dyn_cast<BlockArgument>(tile);
  bool isOutput = argument && isa<scf::ForallOp>(argument.getOwner()->getParentOp());
  Operation *definition = isOutput ? nullptr : tile.getDefiningOp();
  bool isOutside = definition ? !definition->getParentOfType<scf::ForallOp>()
                              : argument && !argument.getOwner()->getParentOp()->getParentOfType<scf::ForallOp>();
  if (!isOutput && !isOutside)
    return false;
  access.tensor = tile;
  access.axes = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
  offsets.assign(type.getRank(), 0);
  moves.assign(type.getRank(), false);
  return true;
}

TileAccess getTileAccess(Value tile) {
  TileAccess access;
  SmallVector<int64_t> offsets;
  SmallVector<bool> moves;
  if (!trace(tile, access, offsets, moves))
    return TileAccess();
  auto type = cast<RankedTensorType>(access.tensor.getType());
  auto tileType = cast<RankedTensorType>(tile.getType());
  int64_t stride = 1, divisor = 0;
  for (unsigned axis = type.getRank(); axis-- > 0;) {
    const auto *found = llvm::find(access.axes, axis);
    bool isDim = found != access.axes.end();
    if (stride == 1 && isDim && access.contiguous < 0 && type.getDimSize(axis) != 1) {
      access.contiguous = found - access.axes.begin();
      divisor = std::gcd(divisor, offsets[axis]);
      int64_t extent = tileType.getDimSize(access.contiguous);
      divisor = std::gcd(divisor, ShapedType::isDynamic(extent) ? 1 : extent);
    } else if (isDim || moves[axis]) {
      divisor = std::gcd(divisor, stride * std::max<int64_t>(isDim ? 1 : offsets[axis], 1));
    }
    // Past an extent that is not known, all that is sure of a stride is that it is a multiple of what came before.
    if (!ShapedType::isDynamic(type.getDimSize(axis)))
      stride *= type.getDimSize(axis);
  }
  unsigned bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 64;
  int64_t most = std::max<int64_t>(128 / std::max(bits, 8u), 1);
  while (access.contiguous >= 0 && access.vector < most && divisor % (2 * access.vector) == 0)
    access.vector *= 2;
  return access;
}

} // namespace fusion
