//===- ThreadProgram.cpp - The walk over a block's program ----------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace fusion {

ThreadProgram::ThreadProgram(scf::ForallOp forall, LLVM::LLVMFuncOp function, const GpuChip &chip, int64_t maxStages)
    : forall(forall), function(function), chip(chip), builder(forall.getContext()), loc(forall.getLoc()),
      maxStages(maxStages) {
  if (auto warps = forall->getAttrOfType<IntegerAttr>(warpsAttr))
    numWarps = warps.getInt();
}

LogicalResult ThreadProgram::run() {
  builder.setInsertionPointToEnd(&function.getBody().front());
  auto returnOp = LLVM::ReturnOp::create(builder, loc, Value());
  builder.setInsertionPoint(returnOp);
  Type i32 = builder.getI32Type();
  Value thread = NVVM::ThreadIdXOp::create(builder, loc, i32);
  lane = arith::AndIOp::create(builder, loc, thread, getI32(31));
  warp = arith::ShRUIOp::create(builder, loc, thread, getI32(5));
  sharedBase =
      LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3), "fusion_shared");
  emitCoordinates();
  if (failed(emitBody(*forall.getBody())))
    return failure();
  for (Operation &op : forall.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return op.emitOpError("has no GPU code: accepted at the end of a kernel is tensor.parallel_insert_slice");
    if (failed(emitStore(insert)))
      return failure();
  }
  return success();
}

/// Where the block is in the grid: the last dimension of the `scf.forall` runs fastest.
void ThreadProgram::emitCoordinates() {
  Value rest = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  rest = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), rest);
  for (unsigned dim = forall.getRank(); dim-- > 0;) {
    OpFoldResult lower = getIndex(forall.getMixedLowerBound()[dim]), upper = getIndex(forall.getMixedUpperBound()[dim]),
                 step = getIndex(forall.getMixedStep()[dim]);
    Value coordinate = rest;
    if (dim > 0) {
      Value extent = arith::SubIOp::create(builder, loc, getIndexValue(upper), getIndexValue(lower));
      Value count = arith::CeilDivSIOp::create(builder, loc, extent, getIndexValue(step));
      std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper),
                             each = getConstantIntValue(step);
      if (first && last && each)
        count = getIndexValue(builder.getIndexAttr(llvm::divideCeil(*last - *first, *each)));
      coordinate = arith::RemUIOp::create(builder, loc, rest, count);
      rest = arith::DivUIOp::create(builder, loc, rest, count);
    }
    OpFoldResult position = add(lower, multiply(coordinate, step));
    scalars.map(forall.getInductionVar(dim), getIndexValue(position));
  }
}

LogicalResult ThreadProgram::emitBody(Block &block) {
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

LogicalResult ThreadProgram::emit(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return emitSlice(slice);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return emitLinalg(linalgOp);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return emitInsert(insert);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return emitElement(extract, scalars);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    tiles[empty.getResult()].isUndefined = true;
    OpFoldResults extents;
    for (OpFoldResult size : empty.getMixedSizes())
      extents.push_back(getIndex(size));
    extentsOf[empty.getResult()] = extents;
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!axis)
      return op->emitOpError("asks for an axis that is not constant, for which there is no GPU code");
    scalars.map(dim.getResult(), getIndexValue(getExtents(dim.getSource())[*axis]));
    return success();
  }
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::none_of(op->getOperandTypes(), isTensor) &&
      llvm::none_of(op->getResultTypes(), isTensor))
    return emitScalar(op);
  return op->emitOpError("has no GPU code within a kernel: accepted are linalg operations, slices, loops and scalar "
                         "operations");
}

LogicalResult ThreadProgram::emitScalar(Operation *op) {
  for (Value operand : op->getOperands())
    getScalar(operand);
  builder.clone(*op, scalars);
  return success();
}

LogicalResult ThreadProgram::emitElement(tensor::ExtractOp extract, IRMapping &map) {
  FailureOr<TileState *> state = getState(extract.getTensor());
  if (failed(state))
    return failure();
  if ((*state)->splat) {
    map.map(extract.getResult(), (*state)->splat);
    return success();
  }
  if (!(*state)->global)
    return extract.emitOpError("reads an element of a tile that is in registers, for which there is no GPU code");
  OpFoldResult offset = builder.getIndexAttr(0);
  for (auto [index, stride] : llvm::zip(extract.getIndices(), (*state)->global->strides)) {
    Value position = map.lookupOrNull(index);
    offset = add(offset, multiply(position ? position : getScalar(index), stride));
  }
  GlobalTile tile = *(*state)->global;
  Value pointer = offsetPointer(tile.pointer, tile.elementType, offset);
  // A tile of no dimensions is that one element.
  tile.pointer = pointer;
  tile.strides.clear();
  tile.contiguous = -1;
  tile.vector = 1;
  Layout layout({}, {}, {}, {});
  map.map(extract.getResult(), load(tile, layout, {}).values.front());
  return success();
}

LogicalResult ThreadProgram::emitLoop(scf::ForOp loop) {
  // The layout of a state is that of its next value.
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<std::optional<Layout>, 1> layouts;
  SmallVector<Value> inits;
  for (auto [next, init] : llvm::zip(yield.getOperands(), loop.getInitArgs())) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    if (!type) {
      layouts.push_back(std::nullopt);
      inits.push_back(getScalar(init));
      continue;
    }
    FailureOr<bool> inPlace = isWrittenInPlace(loop, layouts.size());
    if (failed(inPlace))
      return failure();
    if (*inPlace) {
      layouts.push_back(std::nullopt);
      continue;
    }
    auto op = next.getDefiningOp<linalg::LinalgOp>();
    std::optional<Layout> layout;
    if (op && !isTransparent(op)) {
      FailureOr<Layout> loops = getAssignedLayout(op);
      if (failed(loops))
        return failure();
      AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(next));
      if (FailureOr<SmallVector<unsigned>> dims = getDims(map); succeeded(dims))
        layout = loops->project(*dims);
    }
    if (!layout) {
      FailureOr<Layout> fallback = getFallbackLayout(init);
      if (failed(fallback))
        return failure();
      layout = *fallback;
    }
    FailureOr<Fragment> fragment = getFragment(init, *layout);
    if (failed(fragment))
      return failure();
    inits.append(fragment->values);
    layouts.push_back(layout);
  }
  Value lower = getScalar(loop.getLowerBound()), upper = getScalar(loop.getUpperBound()),
        step = getScalar(loop.getStep());
  FailureOr<CopyPipeline> pipeline = prepareLoop(loop);
  if (failed(pipeline) || failed(emitFirstCopies(loop, *pipeline, lower, upper, step)))
    return failure();
  bool copiesAhead = pipeline->stages > 0;
  if (copiesAhead)
    inits.append({getI32(0), getI32(pipeline->stages - 1)});
  auto newLoop = scf::ForOp::create(builder, loc, lower, upper, step, inits);
  auto savedTiles = tiles;
  auto savedExtents = extentsOf;
  auto savedStaged = staged;
  auto bind = [&](ValueRange states, ValueRange registers) {
    unsigned next = 0;
    for (auto [state, init, layout] : llvm::zip(states, loop.getInitArgs(), layouts)) {
      if (!layout && isa<TensorType>(init.getType())) {
        TileState place = tiles.lookup(init);
        place.isUndefined = false;
        place.isInPlace = true;
        OpFoldResults extents = getExtents(init);
        tiles[state] = place;
        extentsOf[state] = extents;
        continue;
      }
      if (!layout) {
        scalars.map(state, registers[next++]);
        continue;
      }
      extentsOf[state] = getExtents(init);
      auto values = registers.slice(next, layout->getNumRegisters());
      next += values.size();
      setFragment(state, {*layout, SmallVector<Value>(values)});
    }
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(newLoop.getBody());
    if (!inits.empty() || newLoop.getBody()->empty())
      builder.setInsertionPointToEnd(newLoop.getBody());
    else
      builder.setInsertionPoint(newLoop.getBody()->getTerminator());
    scalars.map(loop.getInductionVar(), newLoop.getInductionVar());
    bind(loop.getRegionIterArgs(), newLoop.getRegionIterArgs());
    ++loopDepth;
    Value readSlot, writeSlot;
    if (copiesAhead) {
      readSlot = newLoop.getRegionIterArgs().drop_back(1).back();
      writeSlot = newLoop.getRegionIterArgs().back();
      if (failed(emitNextCopies(loop, *pipeline, newLoop.getInductionVar(), upper, step, readSlot, writeSlot)))
        return failure();
    }
    if (failed(emitBody(*loop.getBody())))
      return failure();
    SmallVector<Value> next;
    for (auto [value, layout] : llvm::zip(yield.getOperands(), layouts)) {
      if (!layout && isa<TensorType>(value.getType()))
        continue;
      if (!layout) {
        next.push_back(getScalar(value));
        continue;
      }
      FailureOr<Fragment> fragment = getFragment(value, *layout);
      if (failed(fragment))
        return failure();
      next.append(fragment->values);
    }
    --loopDepth;
    if (copiesAhead)
      next.append({readSlot, writeSlot});
    if (!inits.empty())
      scf::YieldOp::create(builder, loc, next);
  }
  // What was made inside is not known outside.
  tiles = std::move(savedTiles);
  extentsOf = std::move(savedExtents);
  staged = std::move(savedStaged);
  bind(loop.getResults(), newLoop.getResults());
  return success();
}

/// Whether state `number` of the loop is a part of a result whose slices each trip writes, and nothing reads.
FailureOr<bool> ThreadProgram::isWrittenInPlace(scf::ForOp loop, unsigned number) {
  auto insert = loop.getBody()->getTerminator()->getOperand(number).getDefiningOp<tensor::InsertSliceOp>();
  Value state = loop.getRegionIterArg(number);
  if (!insert || insert.getDest() != state)
    return false;
  FailureOr<TileState *> init = getState(loop.getInitArgs()[number]);
  if (failed(init))
    return failure();
  return (*init)->global && (*init)->global->isOutput && (*init)->isUndefined;
}

LogicalResult ThreadProgram::emitInsert(tensor::InsertSliceOp insert) {
  FailureOr<TileState *> destination = getState(insert.getDest());
  if (failed(destination))
    return failure();
  if (!(*destination)->isInPlace)
    return insert.emitOpError("writes a part of a tile that is in registers, for which there is no GPU code");
  // Where it goes, a slice of the same place tells.
  OpBuilder scratch(insert);
  auto slice =
      tensor::ExtractSliceOp::create(scratch, loc, insert.getSourceType(), insert.getDest(), insert.getMixedOffsets(),
                                     insert.getMixedSizes(), insert.getMixedStrides());
  Value place = slice.getResult();
  LogicalResult located = emitSlice(slice);
  FailureOr<Layout> fallback = succeeded(located) ? getFallbackLayout(place) : FailureOr<Layout>(failure());
  if (failed(fallback)) {
    slice.erase();
    return failure();
  }
  GlobalTile tile = *tiles[place].global;
  OpFoldResults extents = extentsOf[place];
  tiles.erase(place);
  extentsOf.erase(place);
  slice.erase();
  FailureOr<TileState *> source = getState(insert.getSource());
  if (failed(source))
    return failure();
  Layout layout = (*source)->fragments.empty() ? *fallback : (*source)->fragments.front().layout;
  FailureOr<Fragment> fragment = getFragment(insert.getSource(), layout);
  if (failed(fragment))
    return failure();
  store(*fragment, tile, extents);
  TileState state = tiles.lookup(insert.getDest());
  OpFoldResults whole = getExtents(insert.getDest());
  tiles[insert.getResult()] = state;
  extentsOf[insert.getResult()] = whole;
  return success();
}

LogicalResult ThreadProgram::emitStore(tensor::ParallelInsertSliceOp insert) {
  loc = insert.getLoc();
  auto destination = cast<BlockArgument>(insert.getDest());
  // Written slice by slice, at this place.
  if (auto known = tiles.find(insert.getSource()); known != tiles.end() && known->second.isInPlace)
    return success();
  FailureOr<GlobalTile> whole = getGlobalTile(destination);
  if (failed(whole))
    return failure();
  if (!llvm::all_of(insert.getMixedStrides(), [](OpFoldResult stride) { return getConstantIntValue(stride) == 1; }))
    return insert.emitOpError("has a step other than 1, for which there is no GPU code");
  GlobalTile tile = *whole;
  OpFoldResult offset = builder.getIndexAttr(0);
  SmallVector<OpFoldResult> strides;
  OpFoldResults extents;
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  for (auto [dim, start] : llvm::enumerate(insert.getMixedOffsets())) {
    offset = add(offset, multiply(getIndex(start), tile.strides[dim]));
    if (dropped.test(dim))
      continue;
    strides.push_back(tile.strides[dim]);
    extents.push_back(getIndex(insert.getMixedSizes()[dim]));
  }
  tile.pointer = offsetPointer(tile.pointer, tile.elementType, offset);
  tile.strides = strides;
  // What is known of the access, a slice of the same place tells.
  OpBuilder scratch(insert->getParentOp());
  auto type = cast<RankedTensorType>(insert.getSource().getType());
  auto slice = tensor::ExtractSliceOp::create(scratch, loc, type, insert.getDest(), insert.getMixedOffsets(),
                                              insert.getMixedSizes(), insert.getMixedStrides());
  TileAccess access = getTileAccess(slice.getResult());
  FailureOr<Layout> fallback = getFallbackLayout(slice.getResult());
  slice.erase();
  if (failed(fallback))
    return failure();
  tile.contiguous = access.contiguous;
  tile.vector = access.vector;
  FailureOr<TileState *> state = getState(insert.getSource());
  if (failed(state))
    return failure();
  Layout layout = (*state)->fragments.empty() ? *fallback : (*state)->fragments.front().layout;
  FailureOr<Fragment> fragment = getFragment(insert.getSource(), layout);
  if (failed(fragment))
    return failure();
  store(*fragment, tile, extents);
  return success();
}

Value ThreadProgram::getConstant(int64_t value, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

Value ThreadProgram::getIndexValue(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return arith::ConstantIndexOp::create(builder, loc, *constant);
  return cast<Value>(value);
}

OpFoldResult ThreadProgram::add(OpFoldResult left, OpFoldResult right) {
  std::optional<int64_t> a = getConstantIntValue(left), b = getConstantIntValue(right);
  if (a && b)
    return builder.getIndexAttr(*a + *b);
  if (a == 0)
    return right;
  if (b == 0)
    return left;
  return arith::AddIOp::create(builder, loc, getIndexValue(left), getIndexValue(right)).getResult();
}

OpFoldResult ThreadProgram::multiply(OpFoldResult left, OpFoldResult right) {
  std::optional<int64_t> a = getConstantIntValue(left), b = getConstantIntValue(right);
  if (a && b)
    return builder.getIndexAttr(*a * *b);
  if (a == 0 || b == 0)
    return builder.getIndexAttr(0);
  if (a == 1)
    return right;
  if (b == 1)
    return left;
  return arith::MulIOp::create(builder, loc, getIndexValue(left), getIndexValue(right)).getResult();
}

/// The part of a coordinate that lane and warp decide, as i32; null where it is 0.
Value ThreadProgram::getThreadPart(const Layout &layout, unsigned dim) {
  Value sum;
  auto addBits = [&](Value number, const Layout::Bits &bits) {
    for (unsigned i = 0; i < bits.size();) {
      if (bits[i].dim != int(dim)) {
        ++i;
        continue;
      }
      // A run of bits that stay next to one another moves as a whole.
      unsigned end = i + 1;
      while (end < bits.size() && bits[end].dim == int(dim) && bits[end].position == bits[end - 1].position + 1)
        ++end;
      int64_t mask = ((int64_t(1) << (end - i)) - 1) << i;
      Value part = arith::AndIOp::create(builder, loc, number, getI32(mask));
      int shift = bits[i].position - int(i);
      if (shift > 0)
        part = arith::ShLIOp::create(builder, loc, part, getI32(shift));
      if (shift < 0)
        part = arith::ShRUIOp::create(builder, loc, part, getI32(-shift));
      sum = sum ? arith::AddIOp::create(builder, loc, sum, part) : part;
      i = end;
    }
  };
  addBits(lane, layout.getLaneBits());
  addBits(warp, layout.getWarpBits());
  return sum;
}

Value ThreadProgram::gatherBits(Value number, ArrayRef<unsigned> bits) {
  Value sum = getI32(0);
  for (auto [to, from] : llvm::enumerate(bits)) {
    Value bit =
        arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, number, getI32(from)), getI32(1));
    sum = arith::OrIOp::create(builder, loc, sum, arith::ShLIOp::create(builder, loc, bit, getI32(to)));
  }
  return sum;
}

} // namespace fusion
