//===- Update.h - Update functions of dependent reductions --------*- C++ -*-===//
//
// SpaceFusion, section 4: update-then-aggregate. A reduction `R = (+)_t F(x_t, d)` that depends on an earlier reduction
// `d` over the same dimension can be computed in one walk over t if its partial result can be corrected whenever d
// changes: `R' = U(R; d, d') (+) F(slice, d')`. The functions are synthesised from the algebra of F and checked by
// evaluation; nothing here knows what a softmax or a variance is.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_ALGEBRA_UPDATE_H
#define FUSION_ALGEBRA_UPDATE_H

#include "fusion/Algebra/Separability.h"

namespace fusion::algebra {

/// One accumulated value of an update plan.
struct UpdateState {
  /// What an element contributes. Its `State` leaves are to be the states after the slice. A constant where the
  /// accumulated value is a count.
  Expr element;
  /// The corrected old value, over the accumulated leaves `y`, `y1`, ... of the plan, old states `d` and new ones `d'`.
  Expr update;
  spacemap::Reducer reducer;
};

/// How to keep `R = (+)_t F(x_t, d)` right while d changes.
struct UpdatePlan {
  enum class Kind {
    Simple,     ///< F does not depend on earlier reductions
    Scale,      ///< `y * H(d')/H(d)`: F is a product
    Shift,      ///< `y + H(d') - H(d)`: a maximum or minimum of a sum
    Polynomial, ///< F is a polynomial of low degree in functions of d, perhaps with a factor: a Taylor shift over
                ///< several states
  };
  Kind kind = Kind::Simple;
  /// The first is R itself; the others are what its update needs.
  llvm::SmallVector<UpdateState> states;
  /// States of kind max or min that are infinite before they have seen a finite element. Where such a state is at its
  /// identity, the finite `getInfiniteStandIn` must stand for it in elements and updates, and afterwards `restore` must
  /// be applied.
  llvm::SmallVector<Expr> infiniteStates;
  /// Positive states that stand as divisors but may be 0 at first, having seen nothing or only exp(-inf); 1 must stand
  /// for them then.
  llvm::SmallVector<Expr> zeroStates;
  /// Whether an old state at its identity may be replaced by the new state in the update (so that the quotient is 1)
  /// because the accumulated value is known to be at its own identity as long as that is so. If not, `update` guards
  /// itself.
  bool dominated = true;
  /// Takes the first accumulated value from the stand-ins (old states) to the true final states (new states), where
  /// there are any `infiniteStates` or `zeroStates`: `y` itself unless a state has stayed at its identity, then what
  /// the reduction gives there, NaN for `sum exp(x - m)`. Else null.
  Expr restore;
};

/// Synthesises the update of the reduction of `f`. Without an update the result is nothing, and `reason` says why.
///
/// `f` is over `Varying`, `Parameter` and `State` leaves. `maxStates` bounds the accumulated values that a polynomial
/// needs (counts excluded).
std::optional<UpdatePlan> synthesizeUpdate(ExprContext &context, Expr f, spacemap::Reducer reducer, std::string &reason,
                                           unsigned maxStates = 4);

/// Checks a plan by evaluation in double precision at many random points, of magnitudes up to 1e4 and with shared
/// offsets:
///
///  1. updating the contribution of an element under d gives its contribution under d', for every state;
///  2. the update of combined values is the combination of the updates.
///
/// The states are drawn from reductions of drawn elements where the leaves know what they reduce. Returns success, or
/// failure with a text in `reason`: the condition, the point, both values. Independent of the synthesis.
llvm::LogicalResult checkUpdate(ExprContext &context, const UpdatePlan &plan, std::string &reason, unsigned seed = 1);

/// What stands for a state of `UpdatePlan::infiniteStates` at its identity: 0, or 1 where the state is a positive
/// factor.
double getInfiniteStandIn(Expr state);

/// The value of `reducer` on nothing (`-inf` for a maximum).
double identityValue(spacemap::Reducer reducer);

} // namespace fusion::algebra

#endif // FUSION_ALGEBRA_UPDATE_H
