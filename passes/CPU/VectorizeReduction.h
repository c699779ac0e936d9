//===- VectorizeReduction.h - Combiners of reductions -------------------------------------------------*- C++ -*-===//
//
// Recognises the operation by which a linalg body combines an output with something, and builds it on scalars and
// vectors. Internal to passes/CPU.
//
//===--------------------------------------------------------------------------------------------------------------===//

#ifndef FUSION_PASSES_CPU_VECTORIZEREDUCTION_H
#define FUSION_PASSES_CPU_VECTORIZEREDUCTION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fusion::cpu {

/// `acc = combine(acc, element)`, associative and commutative up to rounding.
struct Combiner {
  enum Kind {
    AddF,
    MulF,
    MaximumF,
    MinimumF,
    MaxNumF,
    MinNumF,
    SelectMaxF,
    SelectMinF,
    AddI,
    MulI,
    MaxSI,
    MinSI,
    MaxUI,
    MinUI,
    And,
    Or,
    Xor
  } kind;
  mlir::Value element;                         // in the body
  llvm::SmallVector<mlir::Operation *, 2> ops; // that make up the combination, the yielded one last
};

/// The combination that makes `yielded` from the body argument `acc`; fails if `acc` has any other use.
llvm::FailureOr<Combiner> matchCombiner(mlir::Value yielded, mlir::BlockArgument acc);

mlir::Value combine(mlir::ImplicitLocOpBuilder &b, Combiner::Kind kind, mlir::Value acc, mlir::Value element);

/// Lanes that leave any other operand of the combination as it is; `type` is a scalar.
mlir::TypedAttr neutralElement(mlir::ImplicitLocOpBuilder &b, Combiner::Kind kind, mlir::Type type);

/// Combines all lanes of a vector by halving it.
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, Combiner::Kind kind, mlir::Value vector);

} // namespace fusion::cpu

#endif // FUSION_PASSES_CPU_VECTORIZEREDUCTION_H
