//===- ExpandCopies.cpp - Copies of buffers as structured operations --------===//

#include "fusion/CPU/Passes.h"

using namespace mlir;

namespace fusion {
#define GEN_PASS_DEF_CPUEXPANDCOPIES
#include "fusion/CPU/Passes.h.inc"

namespace {

bool isContiguous(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity();
}

struct ExpandCopies : impl::CPUExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      Value source = copy.getSource(), target = copy.getTarget();
      if (source != target) {
        auto type = dyn_cast<MemRefType>(target.getType());
        if (!type || !isa<MemRefType>(source.getType())) {
          copy.emitOpError("copies a buffer of unknown rank, which cannot be compiled");
          return signalPassFailure();
        }
        // A small contiguous copy in a kernel is cheaper inline than as a call.
        bool small = type.hasStaticShape() && type.getNumElements() <= 256;
        if (isContiguous(source.getType()) && isContiguous(type) && !small)
          continue;
        OpBuilder builder(copy);
        AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
        SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
        linalg::GenericOp::create(
            builder, copy.getLoc(), ValueRange(source), ValueRange(target), ArrayRef<AffineMap>{identity, identity},
            iterators, [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); });
      }
      copy.erase();
    }
  }
};

} // namespace
} // namespace fusion
