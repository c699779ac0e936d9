//===- Vectorize.cpp - linalg on memrefs to loops over vectors ----------------------------------------------------===//

#include "Vectorize.h"

#include "fusion/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fusion {
#define GEN_PASS_DEF_CPUVECTORIZE
#include "fusion/CPU/Passes.h.inc"
} // namespace fusion

using namespace mlir;
using namespace fusion;
using namespace fusion::cpu;

namespace {

struct CPUVectorize : fusion::impl::CPUVectorizeBase<CPUVectorize> {
  using CPUVectorizeBase::CPUVectorizeBase;

  void runOnOperation() override {
    if (vectorBits != 0 && vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      getOperation().emitError("'vector-bits' must be 0, 128, 256 or 512, got ") << unsigned(vectorBits);
      return signalPassFailure();
    }
    VectorTarget target = VectorTarget::host();
    if (vectorBits != 0)
      target = {vectorBits, vectorBits == 512 ? 32u : 16u};
    if (registers != 0)
      target.registers = registers;
    if (target.registers < 8) {
      getOperation().emitError("'registers' must be at least 8, got ") << target.registers;
      return signalPassFailure();
    }

    SmallVector<Operation *> work;
    getOperation().walk([&](linalg::LinalgOp op) { work.push_back(op); });
    // A contraction right behind the zeros that it adds to starts with zeros in registers.
    llvm::DenseMap<Operation *, linalg::FillOp> starts;
    for (Operation *op : work)
      if (linalg::FillOp fill = getZeros(op))
        starts[op] = fill;
    llvm::SmallPtrSet<Operation *, 8> postponed;
    for (auto &[op, fill] : starts)
      postponed.insert(fill);
    for (Operation *op : work)
      if (!postponed.contains(op) && failed(lower(op, target, starts.lookup(op))))
        return signalPassFailure();
  }

  /// The operation in front of `op` that fills its only output, which `op` does not read otherwise, with zeros.
  static linalg::FillOp getZeros(Operation *op) {
    auto generic = dyn_cast<linalg::LinalgOp>(op);
    if (!generic || generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() == 0)
      return {};
    Operation *before = op->getPrevNode();
    while (before && !isa<linalg::FillOp>(before) && isPure(before))
      before = before->getPrevNode();
    auto fill = dyn_cast_or_null<linalg::FillOp>(before);
    Value output = generic.getDpsInits()[0];
    if (!fill || !fill.hasPureBufferSemantics() || fill.getOutputs()[0] != output ||
        llvm::is_contained(generic.getDpsInputs(), output) ||
        !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isProjectedPermutation())
      return {};
    Attribute value;
    if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return {};
    auto number = dyn_cast<FloatAttr>(value);
    bool isZero = number ? number.getValue().isPosZero() : matchPattern(fill.getInputs()[0], m_Zero());
    return isZero ? fill : linalg::FillOp();
  }

  /// `start` is the operation that makes the zeros to which `op` adds, or null.
  LogicalResult lower(Operation *op, const VectorTarget &target, linalg::FillOp start = {}) {
    IRRewriter rewriter(op->getContext());
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (!linalgOp.hasPureBufferSemantics())
      return success(); // not for this level
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      FailureOr<linalg::GenericOp> generalized = linalg::generalizeNamedOp(rewriter, linalgOp);
      if (failed(generalized))
        return loops(rewriter, linalgOp);
      generic = *generalized;
    }

    ImplicitLocOpBuilder b(generic.getLoc(), generic);
    FailureOr<LoopNest> nest = buildLoopNest(b, generic);
    bool isEmpty = succeeded(nest) &&
                   llvm::any_of(nest->extents, [](OpFoldResult extent) { return isConstantIntValue(extent, 0); });
    if (start && (failed(nest) || isEmpty)) {
      if (failed(lower(start, target)))
        return failure();
      start = {};
    }
    if (failed(nest))
      return loops(rewriter, cast<linalg::LinalgOp>(generic.getOperation()));
    if (isEmpty) {
      rewriter.eraseOp(generic); // no point in its iteration space
      return success();
    }
    if (generic->hasAttr("fusion.stream"))
      markStreamed(*nest);
    if (auto distances = generic->getAttrOfType<DenseI64ArrayAttr>("fusion.prefetch"))
      for (auto [access, distance] : llvm::zip(nest->accesses, distances.asArrayRef()))
        access.prefetch = access.raw ? 0 : distance;
    simplify(b, *nest);
    bool isContraction = succeeded(vectorizeContraction(b, *nest, target, /*startsAtZero=*/bool(start)));
    if (start && isContraction)
      rewriter.eraseOp(start);
    else if (start && failed(lower(start, target)))
      return failure();
    if (isContraction) {
      ++numContractions;
    } else if (succeeded(vectorizeTranspose(b, *nest, target))) {
      ++numTransposes;
    } else if (succeeded(vectorizeElementwise(b, *nest, target))) {
      ++numElementwise;
    } else {
      return loops(rewriter, cast<linalg::LinalgOp>(generic.getOperation()));
    }
    rewriter.eraseOp(generic);
    return success();
  }

  /// The tile program says that rows start at cache lines; here the rows of the nest must be whole lines apart.
  static void markStreamed(LoopNest &nest) {
    for (Access &access : llvm::drop_begin(nest.accesses, nest.numInputs)) {
      if (!access.element.isIntOrFloat() || access.raw)
        continue;
      int64_t line = kLineBytes * 8 / access.element.getIntOrFloatBitWidth();
      access.isStreamed = llvm::all_of(access.strides, [&](OpFoldResult stride) {
        std::optional<int64_t> constant = getConstantIntValue(stride);
        return constant && (*constant == 1 || (*constant != 0 && *constant % line == 0));
      });
    }
  }

  LogicalResult loops(RewriterBase &rewriter, linalg::LinalgOp op) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitError("has no lowering to loops");
    ++numScalar;
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace
