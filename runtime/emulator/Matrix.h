//===- Matrix.h - ldmatrix, stmatrix and mma.sync -----------------*- C++ -*-===//

#ifndef FUSION_RUNTIME_EMULATOR_MATRIX_H
#define FUSION_RUNTIME_EMULATOR_MATRIX_H

#include "Block.h"

namespace fusion::emulator {

void loadMatrix(Block &block, Warp &warp, const Site &site);
void storeMatrix(Block &block, Warp &warp, const Site &site);
void multiplyMatrices(Block &block, Warp &warp, const Site &site);

/// The value of an element of a matrix; TF32 ignores the low 13 bits.
double decode(MatrixType type, uint64_t bits);
/// Bits of an element in a register.
unsigned getBits(MatrixType type);
/// What an accumulator of that type holds after `exact`: F32 is rounded toward zero, F16 and F64 to nearest even, S32
/// wraps.
uint64_t encodeAccumulator(MatrixType type, double exact);

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_MATRIX_H
