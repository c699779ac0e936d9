//===- OutlineParallel.cpp - Parallel loops to functions over a range -------===//

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUOUTLINEPARALLEL
#include "fusion/CPU/Passes.h.inc"

namespace {

/// A name that may stand in an object file: letters, digits, '_', '.', '$'.
std::string makeSymbolName(StringRef wanted) {
  std::string name;
  for (char c : wanted)
    name.push_back(llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' ? c : '_');
  return name.empty() ? "kernel" : name;
}

/// Whether the value is remade in the outlined function instead of handed in.
bool isRemade(Value value) {
  Operation *def = value.getDefiningOp();
  return def && (def->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(def));
}

struct Outliner {
  ModuleOp module;
  SymbolTable &symbols;
  int64_t stackBytes;

  void outline(scf::ForallOp loop) {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    auto function = loop->getParentOfType<func::FuncOp>();

    // The grid, in the caller.
    SmallVector<Value> lower = loop.getLowerBound(builder), upper = loop.getUpperBound(builder),
                       step = loop.getStep(builder), trips;
    Value count = arith::ConstantIndexOp::create(builder, loc, 1);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [l, u, s] : llvm::zip_equal(lower, upper, step)) {
      Value length = builder.createOrFold<arith::SubIOp>(loc, u, l);
      Value trip = builder.createOrFold<arith::CeilDivSIOp>(loc, length, s);
      // An empty range may have an upper bound below the lower one.
      trip = builder.createOrFold<arith::MaxSIOp>(loc, trip, zero);
      trips.push_back(trip);
      count = builder.createOrFold<arith::MulIOp>(loc, count, trip);
    }

    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop.getRegion(), used);
    for (ValueRange values : {ValueRange(lower), ValueRange(step), ValueRange(trips)})
      used.insert(values.begin(), values.end());
    SmallVector<Value> captured, remade;
    for (Value value : used)
      (isRemade(value) ? remade : captured).push_back(value);

    auto nameAttr = loop->getAttrOfType<StringAttr>("fusion.kernel");
    std::string name =
        nameAttr ? "kernel." + makeSymbolName(nameAttr.getValue()) : (function.getName() + ".parallel").str();
    SmallVector<Type> types{builder.getIndexType(), builder.getIndexType()};
    llvm::append_range(types, ValueRange(captured).getTypes());
    auto body = func::FuncOp::create(loc, name, builder.getFunctionType(types, {}));
    body.setPrivate();
    body->setAttr("fusion.parallel_body", builder.getUnitAttr());
    symbols.insert(body, Block::iterator(function->getNextNode() ? Block::iterator(function->getNextNode())
                                                                 : module.getBody()->end()));
    SmallVector<Value> operands{zero, count};
    llvm::append_range(operands, captured);
    func::CallOp::create(builder, loc, body, operands);
    fillBody(body, loop, captured, remade, lower, step, trips);
    loop.erase();
    placeScratch(body);
  }

  static void fillBody(func::FuncOp body, scf::ForallOp loop, ArrayRef<Value> captured, ArrayRef<Value> remade,
                       ArrayRef<Value> lower, ArrayRef<Value> step, ArrayRef<Value> trips) {
    Location loc = loop.getLoc();
    Block *entry = body.addEntryBlock();
    OpBuilder builder = OpBuilder::atBlockBegin(entry);
    IRMapping map;
    map.map(captured, entry->getArguments().drop_front(2));
    for (Value value : remade)
      map.map(value, builder.clone(*value.getDefiningOp())->getResult(cast<OpResult>(value).getResultNumber()));
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto range = scf::ForOp::create(builder, loc, entry->getArgument(0), entry->getArgument(1), one);
    func::ReturnOp::create(builder, loc);

    // Linear index to coordinates, the last dim fastest.
    builder.setInsertionPointToStart(range.getBody());
    Value rest = range.getInductionVar();
    SmallVector<Value> coordinates(trips.size());
    for (int64_t d = int64_t(trips.size()) - 1; d >= 0; --d) {
      Value trip = map.lookupOrDefault(trips[d]), digit = rest;
      if (d > 0) {
        digit = builder.createOrFold<arith::RemUIOp>(loc, rest, trip);
        rest = builder.createOrFold<arith::DivUIOp>(loc, rest, trip);
      }
      Value scaled = builder.createOrFold<arith::MulIOp>(loc, digit, map.lookupOrDefault(step[d]));
      coordinates[d] = builder.createOrFold<arith::AddIOp>(loc, scaled, map.lookupOrDefault(lower[d]));
    }
    map.map(loop.getInductionVars(), coordinates);
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, map);
  }

  /// Allocates static scratch of the block loop, at any depth, once per call; on the stack as long as it is small.
  void placeScratch(func::FuncOp body) {
    auto range = *body.getBody().front().getOps<scf::ForOp>().begin();
    SmallVector<memref::AllocOp> scratch;
    range.walk([&](memref::AllocOp alloc) {
      if (alloc.getType().hasStaticShape() && alloc.getType().getLayout().isIdentity() && alloc->getNumOperands() == 0)
        scratch.push_back(alloc);
    });
    int64_t left = stackBytes;
    for (memref::AllocOp alloc : scratch) {
      // Only with its one deallocation in the same block is its life known to be one iteration.
      SmallVector<memref::DeallocOp> frees;
      bool isElsewhere = false;
      for (Operation *user : alloc->getUsers())
        if (auto free = dyn_cast<memref::DeallocOp>(user)) {
          frees.push_back(free);
          isElsewhere |= free->getBlock() != alloc->getBlock();
        }
      if (frees.size() != 1 || isElsewhere)
        continue;
      int64_t bytes = getBytes(alloc.getType());
      if (bytes <= left) {
        left -= bytes;
        OpBuilder builder = OpBuilder::atBlockBegin(&body.getBody().front());
        auto stack = memref::AllocaOp::create(builder, alloc.getLoc(), alloc.getType(), ValueRange(), ValueRange(),
                                              builder.getI64IntegerAttr(64));
        alloc.getResult().replaceAllUsesWith(stack);
        frees.front().erase();
        alloc.erase();
        continue;
      }
      alloc->moveBefore(range);
      frees.front()->moveAfter(range);
    }
  }

  static int64_t getBytes(MemRefType type) {
    Type element = type.getElementType();
    int64_t width = 64;
    if (element.isIndex())
      width = 8;
    else if (element.isIntOrFloat())
      width = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    else if (auto vector = dyn_cast<VectorType>(element); vector && vector.getElementType().isIntOrFloat())
      width = llvm::PowerOf2Ceil(vector.getNumElements()) * llvm::divideCeil(vector.getElementTypeBitWidth(), 8);
    return llvm::alignTo(type.getNumElements() * width, 64);
  }
};

struct OutlineParallel : impl::CPUOutlineParallelBase<OutlineParallel> {
  using CPUOutlineParallelBase::CPUOutlineParallelBase;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> outer, inner;
    WalkResult walked = getOperation().walk([&](scf::ForallOp loop) {
      if (loop.getNumResults() != 0) {
        loop.emitOpError("must be on buffers: bufferize before fusion-cpu-outline-parallel");
        return WalkResult::interrupt();
      }
      bool isInner = loop->getParentOfType<scf::ForallOp>() || !loop->getParentOfType<func::FuncOp>() ||
                     loop->getParentOfType<func::FuncOp>()->hasAttr("fusion.parallel_body");
      (isInner ? inner : outer).push_back(loop);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : inner) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::forallToForLoop(rewriter, loop))) {
        loop.emitOpError("cannot be made sequential");
        return signalPassFailure();
      }
    }
    SymbolTable symbols(getOperation());
    Outliner outliner{getOperation(), symbols, stackBytes};
    for (scf::ForallOp loop : outer) {
      outliner.outline(loop);
      ++numOutlined;
    }
  }
};

} // namespace
} // namespace fusion
