//===- Separability.h - Pulling reductions apart ------------------*- C++ -*-===//
//
// SpaceFusion, sections 4.2 and 4.3: when does an expression fall into a part that only knows the elements and a part
// that only knows the earlier reductions?
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ALGEBRA_SEPARABILITY_H
#define FUSION_ALGEBRA_SEPARABILITY_H

#include "fusion/Algebra/Expr.h"

namespace fusion::algebra {

/// `F(x, d) = elements(x) (*) states(d)`; `(*)` is multiplication or addition.
struct Separation {
  Expr elements; ///< free of `State` leaves
  Expr states;   ///< free of `Varying` leaves; null where F has no `State` leaf at all
};

/// Separates `f` into a product. This is a proof: `elements` may overflow (`exp(x)`) and is not meant to be computed.
std::optional<Separation> separateProduct(ExprContext &context, Expr f);

/// Separates `f` into a sum. Finite `State` leaves are assumed.
std::optional<Separation> separateSum(ExprContext &context, Expr f);

/// The quotient `H(d') / H(d)` with `d'` the `NextState` leaves, formed so that it neither overflows nor cancels:
/// exponents are subtracted, not exponentials divided. Null if `states` is not provably different from zero and finite.
Expr quotient(ExprContext &context, Expr states);

/// The fixed-point test at random points: whether `f(x,d) (*) f(x0,d0) = f(x,d0) (*) f(x0,d)`. It shares no code
/// with the separation above. `additive` chooses `+` for `(*)`.
bool separatesAtRandomPoints(Expr f, bool additive, unsigned seed = 1);

/// A reduction with its earlier reductions moved behind it: `(+)_t f(x, d) = outer((+)_t inner(x, d), d)`.
struct Postponed {
  Expr inner;                ///< the new element; may still depend on states (`exp(x - m)` is never taken apart)
  Expr outer;                ///< over the `Accumulated` leaf `y` and the states that moved
  spacemap::Reducer reducer; ///< reducer of `inner`; differs from the given one where a sign turned max into min
};

/// Moves what depends on states only out of the reduction of `f`, as far as it goes. `movable` says of a
/// state-only expression whether it should move. Nothing where nothing moves.
///
///  * sum: factors, divisors, and selections of 0 by a condition on states. Not through a selection by a condition on
///    elements, and through a narrowing float conversion only where the rest is known to be at most 1 in magnitude.
///  * max, min: whatever is monotone: addends, positive factors and divisors, monotone functions.
///  * prod: an exponent.
///
/// The accumulator `y` of `outer` has the type of `inner`.
std::optional<Postponed> postpone(ExprContext &context, Expr f, spacemap::Reducer reducer,
                                  llvm::function_ref<bool(Expr)> movable);

/// Checks by evaluation at random points that `postponed` gives the reduction of `f`; failure comes with a text in
/// `reason`.
llvm::LogicalResult checkPostponed(ExprContext &context, Expr f, spacemap::Reducer reducer, const Postponed &postponed,
                                   std::string &reason, unsigned seed = 1);

/// Whether `bound` is provably an upper bound of `value` once `value` is among what `bound` has seen: `bound` is the
/// maximum of `value`, or a maximum with it. Float conversions are looked through.
bool isUpperBound(Expr bound, Expr value);
/// The same for a minimum.
bool isLowerBound(Expr bound, Expr value);

/// Whether the magnitude of `expr` is provably at most 1: `exp(x - max x)`, say.
bool isAtMostOne(Expr expr);

/// The leaf that stands for the partial result in `Postponed::outer` and in update functions.
Expr accumulated(ExprContext &context, mlir::Type type, unsigned index = 0);

} // namespace fusion::algebra

#endif // FUSION_ALGEBRA_SEPARABILITY_H
