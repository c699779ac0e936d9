//===- Vectorize.h - Kinds of vector loops ------------------------------------------------------------*- C++ -*-===//
//
// The emitters that `fusion-cpu-vectorize` chooses from. Each inserts code at the builder's position and returns
// failure, without having inserted anything that has an effect, if the nest is not of its kind. Internal to passes/CPU.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_CPU_VECTORIZE_H
#define FUSION_PASSES_CPU_VECTORIZE_H

#include "VectorizeNest.h"

namespace fusion::cpu {

/// Sums of products: register tiles whose accumulators stay in registers over all reduction loops. With `startsAtZero`
/// the output is not read.
llvm::LogicalResult vectorizeContraction(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
                                         const VectorTarget &target, bool startsAtZero = false);

/// Copies whose source and destination are contiguous along different loops: square blocks transposed in registers.
llvm::LogicalResult vectorizeTranspose(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorTarget &target);

/// Everything else with an elementwise body: maps, broadcasts, reductions, and mixtures of them.
llvm::LogicalResult vectorizeElementwise(mlir::ImplicitLocOpBuilder &b, const LoopNest &nest,
                                         const VectorTarget &target);

} // namespace fusion::cpu

#endif // FUSION_PASSES_CPU_VECTORIZE_H
