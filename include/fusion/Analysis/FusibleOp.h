//===- FusibleOp.h - Which linalg ops are globally ranged mappings ------------===//
//
// SpaceFusion (EuroSys 2025), section 3: an operator can join a space-mapping graph when each of its loops ranges over
// a whole dimension and each access is a projection of the loops. That is decided here, once, for every pass that
// needs to know. Nothing here changes the IR; all functions are thread-safe as long as nobody else changes it.
//
//===--------------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_FUSIBLEOP_H
#define FUSION_ANALYSIS_FUSIBLEOP_H

#include "fusion/SpaceMap/SpaceMap.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace fusion {

/// A `linalg.generic` that a space-mapping graph can hold.
struct FusibleOp {
  /// How the reduction loops combine; none for an op without reduction loops.
  std::optional<spacemap::Reducer> reducer;
  /// With a reducer, the value of the body that is reduced: it does not depend on the init's block argument. Without
  /// one, the yielded value.
  mlir::Value combined;
  /// Whether the init tensor's elements contribute to the result. An elementwise body that uses the init's block
  /// argument does; so does a reduction, unless the init is known to be filled with the reducer's identity.
  bool readsInit = false;
  /// Scalars of the enclosing regions that the body uses, constants included, each once, in order of first use.
  llvm::SmallVector<mlir::Value> captures;
};

/// Decides whether `op` can join a space-mapping graph. On failure `reason` (if not null) gets one phrase without
/// trailing period that says what stands in the way, fit for "stays outside: <reason>".
mlir::FailureOr<FusibleOp> analyzeFusible(mlir::linalg::GenericOp op, std::string *reason = nullptr);

/// The reducer that `op`, a scalar binary operation, computes; none if it is no known reducer.
std::optional<spacemap::Reducer> getReducer(mlir::Operation *op);

/// Whether scalars of `type` can be elements of spaces: signless integers of at most 64 bits, index, f16, bf16, f32,
/// f64.
bool isSpaceElementType(mlir::Type type);

/// The scalar that every element of tensor `value` equals: the attribute of a splat constant, or of a constant that
/// `linalg.fill` or `tensor.splat` writes. Looks through reshapes, transposes, slices, casts and copies. Null if not
/// known.
mlir::TypedAttr getUniformConstant(mlir::Value value);

} // namespace fusion

#endif // FUSION_ANALYSIS_FUSIBLEOP_H
