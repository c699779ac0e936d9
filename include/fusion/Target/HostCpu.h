//===- HostCpu.h - Instruction sets that code is made for ---------*- C++ -*-===//
//
// Which vector extensions the compiler may use. The machine's own set is read from its list of features, never from
// the model's name: a virtual machine may show the number of an older model with the features of a newer one.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_TARGET_HOSTCPU_H
#define FUSION_TARGET_HOSTCPU_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace fusion {

/// An instruction set, in the terms of LLVM.
struct CpuTarget {
  /// "host", "generic", "avx2", "avx512".
  std::string name;
  std::string triple;
  /// A model name that stands for a level ("x86-64-v3"), not for one product.
  std::string cpu;
  /// "+avx2,+fma,...".
  std::string features;
  /// Width of a vector register.
  unsigned vectorBits = 128;
  /// Number of architectural vector registers.
  unsigned vectorRegisters = 16;
  /// Multiplies and adds in one instruction.
  bool hasFma = false;
  /// Converts f16 by instruction.
  bool hasHalfConversion = false;
};

/// Names that `getCpuTarget` knows, for messages and help.
llvm::ArrayRef<llvm::StringRef> getCpuTargetNames();

/// The instruction set with that name; "host" is everything that this machine has. Code for a level above the machine's
/// can be made, but `checkRunsHere` says that it cannot be run. An error names what is accepted.
llvm::Expected<CpuTarget> getCpuTarget(llvm::StringRef name);

/// Success if this machine can execute code for `target`, else an error that names the missing features.
llvm::Error checkRunsHere(const CpuTarget &target);

} // namespace fusion

#endif // FUSION_TARGET_HOSTCPU_H
