//===- BlockProgram.h - What the GPU passes ask of a kernel's tile program -===//
//
// A kernel is an `scf.forall` tagged `fusion.kernel`; its body is the program of one block on tile tensors. Nothing
// here changes it.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_GPU_BLOCKPROGRAM_H
#define FUSION_PASSES_GPU_BLOCKPROGRAM_H

#include "fusion/Layout/Layout.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace fusion {

/// Names of attributes that pass from one pass to the next: the name of a kernel and its number of warps on the
/// `scf.forall`, the layout of the iteration space on each computing operation.
inline constexpr llvm::StringLiteral kernelAttr = "fusion.kernel";
inline constexpr llvm::StringLiteral warpsAttr = "fusion.warps";
inline constexpr llvm::StringLiteral layoutAttr = "fusion.layout";

bool isKernel(mlir::scf::ForallOp forall);

/// The extents of a tile; where one is known at run time only, its smallest constant bound. Fails with an error at the
/// value's location where there is none.
mlir::FailureOr<llvm::SmallVector<int64_t>> getTileShape(mlir::Value tile);

/// The extents of an operation's loops.
mlir::FailureOr<llvm::SmallVector<int64_t>> getLoopShape(mlir::linalg::LinalgOp op);

/// How a tile that is a view of a tensor in global memory can be accessed.
struct TileAccess {
  /// The tensor outside of the kernel, or the `shared_outs` argument; null if the tile is no such view.
  mlir::Value tensor;
  /// The axis of `tensor` of each dimension of the tile.
  llvm::SmallVector<unsigned> axes;
  /// The dimension of the tile along which elements are consecutive, or -1.
  int contiguous = -1;
  /// Elements at a time along it: every tile position that is a multiple of it is aligned. Up to 16 bytes.
  int64_t vector = 1;
};
TileAccess getTileAccess(mlir::Value tile);

/// A number that divides the index `value` whatever it is at run time; 0 for the constant 0.
int64_t getDivisor(mlir::OpFoldResult value);

/// Loop dimensions of the results of a projected permutation; fails for any other map.
mlir::FailureOr<llvm::SmallVector<unsigned>> getDims(mlir::AffineMap map);

/// Whether the operation moves or makes values without computing any: it needs no layout.
bool isTransparent(mlir::linalg::LinalgOp op);

/// The layout that an operation was assigned, for its iteration space; fails with an error where there is none.
mlir::FailureOr<Layout> getAssignedLayout(mlir::linalg::LinalgOp op);

} // namespace fusion

#endif // FUSION_PASSES_GPU_BLOCKPROGRAM_H
