//===- Npy.h - NumPy's .npy files ---------------------------------*- C++ -*-===//
//
// Reading and writing of `.npy` files, format versions 1 to 3, little-endian. Element types: <f2 <f4 <f8, signed and
// unsigned integers of 8 to 64 bits (the program's integers are signless), |b1 for i1. NumPy has no bf16: such an array
// is stored as <u2 (or as the raw <V2) holding the bit patterns, and is read as bf16 only where bf16 is expected.
//
// Everything that can be wrong with a file is an `llvm::Error` of one line that begins with the file's name; sizes are
// checked against the file before memory is taken.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_EXECUTION_NPY_H
#define FUSION_EXECUTION_NPY_H

#include "fusion/Execution/HostArray.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace fusion {

/// Reads a file. With `expected` the file must hold that element kind: index is stored as <i8, bf16 as <u2. An array
/// in Fortran order is transposed to C order.
llvm::Expected<HostArray> readNpy(llvm::StringRef path, std::optional<ElementKind> expected = std::nullopt);

/// The same for a file that is in memory; the buffer's identifier is the name in messages.
llvm::Expected<HostArray> parseNpy(llvm::MemoryBufferRef buffer, std::optional<ElementKind> expected = std::nullopt);

/// Writes version 1.0, C order. The file appears complete or not at all.
llvm::Error writeNpy(llvm::StringRef path, const HostArray &array);

} // namespace fusion

#endif // FUSION_EXECUTION_NPY_H
