//===- ThreadProgram.h - The program of one thread of a block -------------===//
//
// Emits what one thread does for a kernel's tile program: tiles become fragments, the registers of a thread as its
// layout says. The emitter keeps, for each tile of the program, in which forms the thread has it, and makes another
// form where an operation asks for it.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_GPU_THREADPROGRAM_H
#define FUSION_PASSES_GPU_THREADPROGRAM_H

#include "BlockProgram.h"
#include "Contraction.h"
#include "fusion/Layout/Swizzle.h"
#include "fusion/Target/GpuChip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace fusion {

/// An argument of a kernel, and the value of the host program that is passed for it.
struct KernelArgument {
  enum Kind { Buffer, Size, Scalar };
  KernelArgument(Kind kind, mlir::Value host, int64_t axis = -1) : kind(kind), host(host), axis(axis) {}

  Kind kind;
  /// The tensor, index or scalar; for a result's buffer its initial value.
  mlir::Value host;
  /// For the extent of a tensor: its axis. -1 otherwise.
  int64_t axis;
  bool isRead = false, isWritten = false;
  mlir::Value device;
};

/// A tile's registers in one thread.
struct Fragment {
  Layout layout;
  llvm::SmallVector<mlir::Value> values;
};

/// A tile in global memory.
struct GlobalTile {
  /// Address of its first element.
  mlir::Value pointer;
  mlir::Type elementType;
  /// Whether this is (a part of) a result of the kernel.
  bool isOutput = false;
  /// Elements between neighbours, per dimension of the tile.
  llvm::SmallVector<mlir::OpFoldResult> strides;
  int contiguous = -1;
  int64_t vector = 1;
};

/// What is known of a tile: any of these may be there, all with the same content.
struct TileState {
  bool isUndefined = false;
  /// A result that is written to global memory slice by slice.
  bool isInPlace = false;
  mlir::Value splat;
  std::optional<GlobalTile> global;
  llvm::SmallVector<Fragment, 1> fragments;
};

/// An operand of a contraction in shared memory.
struct SharedOperand {
  mlir::Value pointer;
  SharedTile tile;
  mlir::Type type;
  /// Whether dimension 0 of the tile is the depth, and whether the depth is along the rows of shared memory.
  bool isDepthFirst = false, isDepthContiguous = true;
  /// Whether asynchronous copies can bring it.
  bool isAsync = false;

  bool hasFormOf(const SharedOperand &other) const {
    return type == other.type && isDepthFirst == other.isDepthFirst && isDepthContiguous == other.isDepthContiguous &&
           tile.rows == other.tile.rows && tile.rowBytes == other.tile.rowBytes && tile.pitch == other.tile.pitch &&
           tile.phases == other.tile.phases;
  }
};

/// Operands that asynchronous copies bring some trips of a loop ahead.
struct CopyPipeline {
  int64_t stages = 0;
  /// Pointers are those of the first stage.
  llvm::SmallVector<std::pair<mlir::Value, SharedOperand>, 2> operands;
  /// What of the loop's body says where the operands are, in its order.
  llvm::SetVector<mlir::Operation *> places;
};

class ThreadProgram {
public:
  /// Emits into `function`, which has an empty entry block and no arguments yet. `maxStages` bounds the buffers of each
  /// operand that is copied ahead.
  ThreadProgram(mlir::scf::ForallOp forall, mlir::LLVM::LLVMFuncOp function, const GpuChip &chip, int64_t maxStages);

  /// Emits everything; errors are reported at the operation in question.
  mlir::LogicalResult run();

  llvm::ArrayRef<KernelArgument> getArguments() const { return arguments; }
  int64_t getSharedBytes() const { return sharedBytes; }
  int64_t getNumThreads() const { return numWarps * gpuWarpSize; }

private:
  using OpFoldResults = llvm::SmallVector<mlir::OpFoldResult>;

  // ThreadProgram.cpp: the walk over the block's program.
  mlir::LogicalResult emitBody(mlir::Block &block);
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::LogicalResult emitElement(mlir::tensor::ExtractOp extract, mlir::IRMapping &map);
  mlir::LogicalResult emitStore(mlir::tensor::ParallelInsertSliceOp insert);
  mlir::LogicalResult emitInsert(mlir::tensor::InsertSliceOp insert);
  mlir::FailureOr<bool> isWrittenInPlace(mlir::scf::ForOp loop, unsigned number);
  void emitCoordinates();

  // ThreadArguments.cpp: what comes from the host.
  mlir::Value addArgument(KernelArgument argument, mlir::Type type);
  mlir::FailureOr<mlir::Value> getBuffer(mlir::Value tensor, bool isWritten);
  mlir::Value getHostScalar(mlir::Value value);
  mlir::OpFoldResult getHostExtent(mlir::Value tensor, unsigned axis);
  /// The value in the kernel of a scalar or index of the block's program.
  mlir::Value getScalar(mlir::Value value);
  mlir::OpFoldResult getIndex(mlir::OpFoldResult value);

  // ThreadTiles.cpp: forms of tiles.
  mlir::FailureOr<TileState *> getState(mlir::Value tile);
  OpFoldResults getExtents(mlir::Value tile);
  mlir::FailureOr<GlobalTile> getGlobalTile(mlir::Value tensor);
  mlir::LogicalResult emitSlice(mlir::tensor::ExtractSliceOp slice);
  mlir::FailureOr<Fragment> getFragment(mlir::Value tile, const Layout &layout);
  mlir::FailureOr<Layout> getFallbackLayout(mlir::Value tile);
  Fragment convert(const Fragment &fragment, const Layout &layout, mlir::Type type);
  void setFragment(mlir::Value tile, Fragment fragment);

  // ThreadMemory.cpp: loads and stores of fragments.
  Fragment load(const GlobalTile &tile, const Layout &layout, llvm::ArrayRef<mlir::OpFoldResult> extents);
  void store(const Fragment &fragment, const GlobalTile &tile, llvm::ArrayRef<mlir::OpFoldResult> extents);
  mlir::Value loadAt(mlir::Value pointer, mlir::Type elementType, int64_t vector);
  void storeAt(mlir::Value pointer, llvm::ArrayRef<mlir::Value> values);
  mlir::Value getAddress(const GlobalTile &tile, const Layout &layout, int64_t number);
  /// Whether all elements at register `number` are within `extents` along `dims`: null where that is always so.
  /// `isNever` tells that none is.
  mlir::Value getMask(const Layout &layout, int64_t number, llvm::ArrayRef<mlir::OpFoldResult> extents,
                      llvm::ArrayRef<unsigned> dims, bool &isNever);
  Fragment exchange(const Fragment &fragment, const Layout &layout, mlir::Type type);
  mlir::Value allocateShared(int64_t bytes, int64_t alignment = 16);
  void emitBarrier();

  // ThreadLinalg.cpp and ThreadReduction.cpp: operations.
  mlir::LogicalResult emitLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitBodyAt(mlir::linalg::LinalgOp op, const Layout &layout, int64_t number,
                                 llvm::ArrayRef<mlir::Value> arguments, mlir::Operation *skipped, mlir::Value skippedBy,
                                 llvm::SmallVectorImpl<mlir::Value> &results);
  Fragment reduceAcross(Fragment partial, const Layout &loops, llvm::ArrayRef<unsigned> kept,
                        mlir::Operation *combiner);
  mlir::Value combine(mlir::Operation *combiner, mlir::Value left, mlir::Value right);
  mlir::Value shuffle(mlir::Value value, int64_t laneMask);

  // ThreadContraction.cpp.
  mlir::LogicalResult emitContraction(mlir::linalg::LinalgOp op, const Contraction &contraction, const Layout &layout);
  mlir::LogicalResult emitMatrixProducts(mlir::linalg::LinalgOp op, const Contraction &contraction, Fragment &result);
  mlir::LogicalResult emitScalarProducts(mlir::linalg::LinalgOp op, const Contraction &contraction, Fragment &result);
  std::optional<llvm::SmallVector<mlir::Value>> getRegisterOperand(mlir::linalg::LinalgOp op,
                                                                   const Contraction &contraction,
                                                                   const Layout &accumulator, int64_t depth);
  llvm::SmallVector<mlir::Value> loadOperandA(const SharedOperand &a, const Layout &accumulator, int64_t depth);
  llvm::SmallVector<mlir::Value> loadOperandB(const SharedOperand &b, const Layout &accumulator, int64_t depth);
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value address, unsigned count, bool isTransposed);
  void multiplyMatrices(mlir::Type type, llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b,
                        llvm::MutableArrayRef<mlir::Value> c);
  llvm::SmallVector<mlir::Value> pack(llvm::ArrayRef<mlir::Value> elements);
  mlir::Value convertElement(mlir::Value element, mlir::Type type);
  mlir::Value getWarpPart(const Layout &layout, unsigned dim);

  // ThreadStaging.cpp.
  SharedOperand planSharedOperand(mlir::linalg::LinalgOp op, const Contraction &contraction, bool isA, int64_t across,
                                  int64_t depth);
  mlir::FailureOr<SharedOperand> getSharedOperand(mlir::linalg::LinalgOp op, const Contraction &contraction, bool isA,
                                                  int64_t across, int64_t depth);
  mlir::LogicalResult emitAsyncCopy(mlir::Value tile, const SharedOperand &operand);
  mlir::LogicalResult emitCopyThroughRegisters(mlir::Value tile, const SharedOperand &operand);
  /// Stores the registers from `number` on to a shared tile, if they lie in its room and, where `isOwner` is given, by
  /// the owner of the copy only.
  void storeWithinRoom(const SharedOperand &operand, const Layout &layout, int64_t number, const OpFoldResults &room,
                       mlir::Value isOwner, llvm::ArrayRef<mlir::Value> values);
  void clearShared(const SharedOperand &operand);
  Layout getCopyLayout(const SharedOperand &operand, int64_t vector);
  OpFoldResults getSharedExtents(const SharedOperand &operand);
  mlir::Value getSharedAddress(const SharedOperand &operand, mlir::Value row, int64_t rowConstant, mlir::Value column,
                               int64_t columnConstant);
  mlir::Value getSharedAddress(const SharedOperand &operand, const Layout &layout, int64_t number);

  // ThreadPipeline.cpp.
  mlir::FailureOr<CopyPipeline> prepareLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult prepareOperand(mlir::scf::ForOp loop, mlir::linalg::LinalgOp op, const Contraction &contraction,
                                     bool isA, CopyPipeline &pipeline);
  mlir::LogicalResult emitCopiesAhead(mlir::scf::ForOp loop, const CopyPipeline &pipeline, mlir::Value position,
                                      mlir::Value upper, mlir::Value slot);
  mlir::LogicalResult emitFirstCopies(mlir::scf::ForOp loop, const CopyPipeline &pipeline, mlir::Value lower,
                                      mlir::Value upper, mlir::Value step);
  mlir::LogicalResult emitNextCopies(mlir::scf::ForOp loop, const CopyPipeline &pipeline, mlir::Value position,
                                     mlir::Value upper, mlir::Value step, mlir::Value &readSlot,
                                     mlir::Value &writeSlot);
  SharedOperand getStage(const SharedOperand &operand, mlir::Value slot);

  // Small pieces.
  mlir::Value getOwner(const Layout &layout);
  mlir::Value getThreadPart(const Layout &layout, unsigned dim);
  mlir::Value gatherBits(mlir::Value number, llvm::ArrayRef<unsigned> bits);
  mlir::Value getConstant(int64_t value, mlir::Type type);
  mlir::Value getI32(int64_t value) { return getConstant(value, builder.getI32Type()); }
  mlir::OpFoldResult add(mlir::OpFoldResult left, mlir::OpFoldResult right);
  mlir::OpFoldResult multiply(mlir::OpFoldResult left, mlir::OpFoldResult right);
  mlir::Value getIndexValue(mlir::OpFoldResult value);
  mlir::Value offsetPointer(mlir::Value pointer, mlir::Type elementType, mlir::OpFoldResult elements);

  mlir::scf::ForallOp forall;
  mlir::LLVM::LLVMFuncOp function;
  const GpuChip &chip;
  mlir::OpBuilder builder;
  mlir::Location loc;
  int64_t maxStages;
  int64_t numWarps = 1;
  int64_t sharedBytes = 0;
  unsigned loopDepth = 0;
  mlir::Value lane, warp, sharedBase;

  llvm::SmallVector<KernelArgument> arguments;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, TileState> tiles;
  llvm::DenseMap<mlir::Value, OpFoldResults> extentsOf;
  llvm::DenseMap<mlir::Value, SharedOperand> staged;
  /// Operands a of matrix instructions that stay in registers for a loop, by tile and layout of the accumulator.
  std::map<std::pair<const void *, std::string>, llvm::SmallVector<mlir::Value>> operandsA;
};

} // namespace fusion

#endif // FUSION_PASSES_GPU_THREADPROGRAM_H
