//===- VectorizeContraction.cpp - Sums of products in register tiles ----------------------------------------------===//
//
// C[batch, m, n] += A[batch, m, k] * B[batch, k, n] with any number of loops of each kind. A register tile is rows x
// vectors of C; its accumulators are loaded once, carried through all reduction loops, and stored once. A few rows of A
// stay in the nearest cache while all of B passes. Where B is not contiguous along n, has to be widened, or would be
// spread over too many pages, the panel of B that belongs to the vectors is copied to scratch memory instead, and all
// rows use it before the next one is made.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fusion::cpu {
namespace {

/// How an operand becomes a factor.
enum class Widen { None, Float, SignExtend, ZeroExtend };

struct Factor {
  unsigned access;
  Widen widen = Widen::None;
};

struct Products {
  Factor factors[2];
  unsigned output;
  bool isFloat;
};

/// Follows a factor to the block argument it is made from.
std::optional<Factor> matchFactor(const LoopNest &nest, Value value) {
  Factor factor;
  if (Operation *op = value.getDefiningOp(); op && op->getBlock() == nest.body) {
    if (isa<arith::ExtFOp>(op))
      factor.widen = Widen::Float;
    else if (isa<arith::ExtSIOp>(op))
      factor.widen = Widen::SignExtend;
    else if (isa<arith::ExtUIOp>(op))
      factor.widen = Widen::ZeroExtend;
    else
      return std::nullopt;
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != nest.body || argument.getArgNumber() >= nest.numInputs)
    return std::nullopt;
  factor.access = argument.getArgNumber();
  if (bitWidth(argument.getType()) < 8)
    return std::nullopt;
  return factor;
}

/// `acc + a * b`, in any order of operands, or a multiply-add.
std::optional<Products> matchProducts(const LoopNest &nest) {
  if (!nest.body || nest.numInputs != 2 || nest.accesses.size() != 3)
    return std::nullopt;
  BlockArgument acc = nest.body->getArgument(2);
  Operation *sum = nest.body->getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || sum->getBlock() != nest.body || !acc.hasOneUse() || *acc.user_begin() != sum)
    return std::nullopt;
  Value left, right;
  if (auto fma = dyn_cast<math::FmaOp>(sum)) {
    if (fma.getC() != acc)
      return std::nullopt;
    left = fma.getA(), right = fma.getB();
  } else if (isa<arith::AddFOp, arith::AddIOp>(sum)) {
    Operation *product = sum->getOperand(sum->getOperand(0) == acc ? 1 : 0).getDefiningOp();
    if (!product || product->getBlock() != nest.body || !isa<arith::MulFOp, arith::MulIOp>(product))
      return std::nullopt;
    left = product->getOperand(0), right = product->getOperand(1);
  } else {
    return std::nullopt;
  }
  std::optional<Factor> first = matchFactor(nest, left), second = matchFactor(nest, right);
  if (!first || !second || first->access == second->access)
    return std::nullopt;
  Products products{{*first, *second}, 2, isa<FloatType>(acc.getType())};
  return bitWidth(acc.getType()) >= 8 ? std::optional(products) : std::nullopt;
}

/// Rows and vectors of a register tile.
struct Tile {
  unsigned rows, vectors;
};

class ContractionEmitter {
public:
  ContractionEmitter(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target,
                     const Products &products, bool startsAtZero)
      : b(b), nest(nest), target(target), products(products), startsAtZero(startsAtZero) {}

  LogicalResult plan();
  void emit();

private:
  /// A buffer for the part of a factor that is copied, one dimension per loop in `loops`.
  struct Packed {
    Value buffer;
    Access access; // along the buffer's own dimensions
    SmallVector<unsigned> loops;
    SmallVector<OpFoldResult> extents;
  };

  bool present(unsigned access, unsigned loop) const { return !nest.accesses[access].absent(loop); }
  std::optional<int64_t> rowsExtent() const {
    return m < 0 ? std::optional<int64_t>(1) : getConstantIntValue(nest.extents[m]);
  }
  void chooseTiles();
  void forEach(ArrayRef<unsigned> loops, SmallVector<Value> offsets, llvm::function_ref<void(ValueRange)> body);
  SmallVector<Value> at(ValueRange offsets, unsigned loop, Value iv);

  /// The vectors of a panel of columns; `count` is set if they are the first lanes of the last vector only.
  struct Panel {
    unsigned vectors;
    Value count;
    LaneMask mask;
  };
  using PanelBody = llvm::function_ref<void(ValueRange offsets, const Panel &panel)>;

  void batchEntry(ValueRange offsets);
  void forEachPanel(ValueRange offsets, PanelBody body);
  void packPanel(SmallVectorImpl<Value> &offsets, const Panel &panel);
  void forEachRowTile(ValueRange offsets, llvm::function_ref<void(ValueRange, unsigned)> body);
  /// The mask of vector `vector` of a panel.
  static LaneMask maskOf(const Tile &tile, unsigned vector, const LaneMask &mask) {
    return vector + 1 == tile.vectors ? mask : LaneMask();
  }
  void tile(ValueRange offsets, Tile tile, const LaneMask &mask);
  void reduce(unsigned depth, Value leftOffset, Value rightOffset, Tile tile, const LaneMask &mask,
              SmallVector<Value> &accumulators);
  Packed allocate(const Access &access, const Factor &factor, ArrayRef<unsigned> loops, ArrayRef<OpFoldResult> extents);
  void pack(const Packed &packed, Access &access, Factor &factor, OpFoldResult last, Value offset);
  Value widen(Value value, Widen how, Type element);

  ImplicitLocOpBuilder &b;
  const LoopNest &nest;
  const VectorTarget &target;
  const Products &products;
  bool startsAtZero;

  Factor leftFactor, rightFactor;
  Access left, right; // A and B; replaced by their packed copies while those are in use
  unsigned n = 0;
  int m = -1;
  SmallVector<unsigned> batch, otherRows, otherColumns, reduced;
  Type type; // of the accumulators
  unsigned lanes = 0;
  bool packRight = false, packLeft = false;
  bool panelsOutside = false; // all rows pass before the next panel of B is touched
  Packed leftPacked, rightPacked;
  unsigned fullVectors = 1;       // of the main panels
  SmallVector<unsigned> rowSteps; // heights of the register tiles, in the order in which they are tried
};

//===--- Planning -------------------------------------------------------------------------------------------------===//

LogicalResult ContractionEmitter::plan() {
  const Access &output = nest.accesses[products.output];
  type = computeType(output.element);
  lanes = target.lanes(bitWidth(type));

  // The columns: contiguous in the output, present in exactly one factor, which is then called B.
  int column = -1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (output.unit(loop) && present(0, loop) != present(1, loop))
      column = loop;
  if (column < 0)
    return failure();
  n = column;
  bool swapped = present(0, n);
  leftFactor = products.factors[0], rightFactor = products.factors[1];
  if (leftFactor.access != (swapped ? 1u : 0u))
    std::swap(leftFactor, rightFactor);
  left = nest.accesses[leftFactor.access];
  right = nest.accesses[rightFactor.access];

  SmallVector<unsigned> rows;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (loop == n)
      continue;
    bool inLeft = present(leftFactor.access, loop), inRight = present(rightFactor.access, loop);
    if (!present(products.output, loop))
      reduced.push_back(loop);
    else if (inLeft && inRight)
      batch.push_back(loop);
    else if (inLeft)
      rows.push_back(loop);
    else
      otherColumns.push_back(loop);
  }
  // The longest loop over rows is the one that tiles are cut from; the last one if the lengths are unknown.
  for (unsigned loop : rows) {
    auto size = [&](unsigned l) { return getConstantIntValue(nest.extents[l]).value_or(1 << 20); };
    if (m < 0 || size(loop) >= size(m))
      m = loop;
  }
  for (unsigned loop : rows)
    if (int(loop) != m)
      otherRows.push_back(loop);

  bool fewRows = m < 0 || rowsExtent().value_or(1 << 20) < 4;
  if (!right.unit(n)) {
    // Without rows to share a transposed copy, the reduction is better done along the lanes.
    bool alongReduction = llvm::any_of(
        reduced, [&](unsigned loop) { return right.unit(loop) && (left.unit(loop) || left.absent(loop)); });
    if (fewRows && otherRows.empty() && alongReduction)
      return failure();
    packRight = true;
  }
  int64_t rowCount = rowsExtent().value_or(1 << 20);
  bool narrowRight = bitWidth(right.element) < bitWidth(type);
  chooseTiles();
  unsigned tall = rowSteps.front();
  if (narrowRight && rowCount > tall)
    packRight = true;
  // Rows of B on pages of their own ask for more entries than a first-level TLB has.
  if (!packRight && rowCount >= 4 * tall) {
    bool far = llvm::any_of(reduced, [&](unsigned loop) {
      std::optional<int64_t> stride = getConstantIntValue(right.strides[loop]);
      std::optional<int64_t> extent = getConstantIntValue(nest.extents[loop]);
      return present(rightFactor.access, loop) && (!stride || *stride * bitWidth(right.element) / 8 > 2048) &&
             extent.value_or(1 << 20) > 64;
    });
    packRight = far;
  }
  // All of B passes for each few rows, so it has to stay in a cache of the core.
  constexpr int64_t kStaysInCache = 512 << 10;
  int64_t rightBytes = bitWidth(right.element) / 8;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (present(rightFactor.access, loop) && !llvm::is_contained(batch, loop))
      rightBytes *= getConstantIntValue(nest.extents[loop]).value_or(1 << 10);
  panelsOutside = packRight || rightBytes > kStaysInCache;
  std::optional<int64_t> columns = getConstantIntValue(nest.extents[n]);
  packLeft = bitWidth(left.element) < bitWidth(type) && m >= 0 && columns.value_or(1 << 20) > fullVectors * lanes;
  return success();
}

void ContractionEmitter::chooseTiles() {
  // All registers but those for the vectors of B and for the element of A.
  unsigned registers = target.registers;
  std::optional<int64_t> rows = rowsExtent(), columns = getConstantIntValue(nest.extents[n]);
  bool isWide = registers >= 32;
  int64_t needed = columns ? llvm::divideCeil(*columns, lanes) : 1 << 20;
  // Many vectors for few rows: each element of A is then loaded for as many products as possible.
  fullVectors = isWide ? 4 : 2;
  if (isWide && needed > 4 && needed % 4 == 1 && needed % 3 != 1)
    fullVectors = 3;
  fullVectors = std::min<int64_t>(fullVectors, needed);
  unsigned height = isWide ? 24 / std::max(fullVectors, 2u) : 6;
  if (rows && *rows <= 3) {
    height = *rows;
    fullVectors = isWide ? 8 : 4;
    while (fullVectors > 1 &&
           (height * fullVectors + fullVectors + 1 > registers || int64_t(fullVectors) - 1 >= needed))
      fullVectors /= 2;
  } else if (rows && *rows < height) {
    height = *rows;
  }
  // Heights that together reach any number of rows.
  rowSteps = {std::max(1u, height)};
  auto addStep = [&](unsigned step) {
    if (step < rowSteps.back())
      rowSteps.push_back(step);
  };
  if (!rows) {
    addStep(4);
    addStep(1);
  } else if (int64_t rest = *rows % height) {
    if (rest > 6) {
      addStep(6);
      rest %= 6;
    }
    if (rest)
      addStep(rest);
  }
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

SmallVector<Value> ContractionEmitter::at(ValueRange offsets, unsigned loop, Value iv) {
  SmallVector<Value> moved;
  for (auto [index, offset] : llvm::enumerate(offsets)) {
    const Access &access = index == leftFactor.access    ? left
                           : index == rightFactor.access ? right
                                                         : nest.accesses[index];
    moved.push_back(advance(b, offset, iv, access.strides[loop]));
  }
  return moved;
}

void ContractionEmitter::forEach(ArrayRef<unsigned> loops, SmallVector<Value> offsets,
                                 llvm::function_ref<void(ValueRange)> body) {
  SmallVector<scf::ForOp> open;
  for (unsigned loop : loops) {
    open.push_back(openLoop(b, b.getIndexAttr(0), nest.extents[loop], 1));
    offsets = at(offsets, loop, open.back().getInductionVar());
  }
  body(offsets);
  for (scf::ForOp loop : llvm::reverse(open))
    closeLoop(b, loop);
}

/// Allocates a row-major buffer for what `loops` select of a factor.
ContractionEmitter::Packed ContractionEmitter::allocate(const Access &access, const Factor &factor,
                                                        ArrayRef<unsigned> loops, ArrayRef<OpFoldResult> extents) {
  Packed packed;
  packed.loops.assign(loops.begin(), loops.end());
  Type element = factor.widen == Widen::None && !products.isFloat ? access.element : type;
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (OpFoldResult extent : extents) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    shape.push_back(constant ? *constant : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(materialize(b, extent));
  }
  packed.buffer =
      memref::AllocOp::create(b, MemRefType::get(shape, element), dynamic, b.getI64IntegerAttr(target.bits / 8));
  packed.access = buildAccess(b, packed.buffer);
  packed.extents.assign(extents.begin(), extents.end());
  return packed;
}

/// Copies the part of a factor that starts at `offset` to its buffer, widened; `last` is how far the copy goes along
/// the last loop. Afterwards `access` describes the buffer, and `factor` has nothing to widen.
void ContractionEmitter::pack(const Packed &packed, Access &access, Factor &factor, OpFoldResult last, Value offset) {
  Block body;
  body.addArguments({access.element, packed.access.element}, {b.getLoc(), b.getLoc()});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body);
    linalg::YieldOp::create(b, ValueRange{widen(body.getArgument(0), factor.widen, packed.access.element)});
  }
  LoopNest copy;
  copy.body = &body;
  copy.numInputs = 1;
  copy.extents = packed.extents;
  copy.accesses = {access, packed.access};
  Access &source = copy.accesses[0];
  source.offset = offset;
  source.contiguous.clear();
  source.strides.clear();
  for (unsigned loop : packed.loops)
    source.strides.push_back(access.strides[loop]);
  if (last != copy.extents.back())
    copy.accesses[1].contiguous.clear();
  copy.extents.back() = last;
  simplify(b, copy);
  if (failed(vectorizeTranspose(b, copy, target)) && failed(vectorizeElementwise(b, copy, target)))
    llvm_unreachable("a copy of elements of at least a byte is elementwise");

  access = packed.access;
  access.strides.assign(nest.numLoops(), b.getIndexAttr(0));
  for (auto [position, loop] : llvm::enumerate(packed.loops))
    access.strides[loop] = packed.access.strides[position];
  factor.widen = Widen::None;
}

Value ContractionEmitter::widen(Value value, Widen how, Type element) {
  Type to = element;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    to = vectorType.clone(element);
  if (value.getType() == to)
    return value;
  switch (how) {
  case Widen::None:
  case Widen::Float:
    return convertFloat(b, value, element);
  case Widen::SignExtend:
    return arith::ExtSIOp::create(b, to, value);
  case Widen::ZeroExtend:
    return arith::ExtUIOp::create(b, to, value);
  }
  llvm_unreachable("all kinds are handled");
}

void ContractionEmitter::emit() {
  SmallVector<unsigned> loops;
  SmallVector<OpFoldResult> extents;
  auto addLoops = [&](ArrayRef<unsigned> added, const Access &access) {
    for (unsigned loop : added)
      if (!access.absent(loop)) {
        loops.push_back(loop);
        extents.push_back(nest.extents[loop]);
      }
  };
  if (packLeft) {
    addLoops(otherRows, left);
    addLoops({unsigned(m)}, left);
    addLoops(reduced, left);
    leftPacked = allocate(left, leftFactor, loops, extents);
  }
  if (packRight) {
    loops.clear(), extents.clear();
    addLoops(reduced, right);
    loops.push_back(n);
    extents.push_back(b.getIndexAttr(int64_t(fullVectors) * lanes));
    rightPacked = allocate(right, rightFactor, loops, extents);
  }
  SmallVector<Value> offsets;
  for (const Access &access : nest.accesses)
    offsets.push_back(access.offset ? access.offset : arith::ConstantIndexOp::create(b, 0).getResult());
  forEach(batch, offsets, [&](ValueRange batchOffsets) { batchEntry(batchOffsets); });
  for (const Packed &packed : {leftPacked, rightPacked})
    if (packed.buffer)
      memref::DeallocOp::create(b, packed.buffer);
}

void ContractionEmitter::batchEntry(ValueRange offsets) {
  Access wholeLeft = left;
  Factor wholeFactor = leftFactor;
  SmallVector<Value> starts(offsets);
  if (packLeft) {
    pack(leftPacked, left, leftFactor, leftPacked.extents.back(), starts[leftFactor.access]);
    starts[leftFactor.access] = arith::ConstantIndexOp::create(b, 0);
  }
  auto emitTile = [&](ValueRange tileOffsets, unsigned rows, const Panel &panel) {
    tile(tileOffsets, {rows, panel.vectors}, panel.mask);
  };
  auto forEachRow = [&](ValueRange at, llvm::function_ref<void(ValueRange, unsigned)> body) {
    forEach(otherRows, SmallVector<Value>(at), [&](ValueRange rowOffsets) { forEachRowTile(rowOffsets, body); });
  };
  auto forEachColumn = [&](ValueRange at, PanelBody body) {
    forEach(otherColumns, SmallVector<Value>(at), [&](ValueRange columnOffsets) { forEachPanel(columnOffsets, body); });
  };
  if (panelsOutside) {
    forEachColumn(starts, [&](ValueRange panelOffsets, const Panel &panel) {
      Access wholeRight = right;
      Factor wholeRightFactor = rightFactor;
      SmallVector<Value> packedOffsets(panelOffsets);
      if (packRight)
        packPanel(packedOffsets, panel);
      forEachRow(packedOffsets, [&](ValueRange at, unsigned rows) { emitTile(at, rows, panel); });
      right = wholeRight;
      rightFactor = wholeRightFactor;
    });
  } else {
    forEachRow(starts, [&](ValueRange rowOffsets, unsigned rows) {
      forEachColumn(rowOffsets, [&](ValueRange at, const Panel &panel) { emitTile(at, rows, panel); });
    });
  }
  left = wholeLeft;
  leftFactor = wholeFactor;
}

/// The columns in panels of `fullVectors` vectors, then what is left over: one panel if the number of columns is known,
/// else one vector after the other.
void ContractionEmitter::forEachPanel(ValueRange offsets, PanelBody body) {
  OpFoldResult extent = nest.extents[n];
  std::optional<int64_t> constant = getConstantIntValue(extent);
  int64_t span = int64_t(fullVectors) * lanes;
  OpFoldResult end;
  if (constant) {
    end = b.getIndexAttr(*constant - *constant % span);
  } else {
    Value total = materialize(b, extent);
    Value rest = arith::RemUIOp::create(b, total, arith::ConstantIndexOp::create(b, span));
    end = arith::SubIOp::create(b, total, rest).getResult();
  }
  if (!constant || *constant >= span) {
    scf::ForOp loop = openLoop(b, b.getIndexAttr(0), end, span);
    body(at(offsets, n, loop.getInductionVar()), {fullVectors, Value(), LaneMask()});
    closeLoop(b, loop);
  }
  if (constant) {
    int64_t rest = *constant % span;
    if (rest == 0)
      return;
    Panel panel{unsigned(llvm::divideCeil(rest, lanes)), Value(), LaneMask()};
    if (rest % lanes != 0) {
      panel.count = arith::ConstantIndexOp::create(b, rest % lanes);
      panel.mask = firstLanes(b, panel.count, lanes);
    }
    body(at(offsets, n, materialize(b, end)), panel);
    return;
  }
  scf::ForOp loop = openLoop(b, end, extent, lanes);
  Value left = arith::SubIOp::create(b, materialize(b, extent), loop.getInductionVar());
  Panel panel{1, arith::MinSIOp::create(b, left, arith::ConstantIndexOp::create(b, lanes)), LaneMask()};
  panel.mask = firstLanes(b, panel.count, lanes);
  body(at(offsets, n, loop.getInductionVar()), panel);
  closeLoop(b, loop);
}

/// Copies the panel of B; `offsets` then are those of the copy.
void ContractionEmitter::packPanel(SmallVectorImpl<Value> &offsets, const Panel &panel) {
  OpFoldResult columns = b.getIndexAttr(int64_t(panel.vectors) * lanes);
  if (panel.count) {
    int64_t full = int64_t(panel.vectors - 1) * lanes;
    if (std::optional<int64_t> count = getConstantIntValue(panel.count))
      columns = b.getIndexAttr(full + *count);
    else
      columns = add(b, panel.count, b.getIndexAttr(full));
  }
  pack(rightPacked, right, rightFactor, columns, offsets[rightFactor.access]);
  offsets[rightFactor.access] = arith::ConstantIndexOp::create(b, 0);
}

/// All rows, in tiles of falling height.
void ContractionEmitter::forEachRowTile(ValueRange offsets, llvm::function_ref<void(ValueRange, unsigned)> body) {
  if (m < 0) {
    body(offsets, 1);
    return;
  }
  OpFoldResult extent = nest.extents[m], start = b.getIndexAttr(0);
  for (unsigned rows : rowSteps) {
    std::optional<int64_t> constant = getConstantIntValue(extent), first = getConstantIntValue(start);
    OpFoldResult end;
    if (constant) {
      end = b.getIndexAttr(*first + (*constant - *first) / rows * rows);
    } else {
      Value rest = arith::SubIOp::create(b, materialize(b, extent), materialize(b, start));
      Value over = arith::RemUIOp::create(b, rest, arith::ConstantIndexOp::create(b, rows));
      end = arith::SubIOp::create(b, materialize(b, extent), over).getResult();
    }
    scf::ForOp loop = openLoop(b, start, end, rows);
    body(at(offsets, m, loop.getInductionVar()), rows);
    closeLoop(b, loop);
    start = end;
  }
}

/// One register tile, over all reduction loops.
void ContractionEmitter::tile(ValueRange offsets, Tile tile, const LaneMask &mask) {
  const Access &output = nest.accesses[products.output];
  auto offsetOf = [&](unsigned row, unsigned vector) {
    Value offset = offsets[products.output];
    if (row)
      offset = advance(b, offset, b.getIndexAttr(row), output.strides[m]);
    return add(b, offset, b.getIndexAttr(int64_t(vector) * lanes));
  };
  SmallVector<Value> accumulators;
  for (unsigned row = 0; row < tile.rows; ++row)
    for (unsigned vector = 0; vector < tile.vectors; ++vector)
      accumulators.push_back(
          startsAtZero
              ? splat(b, arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type))), lanes)
              : loadVector(b, output, offsetOf(row, vector), b.getIndexAttr(1), lanes, maskOf(tile, vector, mask)));
  reduce(0, offsets[leftFactor.access], offsets[rightFactor.access], tile, mask, accumulators);
  for (unsigned row = 0; row < tile.rows; ++row)
    for (unsigned vector = 0; vector < tile.vectors; ++vector)
      storeVector(b, accumulators[row * tile.vectors + vector], output, offsetOf(row, vector), b.getIndexAttr(1),
                  maskOf(tile, vector, mask));
}

void ContractionEmitter::reduce(unsigned depth, Value leftOffset, Value rightOffset, Tile tile, const LaneMask &mask,
                                SmallVector<Value> &accumulators) {
  if (depth < reduced.size()) {
    unsigned k = reduced[depth];
    scf::ForOp loop = openLoop(b, b.getIndexAttr(0), nest.extents[k], 1, accumulators);
    SmallVector<Value> inner(loop.getRegionIterArgs());
    reduce(depth + 1, advance(b, leftOffset, loop.getInductionVar(), left.strides[k]),
           advance(b, rightOffset, loop.getInductionVar(), right.strides[k]), tile, mask, inner);
    closeLoop(b, loop, inner);
    accumulators.assign(loop.result_begin(), loop.result_end());
    return;
  }
  SmallVector<Value> columns;
  for (unsigned vector = 0; vector < tile.vectors; ++vector) {
    Value loaded = loadVector(b, right, add(b, rightOffset, b.getIndexAttr(int64_t(vector) * lanes)), b.getIndexAttr(1),
                              lanes, maskOf(tile, vector, mask));
    columns.push_back(widen(loaded, rightFactor.widen, type));
  }
  for (unsigned row = 0; row < tile.rows; ++row) {
    Value offset = row ? advance(b, leftOffset, b.getIndexAttr(row), left.strides[m]) : leftOffset;
    Value element = widen(loadScalar(b, left, offset), leftFactor.widen, type);
    Value factor = splat(b, element, lanes);
    for (unsigned vector = 0; vector < tile.vectors; ++vector) {
      Value &acc = accumulators[row * tile.vectors + vector];
      if (products.isFloat)
        acc = vector::FMAOp::create(b, factor, columns[vector], acc);
      else
        acc = arith::AddIOp::create(b, acc, arith::MulIOp::create(b, factor, columns[vector]).getResult());
    }
  }
}

} // namespace

LogicalResult vectorizeContraction(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target,
                                   bool startsAtZero) {
  std::optional<Products> products = matchProducts(nest);
  if (!products)
    return failure();
  ContractionEmitter emitter(b, nest, target, *products, startsAtZero);
  if (failed(emitter.plan()))
    return failure();
  emitter.emit();
  return success();
}

} // namespace fusion::cpu
