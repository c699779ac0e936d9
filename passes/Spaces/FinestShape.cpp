//===- FinestShape.cpp - Between tensors and their finest dimensions ------===//

#include "FinestShape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fusion;
using namespace fusion::spacemap;

using Dims = DimTable::Dims;

RankedTensorType fusion::spacemap::getFinestType(ArrayRef<OpFoldResult> shape, Type elementType) {
  SmallVector<int64_t> sizes;
  for (OpFoldResult size : shape)
    sizes.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(sizes, elementType);
}

/// Groups of consecutive axes, one per non-empty entry of `axes`; empty ones join a neighbour.
static SmallVector<ReassociationIndices> joinUnitAxes(ArrayRef<Dims> axes) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (auto [index, axis] : llvm::enumerate(axes)) {
    pending.push_back(index);
    if (!axis.empty()) {
      groups.push_back(pending);
      pending.clear();
    }
  }
  if (!groups.empty())
    groups.back().append(pending);
  return groups;
}

/// Extent of an axis that is made of `dims`.
static int64_t getMergedSize(const Dims &dims, const DimTable &table) {
  int64_t size = 1;
  for (DimTable::Dim dim : dims) {
    std::optional<int64_t> extent = getConstantIntValue(table.getExtent(dim));
    size = extent && !ShapedType::isDynamic(size) ? size * *extent : ShapedType::kDynamic;
  }
  return size;
}

static Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value : tensor::CastOp::create(builder, loc, type, value).getResult();
}

Value fusion::spacemap::toFinest(OpBuilder &builder, Location loc, Value value, ArrayRef<Dims> axes,
                                 const DimTable &table) {
  Type elementType = cast<RankedTensorType>(value.getType()).getElementType();
  SmallVector<int64_t> sizes, merged;
  SmallVector<OpFoldResult> finest;
  SmallVector<ReassociationIndices> expansion;
  for (const Dims &axis : axes) {
    sizes.push_back(getMergedSize(axis, table));
    if (axis.empty())
      continue;
    merged.push_back(sizes.back());
    ReassociationIndices &parts = expansion.emplace_back();
    for (DimTable::Dim dim : axis) {
      parts.push_back(finest.size());
      finest.push_back(table.getExtent(dim));
    }
  }
  // Alignment may know extents that the type does not.
  value = castTo(builder, loc, value, RankedTensorType::get(sizes, elementType));
  if (merged.size() != axes.size())
    value = tensor::CollapseShapeOp::create(builder, loc, RankedTensorType::get(merged, elementType), value,
                                            joinUnitAxes(axes));
  if (finest.size() != merged.size())
    value = tensor::ExpandShapeOp::create(builder, loc, getFinestType(finest, elementType), value, expansion, finest);
  return value;
}

Value fusion::spacemap::fromFinest(OpBuilder &builder, Location loc, Value value, ArrayRef<Dims> axes,
                                   RankedTensorType type, const DimTable &table) {
  SmallVector<ReassociationIndices> merging;
  SmallVector<int64_t> merged;
  int64_t position = 0;
  for (const Dims &axis : axes) {
    if (axis.empty())
      continue;
    ReassociationIndices &parts = merging.emplace_back();
    for (size_t part = 0; part < axis.size(); ++part)
      parts.push_back(position++);
    merged.push_back(getMergedSize(axis, table));
  }
  if (position != static_cast<int64_t>(merging.size()))
    value = tensor::CollapseShapeOp::create(builder, loc, RankedTensorType::get(merged, type.getElementType()), value,
                                            merging);
  if (merging.size() != axes.size()) {
    SmallVector<OpFoldResult> shape;
    int64_t next = 0;
    for (const Dims &axis : axes)
      shape.push_back(axis.empty() ? OpFoldResult(builder.getIndexAttr(1))
                                   : tensor::getMixedSize(builder, loc, value, next++));
    value = tensor::ExpandShapeOp::create(builder, loc, getFinestType(shape, type.getElementType()), value,
                                          joinUnitAxes(axes), shape);
  }
  return castTo(builder, loc, value, type);
}
