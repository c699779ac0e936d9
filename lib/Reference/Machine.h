//===- Machine.h - The reference interpreter's inside -------------*- C++ -*-===//
//
// The machine walks operations and keeps the values of the current function. It drops a value after its last use in the
// block that defines it, and hands it over (`take`) where that use may overwrite it, so that destination-style
// programs update their tensors in place.
//
// Failures are diagnostics: functions return failure after they have emitted one.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_MACHINE_H
#define FUSION_LIB_REFERENCE_MACHINE_H

#include "Program.h"
#include "fusion/Reference/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

namespace fusion::reference {

using Values = llvm::SmallVector<RuntimeValue, 4>;

class Machine {
public:
  Machine(mlir::ModuleOp module, const ReferenceOptions &options) : module(module), options(options) {}

  /// Calls a function; `caller` is where an error is reported.
  mlir::LogicalResult call(mlir::Operation *caller, mlir::FunctionOpInterface function, Values arguments,
                           Values &results);

  /// Runs a region that sees nothing from outside with values of its own.
  mlir::LogicalResult runIsolated(mlir::Region &region, Values arguments, Values &results);

  /// Runs the operations of a region from its entry block to a terminator without successors, whose operands are the
  /// results. `terminator` is set to it if given.
  mlir::LogicalResult runRegion(mlir::Region &region, Values arguments, Values &results,
                                mlir::Operation **terminator = nullptr);
  mlir::LogicalResult runOperation(mlir::Operation &op);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The value of an operand, null after an error if it was never computed.
  const RuntimeValue *lookup(mlir::Operation *user, mlir::Value value);
  mlir::FailureOr<TensorValue> getTensor(mlir::Operation *user, mlir::Value value);
  mlir::FailureOr<Scalar> getScalar(mlir::Operation *user, mlir::Value value);
  mlir::FailureOr<int64_t> getInteger(mlir::Operation *user, mlir::Value value);
  mlir::FailureOr<Shape> getIntegers(mlir::Operation *user, mlir::ValueRange values);
  mlir::FailureOr<Shape> getIntegers(mlir::Operation *user, llvm::ArrayRef<mlir::OpFoldResult> values);
  /// The value of an operand. If this is its last use the machine keeps no copy.
  mlir::FailureOr<RuntimeValue> take(mlir::OpOperand &operand);
  mlir::LogicalResult takeAll(llvm::MutableArrayRef<mlir::OpOperand> operands, Values &values);
  mlir::FailureOr<TensorValue> takeTensor(mlir::OpOperand &operand);
  /// Sets a result; an error if its shape is not the one of the type.
  mlir::LogicalResult set(mlir::Operation *op, mlir::Value result, RuntimeValue value);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// Uninitialised memory of that shape; an error for a negative extent or a tensor that does not fit into memory.
  mlir::FailureOr<TensorValue> allocate(mlir::Operation *op, ScalarType type, llvm::ArrayRef<int64_t> shape);
  /// One element seen everywhere.
  mlir::FailureOr<TensorValue> makeSplat(mlir::Operation *op, Scalar value, llvm::ArrayRef<int64_t> shape);
  /// The tensor itself if it may be overwritten, else a contiguous copy.
  mlir::FailureOr<TensorValue> makeWritable(mlir::Operation *op, TensorValue tensor);
  mlir::FailureOr<TensorValue> makeContiguous(mlir::Operation *op, TensorValue tensor);
  /// An error unless the slice lies within the shape.
  mlir::LogicalResult checkSlice(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> offsets,
                                 llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> steps);
  mlir::FailureOr<TensorValue> getConstant(mlir::Operation *op, mlir::Attribute attribute);

  //===--------------------------------------------------------------------===//
  // Bodies
  //===--------------------------------------------------------------------===//

  /// The compiled form of a region's single block, null if it must be walked.
  const Program *getProgram(mlir::Region &region);
  const Program *getElementwiseProgram(mlir::Operation *op);
  /// Fills in captured values and runs the uniform instructions.
  mlir::LogicalResult prepare(mlir::Operation *op, const Program &program, Registers &registers);

  /// Coordinates of the structured ops whose bodies are walked, innermost last.
  llvm::SmallVector<Shape> walkedCoordinates;

  /// Ranges of a `spacemap.graph`'s dimensions in the current block and slice.
  struct Range {
    int64_t offset = 0, size = 0;
    /// Where the current block begins.
    int64_t blockOffset = 0;
  };
  llvm::SmallVector<Range> ranges;

  /// The body that combines two elements by `reducer`, made on first use: (element, accumulator) to accumulator.
  mlir::Region &getCombiner(mlir::Operation *op, unsigned reducer, mlir::Type type);

  /// The tensors that the bodies of the `scf.forall`s being run insert into, by block argument.
  llvm::DenseMap<mlir::Value, TensorValue> sharedOutputs;

  /// Stores of the dist dialect: how many ranks are simulated (0: stores are whole), and the number of writes so far.
  unsigned getNumRanks() const { return options.ranks; }
  int64_t numWrites = 0;
  /// Messages by communication operation.
  void count(mlir::Operation *op, uint64_t messages, uint64_t bytes);

  mlir::Operation *getModule() { return module; }
  mlir::SymbolTableCollection symbolTables;

private:
  struct BlockInfo {
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> dying;
    llvm::DenseSet<mlir::OpOperand *> lastUses;
  };
  const BlockInfo &getBlockInfo(mlir::Block *block);

  mlir::ModuleOp module;
  ReferenceOptions options;
  unsigned callDepth = 0;
  uint64_t numOperations = 0;
  llvm::DenseMap<mlir::Value, RuntimeValue> *frame = nullptr;
  llvm::DenseMap<mlir::Block *, std::unique_ptr<BlockInfo>> blockInfos;
  llvm::DenseMap<mlir::Region *, std::unique_ptr<Program>> programs;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Program>> elementwisePrograms;
  llvm::DenseMap<mlir::Attribute, TensorValue> constants;
  llvm::DenseMap<std::pair<unsigned, mlir::Type>, std::unique_ptr<mlir::Region>> combiners;
  llvm::DenseMap<mlir::Operation *, size_t> trafficOf;
};

//===----------------------------------------------------------------------===//
// Groups of operations. The result is none for an operation that is not known.
//===----------------------------------------------------------------------===//

using Handled = std::optional<mlir::LogicalResult>;

/// An operation on scalars by its compiled form.
mlir::LogicalResult runScalarOp(Machine &machine, mlir::Operation *op, const Program &program);

Handled runArithOp(Machine &machine, mlir::Operation *op);
Handled runControlOp(Machine &machine, mlir::Operation *op);
Handled runTensorOp(Machine &machine, mlir::Operation *op);
Handled runLinalgOp(Machine &machine, mlir::Operation *op);
Handled runSpaceMapOp(Machine &machine, mlir::Operation *op);
Handled runDistOp(Machine &machine, mlir::Operation *op);

/// Copies a tensor to a slice of `target`, which may be overwritten. `dropped` marks the target's axes that the source
/// lacks.
mlir::LogicalResult insertSlice(Machine &machine, mlir::Operation *op, const TensorValue &source,
                                const TensorValue &target, llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<mlir::OpFoldResult> strides,
                                const llvm::SmallBitVector &dropped);

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

/// An operand of a loop nest: a tensor and the map from loops to its axes, or a scalar.
struct LoopInput {
  RuntimeValue value;
  mlir::AffineMap map;
};
struct LoopOutput {
  /// What the tensor holds before; it is updated in place if nobody else has it.
  TensorValue tensor;
  mlir::AffineMap map;
};

struct LoopNest {
  mlir::Operation *op;
  Shape extents;
  /// Loops that may run in any order, together.
  llvm::SmallVector<bool> parallel;
  llvm::SmallVector<LoopInput> inputs;
  llvm::SmallVector<LoopOutput> outputs;
};

/// Runs a body at every point of the nest. The body's arguments are the inputs and then the outputs' elements (or the
/// inputs only), its results the outputs' new elements. `outputs` holds the results afterwards.
mlir::LogicalResult runLoopNest(Machine &machine, LoopNest &nest, const Program &program);
/// The same for a body that must be walked.
mlir::LogicalResult walkLoopNest(Machine &machine, LoopNest &nest, mlir::Region &body);
/// The one or the other.
mlir::LogicalResult runLoopNest(Machine &machine, LoopNest &nest, mlir::Region &body);

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_MACHINE_H
