//===- TileTraffic.cpp - Between tiles and the memory ---------------------===//
//
// What a block reads and writes beyond the caches of its core: results that go past them, and inputs that are fetched
// while the block before still computes.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;
using namespace fusion::tiles;

/// Tensors from this size on do not stay in the caches of a core.
static constexpr int64_t kLargeBytes = 8 << 20;
/// A tile up to this size stays near while the one before it is worked on.
static constexpr int64_t kNearBytes = 128 << 10;
static constexpr int64_t kLineBytes = 64;

/// Whether `value` is returned from its function, as it is or reshaped, and not used in any other way.
static bool isOnlyReturned(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(user))
      return isOnlyReturned(user->getResult(0));
    return user->hasTrait<OpTrait::ReturnLike>() && isa<FunctionOpInterface>(user->getParentOp());
  });
}

bool KernelLowering::isStreamed(unsigned index) {
  auto type = cast<RankedTensorType>(graph->getResult(index).getType());
  Type element = type.getElementType();
  if (!pack || !type.hasStaticShape() || type.getRank() == 0 ||
      !(element.isF16() || element.isF32() || element.isF64()))
    return false;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (type.getNumElements() * bytes < kLargeBytes || type.getShape().back() * bytes % kLineBytes != 0 ||
      !isOnlyReturned(graph->getResult(index)))
    return false;
  auto output = cast<OutputOp>(graph.getBody().front().getTerminator());
  StringAttr row = getNames(cast<ArrayAttr>(output.getAxes()[index])).back();
  bool isWhole = graph.getBlockSize(row) * bytes % kLineBytes == 0;
  for (auto loop : graph.getBody().getOps<TemporalOp>())
    if (loop.getDimAttr() == row)
      isWhole &= static_cast<int64_t>(loop.getStep()) * bytes % kLineBytes == 0;
  return isWhole;
}

void KernelLowering::markPrefetches() {
  auto forall = cast<scf::ForallOp>(grid);
  // Blocks follow each other along the last dimension of the grid.
  Value next = forall.getInductionVars().back();
  std::optional<int64_t> step = getConstantIntValue(forall.getMixedStep().back());
  if (!step || !pack)
    return;
  struct Reader {
    linalg::GenericOp op;
    unsigned operand;
    int64_t distance;
    bool isRepeated;
  };
  llvm::MapVector<Value, Reader> last;
  forall.walk([&](linalg::GenericOp op) {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto slice = operand->get().getDefiningOp<tensor::ExtractSliceOp>();
      auto whole = slice ? dyn_cast<RankedTensorType>(slice.getSource().getType()) : RankedTensorType();
      // Only what is read element by element; the operands of a contraction are read again and again.
      if (!whole || !whole.hasStaticShape() || !llvm::is_contained(graph.getInputs(), slice.getSource()) ||
          !op.getMatchingIndexingMap(operand).isPermutation())
        continue;
      Type element = whole.getElementType();
      if (!element.isIntOrFloat() || whole.getNumElements() * element.getIntOrFloatBitWidth() / 8 < kLargeBytes)
        continue;
      int64_t stride = 1, distance = 0, tile = 1;
      for (int64_t axis = whole.getRank() - 1; axis >= 0; --axis) {
        if (slice.getMixedOffsets()[axis] == OpFoldResult(next))
          distance = *step * stride;
        stride *= whole.getDimSize(axis);
        std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[axis]);
        tile = size ? tile * *size : kNearBytes;
      }
      if (distance == 0 || tile * element.getIntOrFloatBitWidth() / 8 > kNearBytes)
        continue;
      Reader reader{op, operand->getOperandNumber(), distance, false};
      auto [it, isFirst] = last.try_emplace(slice.getSource(), reader);
      if (!isFirst) {
        reader.isRepeated = it->second.isRepeated || it->second.op != op;
        it->second = reader;
      }
    }
  });
  llvm::MapVector<Operation *, SmallVector<int64_t>> marks;
  for (auto &[input, reader] : last) {
    if (!reader.isRepeated)
      continue;
    SmallVector<int64_t> &distances = marks[reader.op];
    distances.resize(reader.op.getNumDpsInputs(), 0);
    distances[reader.operand] = reader.distance;
  }
  for (auto &[op, distances] : marks)
    op->setAttr("fusion.prefetch", DenseI64ArrayAttr::get(op->getContext(), distances));
}
