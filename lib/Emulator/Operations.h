//===- Operations.h - The device operations that are known --------*- C++ -*-===//

#ifndef FUSION_LIB_EMULATOR_OPERATIONS_H
#define FUSION_LIB_EMULATOR_OPERATIONS_H

#include "fusion/Emulator/Abi.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"

#include <optional>

namespace fusion::emulator {

/// How a call of device code is executed.
struct Operation {
  enum class Form {
    /// A call of fusion_emu_operation.
    Runtime,
    /// A call of a scalar function of the run-time.
    Math,
    /// Reads a member of ThreadHeader: `field` is the byte offset.
    ThreadField,
    /// a * b + c of 32-bit words; both words of the result.
    WideMultiplyAdd,
    /// Replaced by a constant.
    Constant,
    /// Does nothing that can be observed.
    Nothing,
    /// Left to LLVM.
    Host,
  };
  Form form = Form::Runtime;
  OpKind kind = OpKind::Fence;
  llvm::SmallVector<uint32_t, 10> params;
  /// Bytes of an access that the operation makes.
  uint32_t bytes = 0;
  /// Operands to pass, in order; all of them if empty.
  llvm::SmallVector<unsigned, 8> operands;
  bool passesNoOperands = false;
  uint64_t value = 0;
  /// Results of a special-function unit.
  uint32_t specialFunctions = 0;
  /// A scalar function's name in the run-time.
  std::string function;
};

/// The operation of a call of an intrinsic; none if it is not known.
std::optional<Operation> getOperation(const llvm::CallBase &call, llvm::StringRef name);

/// The oldest chip that has the operation, 10 * major + minor.
unsigned getRequiredVersion(const Operation &operation);

/// The matrix type of that name in PTX.
std::optional<MatrixType> parseMatrixType(llvm::StringRef name);

/// An inline assembly statement from the list of known ones; otherwise none, and `error` says what is not known.
/// Operand numbers of the result are those of the call.
std::optional<Operation> getInlineAsm(const llvm::CallBase &call, std::string &error);

} // namespace fusion::emulator

#endif // FUSION_LIB_EMULATOR_OPERATIONS_H
