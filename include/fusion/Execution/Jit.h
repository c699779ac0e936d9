//===- Jit.h - Compile a lowered module and call its functions ----*- C++ -*-===//
//
// Takes what the CPU pipeline makes (a module in the LLVM dialect whose entries are described by `fusion.signature`) to
// machine code, in memory or in an object file. Calls go through the uniform entries `fusion_entry_<name>` and the
// guarded call of the run-time: a failed assertion of the program is an error here, never the end of the process.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EXECUTION_JIT_H
#define FUSION_EXECUTION_JIT_H

#include "fusion/Execution/HostArray.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class raw_pwrite_stream;
} // namespace llvm

namespace fusion {

struct CompileOptions {
  /// "host", or a level: see fusion/Target/HostCpu.h.
  std::string target = "host";
  /// 0 to 3, as for a C compiler.
  unsigned optLevel = 3;
  /// Files to write the optimised LLVM IR, the assembly and the object file to; empty for none.
  std::string dumpLlvmIr, dumpAssembly, dumpObject;
};

enum class MachineCode { Object, Assembly, LlvmIr };

/// Writes the compiled module. The object refers only to functions of the run-time (`fusion_rt_...`) and of libm.
/// Unlike a JitModule it may be for a CPU that this machine is not.
llvm::Error emitMachineCode(mlir::ModuleOp module, const CompileOptions &options, MachineCode kind,
                            llvm::raw_pwrite_stream &os);

class JitModule;

/// A call with its arguments packed, to be run any number of times. Not for use by two threads at once. Must not
/// outlive its JitModule.
class PreparedCall {
public:
  PreparedCall(PreparedCall &&) = default;
  PreparedCall &operator=(PreparedCall &&) = delete;
  ~PreparedCall();

  /// Runs the function. Results of an earlier run that were not taken are freed first, so that a repeated call finds
  /// warm buffers. The error of a failed assertion has its text.
  llvm::Error invoke();

  /// The results of the last successful run, handed over: the next take returns none. The arrays own the memory that
  /// the program wrote, no copy is made unless two results share a buffer.
  llvm::Expected<llvm::SmallVector<HostArray>> takeResults();

private:
  friend class JitModule;
  PreparedCall() = default;
  void freeResults();

  int32_t (*entry)(void **) = nullptr;
  mlir::FunctionType signature;
  llvm::SmallVector<HostArray> inputs;
  /// Descriptors or scalars, one per argument and result; `pointers` points into it.
  std::vector<std::unique_ptr<uint64_t[]>> storage;
  std::vector<void *> pointers;
  bool hasResults = false;
};

class JitModule {
public:
  /// Compiles the module for this machine. The module is only read; it and its context must outlive the result (the
  /// signatures are kept as types).
  static llvm::Expected<std::unique_ptr<JitModule>> create(mlir::ModuleOp module, const CompileOptions &options);
  ~JitModule();

  /// The tensor signature of a public function, null if there is none of that name.
  mlir::FunctionType getSignature(llvm::StringRef entry) const;

  /// Checks number, element types and shapes of the arguments (an array of rank 0 for a scalar) and packs them.
  /// Thread-safe.
  llvm::Expected<PreparedCall> prepare(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs) const;

  /// One call.
  llvm::Error run(llvm::StringRef entry, llvm::ArrayRef<HostArray> inputs,
                  llvm::SmallVectorImpl<HostArray> &outputs) const;

private:
  JitModule();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// An error unless `inputs` fit `signature`; `entry` is for the text only.
llvm::Error checkArguments(llvm::StringRef entry, mlir::FunctionType signature, llvm::ArrayRef<HostArray> inputs);

} // namespace fusion

#endif // FUSION_EXECUTION_JIT_H
