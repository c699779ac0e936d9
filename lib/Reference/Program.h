//===- Program.h - Scalar code as a flat list of instructions -----*- C++ -*-===//
//
// The body of a linalg op, a `spacemap.map` or a `tensor.generate` runs once per element. Walking its operations each
// time is slow, so it is compiled once to a register program whose instructions work on `maxLanes` elements at a time.
//
// A register holds one value per lane: floats of up to 32 bits as float (rounded to their type), f64 as double,
// integers sign-extended as int64_t.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_PROGRAM_H
#define FUSION_LIB_REFERENCE_PROGRAM_H

#include "RuntimeValue.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace fusion::reference {

constexpr int64_t maxLanes = 256;

struct Instruction;
class Registers;

/// Executes an instruction on lanes 0 .. n-1.
using Kernel = void (*)(const Instruction &, Registers &, int64_t n);

struct Instruction {
  Kernel run = nullptr;
  llvm::SmallVector<unsigned, 3> sources;
  llvm::SmallVector<unsigned, 1> targets;
  /// Types of the first source and of the first target.
  ScalarType sourceType, targetType;
  /// A predicate, a constant, the number of a captured tensor: the kernel knows.
  int64_t immediate = 0;
  mlir::Operation *op = nullptr;
  /// The kernel may report a failure.
  bool mayFail = false;
};

struct Program {
  /// Run once per execution: instructions whose operands are the same in all lanes.
  std::vector<Instruction> uniform;
  std::vector<Instruction> body;
  unsigned numRegisters = 0;

  llvm::SmallVector<unsigned> arguments;
  llvm::SmallVector<ScalarType> argumentTypes;
  llvm::SmallVector<bool> argumentUsed;
  llvm::SmallVector<unsigned> results;
  llvm::SmallVector<ScalarType> resultTypes;

  /// Scalars and tensors from outside of the body.
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> capturedScalars;
  llvm::SmallVector<mlir::Value> capturedTensors;
  /// Registers that hold a loop's coordinate (`linalg.index`): loop and register.
  llvm::SmallVector<std::pair<unsigned, unsigned>> coordinates;
};

/// The state of an execution.
class Registers {
public:
  /// `lanes`, at most `maxLanes`, is the most that is used at a time.
  Registers(unsigned count, int64_t lanes) : lanes(lanes), words(size_t(count) * size_t(lanes)) {}

  template <typename T>
  T *get(unsigned index) {
    return reinterpret_cast<T *>(words.data() + size_t(index) * size_t(lanes));
  }
  int64_t getNumLanes() const { return lanes; }
  /// Fills the first lanes.
  void fill(unsigned index, Scalar value, int64_t n);
  /// Copies the first lanes of a register of that type to another.
  void copy(unsigned from, unsigned to, ScalarType type, int64_t n);
  /// The value in a lane.
  Scalar read(unsigned index, ScalarType type, int64_t lane);
  void write(unsigned index, int64_t lane, Scalar value);

  std::vector<TensorValue> tensors;

  /// Set by the first kernel that fails.
  mlir::Operation *failedOp = nullptr;
  std::string failure;
  void fail(const Instruction &instruction, std::string what) {
    if (failedOp)
      return;
    failedOp = instruction.op;
    failure = std::move(what);
  }

private:
  int64_t lanes;
  std::vector<uint64_t> words;
};

/// Lanes from and to memory: lane `l` is the element at `base + l * stride`, or at `base + offsets[l]`.
void loadStrided(Registers &registers, unsigned target, const TensorValue &tensor, int64_t base, int64_t stride,
                 int64_t n);
void loadGather(Registers &registers, unsigned target, const TensorValue &tensor, int64_t base, const int64_t *offsets,
                int64_t n);
void storeStrided(Registers &registers, unsigned source, const TensorValue &tensor, int64_t base, int64_t stride,
                  int64_t n);
void storeScatter(Registers &registers, unsigned source, const TensorValue &tensor, int64_t base,
                  const int64_t *offsets, int64_t n);

class ProgramBuilder {
public:
  /// Compiles a block. False if it holds something that has no compiled form (nested regions, unknown operations);
  /// then it must be walked.
  static bool compile(mlir::Block &block, Program &program);
  /// Compiles one operation whose operands are the program's arguments, lane by lane: an elementwise operation on
  /// scalars or tensors.
  static bool compileElementwise(mlir::Operation *op, Program &program);

  /// The register of an operand; a value from outside becomes a captured scalar. None if it is no scalar.
  std::optional<unsigned> getRegister(mlir::Value value);
  unsigned createRegister(bool uniform);
  /// Makes `value` another name of a register.
  void bind(mlir::Value value, unsigned reg) { registers[value] = reg; }
  bool isUniform(unsigned reg) const { return uniformRegister[reg]; }
  /// Number of the captured tensor, none if the value is made inside the body.
  std::optional<unsigned> captureTensor(mlir::Value tensor);

  /// Appends the instruction for an operation: operands are sources, results are targets.
  /// False if an operand or a result is no scalar.
  bool emit(mlir::Operation *op, Kernel kernel, bool mayFail = false, int64_t immediate = 0);
  /// Appends an instruction that is no operation of the text, with one new target, and returns the target.
  unsigned emit(mlir::Operation *op, Kernel kernel, llvm::ArrayRef<unsigned> sources, ScalarType type,
                int64_t immediate = 0, bool mayFail = false);
  unsigned emitConstant(Scalar value);

  /// Coordinates of loops (`linalg.index`).
  unsigned getCoordinate(unsigned loop);

private:
  explicit ProgramBuilder(Program &program) : program(program) {}
  bool compileOp(mlir::Operation *op);
  void append(Instruction instruction);

  Program &program;
  mlir::Block *block = nullptr;
  llvm::DenseMap<mlir::Value, unsigned> registers;
  llvm::DenseMap<unsigned, unsigned> coordinates;
  llvm::SmallVector<bool> uniformRegister;
};

/// One function per group of operations. False if the operation has no compiled form.
bool compileArith(mlir::Operation *op, ProgramBuilder &builder);
bool compileMath(mlir::Operation *op, ProgramBuilder &builder);
/// Affine operations, `linalg.index`, `tensor.extract`, `tensor.dim`, `cf.assert`, `ub.poison`.
bool compileMisc(mlir::Operation *op, ProgramBuilder &builder);

} // namespace fusion::reference

#endif // FUSION_LIB_REFERENCE_PROGRAM_H
