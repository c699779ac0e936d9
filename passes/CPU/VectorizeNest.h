//===- VectorizeNest.h - Loop nests over flat memory accesses -----------------------------------------*- C++ -*-===//
//
// The common form in which `fusion-cpu-vectorize` looks at a linalg op on memrefs: loops with extents, and per operand
// a one-dimensional view with one stride per loop. Internal to passes/CPU.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_CPU_VECTORIZENEST_H
#define FUSION_PASSES_CPU_VECTORIZENEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fusion::cpu {

/// Vector registers of the machine that code is made for.
struct VectorTarget {
  unsigned bits;      // width of one register
  unsigned registers; // architectural vector registers

  /// Lanes for elements of `elementBits`; a register holds at most one lane per 32 bits because narrower types are
  /// widened before any arithmetic.
  unsigned lanes(unsigned elementBits) const { return bits / (elementBits > 32 ? 64 : 32); }

  /// The machine the compiler runs on.
  static VectorTarget host();
};

/// 16-bit floating-point types are computed in f32, all other types as they are.
mlir::Type computeType(mlir::Type element);

/// Bits of a scalar type; `index` has 64.
unsigned bitWidth(mlir::Type scalar);

/// The integers by which vectors of an element are read and written (i1, bf16); null: as they are.
mlir::IntegerType rawType(mlir::Type element);

/// True for the scalar types that vector code is made for.
bool isVectorElement(mlir::Type scalar);

/// A memref operand seen from a loop nest: element `offset + sum(iv[d] * strides[d])` of a flat view.
struct Access {
  mlir::Value flat;   // memref<?xT, strided<[1], offset: ?>>; for an operand that is a scalar, that scalar
  mlir::Value raw;    // of i1, which vectors would pack to bits, and bf16, which LLVM converts by calls: !llvm.ptr
  mlir::Value offset; // index; null means 0
  mlir::Type element;
  llvm::SmallVector<mlir::OpFoldResult> strides; // attribute 0 if the operand does not vary along the loop
  llvm::SmallVector<std::pair<unsigned, unsigned>> contiguous; // (d, e): stride d = stride e * extent e, for sure

  int64_t prefetch = 0;    // elements from what is read to what is fetched meanwhile; 0: nothing
  bool isStreamed = false; // written once and not read soon; each row starts at a cache line

  bool absent(unsigned loop) const { return mlir::isConstantIntValue(strides[loop], 0); }
  bool unit(unsigned loop) const { return mlir::isConstantIntValue(strides[loop], 1); }
};

/// Loops around a body. All loops may be exchanged.
struct LoopNest {
  mlir::Block *body = nullptr; // scalar ops, one argument per access, terminated by a linalg.yield of the outputs
  llvm::SmallVector<mlir::OpFoldResult> extents;
  llvm::SmallVector<Access> accesses; // in the order of the body's arguments
  unsigned numInputs = 0;
  llvm::SmallVector<int> loopOfDim; // for `linalg.index`: loop of a dimension of the op, -1 if it always is 0

  unsigned numLoops() const { return extents.size(); }
};

/// Bytes of a cache line.
inline constexpr int64_t kLineBytes = 64;

/// An index that is a sum of loops with constant factors, and a constant.
struct LinearIndex {
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> terms;
  int64_t constant = 0;

  static LinearIndex ofLoop(unsigned loop) { return {{{loop, 1}}, 0}; }
  bool isLoop() const { return terms.size() == 1 && terms[0].second == 1 && constant == 0; }
};

/// Builds the views in front of `op`. Fails, without leaving IR, unless all indices are linear, each loop is the index
/// of some operand, and all types are vector elements.
llvm::FailureOr<LoopNest> buildLoopNest(mlir::ImplicitLocOpBuilder &b, mlir::linalg::GenericOp op);

/// A view of `memref` at `indices`, one for each of its dimensions. `strides` of the result are those of the loops.
Access buildAccess(mlir::ImplicitLocOpBuilder &b, mlir::Value memref, llvm::ArrayRef<LinearIndex> indices,
                   unsigned numLoops);

/// Drops loops of extent 1 and joins loops that run over contiguous memory in every operand.
void simplify(mlir::ImplicitLocOpBuilder &b, LoopNest &nest);

/// A view of `memref`, whose strides are those of its own dimensions.
Access buildAccess(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);

// Arithmetic on indices that folds constants.
mlir::Value materialize(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult value);
mlir::OpFoldResult multiply(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
mlir::Value add(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs, mlir::OpFoldResult rhs);
/// `offset + iv * stride`; a null offset is 0.
mlir::Value advance(mlir::ImplicitLocOpBuilder &b, mlir::Value offset, mlir::OpFoldResult iv,
                    mlir::OpFoldResult stride);

/// The first `count` lanes (index); null for all lanes.
struct LaneMask {
  mlir::Value lanes; // vector of i1
  mlir::Value count; // unknown if null

  explicit operator bool() const { return bool(lanes); }
};

// Memory. Values have the element's compute type. A masked-off lane reads as 0.
mlir::Value loadScalar(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value offset);
void storeScalar(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Access &access, mlir::Value offset);
mlir::Value loadVector(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value offset,
                       mlir::OpFoldResult stride, unsigned lanes, const LaneMask &mask = {});
/// Fetches the lines of `lanes` elements at `offset` to the core's second cache.
void prefetchVector(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value offset, unsigned lanes);
/// The elements at a vector of offsets (index).
mlir::Value gatherVector(mlir::ImplicitLocOpBuilder &b, const Access &access, mlir::Value offsets,
                         const LaneMask &mask);
void storeVector(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Access &access, mlir::Value offset,
                 mlir::OpFoldResult stride, const LaneMask &mask = {});

LaneMask firstLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value count, unsigned lanes);
/// [0, 1, ...] with the integer or index `element`.
mlir::Value iota(mlir::ImplicitLocOpBuilder &b, mlir::Type element, unsigned lanes);
mlir::Value splat(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, unsigned lanes);
/// Converts between floating-point types, scalars or vectors.
mlir::Value convertFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element);

/// Opens a loop and leaves the builder inside; `finish` must yield and continue after the loop.
mlir::scf::ForOp openLoop(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult lower, mlir::OpFoldResult upper,
                          int64_t step, mlir::ValueRange inits = {});
void closeLoop(mlir::ImplicitLocOpBuilder &b, mlir::scf::ForOp loop, mlir::ValueRange yields = {});

} // namespace fusion::cpu

#endif // FUSION_PASSES_CPU_VECTORIZENEST_H
