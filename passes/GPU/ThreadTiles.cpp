//===- ThreadTiles.cpp - The forms in which a thread has a tile -----------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fusion {

/// Elements of a tensor in row-major order, all of it.
FailureOr<GlobalTile> ThreadProgram::getGlobalTile(Value tensor) {
  GlobalTile tile;
  Value host = tensor;
  bool isOutput = false;
  if (auto argument = dyn_cast<BlockArgument>(tensor); argument && argument.getOwner() == forall.getBody()) {
    host = forall.getTiedOpOperand(argument)->get();
    isOutput = true;
  }
  FailureOr<Value> buffer = getBuffer(host, isOutput);
  if (failed(buffer))
    return failure();
  auto type = cast<RankedTensorType>(tensor.getType());
  tile.pointer = *buffer;
  tile.isOutput = isOutput;
  tile.elementType = type.getElementType();
  tile.strides.resize(type.getRank());
  OpFoldResult stride = builder.getIndexAttr(1);
  for (unsigned axis = type.getRank(); axis-- > 0;) {
    tile.strides[axis] = stride;
    if (axis > 0)
      stride = multiply(stride, getHostExtent(host, axis));
  }
  TileAccess access = getTileAccess(tensor);
  tile.contiguous = access.contiguous;
  tile.vector = access.vector;
  return tile;
}

FailureOr<TileState *> ThreadProgram::getState(Value tile) {
  if (auto known = tiles.find(tile); known != tiles.end())
    return &known->second;
  // From outside of the kernel.
  TileState state;
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    state.splat = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  } else {
    OpBuilder::InsertionGuard guard(builder);
    // After the conversions of arguments that it uses.
    FailureOr<GlobalTile> global = getGlobalTile(tile);
    if (failed(global))
      return failure();
    state.global = *global;
    auto argument = dyn_cast<BlockArgument>(tile);
    if (argument && argument.getOwner() == forall.getBody())
      state.isUndefined = isa_and_nonnull<tensor::EmptyOp>(forall.getTiedOpOperand(argument)->get().getDefiningOp());
  }
  return &(tiles[tile] = state);
}

ThreadProgram::OpFoldResults ThreadProgram::getExtents(Value tile) {
  if (auto known = extentsOf.find(tile); known != extentsOf.end())
    return known->second;
  auto type = cast<RankedTensorType>(tile.getType());
  OpFoldResults extents;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(extent)) {
      extents.push_back(builder.getIndexAttr(extent));
    } else {
      auto argument = dyn_cast<BlockArgument>(tile);
      bool isOutput = argument && argument.getOwner() == forall.getBody();
      extents.push_back(getHostExtent(isOutput ? forall.getTiedOpOperand(argument)->get() : tile, axis));
    }
  extentsOf[tile] = extents;
  return extents;
}

LogicalResult ThreadProgram::emitSlice(tensor::ExtractSliceOp slice) {
  if (!llvm::all_of(slice.getMixedStrides(), [](OpFoldResult stride) { return getConstantIntValue(stride) == 1; }))
    return slice.emitOpError("has a step other than 1, for which there is no GPU code");
  FailureOr<TileState *> source = getState(slice.getSource());
  if (failed(source))
    return failure();
  OpFoldResults extents;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(dim))
      extents.push_back(getIndex(size));
  TileState state;
  state.isUndefined = (*source)->isUndefined;
  state.splat = (*source)->splat;
  if ((*source)->global) {
    GlobalTile tile = *(*source)->global;
    OpFoldResult offset = builder.getIndexAttr(0);
    SmallVector<OpFoldResult> strides;
    for (auto [dim, start] : llvm::enumerate(slice.getMixedOffsets())) {
      offset = add(offset, multiply(getIndex(start), tile.strides[dim]));
      if (!dropped.test(dim))
        strides.push_back(tile.strides[dim]);
    }
    tile.pointer = offsetPointer(tile.pointer, tile.elementType, offset);
    tile.strides = strides;
    TileAccess access = getTileAccess(slice.getResult());
    tile.contiguous = access.contiguous;
    tile.vector = access.vector;
    state.global = tile;
  } else if (!state.isUndefined && !state.splat) {
    // The first elements of a tile: the same registers. Anything else would move between threads.
    auto isZero = [](OpFoldResult offset) { return getConstantIntValue(offset) == 0; };
    if (dropped.any() || !llvm::all_of(slice.getMixedOffsets(), isZero))
      return slice.emitOpError("takes a part of a tile that is in registers, for which there is no GPU code");
    state.fragments = (*source)->fragments;
  }
  tiles[slice.getResult()] = state;
  extentsOf[slice.getResult()] = extents;
  return success();
}

void ThreadProgram::setFragment(Value tile, Fragment fragment) {
  TileState state;
  state.fragments.push_back(std::move(fragment));
  tiles[tile] = std::move(state);
}

FailureOr<Fragment> ThreadProgram::getFragment(Value tile, const Layout &layout) {
  FailureOr<TileState *> found = getState(tile);
  if (failed(found))
    return failure();
  Type type = cast<RankedTensorType>(tile.getType()).getElementType();
  TileState &state = **found;
  for (const Fragment &fragment : state.fragments)
    if (fragment.layout == layout)
      return fragment;
  Fragment made;
  if (state.splat) {
    made.layout = layout;
    made.values.assign(layout.getNumRegisters(), state.splat);
    return made;
  }
  if (!state.fragments.empty()) {
    made = convert(state.fragments.front(), layout, type);
  } else if (state.isUndefined || !state.global) {
    made.layout = layout;
    made.values.assign(layout.getNumRegisters(), ub::PoisonOp::create(builder, loc, type));
    return made;
  } else {
    OpFoldResults extents = getExtents(tile);
    GlobalTile global = *state.global;
    made = load(global, layout, extents);
  }
  // Loaded once in a thread; within a loop the registers are not known outside.
  tiles[tile].fragments.push_back(made);
  return made;
}

FailureOr<Layout> ThreadProgram::getFallbackLayout(Value tile) {
  FailureOr<SmallVector<int64_t>> shape = getTileShape(tile);
  if (failed(shape))
    return failure();
  TileAccess access = getTileAccess(tile);
  SmallVector<unsigned> order;
  if (access.contiguous >= 0)
    order.push_back(access.contiguous);
  for (unsigned dim = shape->size(); dim-- > 0;)
    if (int(dim) != access.contiguous)
      order.push_back(dim);
  return getBlockedLayout(*shape, order, access.vector, numWarps, /*warpsFirst=*/false);
}

Fragment ThreadProgram::convert(const Fragment &fragment, const Layout &layout, Type type) {
  Conversion conversion = getConversion(fragment.layout, layout);
  if (conversion == Conversion::None)
    return fragment;
  if (conversion != Conversion::Registers)
    return exchange(fragment, layout, type);
  Fragment result{layout, {}};
  for (int64_t number : getRegisterMap(fragment.layout, layout))
    result.values.push_back(fragment.values[number]);
  return result;
}

} // namespace fusion
